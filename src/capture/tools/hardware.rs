//! Tools that list hardware or tell of one kind of it: lshw, mii-tool, lsusb, iw, devlink, Open vSwitch, numactl,
//! dropwatch.

use super::super::site::Site;
use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::lshw::Node;
use crate::formats::mii::Port;
use crate::formats::{devlink, dropwatch, lshw, mii, numactl, openvswitch, pf_ring, usb, wireless};
use crate::knowledge::Knowledge;
use crate::reading::{BitsPerSecond, Decibel, Reading};
use crate::snapshot::{Bus, Duplex, HealthReporter, Interface, InterfaceKind, LinkModes, PciAddress, PortType};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "lshw",
        answers: |command| command.program == "lshw",
        begins: |cursor| cursor.peek().is_some_and(|line| lshw::begins(line.text)) || lshw::begins_json(cursor),
        read: nodes,
    },
    Tool {
        name: "mii-tool",
        answers: |command| command.program == "mii-tool",
        begins: |cursor| cursor.peek().is_some_and(|line| mii::row(line.text.trim(), 0).is_some()),
        read: mii_tool,
    },
    Tool {
        name: "mii-tool diag",
        answers: |command| command.program == "mii-diag",
        begins: |cursor| cursor.peek().is_some_and(|line| mii::begins_diag(line.text)),
        read: mii_diag,
    },
    Tool {
        name: "lsusb",
        answers: |command| command.program == "lsusb",
        begins: |cursor| cursor.peek().is_some_and(|line| usb::row(line.text).is_some()),
        read: usb_devices,
    },
    Tool {
        name: "/proc/net/pf_ring",
        answers: |command| command.file().is_some_and(|file| file.starts_with("/proc/net/pf_ring/")),
        begins: pf_ring::begins,
        read: ring_info,
    },
    Tool {
        name: "iw",
        answers: |command| command.program == "iw",
        begins: |cursor| cursor.peek().is_some_and(|line| wireless::begins(line.text)),
        read: stations,
    },
    Tool {
        name: "devlink",
        answers: |command| command.program == "devlink",
        begins: |cursor| cursor.peek().is_some_and(|line| devlink::handle(line.text).is_some()),
        read: devlink_handles,
    },
    Tool {
        name: "ovs-dpctl",
        answers: |command| {
            command.program == "ovs-dpctl"
                || command.program == "ovs-appctl" && command.arguments.iter().any(|word| word.starts_with("dpctl/"))
        },
        begins: |cursor| cursor.peek().is_some_and(|line| openvswitch::begins_datapath(line.text)),
        read: datapaths,
    },
    Tool {
        name: "ovs-vsctl",
        answers: |command| command.program == "ovs-vsctl",
        begins: openvswitch::begins_configuration,
        read: switches,
    },
    Tool {
        name: "ovs-appctl",
        answers: |command| command.program == "ovs-appctl",
        begins: openvswitch::begins_bond,
        read: |cursor, _| {
            openvswitch::complaints(cursor);
            openvswitch::bonds(cursor);
        },
    },
    Tool {
        name: "numactl",
        answers: |command| command.program == "numactl",
        begins: |cursor| {
            cursor.peek().is_some_and(|line| line.text.starts_with("available: ") && numactl::is_node_row(line.text))
        },
        read: |cursor, _| while cursor.take_if(|text| numactl::is_node_row(text).then_some(())).is_some() {},
    },
    Tool {
        name: "dropwatch",
        answers: |command| command.program == "dropwatch",
        begins: |cursor| cursor.peek().is_some_and(|line| dropwatch::drops(line.text).is_some()),
        read: drops,
    },
];

fn nodes(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for node in lshw::parse(cursor).into_iter().flatten() {
        node_of(intake, &node);
    }
}

fn node_of(intake: &mut Intake<'_>, node: &Node) {
    let site = &mut *intake.site;
    let address = node.pci.as_ref().and_then(|at| Some(At::new(at.value.parse::<PciAddress>().ok()?, at.line)));
    let driver = node.configured("driver").map(|at| At::new(at.value.to_owned(), at.line));
    if let Some(address) = &address {
        site.pci.function(address.value);
        if let Some(product) = &node.product {
            site.put_pci(address.value, |function| &mut function.name, product.clone());
        }
        // A virtio device has a driver of its own, and the function has that of the bus.
        if let Some(driver) = driver.clone().filter(|driver| !driver.value.starts_with("virtio")) {
            site.put_pci(address.value, |function| &mut function.driver, driver);
        }
    }
    let Some(name) = node.name.as_ref().map(|at| at.value.clone()).filter(|name| is_interface_name(name)) else {
        return;
    };
    site.interface(&name);
    if let Some(address) = address {
        site.put(&name, |i| &mut i.device, address.clone());
        site.link_device(&name, address.value, address.line);
    }
    let owned = |key: &str| node.configured(key).map(|at| At::new(at.value.to_owned(), at.line));
    let yes = |key: &str, word: &str| node.configured(key).map(|at| At::new(at.value == word, at.line));
    let link = yes("link", "yes");
    let down = link.as_ref().is_some_and(|link| !link.value);
    site.put_some(&name, |i| &mut i.driver.name, driver);
    site.put_some(&name, |i| &mut i.driver.version, owned("driverversion"));
    site.put_some(&name, |i| &mut i.driver.firmware, owned("firmware"));
    site.put_some(&name, |i| &mut i.link.autoneg, yes("autonegotiation", "on"));
    site.put_some(&name, |i| &mut i.link.up, link);
    site.put_some(&name, |i| &mut i.address, node.address.clone());
    if let Some(modes) = node.modes() {
        site.put(&name, |i| &mut i.link.supported, modes.map(|all| LinkModes(all.into_iter().collect())));
    }
    if let Some(words) = &node.capabilities {
        let has = |word: &str| words.value.iter().any(|held| held == word);
        let connector = [("tp", PortType::Tp), ("fibre", PortType::Fibre)].into_iter().find(|(word, _)| has(word));
        site.put_some(&name, |i| &mut i.port.connector, connector.map(|(_, kind)| At::new(kind, words.line)));
        if has("autonegotiation") {
            site.put(&name, |i| &mut i.link.autoneg_supported, At::new(true, words.line));
        }
    }
    // Of a port without a link it prints what was last.
    if !down {
        site.put_some(&name, |i| &mut i.link.speed, node.speed.clone().map(|at| at.map(BitsPerSecond)));
        let duplex = node.configured("duplex").and_then(|at| {
            let word = match at.value {
                "full" => Duplex::Full,
                "half" => Duplex::Half,
                _ => return None,
            };
            Some(At::new(word, at.line))
        });
        site.put_some(&name, |i| &mut i.link.duplex, duplex);
    }
}

fn mii_tool(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for port in mii::tool(cursor).into_iter().flatten() {
        mii_port(intake, &port);
    }
}

fn mii_diag(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(mut port) = mii::diag(cursor) else { return };
    let named =
        intake.command.filter(|command| command.program == "mii-diag").and_then(|command| command.last_operand());
    port.name = Some(intake.interface_or_stand_in(named, port.line));
    mii_port(intake, &port);
}

fn mii_port(intake: &mut Intake<'_>, port: &Port) {
    let Some(name) = port.name.as_deref() else { return };
    let site = &mut *intake.site;
    site.interface(name);
    site.put_some(name, |i| &mut i.link.up, port.up.clone());
    site.put_some(name, |i| &mut i.link.autoneg, port.autoneg.clone());
    if let Some(At { value: (megabits, full), line }) = port.mode {
        site.put(name, |i| &mut i.link.speed, At::new(BitsPerSecond(u64::from(megabits) * 1_000_000), line));
        site.put(name, |i| &mut i.link.duplex, At::new(if full { Duplex::Full } else { Duplex::Half }, line));
    }
}

/// The devices on the USB. Which interface a network adapter bears is not told: where there is one of each, it is that.
fn usb_devices(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut adapters = Vec::new();
    let mut any = false;
    let mut before: Option<u32> = None;
    let verbose = intake.command.is_some_and(|command| command.has_flag('v'));
    while let Some(line) = cursor.peek() {
        match usb::row(line.text) {
            Some(device) if is_adapter(&device) && device.megabits.is_some() => {
                // Each function of a device has a row.
                if device.number.is_none() || device.number != before {
                    before = device.number;
                    adapters.push(At::new(device, line.number));
                }
            }
            Some(_) if line.text.trim_start().starts_with("/:") => before = None,
            // The plain list tells who the adapters are, and not how fast.
            Some(usb::Device { id: Some(id), name, .. }) if names_adapter(&name) => {
                let source = intake.site.source(line.number);
                intake.site.adapters.push((id, name, source));
            }
            Some(_) => {}
            None if any && verbose && (usb::is_detail(line.text) || line.text.trim().is_empty()) => {}
            None => break,
        }
        any = true;
        cursor.take();
    }
    let site = &mut *intake.site;
    let on_usb = |interface: &&Interface| interface.bus.known() == Some(&Bus::Usb);
    let mut held = site.snapshot.interfaces.iter().filter(on_usb).map(|interface| interface.name.clone());
    let only = held.next().filter(|_| held.next().is_none() && adapters.len() == 1);
    drop(held);
    for At { value: device, line } in adapters {
        let name = only.clone().unwrap_or_else(|| format!("{}{line}", crate::snapshot::STAND_IN));
        site.put(&name, |i| &mut i.bus, At::new(Bus::Usb, line));
        site.put_some(&name, |i| &mut i.usb.id, device.id.map(|id| At::new(id, line)));
        site.put_some(&name, |i| &mut i.driver.name, device.driver.map(|driver| At::new(driver, line)));
        let speed = device.megabits.map(|megabits| BitsPerSecond((megabits * 1e6).round() as u64));
        site.put_some(&name, |i| &mut i.usb.speed, speed.map(|speed| At::new(speed, line)));
        // The tree of `lsusb -t` tells the class in its place.
        let product = Some(device.name).filter(|name| !name.is_empty() && !name.contains("Class"));
        site.put_some(&name, |i| &mut i.usb.product, product.map(|product| At::new(product, line)));
    }
}

/// True for a network adapter, by its driver or by what it calls itself.
fn is_adapter(device: &usb::Device) -> bool {
    let by_driver =
        device.driver.as_ref().is_some_and(|driver| Knowledge::embedded().is_hardware(driver) == Some(true));
    by_driver || names_adapter(&device.name)
}

/// True for what network adapters call themselves.
fn names_adapter(name: &str) -> bool {
    let mut words = name.split(|char: char| !char.is_ascii_alphanumeric());
    words.any(|word| matches!(word, "LAN" | "Ethernet" | "GbE" | "2.5GbE" | "NIC"))
}

/// Most adapters of the plain list of `lsusb`.
const MOST_ADAPTERS: usize = 256;

/// Ties the one adapter that `lsusb` lists to the one interface on the USB.
pub(in super::super) fn finish(site: &mut Site) {
    let mut adapters = std::mem::take(&mut site.adapters);
    adapters.truncate(MOST_ADAPTERS);
    adapters.sort_by(|a, b| a.0.cmp(&b.0));
    adapters.dedup_by(|a, b| a.0 == b.0);
    merge(site);
    let on_usb = |one: &&mut Interface| one.bus.known() == Some(&Bus::Usb) && one.namespace.is_empty();
    let mut held: Vec<&mut Interface> = site.snapshot.interfaces.iter_mut().filter(on_usb).collect();
    if let ([(id, name, source)], [only]) = (adapters.as_slice(), held.as_mut_slice()) {
        only.usb.id.fill(Reading::Known(id.clone(), *source));
        only.usb.product.fill(Reading::Known(name.clone(), *source));
    }
}

/// Where one adapter of the tree has no name yet, and one interface on the USB was named elsewhere, they are the same.
fn merge(site: &mut Site) {
    let all = &site.snapshot.interfaces;
    let on_usb = |at: &usize| all[*at].bus.known() == Some(&Bus::Usb) && all[*at].namespace.is_empty();
    let (nameless, named): (Vec<usize>, Vec<usize>) =
        (0..all.len()).filter(on_usb).partition(|at| all[*at].name.starts_with(crate::snapshot::STAND_IN));
    let ([stand_in], [real]) = (nameless.as_slice(), named.as_slice()) else { return };
    let drivers = (all[*stand_in].driver.name.known(), all[*real].driver.name.known());
    if matches!(drivers, (Some(one), Some(other)) if one != other) {
        return;
    }
    let (usb, driver) = (all[*stand_in].usb.clone(), all[*stand_in].driver.name.clone());
    let real = &mut site.snapshot.interfaces[*real];
    real.usb.fill(usb);
    real.driver.name.fill(driver);
    site.snapshot.interfaces.remove(*stand_in);
}

fn ring_info(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(bound) = pf_ring::socket(cursor) {
        if is_interface_name(&bound.value) {
            intake.site.interface(&bound.value);
        }
        return;
    }
    let Some(info) = pf_ring::parse(cursor).filter(|info| is_interface_name(&info.name)) else { return };
    let site = &mut *intake.site;
    site.interface(&info.name);
    site.put_some(&info.name, |i| &mut i.index, info.index);
    site.put_some(&info.name, |i| &mut i.address, info.address);
    let known = |driver: &At<String>| Knowledge::embedded().is_hardware(&driver.value).is_some();
    site.put_some(&info.name, |i| &mut i.driver.name, info.driver.filter(known));
}

fn stations(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let asked = intake.command.and_then(|command| {
        let mut words = command.arguments.iter().skip_while(|word| *word != "dev");
        words.next()?;
        words.next().map(String::as_str)
    });
    let asked = asked.filter(|name| is_interface_name(name));
    let begins = cursor.peek().is_some_and(|line| wireless::begins(line.text));
    if asked.is_none() && !begins {
        return;
    }
    let Some(found) = wireless::parse(cursor) else { return };
    let named = found.name.as_ref().map(|at| at.value.clone()).or_else(|| asked.map(str::to_owned));
    let Some(name) = named.filter(|name| is_interface_name(name)) else { return };
    let site = &mut *intake.site;
    site.put(&name, |i| &mut i.kind, At::new(InterfaceKind::Wifi, found.line));
    site.put_some(&name, |i| &mut i.index, found.index);
    site.put_some(&name, |i| &mut i.address, found.address);
    site.put_some(&name, |i| &mut i.link.up, found.connected);
    let phy = found.radio.map(|at| at.map(|number| format!("phy{number}")));
    site.put_some(&name, |i| &mut i.wireless.phy, phy);
    site.put_some(&name, |i| &mut i.wireless.power_save, found.power_save);
    site.put_some(&name, |i| &mut i.wireless.frequency, found.frequency);
    site.put_some(&name, |i| &mut i.wireless.signal, found.signal.map(|at| at.map(Decibel)));
    let rate = |at: Option<At<f64>>| at.map(|at| at.map(|rate| BitsPerSecond(rate.round() as u64)));
    site.put_some(&name, |i| &mut i.wireless.rx_bitrate, rate(found.rx_bitrate));
    site.put_some(&name, |i| &mut i.wireless.tx_bitrate, rate(found.tx_bitrate));
}

fn devlink_handles(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for (handle, rows) in devlink::handles(cursor) {
        let Ok(address) = handle.value.address.parse::<PciAddress>() else { continue };
        let line = handle.line;
        let site = &mut *intake.site;
        let rest = handle.value.rest.as_str();
        // A representor is no port of the function itself.
        let physical = devlink::behind(rest, "flavour").is_none_or(|flavour| flavour == "physical");
        if let Some(name) = devlink::behind(rest, "netdev").filter(|name| physical && is_interface_name(name)) {
            site.put(name, |i| &mut i.device, At::new(address, line));
            site.link_device(name, address, line);
        }
        let driver = rows.iter().map(String::as_str).chain([rest]).find_map(|row| devlink::behind(row, "driver"));
        health(site, address, &rows, line);
        if let Some(driver) = driver {
            site.put_pci(address, |function| &mut function.driver, At::new(driver.to_owned(), line));
        }
    }
}

/// The reporters of `devlink health show` below a function, at the interface that is known to be of it:
/// `reporter fw`, then `state healthy error 0 recover 0`.
fn health(site: &mut Site, address: PciAddress, rows: &[String], line: u32) {
    let mut reporters: Vec<HealthReporter> = Vec::new();
    let source = site.source(line);
    for row in rows {
        if let Some(name) = row.strip_prefix("reporter ") {
            reporters.push(HealthReporter { name: name.trim().to_owned(), ..HealthReporter::default() });
        } else if let (Some(reporter), Some(state)) = (reporters.last_mut(), devlink::behind(row, "state")) {
            reporter.state = Reading::Known(state.to_owned(), source);
            if let Some(errors) = devlink::behind(row, "error").and_then(|count| count.parse().ok()) {
                reporter.errors = Reading::Known(errors, source);
            }
        }
    }
    let of_device = |interface: &&Interface| interface.device.known() == Some(&address);
    let name = site.snapshot.interfaces.iter().find(of_device).map(|interface| interface.name.clone());
    let Some(name) = name.filter(|_| !reporters.is_empty()) else { return };
    // Those of the port stand in a block of their own.
    let held = site.interface(&name).devlink.health.known().cloned().unwrap_or_default();
    let others = held.into_iter().filter(|held| reporters.iter().all(|fresh| fresh.name != held.name));
    let all: Vec<HealthReporter> = others.chain(reporters.iter().cloned()).collect();
    site.put(&name, |i| &mut i.devlink.health, At::new(all, line));
}

fn datapaths(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    openvswitch::complaints(cursor);
    let Some(found) = openvswitch::datapaths(cursor) else { return };
    let mut sums = [0_u64; 3];
    let mut first = None;
    for lookups in found.iter().filter_map(|datapath| datapath.lookups.as_ref()) {
        first.get_or_insert(lookups.line);
        for (sum, count) in sums.iter_mut().zip(lookups.value) {
            *sum = sum.saturating_add(count);
        }
    }
    if let Some(line) = first {
        let rows =
            ["hit", "missed", "lost"].iter().zip(sums).map(|(name, count)| ((*name).to_owned(), count)).collect();
        let partial = intake.is_filtered();
        intake.site.host_counters("ovs_datapath", line, rows, partial);
    }
}

fn switches(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    openvswitch::complaints(cursor);
    let Some(found) = openvswitch::configuration(cursor) else { return };
    for bridge in found.bridges.iter().filter(|bridge| is_interface_name(&bridge.name)) {
        intake.site.put(&bridge.name, |i| &mut i.kind, At::new(InterfaceKind::Openvswitch, bridge.line));
    }
}

fn drops(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(line) = cursor.peek() {
        let around = intake.command.is_some() && dropwatch::is_dropwatch(line.text);
        if dropwatch::drops(line.text).is_none() && !around {
            break;
        }
        cursor.take();
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;
    use crate::snapshot::{Bus, Duplex, InterfaceKind};

    #[test]
    fn lshw_tells_roughly_and_ethtool_exactly() {
        let text = "$ sudo lshw\n        *-network\n             description: Ethernet interface\n             product: Ethernet Connection\n             vendor: Intel Corporation\n\
                    \u{20}            bus info: pci@0000:00:1f.6\n             logical name: enp0s31f6\n             size: 10Mbit/s\n             capacity: 1Gbit/s\n\
                    \u{20}            configuration: autonegotiation=on driver=e1000e driverversion=3.2.6-k duplex=full firmware=0.1-4 link=yes speed=10Mbit/s\n\
                    $ ethtool enp0s31f6\nSettings for enp0s31f6:\n\tSpeed: 1000Mb/s\n\tLink detected: yes\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let port = snapshot.interface("enp0s31f6").unwrap();
        assert_eq!(
            (port.link.speed.known().unwrap().0, port.link.duplex.known()),
            (1_000_000_000, Some(&Duplex::Full))
        );
        assert_eq!((port.driver.name.known().unwrap().as_str(), port.link.autoneg.known()), ("e1000e", Some(&true)));
        let device = &snapshot.devices[0];
        assert_eq!(
            (device.name.known().unwrap().as_str(), device.driver.known().unwrap().as_str()),
            ("Intel Corporation Ethernet Connection", "e1000e")
        );
        assert_eq!(device.interfaces.known().unwrap(), &["enp0s31f6"]);
    }

    #[test]
    fn one_kind_of_hardware_each() {
        let text = "# mii-tool eth0\neth0: negotiated 100baseTx-HD, link ok\n# ibdev2netdev\nmlx5_0 port 1 ==> ib0 (Down)\n# ibstat\nCA 'mlx5_0'\n\tCA type: MT4115\n\
                    # iw dev wlp3s0 get power_save\nPower save: on\n# devlink port show\npci/0000:03:00.0/65535: type eth netdev ens1f0np0 flavour physical port 0\n\
                    # ovs-dpctl show\nsystem@ovs-system:\n  lookups: hit:5 missed:6 lost:7\n  flows: 1\n# numactl -H\navailable: 1 nodes (0)\nnode 0 cpus: 0 1\n\
                    # lsusb -t\n/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/4p, 10000M\n# dropwatch -l kas\nInitalizing kallsyms db\ndropwatch> start\n12 drops at icmp_rcv+11c (0xff) [software]\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let port = snapshot.interface("eth0").unwrap();
        assert_eq!((port.link.speed.known().unwrap().0, port.link.duplex.known()), (100_000_000, Some(&Duplex::Half)));
        assert_eq!(snapshot.interface("ib0").unwrap().link.up.known(), Some(&false));
        let wifi = snapshot.interface("wlp3s0").unwrap();
        assert_eq!((wifi.kind.known(), wifi.wireless.power_save.known()), (Some(&InterfaceKind::Wifi), Some(&true)));
        assert_eq!(snapshot.devices[0].interfaces.known().unwrap(), &["ens1f0np0"]);
        let block = &snapshot.host.counters.known().unwrap()[0];
        assert_eq!((block.group.as_str(), block.get("lost").unwrap().total()), ("ovs_datapath", Some(7)));
    }

    #[test]
    fn states_go_to_the_interface_that_is_known() {
        let text = "# ibdev2netdev\nmlx5_0 port 1 ==> ens1 (Up)\n# ibv_devinfo\nhca_id:\tmlx5_0\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\
                    # devlink port show\npci/0000:03:00.0/1: type eth netdev ens1 flavour physical port 0\n# devlink health show\npci/0000:03:00.0:\n\
                    \u{20} reporter fw\n    state healthy error 2 recover 2\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let port = snapshot.interface("ens1").unwrap();
        assert_eq!(
            (port.rdma.device.known().unwrap().as_str(), port.rdma.state.known().unwrap().as_str()),
            ("mlx5_0", "active")
        );
        let reporter = &port.devlink.health.known().unwrap()[0];
        assert_eq!((reporter.name.as_str(), reporter.errors.known()), ("fw", Some(&2)));
        let port = text.replace(
            "pci/0000:03:00.0:\n",
            "pci/0000:03:00.0:\n  reporter fw_fatal\n    state error error 1 recover 0\npci/0000:03:00.0/65535:\n",
        );
        let (snapshot, _) = one(&port);
        let all = snapshot.interface("ens1").unwrap().devlink.health.known().unwrap();
        let names: Vec<_> = all.iter().map(|one| (one.name.as_str(), one.state.known().unwrap().as_str())).collect();
        assert_eq!(names, [("fw_fatal", "error"), ("fw", "healthy")]);
    }

    #[test]
    fn adapters_on_the_usb() {
        let tree = "$ lsusb -t\n/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/4p, 480M\n\
                    \u{20}   |__ Port 1: Dev 2, If 0, Class=Vendor Specific Class, Driver=r8152, 480M\n    |__ Port 2: Dev 3, If 0, Class=Hub, Driver=hub/4p, 480M\n";
        let log = "$ dmesg\n[   12.100000] r8152 2-1:1.0 eth1: carrier on\n";
        let (snapshot, _) = one(&format!("{log}{tree}"));
        let port = snapshot.interface("eth1").unwrap();
        assert_eq!((port.usb.speed.known().unwrap().0, port.bus.known()), (480_000_000, Some(&Bus::Usb)));
        assert_eq!((snapshot.interfaces.len(), port.usb.product.known()), (1, None));
        let list = "$ lsusb\nBus 002 Device 001: ID 1d6b:0003 Linux Foundation 3.0 root hub\n\
                    Bus 002 Device 002: ID 0bda:8156 Realtek Semiconductor Corp. USB 10/100/1G/2.5G LAN\n";
        let ethtool = "$ ethtool -i eth1\ndriver: cdc_ncm\nversion: 6.1\nbus-info: usb-0000:00:14.0-3\n";
        let (snapshot, _) = one(&format!("{list}{ethtool}"));
        let port = snapshot.interface("eth1").unwrap();
        assert_eq!((port.bus.known(), port.usb.id.known().unwrap().as_str()), (Some(&Bus::Usb), "0bda:8156"));
        let functions = "$ lsusb -t\n/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/6p, 10000M\n\
                    \u{20}   |__ Port 3: Dev 4, If 0, Class=Communications, Driver=cdc_ncm, 480M\n\
                    \u{20}   |__ Port 3: Dev 4, If 1, Class=CDC Data, Driver=cdc_ncm, 480M\n";
        let (snapshot, _) = one(&format!("{functions}{list}{ethtool}"));
        let [port] = snapshot.interfaces.as_slice() else { panic!("one adapter with two functions") };
        assert_eq!((port.name.as_str(), port.usb.speed.known().unwrap().0), ("eth1", 480_000_000));
        assert_eq!(port.usb.id.known().unwrap(), "0bda:8156");
        let other = list.replace("0bda:8156", "0b95:1790");
        let (snapshot, _) = one(&format!("{list}{other}{ethtool}"));
        assert!(snapshot.interface("eth1").unwrap().usb.id.is_unasked(), "which of the two");
        // Nothing names the interface.
        let (snapshot, _) = one(tree);
        assert_eq!(snapshot.interfaces[0].name, "unnamed:3");
        assert_eq!(snapshot.interfaces[0].driver.name.known().unwrap(), "r8152");
    }
}
