//! On this machine.

use super::*;

#[test]
#[ignore = "prints what this machine says: run by hand"]
fn show() {
    let started = std::time::Instant::now();
    let mut kernel = Isolated::new("/");
    let interval_ms = std::env::var("INTERVAL").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
    let options = Options { interval_ms, ..Options::default() };
    let snapshot = collect(&mut kernel, &options, &mut |_| {});
    let took = started.elapsed();
    let text = snapshot.to_json();
    std::fs::write("/tmp/probe-show.json", text).unwrap();
    std::fs::write("/tmp/probe-show.txt", format!("{took:?}\n")).unwrap();
}
