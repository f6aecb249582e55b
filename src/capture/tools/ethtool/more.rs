//! Outputs of ethtool that tell of the module, of hashing and the like, and its JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::super::super::command::Command;
use super::super::super::site::{Refusal, Site};
use super::super::sysfs::plain_address;
use super::super::{Intake, Tool, is_interface_name};
use super::{asks, device, mark_refusal, refused, write_refusal};
use crate::formats::cursor::{At, Cursor};
use crate::formats::ethtool::module::{self, Module};
use crate::formats::ethtool::{features, lists, statistics};
use crate::formats::json;
use crate::reading::{Celsius, Decibel, Reading, SourceId};
use crate::snapshot::{Feature, Interface, LinkModes, ModuleLane};

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
    if let Some(refusal) = refused(cursor, intake) {
        write_refusal(intake, &refusal, |interface| &mut interface.module.identifier);
        mark_refusal(intake, &refusal, |interface, source| interface.module.mark_absent(source));
        return;
    }
    let Some(found) = module::parse(cursor) else { return };
    let name = intake.interface_or_stand_in(device(intake.command), found.line);
    let filtered = intake.is_filtered();
    module_of(intake.site, &name, found, filtered);
}

fn module_of(site: &mut Site, name: &str, found: Module, filtered: bool) {
    site.put(name, |i| &mut i.module.present, At::new(true, found.line));
    site.put_some(name, |i| &mut i.module.identifier, found.identifier);
    site.put_some(name, |i| &mut i.module.vendor, found.vendor);
    site.put_some(name, |i| &mut i.module.part_number, found.part);
    site.put_some(name, |i| &mut i.module.bit_rate, found.bit_rate);
    site.put_some(name, |i| &mut i.module.copper, found.copper);
    site.put_some(name, |i| &mut i.module.diagnostics, found.diagnostics);
    site.put_some(name, |i| &mut i.module.temperature, found.temperature.map(|at| at.map(Celsius)));
    site.put_some(name, |i| &mut i.module.voltage, found.voltage);
    site.put_some(name, |i| &mut i.module.tx_fault, found.tx_fault);
    site.put_some(name, |i| &mut i.module.rx_los, found.rx_los);
    if let Some(line) = found.compliance.first().map(|at| at.line) {
        let codes = found.compliance.into_iter().map(|at| at.value).collect();
        site.put(name, |i| &mut i.module.compliance, At::new(codes, line));
    }
    // A filter may have left lanes out, and those that it left in are no list of all.
    if !found.lanes.is_empty() && (!filtered || found.lanes.iter().all(|lane| lane.received.is_some())) {
        let lanes = found.lanes.into_iter().map(|lane| {
            let mut power = |at: Option<At<f64>>| {
                // No light at all is written as the least that a module can tell.
                at.map_or_else(Reading::default, |at| {
                    Reading::Known(Decibel(at.value.max(-40.0)), site.source(at.line))
                })
            };
            let (rx_power, tx_power) = (power(lane.received), power(lane.sent));
            let bias = lane.bias.map_or_else(Reading::default, |at| Reading::Known(at.value, site.source(at.line)));
            ModuleLane { lane: lane.number, rx_power, tx_power, bias }
        });
        let lanes = lanes.collect();
        site.put(name, |i| &mut i.module.lanes, At::new(lanes, found.line));
    }
    for (words, At { value, line }) in found.thresholds {
        let power: Option<Leaf<Decibel>> = match words.as_str() {
            "Laser rx power high alarm" => Some(|i| &mut i.module.thresholds.rx_power_high_alarm),
            "Laser rx power low alarm" => Some(|i| &mut i.module.thresholds.rx_power_low_alarm),
            "Laser rx power high warning" => Some(|i| &mut i.module.thresholds.rx_power_high_warn),
            "Laser rx power low warning" => Some(|i| &mut i.module.thresholds.rx_power_low_warn),
            "Laser output power high warning" => Some(|i| &mut i.module.thresholds.tx_power_high_warn),
            "Laser output power low warning" => Some(|i| &mut i.module.thresholds.tx_power_low_warn),
            _ => None,
        };
        if let Some(leaf) = power {
            site.put(name, leaf, At::new(Decibel(value.max(-40.0)), line));
        }
        match words.as_str() {
            "Laser bias current high warning" => {
                site.put(name, |i| &mut i.module.thresholds.bias_high_warn, At::new(value, line));
            }
            "Laser bias current low warning" => {
                site.put(name, |i| &mut i.module.thresholds.bias_low_warn, At::new(value, line));
            }
            "Module temperature high alarm" => {
                site.put(name, |i| &mut i.module.thresholds.temperature_high_alarm, At::new(Celsius(value), line));
            }
            "Module temperature high warning" => {
                site.put(name, |i| &mut i.module.thresholds.temperature_high_warn, At::new(Celsius(value), line));
            }
            _ => {}
        }
    }
}

fn hashing(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(refusal) = refused(cursor, intake) {
        write_refusal(intake, &refusal, |interface| &mut interface.rss.table);
        mark_refusal(intake, &refusal, |interface, source| interface.rss.mark_absent(source));
        return;
    }
    let Some(found) = lists::hashing(cursor).filter(|found| is_interface_name(&found.interface)) else { return };
    let name = found.interface.as_str();
    intake.site.interface(name);
    // A ring that the table does not name is served by nobody.
    let rings = found.rings.min(65_536) as usize;
    if !found.table.is_empty() && !intake.is_filtered() && found.table.iter().all(|ring| (*ring as usize) < rings) {
        let mut entries = vec![0; rings];
        for ring in &found.table {
            entries[*ring as usize] += 1;
        }
        intake.site.put(name, |i| &mut i.rss.table, At::new(entries, found.line));
    }
    if let [function] = found.functions.as_slice() {
        intake.site.put(name, |i| &mut i.rss.function, At::new(function.clone(), found.line));
    }
}

fn flags(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(none) = cursor.take_if(|text| (text.trim() == "No private flags defined").then_some(())) {
        if let Some(name) = device(intake.command).filter(|name| is_interface_name(name)) {
            intake.site.put_absent(name, |i| &mut i.private_flags, none.line);
        }
        return;
    }
    if let Some(refusal) = refused(cursor, intake) {
        write_refusal(intake, &refusal, |interface| &mut interface.private_flags);
        return;
    }
    let Some(found) = lists::private_flags(cursor).filter(|found| is_interface_name(&found.interface)) else { return };
    let line = found.flags.first().map(|(name, _)| name.line);
    let flags: BTreeMap<String, bool> = found.flags.into_iter().map(|(name, on)| (name.value, on)).collect();
    if let Some(line) = line {
        intake.site.put(&found.interface, |i| &mut i.private_flags, At::new(flags, line));
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
        Some(address) => {
            let address = plain_address(&address);
            intake.site.put(&name, |i| &mut i.permanent_address, At::new(address, found.line));
        }
        None => intake.site.put_absent(&name, |i| &mut i.permanent_address, found.line),
    }
}

/// `ethtool --json -k eth0` and its kin: an array with an object for each interface.
fn documents(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(refusal) = refused(cursor, intake) {
        // Versions that print an empty document after their complaint print it on a line of its own.
        cursor.take_if(|text| matches!(text.trim(), "[ ]" | "[]").then_some(()));
        return refuse(intake, &refusal);
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

/// What a driver lacks by a refusal, whichever form the command asked for.
fn refuse(intake: &mut Intake<'_>, refusal: &At<Refusal>) {
    let Some(command) = intake.command else { return };
    let is = |options: &[&str]| asks(command, options);
    let mark: fn(&mut Interface, SourceId) = if is(&["-k", "--show-features", "--show-offload"]) {
        return write_refusal(intake, refusal, |i| &mut i.features);
    } else if is(&["-g", "--show-ring"]) {
        |i, source| i.ring.mark_absent(source)
    } else if is(&["-l", "--show-channels"]) {
        |i, source| i.channels.mark_absent(source)
    } else if is(&["-a", "--show-pause"]) {
        |i, source| i.pause.mark_absent(source)
    } else if is(&["-c", "--show-coalesce"]) {
        |i, source| i.coalesce.mark_absent(source)
    } else if is(&["--show-eee"]) {
        |i, source| i.eee.mark_absent(source)
    } else if is(&["--show-fec"]) {
        |i, source| i.fec.mark_absent(source)
    } else if is(&["-m", "--dump-module-eeprom", "--module-info"]) {
        |i, source| i.module.mark_absent(source)
    } else if is(&["-x", "--show-rxfh", "--show-rxfh-indir"]) {
        |i, source| i.rss.mark_absent(source)
    } else {
        return;
    };
    mark_refusal(intake, refusal, mark);
}

type Leaf<T> = fn(&mut Interface) -> &mut Reading<T>;

/// True where a document answers anything with false. Versions up to 6.1 print true for whatever a driver answers to some
/// questions: only a false shows that this one does not.
fn any_false(value: &Value) -> bool {
    match value {
        Value::Object(rows) => rows.values().any(any_false),
        other => *other == Value::Bool(false),
    }
}

fn document(intake: &mut Intake<'_>, command: &Command, name: &str, one: &Value, line: u32) {
    let is = |options: &[&str]| asks(command, options);
    let site = &mut *intake.site;
    site.interface(name);
    let flags = |pairs: &[(&str, Leaf<bool>)], site: &mut Site| {
        if !any_false(one) {
            return;
        }
        for (path, leaf) in pairs {
            site.put_some(name, leaf, one.pointer(path).and_then(Value::as_bool).map(|flag| At::new(flag, line)));
        }
    };
    let numbers = |pairs: &[(&str, Leaf<u32>)], site: &mut Site| {
        for (path, leaf) in pairs {
            let number = one.pointer(path).and_then(Value::as_u64).and_then(|number| u32::try_from(number).ok());
            site.put_some(name, leaf, number.map(|number| At::new(number, line)));
        }
    };
    if is(&["-k", "--show-features", "--show-offload"]) {
        let feature = |name: &str, row: &Value| {
            let active = row.get("active")?.as_bool()?;
            let fixed = row.get("fixed").and_then(Value::as_bool).unwrap_or(false);
            Some((features::kernel_name(name).to_owned(), Feature { active, changeable: !fixed }))
        };
        // Groups first, so that the rows of their members win.
        let (groups, members): (Vec<_>, Vec<_>) =
            one.as_object().into_iter().flatten().partition(|(name, _)| features::kernel_name(name) != name.as_str());
        let rows = groups.iter().chain(&members).filter_map(|(name, row)| feature(name, row));
        site.put(name, |i| &mut i.features, At::new(rows.collect(), line));
        let refused = groups.iter().chain(&members).filter_map(|(name, row)| {
            let flag = |key: &str| row.get(key).and_then(Value::as_bool);
            (flag("requested")? != flag("active")? && flag("fixed") == Some(false))
                .then(|| features::kernel_name(name).to_owned())
        });
        let refused: BTreeSet<String> = refused.collect();
        site.put(name, |i| &mut i.features_refused, At::new(refused.into_iter().collect(), line));
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
        let port = snapshot.interface("eth0").unwrap();
        assert_eq!(port.permanent_address.known().unwrap(), "52:54:00:e2:28:a3");
        assert!(port.private_flags.is_absent());
        assert_eq!(port.rss.table.known(), Some(&vec![1, 1]));
        let lanes = snapshot.interface("swp47").unwrap().module.lanes.known().unwrap();
        assert_eq!((lanes.len(), lanes[0].rx_power.known().unwrap().0), (1, -2.30));
    }

    #[test]
    fn modules_flags_and_rings() {
        let text = "# ethtool -m eth1\n\tIdentifier                                : 0x03 (SFP)\n\tReceiver signal average optical power     : 0.0000 mW / -inf dBm\n\
                    \tLaser rx power low alarm threshold        : 0.0100 mW / -20.00 dBm\n# ethtool -m eth2\n\
                    Cannot get module EEPROM information: Operation not supported\n# ethtool --show-priv-flags eth1\nPrivate flags for eth1:\n\
                    legacy-rx          : on\n# ethtool -x eth1\nRX flow hash indirection table for eth1 with 3 RX ring(s):\n    0:      0     1     0     0\n\
                    RSS hash function:\n    toeplitz: on\n    xor: off\n";
        let (snapshot, _) = one(text);
        let port = snapshot.interface("eth1").unwrap();
        assert_eq!(
            (port.module.identifier.known().unwrap().as_str(), port.module.present.known()),
            ("SFP", Some(&true))
        );
        assert_eq!(port.module.lanes.known().unwrap()[0].rx_power.known().unwrap().0, -40.0);
        assert_eq!(port.module.thresholds.rx_power_low_alarm.known().unwrap().0, -20.0);
        assert_eq!(port.private_flags.known().unwrap()["legacy-rx"], true);
        assert_eq!(
            (port.rss.table.known(), port.rss.function.known().unwrap().as_str()),
            (Some(&vec![3, 1, 0]), "toeplitz")
        );
        assert!(snapshot.interface("eth2").unwrap().module.identifier.is_absent());
    }
}
