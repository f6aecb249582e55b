//! Files of /sys/class/net: a value by itself, where the command names its file, or behind its path, as `grep .` prints it.

use super::super::command::Command;
use super::super::site::refusal;
use super::{Intake, Tool, is_interface_name, path_value};
use crate::formats::cpu_mask;
use crate::formats::cursor::{At, Cursor};
use crate::knowledge::Knowledge;
use crate::reading::{BitsPerSecond, Bytes, Gap, GapKind, Reading};
use crate::snapshot::{Bus, Duplex, InterfaceKind, OperState, PciAddress, Queue, Word};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "sysfs",
        answers: |command| command.files().iter().any(|path| attribute(path).is_some()),
        begins: |cursor| cursor.peek().is_some_and(|line| row(line.text).is_some()),
        read,
    },
    Tool { name: "sysfs links", answers: |command| links_of(command), begins: begins_links, read: read_links },
];

/// Interface and attribute of a path: `/sys/class/net/eth0/statistics/rx_bytes`, `/sys/devices/.../net/eth0/mtu`.
fn attribute(path: &str) -> Option<(&str, &str)> {
    let rest = match path.strip_prefix("/sys/class/net/") {
        Some(rest) => rest,
        None => path.strip_prefix("/sys/devices/")?.split_once("/net/")?.1,
    };
    let (name, attribute) = rest.split_once('/')?;
    let plain = !attribute.is_empty() && !path.contains(['*', '?', '$', '`']);
    (plain && is_interface_name(name)).then_some((name, attribute))
}

/// Interface, attribute and value of a line `path:value`.
fn row(text: &str) -> Option<(&str, &str, &str)> {
    let (path, value) = path_value(text)?;
    let (name, attribute) = attribute(path)?;
    Some((name, attribute, value))
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command.cloned();
    let files: Vec<&str> = command.as_ref().map(Command::files).unwrap_or_default();
    let mut next = files.iter().filter_map(|path| attribute(path)).peekable();
    while let Some(line) = cursor.peek() {
        let heading = line.text.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <=="));
        if let Some((name, attribute, value)) = row(line.text) {
            put(intake, name, attribute, value, line.number);
        } else if let Some((name, attribute)) = heading.and_then(attribute) {
            // `tail -n +1 FILES`: a heading, the value, an empty line.
            cursor.take();
            if let Some(value) = cursor.take() {
                put(intake, name, attribute, value.text, value.number);
            }
            cursor.skip_blank();
            continue;
        } else if command.is_some() && is_complaint(line.text) {
            next.next();
        } else if let Some((name, attribute)) = next.peek().copied().filter(|(_, attribute)| fits(attribute, line.text))
        {
            put(intake, name, attribute, line.text, line.number);
            // This one has several lines.
            if !attribute.ends_with("uevent") {
                next.next();
            }
        } else {
            break;
        }
        cursor.take();
    }
}

/// `cat: /sys/class/net/eth0/speed: Invalid argument`: what a driver without a link answers.
fn is_complaint(text: &str) -> bool {
    let of_file = text.starts_with("cat: ") || text.starts_with("grep: ");
    of_file && (text.ends_with("Invalid argument") || text.ends_with("Is a directory") || refusal(text).is_some())
}

/// True for a text that can be the value of an attribute.
fn fits(attribute: &str, text: &str) -> bool {
    let text = text.trim();
    match attribute {
        "uevent" | "device/uevent" => text.contains('='),
        "mtu" | "tx_queue_len" | "ifindex" | "iflink" | "carrier" | "carrier_changes" | "carrier_down_count"
        | "type" => text.parse::<u64>().is_ok(),
        "speed" => text.parse::<i64>().is_ok(),
        _ if attribute.starts_with("statistics/") => text.parse::<u64>().is_ok(),
        _ => !text.is_empty() && text.len() < 400 && !text.starts_with("cat: "),
    }
}

fn put(intake: &mut Intake<'_>, name: &str, attribute: &str, value: &str, line: u32) {
    let value = value.trim();
    let number = || value.parse::<u64>().ok();
    let small = || value.parse::<u32>().ok().map(|value| At::new(value, line));
    let site = &mut *intake.site;
    match attribute {
        "mtu" => site.put_some(name, |i| &mut i.mtu, number().map(|mtu| At::new(Bytes(mtu), line))),
        "tx_queue_len" => site.put_some(name, |i| &mut i.txqueuelen, small()),
        "ifindex" => site.put_some(name, |i| &mut i.index, small()),
        "address" if value.is_empty() => site.put_absent(name, |i| &mut i.address, line),
        "address" => site.put(name, |i| &mut i.address, At::new(plain_address(value), line)),
        "ifalias" if !value.is_empty() => site.put(name, |i| &mut i.alias, At::new(value.to_owned(), line)),
        "operstate" => {
            site.put_some(name, |i| &mut i.oper_state, OperState::from_word(value).map(|state| At::new(state, line)));
        }
        "carrier" => {
            let up = match value {
                "1" => Some(true),
                "0" => Some(false),
                _ => None,
            };
            site.put_some(name, |i| &mut i.link.up, up.map(|up| At::new(up, line)));
        }
        "carrier_down_count" => {
            site.put_some(name, |i| &mut i.link.carrier_down, number().map(|count| At::new(count, line)));
        }
        "flags" => {
            let flags = value.strip_prefix("0x").and_then(|hex| u32::from_str_radix(hex, 16).ok());
            site.put_some(name, |i| &mut i.admin_up, flags.map(|flags| At::new(flags & 1 != 0, line)));
        }
        "speed" => {
            let known = number().filter(|speed| (1..10_000_000).contains(speed) && *speed != 65_535);
            if let Some(speed) = known {
                site.put(name, |i| &mut i.link.speed, At::new(BitsPerSecond(speed * 1_000_000), line));
            } else {
                let gap = Gap::new(GapKind::DriverUnknown).detail(format!("the file says {value}"));
                site.put_gap(name, |i| &mut i.link.speed, gap);
            }
        }
        "duplex" => {
            site.put_some(name, |i| &mut i.link.duplex, Duplex::from_word(value).map(|duplex| At::new(duplex, line)));
        }
        "type" => {
            let kind = match value {
                "772" => Some(InterfaceKind::Loopback),
                "32" => Some(InterfaceKind::Infiniband),
                "801" | "802" | "803" => Some(InterfaceKind::Wifi),
                "768" | "769" | "776" => Some(InterfaceKind::Ipip),
                "778" | "823" => Some(InterfaceKind::Gre),
                _ => None,
            };
            site.put_some(name, |i| &mut i.kind, kind.map(|kind| At::new(kind, line)));
        }
        "uevent" => {
            let kind = value.strip_prefix("DEVTYPE=").map(InterfaceKind::of_link_kind);
            let kind = kind.filter(|kind| *kind != InterfaceKind::Other);
            site.put_some(name, |i| &mut i.kind, kind.map(|kind| At::new(kind, line)));
        }
        _ => {
            if let Some(counter) = attribute.strip_prefix("statistics/")
                && let Some(value) = number()
            {
                site.counters(name, "rtnl_link_stats64", line, vec![(counter.to_owned(), value)], true);
            } else if let Some(option) = attribute.strip_prefix("bonding/") {
                bonding(intake, name, option, value, line);
            } else if let Some(rest) = attribute.strip_prefix("queues/") {
                queue(intake, name, rest, value, line);
            } else if let Some(rest) = attribute.strip_prefix("device/") {
                device(intake, name, rest, value, line);
            }
        }
    }
}

/// An address as `ip` prints it: that of an IPv4 tunnel has four bytes and is an IPv4 address.
pub(super) fn plain_address(text: &str) -> String {
    let bytes: Option<Vec<u8>> = text.split(':').map(|byte| u8::from_str_radix(byte, 16).ok()).collect();
    match bytes.as_deref() {
        Some([a, b, c, d]) => format!("{a}.{b}.{c}.{d}"),
        _ => text.to_owned(),
    }
}

/// Most queues of an interface.
const MOST_QUEUES: usize = 2048;

/// CPUs of a queue: `rx-0/rps_cpus`, `tx-3/xps_cpus`.
fn queue(intake: &mut Intake<'_>, name: &str, attribute: &str, value: &str, line: u32) {
    let Some((queue, file)) = attribute.split_once('/') else { return };
    let (tx, index) = match (queue.strip_prefix("rx-"), queue.strip_prefix("tx-")) {
        (Some(index), _) => (false, index.parse().ok()),
        (_, Some(index)) => (true, index.parse().ok()),
        _ => return,
    };
    let Some(index) = index else { return };
    // Any file of a queue shows that it is there.
    let cpus = cpu_mask::members(value).filter(|_| matches!(file, "rps_cpus" | "xps_cpus"));
    let mut queues = intake.site.interface(name).queues.known().cloned().unwrap_or_default();
    if queues.len() >= MOST_QUEUES {
        return;
    }
    let at = queues.iter().position(|held| held.tx == tx && held.index == index).unwrap_or_else(|| {
        queues.push(Queue { tx, index, ..Queue::default() });
        queues.len() - 1
    });
    let source = intake.site.source(line);
    let queue = &mut queues[at];
    match cpus {
        Some(cpus) if tx => queue.xps_cpus = Reading::Known(cpus, source),
        Some(cpus) => queue.rps_cpus = Reading::Known(cpus, source),
        None => {}
    }
    // The other is no file of such a queue.
    if tx { &mut queue.rps_cpus } else { &mut queue.xps_cpus }.fill(Reading::Absent(source));
    queues.sort_by_key(|queue| (queue.tx, queue.index));
    intake.site.put(name, |i| &mut i.queues, At::new(queues, line));
}

/// Attributes of the device behind an interface.
fn device(intake: &mut Intake<'_>, name: &str, attribute: &str, value: &str, line: u32) {
    match attribute {
        "sriov_numvfs" => {
            let count = value.parse().ok().map(|count| At::new(count, line));
            intake.site.put_some(name, |i| &mut i.virtual_functions, count);
        }
        "numa_node" => {
            let address = intake.site.interface(name).device.known().copied();
            if let (Some(address), Ok(node)) = (address, value.parse()) {
                intake.site.put_device(address, |device| &mut device.numa_node, At::new(node, line));
            }
        }
        "modalias" => modalias(intake, name, value, line),
        "uevent" => {
            if let Some(driver) = value.strip_prefix("DRIVER=").filter(|driver| !driver.is_empty()) {
                intake.site.put(name, |i| &mut i.driver.name, At::new(driver.to_owned(), line));
            } else if let Some(alias) = value.strip_prefix("MODALIAS=") {
                modalias(intake, name, alias, line);
            } else if let Some(address) = value.strip_prefix("PCI_SLOT_NAME=").and_then(|word| word.parse().ok()) {
                intake.site.put(name, |i| &mut i.device, At::new(address, line));
                intake.site.link_device(name, address, line);
            }
        }
        _ => {}
    }
}

/// The name that a device goes by when a driver is looked for: the bus, the ids, or what its part of the device tree is
/// compatible with.
fn modalias(intake: &mut Intake<'_>, name: &str, alias: &str, line: u32) {
    let Some((bus, rest)) = alias.split_once(':') else { return };
    let site = &mut *intake.site;
    let kind = match bus {
        "pci" => Some(Bus::Pci),
        "usb" => Some(Bus::Usb),
        "of" | "platform" | "acpi" => Some(Bus::Platform),
        "virtio" | "vmbus" | "xen" => Some(Bus::Virtual),
        _ => None,
    };
    site.put_some(name, |i| &mut i.bus, kind.map(|kind| At::new(kind, line)));
    if matches!(kind, Some(Bus::Usb | Bus::Platform)) {
        site.put_absent(name, |i| &mut i.device, line);
    }
    // `v0BDAp8153d3100...`: vendor and product.
    let hex = |from: usize| rest.get(from..from + 4).filter(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if kind == Some(Bus::Usb)
        && let (true, Some(vendor), Some("p"), Some(product)) = (rest.starts_with('v'), hex(1), rest.get(5..6), hex(6))
    {
        let id = format!("{vendor}:{product}").to_ascii_lowercase();
        site.put(name, |i| &mut i.usb.id, At::new(id, line));
    }
    // `NethernetT(null)Craspberrypi,rp1-gemCcdns,macb`: where a part is called as a driver, that is the driver.
    if bus == "of" {
        let parts = rest.split('C').skip(1).filter_map(|part| part.split_once(','));
        let driver = parts.map(|(_, part)| part).find(|part| Knowledge::embedded().is_hardware(part) == Some(true));
        if let Some(driver) = driver {
            let source = site.inferred("what the device tree calls it");
            site.interface(name).driver.name.fill(Reading::Known(driver.to_owned(), source));
        }
    }
}

/// Options of a bond: a word, behind it often its number.
fn bonding(intake: &mut Intake<'_>, name: &str, option: &str, value: &str, line: u32) {
    let word = value.split_ascii_whitespace().next().unwrap_or_default();
    let text = || At::new(word.to_owned(), line);
    let small = || word.parse::<u32>().ok().map(|value| At::new(value, line));
    let site = &mut *intake.site;
    match option {
        "mode" => site.put(name, |i| &mut i.bond.mode, text()),
        "miimon" => site.put_some(name, |i| &mut i.bond.miimon, small()),
        "arp_interval" => site.put_some(name, |i| &mut i.bond.arp_interval, small()),
        "xmit_hash_policy" => site.put(name, |i| &mut i.bond.xmit_hash_policy, text()),
        "active_slave" if !word.is_empty() => site.put(name, |i| &mut i.bond.active_member, text()),
        "ad_aggregator" => site.put_some(name, |i| &mut i.bond.active_aggregator, small()),
        "ad_partner_mac" if !word.is_empty() => site.put(name, |i| &mut i.bond.partner_address, text()),
        "slaves" => {
            let members: Vec<String> = value.split_ascii_whitespace().map(str::to_owned).collect();
            site.put(name, |i| &mut i.stack.members, At::new(members, line));
        }
        _ => return,
    }
    intake.site.put(name, |i| &mut i.kind, At::new(InterfaceKind::Bond, line));
}

/// True for commands that print where links below /sys/class/net lead.
fn links_of(command: &Command) -> bool {
    let of_net = |word: &String| word == "/sys/class/net" || word.starts_with("/sys/class/net/");
    ["ls", "readlink"].contains(&command.program.as_str()) && command.arguments.iter().any(of_net)
}

/// `... eth0 -> ../../devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eth0`: name and path.
fn link(text: &str) -> Option<(&str, &str)> {
    let (front, target) = text.split_once(" -> ")?;
    let name = front.rsplit([' ', '/']).next()?;
    let (device, last) = target.trim().rsplit_once("/net/")?;
    (last == name && device.contains("devices/")).then_some((name, device))
}

fn begins_links(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| link(line.text).is_some())
}

fn put_path(intake: &mut Intake<'_>, name: &str, path: &str, line: u32) {
    match PciAddress::of_path(path) {
        Some(address) => {
            intake.site.put(name, |i| &mut i.device, At::new(address, line));
            intake.site.link_device(name, address, line);
        }
        None => intake.site.put_absent(name, |i| &mut i.device, line),
    }
}

fn read_links(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command.cloned();
    let target = command.as_ref().and_then(Command::last_operand);
    let own = target.and_then(attribute);
    let lists = command.as_ref().is_some_and(|command| command.program == "ls");
    let whole =
        lists && !intake.is_filtered() && target.is_some_and(|path| path.trim_end_matches('/') == "/sys/class/net");
    while let Some(line) = cursor.peek() {
        if let Some((name, path)) = link(line.text) {
            if whole && intake.site.namespace.is_empty() {
                intake.site.all_links = Some(intake.site.source(line.number));
            }
            if is_interface_name(name) {
                put_path(intake, name, path, line.number);
            }
        } else if let Some((name, attribute)) = own
            && let Some(path) = line.text.trim().rsplit(" -> ").next().filter(|path| path.contains('/'))
        {
            match attribute {
                "device" => put_path(intake, name, path, line.number),
                "device/driver" => {
                    let driver = path.rsplit('/').next().unwrap_or_default().to_owned();
                    intake.site.put(name, |i| &mut i.driver.name, At::new(driver, line.number));
                }
                _ => {}
            }
        } else if !(lists && is_listed(line.text)) {
            break;
        }
        cursor.take();
    }
}

/// Names of files or interfaces alone, and the total above a long list.
fn is_listed(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    let total = text.starts_with("total ") && text.split_ascii_whitespace().count() == 2;
    let name = |word: &str| {
        word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.@/".contains(&byte))
    };
    total || words.peek().is_some() && words.all(name)
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn values_by_file_and_by_path() {
        let text = "$ cat /sys/class/net/eth2/{mtu,speed,operstate}\n9000\n10000\nup\n$ cat /sys/class/net/eth2/statistics/rx_dropped\n0\n\
            $ cat /sys/class/net/eth2/statistics/rx_missed_errors\n7142467\n$ grep . /sys/class/net/eth2/statistics/*\n\
            /sys/class/net/eth2/statistics/rx_dropped:5\n/sys/class/net/eth2/address:02:00:00:00:00:01\n\
            $ cat /sys/class/net/eth3/speed\ncat: /sys/class/net/eth3/speed: Invalid argument\n$ cat /sys/class/net/eth2/queues/rx-0/rps_cpus\n05\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let eth2 = snapshot.interface("eth2").unwrap();
        assert_eq!((eth2.mtu.known().unwrap().0, eth2.link.speed.known().unwrap().0), (9000, 10_000_000_000));
        assert_eq!(eth2.address.known().unwrap(), "02:00:00:00:00:01");
        let block = &eth2.counters[0];
        // Files that are read one by one are one sample until one comes again.
        assert_eq!(block.get("rx_dropped").unwrap().values, [Some(0), Some(5)]);
        assert_eq!(block.get("rx_missed_errors").unwrap().values, [Some(7_142_467), None]);
        assert_eq!(eth2.queues.known().unwrap()[0].rps_cpus.known().unwrap(), &[0, 2]);
        assert!(snapshot.interface("eth3").is_none());
    }

    #[test]
    fn links_lead_to_devices() {
        let text = "$ ls -l /sys/class/net\ntotal 0\n\
            lrwxrwxrwx 1 root root 0 Jan  1 00:00 eth0 -> ../../devices/pci0000:00/0000:00:1c.0/0000:03:00.0/net/eth0\n\
            lrwxrwxrwx 1 root root 0 Jan  1 00:00 br0 -> ../../devices/virtual/net/br0\n\
            $ readlink /sys/class/net/eth0/device/driver\n../../../../bus/pci/drivers/igb\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let eth0 = snapshot.interface("eth0").unwrap();
        assert_eq!(eth0.device.known().unwrap().to_string(), "0000:03:00.0");
        assert_eq!(eth0.driver.name.known().unwrap(), "igb");
        assert!(snapshot.interface("br0").unwrap().device.is_absent());
    }
}
