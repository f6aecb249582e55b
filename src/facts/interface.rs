//! Facts of scope `iface`.

use std::net::IpAddr;

use super::catalogue::{ACTION, DEVICE, EVENT, INTERFACE, IRQ, LANE, MEASUREMENT, MEMBER, QDISC, QUEUE, REPORTER};
use super::entry::{Entry, derived, facts, inferred};
use super::fact::Fact;
use super::unit::Unit;
use super::{
    Derived, Facts, ceilings, events, measurements, members, offload, placement, processors, protocols, rows, speed,
    suspects, told,
};
use crate::lang::{Dim, State, Type, Value};
use crate::reading::{BitsPerSecond, Bytes, Celsius, Decibel, Reading};
use crate::snapshot::{
    BondMember, Bus, Duplex, HealthReporter, Interface, InterfaceKind, Irq, LinkModes, ModuleLane, OperState, PortType,
    Qdisc, Queue, TcAction, XdpMode,
};

pub(super) fn entries() -> Vec<Entry> {
    let mut entries: Vec<Entry> = readings()
        .into_iter()
        .map(|entry| match entry.path.as_str() {
            "port.physical" => inferred(entry, is_physical),
            "is_default_route" => inferred(entry, placement::is_default_route),
            _ => entry,
        })
        .collect();
    entries.extend([
        derived("name", Type::Text, Unit::Plain, "kernel name of the interface", |facts, index| {
            Derived::fact(facts.snapshot().interfaces[index].name.to_value())
        }),
        derived("device", Type::Entity(DEVICE), Unit::Plain, "PCI function of the interface", device),
        derived("parent", Type::Entity(INTERFACE), Unit::Plain, "interface below this one", |facts, index| {
            facts.reference(index, "stack.parent", &facts.snapshot().interfaces[index].stack.parent)
        }),
        derived(
            "master",
            Type::Entity(INTERFACE),
            Unit::Plain,
            "bond, bridge, team or VRF that it is a member of",
            |facts, index| facts.reference(index, "stack.master", &facts.snapshot().interfaces[index].stack.master),
        ),
        derived("peer", Type::Entity(INTERFACE), Unit::Plain, "other end of a veth or netkit pair", |facts, index| {
            facts.reference(index, "stack.peer", &facts.snapshot().interfaces[index].stack.peer)
        }),
        derived(
            "members",
            Type::list(Type::Entity(INTERFACE)),
            Unit::Plain,
            "members of a bond, bridge or team",
            members,
        ),
    ]);
    entries.extend(offload::entries());
    entries.extend(suspects::entries());
    entries.extend(told::of_interface());
    entries.extend(placement::entries());
    entries.extend(protocols::of_interface());
    entries.extend(for_commands());
    entries.extend(processors::interface_entries());
    entries.extend([
        derived(
            "log",
            Type::list(Type::Entity(EVENT)),
            Unit::Plain,
            "events of the kernel log that name it",
            |facts, index| events::list(facts, INTERFACE, index),
        ),
        derived(
            "measured",
            Type::list(Type::Entity(MEASUREMENT)),
            Unit::Plain,
            "results measured over it",
            |facts, index| measurements::list(facts, Some(&[index])),
        ),
        derived(
            "bond.members",
            Type::list(Type::Entity(MEMBER)),
            Unit::Plain,
            "members as the bond sees them",
            rows::list::<BondMember>,
        ),
        derived("qdisc", Type::list(Type::Entity(QDISC)), Unit::Plain, "queueing disciplines", rows::list::<Qdisc>),
        derived("queue", Type::list(Type::Entity(QUEUE)), Unit::Plain, "queues", rows::list::<Queue>),
        derived("irq", Type::list(Type::Entity(IRQ)), Unit::Plain, "interrupts", rows::list::<Irq>),
        derived(
            "module.lanes",
            Type::list(Type::Entity(LANE)),
            Unit::Plain,
            "lanes of the module",
            rows::list::<ModuleLane>,
        ),
        derived(
            "tc.actions",
            Type::list(Type::Entity(ACTION)),
            Unit::Plain,
            "actions of filters",
            rows::list::<TcAction>,
        ),
        derived(
            "devlink.health",
            Type::list(Type::Entity(REPORTER)),
            Unit::Plain,
            "health reporters of devlink",
            rows::list::<HealthReporter>,
        ),
        derived(
            "link.speed_verdict",
            Type::Word(&speed::VERDICTS),
            Unit::Plain,
            "reason for the link's speed",
            speed::verdict,
        ),
        derived(
            "measured_verdict",
            Type::Word(&measurements::VERDICTS),
            Unit::Plain,
            "verdict on the best measured result: against the ceiling",
            measurements::verdict,
        ),
        derived(
            "measured_on_known_bus",
            Type::Bool,
            Unit::Plain,
            "yes, but unknown where the best measured result fits a bus of the card that was not read",
            measurements::on_known_bus,
        ),
        derived(
            "rate.rx",
            Type::number(Dim::RATE),
            Unit::BitsPerSecond,
            "receive rate in the sample",
            |facts, index| rate(facts, index, "rx_bytes", "rate.rx_read"),
        ),
        derived("rate.tx", Type::number(Dim::RATE), Unit::BitsPerSecond, "send rate in the sample", |facts, index| {
            rate(facts, index, "tx_bytes", "rate.tx_read")
        }),
        derived(
            "load.rx",
            Type::PLAIN,
            Unit::Share,
            "receive load: received in the sample as a share of the link's speed",
            |facts, index| load(facts, index, "rate.rx"),
        ),
        derived(
            "load.tx",
            Type::PLAIN,
            Unit::Share,
            "send load: sent in the sample as a share of the link's speed",
            |facts, index| load(facts, index, "rate.tx"),
        ),
    ]);
    let rate = Type::number(Dim::RATE);
    for (path, doc, get) in ceilings::INTERFACE_FACTS {
        entries.push(derived(path, rate.clone(), Unit::BitsPerSecond, doc, *get));
    }
    entries
}

/// What commands and their texts are filled in with.
fn for_commands() -> Vec<Entry> {
    vec![
        derived(
            "measured_peer",
            Type::Text,
            Unit::Plain,
            "address of the other end of the results measured over it, where they agree",
            |facts, index| measurements::peer(facts, Some(index)),
        ),
        derived(
            "root_qdisc",
            Type::Entity(QDISC),
            Unit::Plain,
            "root queueing discipline: everything passes it",
            members::root_qdisc,
        ),
        derived("ip_address", Type::Text, Unit::Plain, "main IP address: other hosts reach it by", ip_address),
        derived(
            "ceiling.range",
            Type::Text,
            Unit::Plain,
            "range that the interface could carry, in words",
            ceilings::interface_range,
        ),
    ]
}

fn readings() -> Vec<Entry> {
    facts! { Interface, Interface;
        "index" = index: u32, "ip link show {if}", "interface index";
        "kind" = kind: InterfaceKind, "ip -d link show {if}", "kind of interface";
        "alias" = alias: String, "ip link show {if}", "alias that an administrator gave";
        "address" = address: String, "ip link show {if}", "hardware address";
        "permanent_address" = permanent_address: String, "ethtool -P {if}", "hardware address that the device was made with";
        "bus_address" = device: crate::snapshot::PciAddress, "ethtool -i {if}", "address of its PCI function";
        "admin_up" = admin_up: bool, "ip link show {if}", "administrative state: up";
        "oper_state" = oper_state: OperState, "ip link show {if}", "operational state";
        "mtu" = mtu: Bytes, "ip link show {if}", "largest IP packet";
        "mtu_min" = mtu_min: Bytes, "ip -d link show {if}", "smallest MTU that the driver takes";
        "mtu_max" = mtu_max: Bytes, "ip -d link show {if}", "largest MTU that the driver takes";
        "txqueuelen" = txqueuelen: u32 as Packets, "ip link show {if}", "length of the transmit queue";
        "vlan_tags" = vlan_tags: u32, "ip -d link show {if}", "number of VLAN tags";
        "driver" = driver.name: String, "ethtool -i {if}", "driver";
        "driver_version" = driver.version: String, "ethtool -i {if}", "driver version";
        "firmware" = driver.firmware: String, "ethtool -i {if}", "firmware version";
        "bus_info" = driver.bus_info: String, "ethtool -i {if}", "bus address as the driver spells it";
        "port.physical" = port.physical: bool, "ethtool -i {if}", "nature of the port: hardware; read, or known by its driver";
        "port.type" = port.connector: PortType, "ethtool {if}", "connector";
        "link.up" = link.up: bool, "ip link show {if}", "state of the link: passes packets";
        "link.speed" = link.speed: BitsPerSecond, "ethtool {if}", "negotiated speed";
        "link.duplex" = link.duplex: Duplex, "ethtool {if}", "negotiated duplex mode";
        "link.autoneg" = link.autoneg: bool, "ethtool {if}", "autonegotiation: on";
        "link.autoneg_supported" = link.autoneg_supported: bool, "ethtool {if}", "ability to negotiate";
        "link.lanes" = link.lanes: u32 as Lanes, "ethtool {if}", "lanes in use";
        "link.supported" = link.supported: LinkModes, "ethtool {if}", "modes that the port supports";
        "link.advertised" = link.advertised: LinkModes, "ethtool {if}", "modes that this end offers";
        "link.partner" = link.partner: LinkModes, "ethtool {if}", "modes that the link partner offers";
        "link.carrier_down" = link.carrier_down: u64, "cat /sys/class/net/{if}/carrier_down_count", "times that the carrier was lost";
        "link.ext_state" = link.ext_state: String, "ethtool {if}", "reason for the missing link";
        "link.sqi" = link.sqi: u32, "ethtool {if}", "signal quality index";
        "addresses" = addresses: Vec<String>, "ip addr show {if}", "IP addresses";
        "channels.rx" = channels.rx: u32, "ethtool -l {if}", "receive queues in use";
        "channels.rx_max" = channels.rx_max: u32, "ethtool -l {if}", "most receive queues";
        "channels.tx" = channels.tx: u32, "ethtool -l {if}", "transmit queues in use";
        "channels.tx_max" = channels.tx_max: u32, "ethtool -l {if}", "most transmit queues";
        "channels.combined" = channels.combined: u32, "ethtool -l {if}", "combined queues in use";
        "channels.combined_max" = channels.combined_max: u32, "ethtool -l {if}", "most combined queues";
        "coalesce.rx_usecs" = coalesce.rx_usecs: u32, "ethtool -c {if}", "microseconds that a receive interrupt may wait";
        "coalesce.rx_frames" = coalesce.rx_frames: u32, "ethtool -c {if}", "packets that a receive interrupt may wait for";
        "coalesce.tx_usecs" = coalesce.tx_usecs: u32, "ethtool -c {if}", "microseconds that a transmit interrupt may wait";
        "coalesce.tx_frames" = coalesce.tx_frames: u32, "ethtool -c {if}", "packets that a transmit interrupt may wait for";
        "coalesce.adaptive_rx" = coalesce.adaptive_rx: bool, "ethtool -c {if}", "adaptive moderation of receive interrupts";
        "coalesce.adaptive_tx" = coalesce.adaptive_tx: bool, "ethtool -c {if}", "adaptive moderation of transmit interrupts";
        "eee.enabled" = eee.enabled: bool, "ethtool --show-eee {if}", "offer of Energy Efficient Ethernet: by this end";
        "eee.active" = eee.active: bool, "ethtool --show-eee {if}", "use of Energy Efficient Ethernet: by both ends";
        "fec.configured" = fec.configured: LinkModes, "ethtool --show-fec {if}", "configured forward error correction";
        "fec.active" = fec.active: String, "ethtool --show-fec {if}", "forward error correction in use";
        "bond.mode" = bond.mode: String, "cat /proc/net/bonding/{if}", "bonding mode";
        "bond.miimon" = bond.miimon: u32, "cat /proc/net/bonding/{if}", "interval of link monitoring in ms";
        "bond.arp_interval" = bond.arp_interval: u32, "cat /proc/net/bonding/{if}", "interval of ARP monitoring in ms";
        "bond.xmit_hash_policy" = bond.xmit_hash_policy: String, "cat /proc/net/bonding/{if}", "policy that spreads flows over members";
        "bond.active_member" = bond.active_member: String, "cat /proc/net/bonding/{if}", "member in use";
        "bond.active_aggregator" = bond.active_aggregator: u32, "cat /proc/net/bonding/{if}", "LACP aggregator in use";
        "bond.partner_mac" = bond.partner_address: String, "cat /proc/net/bonding/{if}", "hardware address of the LACP partner";
        "ring.rx" = ring.rx: u32 as Descriptors, "ethtool -g {if}", "receive ring in use";
        "ring.rx_max" = ring.rx_max: u32 as Descriptors, "ethtool -g {if}", "largest receive ring";
        "ring.tx" = ring.tx: u32 as Descriptors, "ethtool -g {if}", "transmit ring in use";
        "ring.tx_max" = ring.tx_max: u32 as Descriptors, "ethtool -g {if}", "largest transmit ring";
        "pause.autoneg" = pause.autoneg: bool, "ethtool -a {if}", "negotiation of flow control";
        "pause.rx" = pause.rx: bool, "ethtool -a {if}", "obedience to pause frames";
        "pause.tx" = pause.tx: bool, "ethtool -a {if}", "sending of pause frames";
        "stack.parent" = stack.parent: String, "ip -d link show {if}", "name of the interface below this one";
        "stack.master" = stack.master: String, "ip link show {if}", "name of the bond, bridge, team or VRF above";
        "stack.members" = stack.members: Vec<String>, "ip link show master {if}", "names of the members";
        "stack.peer" = stack.peer: String, "ip link show {if}", "name of the other end of the pair";
        "features_refused" = features_refused: Vec<String>, "ethtool -k {if}", "features that somebody asked for in vain";
        "bus" = bus: Bus, "ls -l /sys/class/net/{if}/device", "bus";
        "virtual_functions" = virtual_functions: u32, "cat /sys/class/net/{if}/device/sriov_numvfs", "virtual functions that it has made";
        "gro_max_size" = gro_max_size: Bytes, "ip -d link show {if}", "largest packet that GRO builds";
        "gso_max_size" = gso_max_size: Bytes, "ip -d link show {if}", "largest packet that GSO sends";
        "vlan_id" = vlan_id: u32, "ip -d link show {if}", "VLAN identifier";
        "rss.table" = rss.table: Vec<u32>, "ethtool -x {if}", "entries of the indirection table by receive queue";
        "rss.function" = rss.function: String, "ethtool -x {if}", "hash function";
        "rss.configured" = rss.configured: bool, "ethtool -x {if}", "origin of the indirection table: set by somebody";
        "pfc.mask" = pfc.enabled_mask: u32, "dcb pfc show dev {if}", "mask of PFC priorities: bit n is set where priority n is paused by itself";
        "pfc.priorities" = pfc.priorities: u32, "dcb pfc show dev {if}", "priorities that the driver can pause";
        "module.present" = module.present: bool, "sudo ethtool -m {if}", "presence of a module in the cage";
        "module.kind" = module.identifier: String, "sudo ethtool -m {if}", "form factor of the module";
        "module.vendor" = module.vendor: String, "sudo ethtool -m {if}", "vendor of the module";
        "module.part_number" = module.part_number: String, "sudo ethtool -m {if}", "part number of the module";
        "module.compliance" = module.compliance: Vec<String>, "sudo ethtool -m {if}", "what the module complies with";
        "module.bit_rate" = module.bit_rate: u32, "sudo ethtool -m {if}", "nominal bit rate of the module in Mb/s";
        "module.copper" = module.copper: bool, "sudo ethtool -m {if}", "medium of the module: a copper cable";
        "module.dom" = module.diagnostics: bool, "sudo ethtool -m {if}", "diagnostics of the module: present";
        "module.temp" = module.temperature: Celsius, "sudo ethtool -m {if}", "temperature of the module";
        "module.voltage" = module.voltage: f64, "sudo ethtool -m {if}", "supply voltage of the module in volts";
        "module.tx_fault" = module.tx_fault: bool, "sudo ethtool -m {if}", "transmitter fault signal of the module";
        "module.rx_los" = module.rx_los: bool, "sudo ethtool -m {if}", "loss-of-light signal of the module";
        "module.rx_power_high_alarm" = module.thresholds.rx_power_high_alarm: Decibel, "sudo ethtool -m {if}", "high alarm threshold of received power in dBm";
        "module.rx_power_low_alarm" = module.thresholds.rx_power_low_alarm: Decibel, "sudo ethtool -m {if}", "low alarm threshold of received power in dBm";
        "module.rx_power_high_warn" = module.thresholds.rx_power_high_warn: Decibel, "sudo ethtool -m {if}", "high warning threshold of received power in dBm";
        "module.rx_power_low_warn" = module.thresholds.rx_power_low_warn: Decibel, "sudo ethtool -m {if}", "low warning threshold of received power in dBm";
        "module.tx_power_high_warn" = module.thresholds.tx_power_high_warn: Decibel, "sudo ethtool -m {if}", "high warning threshold of transmitted power in dBm";
        "module.tx_power_low_warn" = module.thresholds.tx_power_low_warn: Decibel, "sudo ethtool -m {if}", "low warning threshold of transmitted power in dBm";
        "module.bias_high_warn" = module.thresholds.bias_high_warn: f64, "sudo ethtool -m {if}", "high warning threshold of bias current in mA";
        "module.bias_low_warn" = module.thresholds.bias_low_warn: f64, "sudo ethtool -m {if}", "low warning threshold of bias current in mA";
        "module.temp_high_alarm" = module.thresholds.temperature_high_alarm: Celsius, "sudo ethtool -m {if}", "high alarm threshold of module temperature";
        "module.temp_high_warn" = module.thresholds.temperature_high_warn: Celsius, "sudo ethtool -m {if}", "high warning threshold of module temperature";
        "xdp.mode" = xdp.mode: XdpMode, "ip -d link show {if}", "mode of the XDP program: where it runs";
        "xdp.program" = xdp.program: String, "ip -d link show {if}", "name of its XDP program";
        "usb.id" = usb.id: String, "lsusb", "vendor and product of the USB device";
        "usb.speed" = usb.speed: BitsPerSecond, "lsusb -t", "speed of the USB bus";
        "usb.version" = usb.version: String, "lsusb -v", "version of the standard that the USB device names";
        "usb.product" = usb.product: String, "lsusb", "name that the USB device gives";
        "wifi.signal" = wireless.signal: Decibel, "iw dev {if} link", "signal of the access point in dBm";
        "rate.rx_read" = rates.rx: BitsPerSecond, "sar -n DEV 1 5", "receive rate: as a tool printed it";
        "rate.tx_read" = rates.tx: BitsPerSecond, "sar -n DEV 1 5", "send rate: as a tool printed it";
        "wifi.tx_bitrate" = wireless.tx_bitrate: BitsPerSecond, "iw dev {if} link", "rate of the last frame sent";
        "wifi.rx_bitrate" = wireless.rx_bitrate: BitsPerSecond, "iw dev {if} link", "rate of the last frame received";
        "wifi.power_save" = wireless.power_save: bool, "iw dev {if} get power_save", "power saving: on";
        "wifi.phy" = wireless.phy: String, "iw dev", "name of the radio";
        "wifi.frequency" = wireless.frequency: u32, "iw dev {if} link", "channel in MHz";
        "tunnel.remote" = tunnel.remote: String, "ip -d link show {if}", "address of the other end";
        "tunnel.local" = tunnel.local: String, "ip -d link show {if}", "own outer address";
        "tunnel.port" = tunnel.port: u32, "ip -d link show {if}", "UDP port of the tunnel";
        "tunnel.vni" = tunnel.vni: u32, "ip -d link show {if}", "network identifier of the tunnel";
        "program" = tunnel.program: String, "sudo ss -xp", "program that reads packets from the tun device";
        "bridge.stp" = bridge.stp: bool, "ip -d link show {if}", "spanning tree protocol: on";
        "bridge.vlan_filtering" = bridge.vlan_filtering: bool, "ip -d link show {if}", "VLAN filtering: on";
        "bridge.netfilter" = bridge.netfilter: bool, "ip -d link show {if}", "passage through netfilter: packets of the bridge go through it";
        "devlink.fw_app" = devlink.firmware_package: String, "devlink dev info", "package in the firmware";
        "rdma.device" = rdma.device: String, "rdma link", "RDMA device of the port";
        "rdma.state" = rdma.state: String, "rdma link", "state of the RDMA port";
        "is_session" = session.is_session: bool, "echo $SSH_CONNECTION", "tie to your session: it runs over the interface";
        "is_default_route" = session.is_default_route: bool, "ip route show default", "tie to the default route: it leaves by the interface";
    }
}

fn device(facts: &Facts<'_>, index: usize) -> Derived {
    let from = facts.key(INTERFACE, index, "bus_address");
    match facts.snapshot().interfaces[index].device {
        Reading::Known(address, _) => match facts.topology().device(address) {
            Some(device) => Derived::of(State::Known(Value::Entity(Facts::entity(DEVICE, device))), from),
            None => Derived::of(State::Unknown, from),
        },
        Reading::Absent(_) => Derived::of(State::Absent, from),
        Reading::Unknown(_) => Derived::of(State::Unknown, from),
    }
}

fn members(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let from = facts.key(INTERFACE, index, "stack.members");
    let state = match &interface.stack.members {
        Reading::Known(names, _) => {
            let found: Option<Vec<Value>> = names
                .iter()
                .map(|name| facts.topology().interface(&interface.namespace, name))
                .map(|member| member.map(|member| Value::Entity(Facts::entity(INTERFACE, member))))
                .collect();
            found.map_or(State::Unknown, |members| State::Known(Value::List(members.into())))
        }
        Reading::Absent(_) => State::Absent,
        Reading::Unknown(_) => State::Unknown,
    };
    Derived::of(state, from)
}

/// The first address that is neither link-local nor of the host itself; absent where it has none.
fn ip_address(facts: &Facts<'_>, index: usize) -> Derived {
    let reachable = |held: &String| {
        let address: IpAddr = held.split('/').next()?.parse().ok()?;
        let near = match address {
            IpAddr::V4(one) => one.is_link_local(),
            IpAddr::V6(one) => one.is_unicast_link_local(),
        };
        (!near && !address.is_loopback() && !address.is_unspecified()).then_some(address)
    };
    let from = facts.key(INTERFACE, index, "addresses");
    match &facts.snapshot().interfaces[index].addresses {
        Reading::Known(all, _) => {
            let first = all.iter().find_map(reachable).map(|address| Value::Text(address.to_string().into()));
            Derived::of(first.map_or(State::Absent, State::Known), from)
        }
        Reading::Absent(_) => Derived::absent(from),
        Reading::Unknown(_) => Derived::unknown(from),
    }
}

/// A positive test: the driver drives hardware. A port type alone proves nothing.
fn is_physical(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    match interface.kind.known() {
        Some(InterfaceKind::Ethernet | InterfaceKind::Wifi | InterfaceKind::Infiniband) | None => {}
        Some(_) => return Derived::of(State::Known(Value::Bool(false)), facts.key(INTERFACE, index, "kind")),
    }
    let from = facts.key(INTERFACE, index, "driver");
    let known = interface.driver.name.known().and_then(|driver| facts.knowledge().is_hardware(driver));
    Derived::of(known.map_or(State::Unknown, |physical| State::Known(Value::Bool(physical))), from)
}

/// Rate of a byte counter as a share of the link's speed.
/// The rate of a counter; where there is none, what a tool printed.
fn rate(facts: &Facts<'_>, index: usize, counter: &str, read: &str) -> Derived {
    let counted = facts.same_as(INTERFACE, index, &format!("counter.{counter}.rate"));
    let read = facts.same_as(INTERFACE, index, read);
    if counted.state == State::Unknown && read.state != State::Unknown { read } else { counted }
}

fn load(facts: &Facts<'_>, index: usize, path: &str) -> Derived {
    let rate = facts.same_as(INTERFACE, index, path);
    let from = [rate.from, facts.key(INTERFACE, index, "link.speed")].concat();
    match (rate.state, facts.snapshot().interfaces[index].link.speed.known()) {
        (State::Known(Value::Number(rate)), Some(speed)) if speed.0 > 0 => {
            Derived::of(State::Known(Value::Number(rate / speed.0 as f64)), from)
        }
        _ => Derived::unknown(from),
    }
}
