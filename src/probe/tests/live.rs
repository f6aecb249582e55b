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

/// This machine as an old kernel: no ethtool over netlink and, on demand, no GLINKSETTINGS.
struct Old(Live, bool);

impl Kernel for Old {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let replies = self.0.call(requests);
        let old = |(request, reply): (&Request, Reply)| match request.ask.to_string().as_str() {
            "CTRL_CMD_GETFAMILY" => without_ethtool(&reply),
            name if self.1 && name.starts_with("ETHTOOL_GLINKSETTINGS") => Reply::errno(libc::ENOENT),
            _ => reply,
        };
        requests.iter().zip(replies).map(old).collect()
    }

    fn now_ms(&mut self) -> u64 {
        self.0.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.0.sleep(ms);
    }
}

#[test]
fn ioctl_tells_the_same_as_netlink() {
    let new = scan(&mut Isolated::new("/"));
    for very_old in [false, true] {
        let old = scan(&mut Old(Live::new("/"), very_old));
        for (new, old) in new.interfaces.iter().zip(&old.interfaces) {
            assert_eq!(new.name, old.name);
            if new.driver.is_unasked() {
                continue;
            }
            assert_eq!(new.features.known(), old.features.known());
            assert_eq!((new.ring.rx.known(), new.ring.rx_max.known()), (old.ring.rx.known(), old.ring.rx_max.known()));
            assert_eq!((new.ring.tx.known(), new.ring.tx_max.known()), (old.ring.tx.known(), old.ring.tx_max.known()));
            assert_eq!(new.ring.rx.is_absent(), old.ring.rx.is_absent());
            assert_eq!(
                (new.pause.rx.known(), new.pause.rx.is_absent()),
                (old.pause.rx.known(), old.pause.rx.is_absent())
            );
            assert_eq!(new.channels.combined.known(), old.channels.combined.known());
            assert_eq!(new.channels.rx.is_absent(), old.channels.rx.is_absent());
            assert_eq!(new.coalesce.rx_frames.known(), old.coalesce.rx_frames.known());
            assert_eq!(new.coalesce.tx_usecs.known(), old.coalesce.tx_usecs.known());
            assert_eq!(new.eee.enabled.is_absent(), old.eee.enabled.is_absent());
            assert_eq!(new.fec.configured.is_absent(), old.fec.configured.is_absent());
            assert_eq!(new.link.speed.known(), old.link.speed.known());
            assert_eq!(new.link.duplex.known(), old.link.duplex.known());
            assert_eq!(new.link.autoneg.known(), old.link.autoneg.known());
            assert_eq!(new.link.autoneg_supported.known(), old.link.autoneg_supported.known());
            assert_eq!(new.link.supported.known(), old.link.supported.known());
            assert_eq!(new.port.connector.known(), old.port.connector.known());
        }
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

#[test]
fn each_online_cpu_of_this_machine_is_listed() {
    let snapshot = scan(&mut Isolated::new("/"));
    let host = &snapshot.host;
    let cpus = host.cpu_list.known().unwrap();
    assert_eq!(cpus.len(), *host.cpus.known().unwrap() as usize);
    for cpu in cpus {
        assert!(cpu.times.known().unwrap().get("idle").unwrap().total() > Some(0));
        assert!(cpu.core.known().is_none_or(|core| *core <= cpu.number));
    }
    let kthreadd = std::fs::read_to_string("/proc/2/comm").is_ok_and(|name| name == "kthreadd\n");
    if let (true, Some(threads)) = (kthreadd, host.threads.known()) {
        let count = threads.iter().filter(|thread| thread.name.starts_with("ksoftirqd/")).count();
        assert_eq!(count, cpus.len());
    }
    assert!(host.routes.known().is_some() && host.neighbours.v4.known().is_some());
}
