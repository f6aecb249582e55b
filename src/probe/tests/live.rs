//! On this machine.

use super::*;

#[test]
fn this_machine_can_be_read_by_whoever_runs_the_test() {
    let mut kernel = Isolated::new("/");
    let snapshot = scan(&mut kernel);
    assert!(snapshot.interface("lo").is_some());
    assert_eq!(Snapshot::from_json(&snapshot.to_json()).unwrap(), snapshot);
}

#[test]
fn requests_that_would_change_something_are_refused_before_they_are_sent() {
    let mut live = Live::new("/");
    let set = Request::ioctl("lo", 0x0000_0002u32.to_ne_bytes().to_vec());
    let new = Ask::Netlink { protocol: Protocol::Route, bytes: netlink::message(16, 0, &[0; 16]).into(), limit: 99 };
    for reply in live.call(&[set, Request::new(new)]) {
        assert!(matches!(&reply, Reply::Error { text, .. } if text == "not a request that only reads"), "{reply:?}");
    }
}

#[test]
#[ignore = "prints what this machine says: run by hand"]
fn show() {
    let started = std::time::Instant::now();
    let mut kernel = Isolated::new("/");
    let interval_ms = std::env::var("INTERVAL").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
    let options = Options { interval_ms, ..Options::default() };
    let snapshot = collect(&mut kernel, &options, &mut |_| {});
    drop(kernel);
    let took = started.elapsed();
    std::fs::write("/tmp/probe-show.json", snapshot.to_json()).unwrap();
    std::fs::write("/tmp/probe-show.txt", format!("{took:?}\n")).unwrap();
}
