//! A stock healthy host shows nothing loud: no fault or risk at warning or above, and exit code 0.

use netdoctor::report::is_at_least;
use netdoctor::report::model::Report;
use netdoctor::rules::schema::Severity;

use crate::support::{files, read, report, run, snapshot};

#[test]
fn healthy_hosts_show_nothing_loud() {
    let hosts = files("fixtures/hosts", "json");
    assert!(hosts.len() >= 2, "a guest and a container host at least");
    for path in hosts {
        let report = report(&snapshot(&read(&path)));
        let shown: Vec<_> = report.findings.iter().map(|one| (&one.rule, &one.kind, &one.severity)).collect();
        assert!(!is_at_least(&report, Severity::Warning), "{}: {shown:?}", path.display());
        // What is asked must be decided, else silence would prove nothing.
        assert!(report.checks.iter().any(|check| check.result != "unknown"), "{}", path.display());
        let said = run(&["analyze", "--fail-on", "warning", path.to_str().unwrap()]);
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", path.display());
    }
}

/// What a support engineer would be sent of healthy hosts of many kinds, as text.
#[test]
fn captures_of_healthy_hosts_show_nothing_loud() {
    let hosts = files("fixtures/hosts", "txt");
    assert!(hosts.len() >= 15, "hosts of many kinds: {}", hosts.len());
    for path in hosts {
        let said = run(&["analyze", "-f", "json", "--fail-on", "warning", path.to_str().unwrap()]);
        let report: Report = serde_json::from_str(&said.out).unwrap();
        let loud = report.findings.iter().filter(|one| {
            matches!(one.kind.as_str(), "fault" | "risk") && matches!(one.severity.as_str(), "warning" | "critical")
        });
        let loud: Vec<_> = loud.map(|one| (&one.rule, &one.subject, &one.severity)).collect();
        assert!(loud.is_empty() && said.code == 0, "{}: {loud:?} {}", path.display(), said.err);
        let decided = report.checks.iter().filter(|check| check.result == "passes").count();
        assert!(decided >= 10, "{}: {decided} checks passed", path.display());
    }
}

#[test]
fn the_guest_has_no_ceiling_on_what_its_hypervisor_makes_up() {
    let report = report(&snapshot(&read("fixtures/hosts/virtio-vm.json")));
    let row = |name: &str| report.interfaces.iter().find(|row| row.name == name).unwrap();
    // virtio reports 10 Gb/s or nothing, and emulated cards sit in Gen1 x1: neither says anything of the guest's speed.
    for name in ["vio0", "vio1", "vmx0"] {
        assert_eq!(row(name).physical, Some(false), "{name}");
        assert!(row(name).ceiling.is_none(), "{name}");
    }
    for name in ["igb0", "igb1", "e1000e0"] {
        assert_eq!(row(name).ceiling.as_ref().map(|ceiling| ceiling.binding.as_str()), Some("link"), "{name}");
    }
    assert!(report.findings.is_empty());
}

#[test]
fn the_container_host_is_judged_by_its_one_port() {
    let report = report(&snapshot(&read("fixtures/hosts/container-host.json")));
    let physical: Vec<_> = report.interfaces.iter().filter(|row| row.physical == Some(true)).collect();
    assert_eq!(physical.len(), 1);
    assert_eq!((physical[0].name.as_str(), physical[0].speed_bps), ("eno1", Some(25e9)));
    assert_eq!(report.interfaces.iter().filter(|row| row.kind.as_deref() == Some("veth")).count(), 41);
    // 812 dropped packets in 41 thousand million are not worth a word.
    assert!(report.findings.is_empty());
}
