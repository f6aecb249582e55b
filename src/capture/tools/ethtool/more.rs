//! Outputs of ethtool that tell of the module, of hashing and the like, and its JSON.

use serde_json::Value;

use super::super::super::command::Command;
use super::super::{Intake, Tool, is_interface_name};
use super::{asks, device, refused};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ethtool::{lists, module, statistics};
use crate::formats::json;
use crate::reading::Reading;
use crate::snapshot::{Feature, Interface, LinkModes};

pub(in super::super) static TOOLS: &[Tool] = &[
    Tool {
        name: "ethtool --json",
        answers: |command| command.program == "ethtool" && command.has("--json"),
        begins: |_| false,
        read: documents,
    },
    Tool {
        name: "ethtool -m",
        answers: |command| asks(command, &["-m", "--dump-module-eeprom", "--module-info"]),
        begins: begins_module,
        read: modules,
    },
    Tool {
        name: "ethtool -x",
        answers: |command| asks(command, &["-x", "--show-rxfh", "--show-rxfh-indir"]),
        begins: |cursor| cursor.peek().is_some_and(|line| lists::begins_hashing(line.text)),
        read: hashing,
    },
    Tool {
        name: "ethtool -n",
        answers: |command| asks(command, &["-n", "-u", "--show-nfc", "--show-ntuple"]),
        begins: |_| false,
        read: |cursor, intake| rows(cursor, intake, lists::is_rule_row),
    },
    Tool {
        name: "ethtool -T",
        answers: |command| asks(command, &["-T", "--show-time-stamping"]),
        begins: |cursor| {
            cursor.peek().is_some_and(|line| line.text.trim().starts_with("Time stamping parameters for "))
        },
        read: |cursor, intake| rows(cursor, intake, lists::is_stamping_row),
    },
    Tool {
        name: "ethtool --show-priv-flags",
        answers: |command| asks(command, &["--show-priv-flags"]),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.trim().starts_with("Private flags for ")),
        read: flags,
    },
    Tool {
        name: "ethtool --phy-statistics",
        answers: |command| asks(command, &["--phy-statistics"]),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.trim() == "PHY statistics:"),
        read: phy,
    },
    Tool {
        name: "ethtool -P",
        answers: |command| asks(command, &["-P", "--show-permaddr"]),
        begins: |cursor| cursor.peek().is_some_and(|line| lists::permanent_address(line.text).is_some()),
        read: address,
    },
    Tool {
        name: "ethtool -d",
        answers: |command| asks(command, &["-d", "--register-dump", "-e", "--eeprom-dump"]),
        begins: |_| false,
        read: |cursor, intake| rows(cursor, intake, lists::is_dump_row),
    },
    Tool {
        name: "ethtool --version",
        answers: |command| asks(command, &["--version", "-h", "--help"]),
        begins: |_| false,
        read: |cursor, intake| rows(cursor, intake, |text| text.starts_with("ethtool version ")),
    },
];

/// Takes the rows of an output that has no place in the snapshot.
fn rows(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>, is_row: fn(&str) -> bool) {
    let mut any = false;
    while let Some(line) = cursor.peek() {
        let blank_within =
            any && line.text.trim().is_empty() && cursor.peek_at(1).is_some_and(|next| is_row(next.text));
        if is_row(line.text) || blank_within {
            cursor.take();
            any = true;
        } else if refused(cursor, intake).is_none() {
            break;
        }
    }
}

fn begins_module(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| module::begins(line.text))
}

fn modules(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    module::parse(cursor);
}

fn hashing(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    if let Some(found) = lists::hashing(cursor).filter(|found| is_interface_name(&found.interface)) {
        intake.site.interface(&found.interface);
    }
}

fn flags(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let none = cursor.take_if(|text| (text.trim() == "No private flags defined").then_some(()));
    if none.is_some() || refused(cursor, intake).is_some() {
        return;
    }
    if let Some(found) = lists::private_flags(cursor).filter(|found| is_interface_name(&found.interface)) {
        intake.site.interface(&found.interface);
    }
}

/// No counter of a PHY has a name that means the same for two drivers: the rows are read, and nothing is judged by them.
fn phy(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let none = cursor.take_if(|text| (text.trim() == "no stats available").then_some(()));
    if none.is_some()
        || refused(cursor, intake).is_some()
        || cursor.take_if(|text| (text.trim() == "PHY statistics:").then_some(())).is_none()
    {
        return;
    }
    statistics::parse(cursor);
}

fn address(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    let Some(found) =
        cursor.take_if(|text| lists::permanent_address(text).map(|address| address.map(str::to_ascii_lowercase)))
    else {
        return;
    };
    let name = intake.interface_or_stand_in(device(intake.command), found.line);
    match found.value {
        Some(address) => intake.site.put(&name, |i| &mut i.permanent_address, At::new(address, found.line)),
        None => intake.site.put_absent(&name, |i| &mut i.permanent_address, found.line),
    }
}

/// `ethtool --json -k eth0` and its kin: an array with an object for each interface.
fn documents(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if refused(cursor, intake).is_some() {
        return;
    }
    let Some(found) = json::take(cursor) else { return };
    let Some(command) = intake.command else { return };
    for one in found.value.as_array().into_iter().flatten() {
        let named = one.get("ifname").and_then(Value::as_str).or_else(|| device(Some(command)));
        if let Some(name) = named.filter(|name| is_interface_name(name)).map(str::to_owned) {
            document(intake, command, &name, one, found.line);
        }
    }
}

type Leaf<T> = fn(&mut Interface) -> &mut Reading<T>;

fn document(intake: &mut Intake<'_>, command: &Command, name: &str, one: &Value, line: u32) {
    let is = |options: &[&str]| asks(command, options);
    let site = &mut *intake.site;
    site.interface(name);
    let flags = |pairs: &[(&str, Leaf<bool>)], site: &mut super::super::super::site::Site| {
        for (path, leaf) in pairs {
            site.put_some(name, leaf, one.pointer(path).and_then(Value::as_bool).map(|flag| At::new(flag, line)));
        }
    };
    let numbers = |pairs: &[(&str, Leaf<u32>)], site: &mut super::super::super::site::Site| {
        for (path, leaf) in pairs {
            let number = one.pointer(path).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
            site.put_some(name, leaf, number.map(|number| At::new(number, line)));
        }
    };
    if is(&["-k", "--show-features", "--show-offload"]) {
        let rows = one.as_object().into_iter().flatten().filter_map(|(name, row)| {
            let active = row.get("active")?.as_bool()?;
            let fixed = row.get("fixed").and_then(Value::as_bool).unwrap_or(false);
            let name = crate::formats::ethtool::features::kernel_name(name).to_owned();
            Some((name, Feature { active, changeable: !fixed }))
        });
        site.put(name, |i| &mut i.features, At::new(rows.collect(), line));
    } else if is(&["-a", "--show-pause"]) {
        flags(
            &[
                ("/autonegotiate", |i| &mut i.pause.autoneg),
                ("/rx", |i| &mut i.pause.rx),
                ("/tx", |i| &mut i.pause.tx),
                ("/negotiated/rx", |i| &mut i.pause.rx),
                ("/negotiated/tx", |i| &mut i.pause.tx),
            ],
            site,
        );
    } else if is(&["-g", "--show-ring"]) {
        numbers(
            &[
                ("/rx-max", |i| &mut i.ring.rx_max),
                ("/tx-max", |i| &mut i.ring.tx_max),
                ("/rx", |i| &mut i.ring.rx),
                ("/tx", |i| &mut i.ring.tx),
            ],
            site,
        );
    } else if is(&["-l", "--show-channels"]) {
        numbers(
            &[
                ("/rx-max", |i| &mut i.channels.rx_max),
                ("/tx-max", |i| &mut i.channels.tx_max),
                ("/combined-max", |i| &mut i.channels.combined_max),
                ("/rx", |i| &mut i.channels.rx),
                ("/tx", |i| &mut i.channels.tx),
                ("/combined", |i| &mut i.channels.combined),
            ],
            site,
        );
    } else if is(&["-c", "--show-coalesce"]) {
        numbers(
            &[
                ("/rx-usecs", |i| &mut i.coalesce.rx_usecs),
                ("/rx-frames", |i| &mut i.coalesce.rx_frames),
                ("/tx-usecs", |i| &mut i.coalesce.tx_usecs),
                ("/tx-frames", |i| &mut i.coalesce.tx_frames),
            ],
            site,
        );
        flags(
            &[("/adaptive-rx", |i| &mut i.coalesce.adaptive_rx), ("/adaptive-tx", |i| &mut i.coalesce.adaptive_tx)],
            site,
        );
    } else if is(&["--show-fec"]) {
        let words = |path: &str| {
            let list = one.pointer(path)?.as_array()?;
            Some(list.iter().filter_map(Value::as_str).map(str::to_ascii_lowercase).collect::<Vec<_>>())
        };
        if let Some(configured) = words("/config") {
            site.put(name, |i| &mut i.fec.configured, At::new(LinkModes(configured.into_iter().collect()), line));
        }
        if let Some([active]) = words("/active").as_deref() {
            let active = if active == "none" { "off" } else { active };
            site.put(name, |i| &mut i.fec.active, At::new(active.to_owned(), line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::transcript::one;

    #[test]
    fn documents_say_the_same_as_tables() {
        let text = "$ ethtool --json -k eth0\n[ {\n  \"ifname\": \"eth0\",\n  \"tcp-segmentation-offload\": {\"active\": false, \"fixed\": false, \"requested\": true},\n\
                    \u{20} \"rx-gro\": {\"active\": true, \"fixed\": true}\n} ]\n$ ethtool --json -a eth0\n[ {\"ifname\": \"eth0\", \"autonegotiate\": true, \"rx\": false, \"tx\": false,\n\
                    \"negotiated\": {\"rx\": true, \"tx\": false}} ]\n$ ethtool --json --show-fec eth0\n[ {\"ifname\": \"eth0\", \"config\": [\"Auto\", \"RS\"], \"active\": [\"RS\"]} ]\n\
                    $ ethtool --json -g eth1\nnetlink error: Operation not supported\n[ ]\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let port = snapshot.interface("eth0").unwrap();
        let features = port.features.known().unwrap();
        assert!(
            !features["tx-tcp-segmentation"].active
                && features["tx-tcp-segmentation"].changeable
                && !features["rx-gro"].changeable
        );
        assert_eq!(
            (port.pause.rx.known(), port.pause.tx.known(), port.fec.active.known().unwrap().as_str()),
            (Some(&true), Some(&false), "rs")
        );
    }

    #[test]
    fn outputs_without_a_place_are_understood() {
        let text = "# ethtool -m swp47 | grep -i rece\n\tReceiver signal average optical power     : 0.5889 mW / -2.30 dBm\n\
                    # ethtool -T eth0\nTime stamping parameters for eth0:\nCapabilities:\n\tsoftware-transmit     (SOF_TIMESTAMPING_TX_SOFTWARE)\nPTP Hardware Clock: none\n\
                    # ethtool --show-priv-flags eth0\nNo private flags defined\n# ethtool --phy-statistics eth0\nno stats available\n\
                    # ethtool -P eth0\nPermanent address: 52:54:00:E2:28:A3\n# ethtool -d eth0\nCannot get register dump: Operation not supported\n\
                    # ethtool -n eth0\n8 RX rings available\nTotal 0 rules\n\n# ethtool -x eth0\nRX flow hash indirection table for eth0 with 2 RX ring(s):\n    0:      0     1\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        assert_eq!(snapshot.interface("eth0").unwrap().permanent_address.known().unwrap(), "52:54:00:e2:28:a3");
    }
}
