//! What hangs must not take the rest with it.

use std::time::{Duration, Instant};

use super::*;
use crate::reading::GapKind;

/// Live, except that driver statistics never come back.
struct Hanging(Live);

impl Kernel for Hanging {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        if requests.iter().any(|request| request.ask.to_string().starts_with("ETHTOOL_GDRVINFO")) {
            std::thread::sleep(Duration::from_secs(600));
        }
        self.0.call(requests)
    }

    fn now_ms(&mut self) -> u64 {
        self.0.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.0.sleep(ms);
    }
}

#[test]
fn a_request_that_hangs_costs_its_limit_and_what_waits_for_the_same_lock() {
    let mut kernel = Isolated::with(Box::new(|| Box::new(Hanging(Live::new("/")))));
    let name = b"lo".as_slice();
    let mut slow = ioctl::driver_request(name);
    slow.limit_ms = 300;
    let requests = [
        Request::new(Ask::Uname),
        slow,
        ioctl::count_request(name),
        Request::read("/proc/uptime"),
        interfaces::links_request(),
    ];
    let started = Instant::now();
    let replies = kernel.call(&requests);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(replies[0].bytes().is_some() && replies[3].bytes().is_some());
    assert_eq!(replies[1], Reply::TimedOut);
    for held in [&replies[2], &replies[4]] {
        let Reply::Skipped { because } = held else { panic!("{held:?}") };
        assert_eq!(because, "a driver holds the rtnl lock since ETHTOOL_GDRVINFO lo, which did not come back");
    }
    // The next batch does not even try.
    let started = Instant::now();
    assert!(matches!(kernel.call(&[ioctl::count_request(name)])[0], Reply::Skipped { .. }));
    assert!(kernel.call(&[Request::new(Ask::Uname)])[0].bytes().is_some());
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_collection_with_a_driver_that_hangs_ends_with_everything_else() {
    let mut kernel = Isolated::with(Box::new(|| Box::new(Hanging(Live::new("/")))));
    let started = Instant::now();
    let snapshot = scan(&mut kernel);
    drop(kernel);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert!(snapshot.host.kernel.known().is_some());
    assert!(snapshot.interface("lo").unwrap().mtu.known().is_some());
    for interface in &snapshot.interfaces {
        if let Some(gap) = interface.driver.name.gap().filter(|_| !interface.driver.name.is_unasked()) {
            let why = snapshot.origins.gap_of(gap).why;
            assert!(matches!(why, GapKind::TimedOut | GapKind::Skipped), "{why:?}");
            assert!(!snapshot.sample.remarks.is_empty());
        }
    }
}

#[test]
fn the_budget_ends_a_collection_in_which_everything_is_slow() {
    let mut kernel = Isolated::with(Box::new(|| Box::new(Hanging(Live::new("/"))))).budget_ms(200);
    let started = Instant::now();
    let requests = [ioctl::driver_request(b"lo"), Request::new(Ask::Uname)];
    let replies = kernel.call(&requests);
    assert!(started.elapsed() < Duration::from_secs(60));
    assert_eq!(replies[0], Reply::TimedOut);
    assert!(matches!(&replies[1], Reply::Skipped { because } if because.contains("all probes")));
}

#[test]
fn a_worker_that_dies_costs_one_request() {
    struct Dying(Live);
    impl Kernel for Dying {
        fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
            assert!(requests[0].ask != Ask::Uname, "dies");
            self.0.call(requests)
        }
        fn now_ms(&mut self) -> u64 {
            0
        }
        fn sleep(&mut self, _: u64) {}
    }
    let mut kernel = Isolated::with(Box::new(|| Box::new(Dying(Live::new("/")))));
    let replies = kernel.call(&[Request::new(Ask::Uname), Request::read("/proc/uptime")]);
    assert!(matches!(replies[0], Reply::Error { errno: libc::EPIPE, .. }));
    assert!(replies[1].bytes().is_some());
}

#[test]
fn workers_do_not_outlive_their_kernel() {
    let mut kernel = Isolated::new("/");
    let status = kernel.call(&[Request::read("/proc/self/status")]).remove(0);
    let text = String::from_utf8_lossy(status.bytes().unwrap()).into_owned();
    let pid: u32 = text.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap().trim().parse().unwrap();
    assert_ne!(pid, std::process::id());
    drop(kernel);
    let started = Instant::now();
    // One that was killed and that nobody has asked after yet still has a name.
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
    };
    while lives() {
        assert!(started.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn pipes_devices_and_paths_that_climb_are_refused() {
    let root = std::env::temp_dir().join(format!("netdoctor-fifo-{}", std::process::id()));
    std::fs::create_dir_all(root.join("proc")).unwrap();
    std::fs::create_dir_all(root.join("dev")).unwrap();
    nix::unistd::mkfifo(&root.join("proc/uptime"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::write(root.join("proc/meminfo"), "MemTotal: 2048 kB\n").unwrap();
    std::os::unix::fs::symlink("/dev/null", root.join("dev/out")).unwrap();
    let mut kernel = Isolated::new(&root);
    let started = Instant::now();
    let snapshot = scan(&mut kernel);
    assert!(started.elapsed() < Duration::from_secs(60));
    let gap = snapshot.origins.gap_of(snapshot.host.uptime.gap().unwrap());
    assert!(gap.detail.contains("not a regular file"), "{gap:?}");
    assert_eq!(snapshot.host.memory.known().unwrap().0, 2 << 20);
    let replies = kernel.call(&[Request::read("/dev/out"), Request::read("/../../etc/passwd")]);
    assert!(matches!(&replies[0], Reply::Error { text, .. } if text == "a link that leaves the root"));
    let device = Isolated::new("/").call(&[Request::read("/dev/null")]);
    assert!(matches!(&device[0], Reply::Error { text, .. } if text == "not a regular file"), "{device:?}");
    assert!(matches!(&replies[1], Reply::Error { text, .. } if text == "path climbs"));
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn pipes_endless_devices_and_huge_files_do_not_hang_a_reader() {
    let root = std::env::temp_dir().join(format!("netdoctor-tail-{}", std::process::id()));
    std::fs::create_dir_all(&root).unwrap();
    nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    std::fs::File::create(root.join("huge")).unwrap().set_len(1 << 40).unwrap();
    std::fs::write(root.join("short"), "one\ntwo\n").unwrap();
    std::os::unix::fs::symlink("pipe", root.join("link")).unwrap();
    let tail = |path: &str| Request::new(Ask::Tail { path: path.into(), limit: 4 });
    let records = |path: &str| Request::new(Ask::Records { path: path.into(), limit: 64 });
    let requests = [
        tail("/pipe"),
        tail("/link"),
        records("/pipe"),
        records("/link"),
        records("/short"),
        tail("/huge"),
        tail("/short"),
    ];
    let started = Instant::now();
    let replies = Live::new(&root).call(&requests);
    assert!(started.elapsed() < Duration::from_secs(60));
    for refused in &replies[..5] {
        assert!(matches!(refused, Reply::Error { errno: libc::EINVAL, .. }), "{refused:?}");
    }
    for endless in Live::new("/").call(&[tail("/dev/zero"), records("/dev/zero")]) {
        assert!(matches!(endless, Reply::Error { errno: libc::EINVAL, .. }), "{endless:?}");
    }
    assert_eq!(replies[5].bytes(), Some(&[0; 4][..]));
    assert_eq!(replies[6].bytes(), Some(&b"two\n"[..]));
    std::fs::remove_dir_all(&root).unwrap();
}
