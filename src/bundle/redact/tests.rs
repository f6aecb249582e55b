//! Redaction of whole snapshots.

use proptest::prelude::*;

use super::*;
use crate::reading::{Reading, SourceId};

fn snapshot(text: &str) -> Snapshot {
    Snapshot::from_json(text).unwrap_or_else(|error| panic!("{error}"))
}

fn redactor(snapshot: &Snapshot) -> Redactor {
    Redactor::new(snapshot, [42; 32]).unwrap()
}

/// A host whose names stand in every place where they may.
const HOST: &str = r#"{"schema": "netdoctor.snapshot/1",
    "sources": [{"kind": "assumed"}, {"kind": "file", "path": "/proc/sys/net/ipv4/conf/enx001122334455/rp_filter"},
        {"kind": "file", "path": "/etc/NetworkManager/system-connections/Home Wifi 7.nmconnection"},
        {"kind": "netlink", "command": "RTM_GETLINK", "subject": "enx001122334455"},
        {"kind": "file", "path": "/home/anna/x"}],
    "gaps": [{"why": "not_collected"}, {"why": "failed", "detail": "nas1 did not answer", "command": "ethtool enx001122334455"}],
    "host": {
        "name": ["nas1.example.com", 0], "kernel": ["6.1.0.1", 0], "os": ["Debian GNU/Linux 12", 0], "platform": ["debian", 0],
        "sysctl": [{"net.ipv4.conf.enx001122334455.rp_filter": "1", "net.ipv4.conf.nas1-br/7.rp_filter": "0",
                    "net.ipv4.tcp_congestion_control": "cubic"}, 1],
        "log": [[{"text": "r8152 2-1:1.0 enx001122334455: carrier on, SerialNumber: 00E04C680001", "source": 0},
                 {"text": "nfs: server nas2.example.com not responding, 192.168.1.20 via 00:11:22:33:44:55", "source": 0},
                 {"text": "NAS1 says 00E04C680001 again and nas12 is another", "source": 0}], 0],
        "flows": [[{"local": "192.168.1.5:22", "peer": "[2001:db8::7]:5201", "interface": ["enx001122334455", 0]}], 0],
        "routes": [[{"destination": "192.168.1.0/24", "gateway": {"absent": 0}, "source": ["192.168.1.5", 0]},
                    {"destination": "default", "gateway": ["192.168.1.1", 0]}], 0],
        "nfs": [[{"path": "/mnt/secret", "export": ["nas2.example.com:/pool/secret", 0], "server": ["192.168.1.20", 0]}], 0],
        "configured": [[{"manager": "NetworkManager", "file": "/etc/NetworkManager/system-connections/Home Wifi 7.nmconnection",
                         "line": 2, "scope": "connection of Home Wifi 7", "key": "id", "value": "Home Wifi 7"},
                        {"manager": "ifupdown", "file": "/etc/network/interfaces", "line": 9, "scope": "iface wlan0", "key": "wpa-ssid",
                         "value": "Under the roof"}], 2]
    },
    "interfaces": [
        {"name": "enx001122334455", "index": [2, 0], "kind": ["ethernet", 0], "alias": ["to Smith's office, room 12", 0],
         "address": ["00:11:22:33:44:55", 3], "addresses": [["192.168.1.5/24", "fe80::211:22ff:fe33:4455/64", "2001:db8::5/64"], 0],
         "mtu": {"unknown": 1}, "driver": {"name": ["r8152", 0], "firmware": ["10.1.2.3", 0], "version": ["1.12.13.1", 0]}},
        {"name": "ib0", "address": ["80:00:00:48:fe:80:00:00:00:00:00:00:00:02:c9:03:00:01:02:03", 0]},
        {"name": "lo", "kind": ["loopback", 0], "address": ["00:00:00:00:00:00", 0], "addresses": [["127.0.0.1/8", "::1/128"], 0]},
        {"name": "nas1-br.7", "kind": ["vlan", 0], "stack": {"parent": ["enx001122334455", 0]}, "address": ["00:11:22:33:44:56", 0]}
    ]}"#;

#[test]
fn nothing_of_the_original_is_left_and_what_belongs_together_still_does() {
    let original = snapshot(HOST);
    let redactor = redactor(&original);
    let redacted = redactor.snapshot().unwrap();
    let text = redacted.to_json();
    let others = text.replace("nas12", "");
    for gone in [
        "nas1",
        "nas2",
        "example.com",
        "001122334455",
        "00:11:22:33",
        "11:22:33:44",
        "192.168.1.5",
        "192.168.1.20",
        "192.168.1.1\"",
        "2001:db8::5",
        "211:22ff",
        "Smith",
        "Home Wifi",
        "roof",
        "/mnt/secret",
        "/pool",
        "anna",
        "00E04C680001",
        "NAS1",
        "00:01:02:03",
    ] {
        assert!(!others.contains(gone), "{gone}: {text}");
    }
    assert_eq!(redactor.leaks("snapshot.json", &text), []);
    // What is no name or address stays.
    for kept in [
        "nas12",
        "10.1.2.3",
        "1.12.13.1",
        "6.1.0.1",
        "cubic",
        "127.0.0.1/8",
        "::1/128",
        "RTM_GETLINK",
        "default",
        "00:02:c9:",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let one = &redacted.interfaces.iter().find(|one| one.name.starts_with("enx")).unwrap();
    let address = one.address.known().unwrap();
    assert!(address.starts_with("00:11:22:"), "{address}");
    assert_eq!(one.name, format!("enx{}", address.replace(':', "")));
    assert_eq!(one.alias.known().unwrap(), "alias-1");
    let other = redacted.interfaces.iter().find(|one| one.stack.parent.known().is_some()).unwrap();
    assert_eq!(other.stack.parent.known().unwrap(), &one.name);
    assert_eq!(other.name, "host-1-br.7");
    let host = &redacted.host;
    assert_eq!(host.name.known().unwrap(), "host-1.domain-1.invalid");
    let parameters = host.sysctl.known().unwrap();
    assert_eq!(parameters[&format!("net.ipv4.conf.{}.rp_filter", one.name)], "1");
    assert_eq!(parameters["net.ipv4.conf.host-1-br/7.rp_filter"], "0");
    let log = host.log.known().unwrap();
    assert_eq!(log[0].text, format!("r8152 2-1:1.0 {}: carrier on, SerialNumber: serial-1", one.name));
    assert_eq!(log[2].text, "host-1 says serial-1 again and nas12 is another");
    let nfs = &host.nfs.known().unwrap()[0];
    let server = nfs.server.known().unwrap();
    assert_eq!(log[1].text, format!("nfs: server host-2.domain-1.invalid not responding, {server} via {address}"));
    assert_eq!(nfs.export.known().unwrap(), &format!("host-2.domain-1.invalid:{}", "/path-2"));
    assert_eq!(nfs.path, "/path-1");
    // The subnet holds what it held, and nothing else is the same.
    let addresses = one.addresses.known().unwrap();
    let own: Ipv4Addr = addresses[0].strip_suffix("/24").unwrap().parse().unwrap();
    let net: Ipv4Addr = host.routes.known().unwrap()[0].destination.strip_suffix("/24").unwrap().parse().unwrap();
    assert_eq!((net.octets()[3], own.to_bits() >> 8), (0, net.to_bits() >> 8));
    assert!(own.is_private() && own.to_string().starts_with("192.168."));
    assert_eq!(host.routes.known().unwrap()[0].source.known().unwrap(), &own.to_string());
    assert_eq!(host.flows.known().unwrap()[0].local, format!("{own}:22"));
    let configured = host.configured.known().unwrap();
    assert_eq!(configured[0].file, "/etc/NetworkManager/system-connections/connection-1.nmconnection");
    assert_eq!(
        (configured[0].scope.as_str(), configured[0].value.as_str()),
        ("connection of connection-1", "connection-1")
    );
    assert_eq!(configured[1].value, "network-1");
    let gap = redacted.origins.gaps().last().unwrap();
    assert_eq!(
        (gap.detail.as_str(), gap.command.as_str()),
        ("host-1 did not answer", format!("ethtool {}", one.name).as_str())
    );
}

#[test]
fn the_check_sees_each_spelling_of_what_should_be_gone() {
    let original = snapshot(HOST);
    let redactor = redactor(&original);
    for (text, what) in [
        ("00:11:22:33:44:55", "hardware address"),
        ("00-11-22-33-44-55", "hardware address"),
        ("0011.2233.4455", "hardware address"),
        ("wlx001122334455", "hardware address"),
        ("a 001122334455 b", "hardware address"),
        ("00:11:22:33:44:56", "hardware address"),
        ("from 192.168.1.5:22", "address"),
        ("2001:0db8:0::5", "address"),
        ("NAS1", "host name"),
        ("<b>nas2</b>", "host name"),
        ("host.example.com", "domain"),
        ("s/n 00e04c680001", "serial number"),
        ("Home Wifi 7", "connection"),
        ("/pool/secret", "path"),
    ] {
        let found = redactor.leaks("report.html", text);
        assert_eq!(found.iter().map(|leak| leak.what).collect::<Vec<_>>(), [what], "{text}: {found:?}");
    }
    assert_eq!(redactor.leaks("report.html", "nas12, 192.168.1.50, 127.0.0.1, 00:00:00:00:00:00"), []);
}

#[test]
fn another_secret_gives_other_values() {
    let original = snapshot(HOST);
    let one = Redactor::new(&original, [1; 32]).unwrap().snapshot().unwrap().to_json();
    let two = Redactor::new(&original, [2; 32]).unwrap().snapshot().unwrap().to_json();
    assert_ne!(one, two);
    assert_eq!(one, Redactor::new(&original, [1; 32]).unwrap().snapshot().unwrap().to_json());
}

#[test]
fn a_host_that_is_named_like_its_system_keeps_the_system() {
    let mut original = snapshot(HOST);
    for name in [
        "debian",
        "ethernet",
        "unknown",
        "cubic",
        "eth0",
        "lo",
        "r8152",
        "up",
        "fe80",
        "7",
        "1234",
        "host",
        "-",
        "\u{1b}[31m",
        "a b",
    ] {
        original.host.name = Reading::Known(name.into(), SourceId::ASSUMED);
        let redactor = redactor(&original);
        let redacted = redactor.snapshot().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(redacted.host.platform.known().unwrap(), "debian", "{name}");
        assert_eq!(redacted.interfaces.len(), 4, "{name}");
        assert_eq!(redactor.leaks("snapshot.json", &redacted.to_json()), [], "{name}");
    }
    original.host.name = Reading::Known("debian12".into(), SourceId::ASSUMED);
    original.host.platform = Reading::Known("debian12".into(), SourceId::ASSUMED);
    let redactor = redactor(&original);
    assert!(redactor.doubts().iter().any(|line| line.contains("`debian12`")), "{:?}", redactor.doubts());
    assert!(redactor.summary().iter().all(|line| !line.contains("debian12")), "{:?}", redactor.summary());
    assert_eq!(redactor.leaks("report.txt", "debian12"), []);
}

/// Words of which texts are made: addresses in all spellings, names, marks.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<[u8; 4]>().prop_map(|octets| Ipv4Addr::from(octets).to_string()),
        (any::<[u8; 4]>(), 0_u8..33).prop_map(|(octets, length)| format!("{}/{length}", Ipv4Addr::from(octets))),
        any::<u128>().prop_map(|bits| Ipv6Addr::from_bits(bits).to_string()),
        (any::<u16>(), any::<u16>()).prop_map(|(a, b)| format!("fe80::{a:x}:{b:x}")),
        any::<[u8; 6]>().prop_map(|bytes| spelled(&bytes, tokens::Spelling::Pairs(':'), "")),
        any::<[u8; 6]>().prop_map(|bytes| spelled(&bytes, tokens::Spelling::Pairs('-'), "A")),
        any::<[u8; 6]>().prop_map(|bytes| format!("enx{}", spelled(&bytes, tokens::Spelling::Bare, ""))),
        any::<[u8; 6]>().prop_map(|bytes| spelled(&bytes, tokens::Spelling::Dotted, "")),
        any::<u128>().prop_map(|id| {
            let hex = format!("{id:032x}");
            format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
        }),
        Just("nas1".to_owned()),
        Just("nas1.example.com".to_owned()),
        "[ :,;.%/\\[\\]()=\u{e9}\u{1f600}\n-]{1,3}",
        "[0-9a-f:.]{1,12}",
        "\\PC{0,6}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_keeps_what_it_held(words in prop::collection::vec(word(), 0..12), secret: u8) {
        let text = words.join(" ");
        let mut original = snapshot(HOST);
        let Reading::Known(lines, _) = &mut original.host.log else { unreachable!() };
        lines[0].text = text.clone();
        let redactor = Redactor::new(&original, [secret; 32]).unwrap();
        let redacted = redactor.snapshot().unwrap();
        let line = &redacted.host.log.known().unwrap()[0].text;
        prop_assert_eq!(redactor.leaks("snapshot.json", &redacted.to_json()), vec![], "{}", text);
        // Independent of how the text was taken apart: no public address is a word of the new one.
        for word in words {
            let of_v6 = word.parse::<Ipv6Addr>().is_ok_and(|address| address.segments()[0] & 0xe000 == 0x2000);
            let of_v4 = word.parse::<Ipv4Addr>().is_ok_and(|address| (11..100).contains(&address.octets()[0]));
            let stands = line.split(' ').any(|part| part == word);
            prop_assert!(!(of_v4 || of_v6) || !stands, "{} in {}", word, line);
        }
        prop_assert_eq!(line.lines().count(), text.lines().count());
    }

    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,80}", name in "\\PC{0,20}") {
        let mut original = snapshot(HOST);
        original.host.name = Reading::Known(name.clone(), SourceId::ASSUMED);
        original.interfaces[0].name = name;
        original.interfaces[0].alias = Reading::Known(text.clone(), SourceId::ASSUMED);
        let redactor = Redactor::new(&original, [3; 32]).unwrap();
        let _ = redactor.snapshot();
        let _ = redactor.text(&text);
        let _ = redactor.leaks("report.txt", &text);
    }
}
