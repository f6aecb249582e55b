//! RDMA: devices, their ports, and what they counted.

use super::{Intake, Tool, is_interface_name, path_value};
use crate::formats::cursor::{At, Cursor};
use crate::formats::rdma;
use crate::snapshot::{Interface, InterfaceKind, STAND_IN};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "ibdev2netdev",
        answers: |command| command.program == "ibdev2netdev",
        begins: |cursor| cursor.peek().is_some_and(|line| rdma::netdev(line.text).is_some()),
        read: rdma_netdevs,
    },
    Tool {
        name: "ibstat",
        answers: |command| ["ibstat", "ibstatus", "ibv_devinfo"].contains(&command.program.as_str()),
        begins: |cursor| cursor.peek().is_some_and(|line| rdma::head(line.text).is_some()),
        read: rdma_ports,
    },
    Tool {
        name: "rdma",
        answers: |command| command.program == "rdma",
        begins: |cursor| {
            cursor.peek().and_then(|line| rdma::link(line.text)).is_some_and(|link| !link.pairs.is_empty())
        },
        read: links,
    },
    Tool {
        name: "sysfs",
        answers: |command| command.files().iter().any(|path| path.starts_with(CLASS)),
        begins: |cursor| cursor.peek().is_some_and(|line| counter_file(line.text).is_some()),
        read: files,
    },
];

const CLASS: &str = "/sys/class/infiniband/";

fn rdma_netdevs(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(found) = cursor.take_if(rdma::netdev) {
        let (netdev, line) = (found.value, found.line);
        if !is_interface_name(&netdev.interface) {
            continue;
        }
        intake.site.put(&netdev.interface, |i| &mut i.link.up, At::new(netdev.up, line));
        intake.site.put(&netdev.interface, |i| &mut i.rdma.device, At::new(netdev.device, line));
        if netdev.interface.starts_with("ib") {
            intake.site.put(&netdev.interface, |i| &mut i.kind, At::new(InterfaceKind::Infiniband, line));
        }
    }
}

/// The state of a port goes to the interface that is known to be of the device.
fn rdma_ports(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for port in rdma::parse(cursor).into_iter().flatten() {
        let state = port.value.get(&["State"]).map(|state| {
            // `PORT_ACTIVE (4)`, `4: ACTIVE`, `Active`.
            let word = state.split_once(": ").map_or(state, |(_, word)| word);
            word.trim_start_matches("PORT_").split(' ').next().unwrap_or_default().to_ascii_lowercase()
        });
        let of_device = |interface: &&Interface| interface.rdma.device.known() == Some(&port.value.device);
        let name = intake.site.snapshot.interfaces.iter().find(of_device).map(|interface| interface.name.clone());
        if let (Some(name), Some(state)) = (name, state) {
            intake.site.put(&name, |i| &mut i.rdma.state, At::new(state, port.line));
        }
    }
}

/// The interface of an RDMA device: the one that is known to be of it, else a stand-in that later outputs find again.
fn interface_of(intake: &mut Intake<'_>, device: &str, line: u32) -> String {
    let of_device = |interface: &&Interface| interface.rdma.device.known().is_some_and(|held| held == device);
    let known = intake.site.snapshot.interfaces.iter().find(of_device).map(|interface| interface.name.clone());
    known.unwrap_or_else(|| {
        let name = format!("{STAND_IN}{line}");
        intake.site.put(&name, |i| &mut i.rdma.device, At::new(device.to_owned(), line));
        name
    })
}

/// `rdma link` and `rdma statistic`, which looks alike.
fn links(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(At { value: mut link, line }) = cursor.take_if(rdma::link) {
        while let Some(more) = cursor.take_if(rdma::more) {
            link.pairs.extend(more.value);
        }
        if let Some(name) = link.get("netdev").filter(|name| is_interface_name(name)) {
            intake.site.put(name, |i| &mut i.rdma.device, At::new(link.device.clone(), line));
        }
        let counters = link.counters();
        if !counters.is_empty() {
            let name = interface_of(intake, &link.device, line);
            let partial = intake.is_filtered();
            intake.site.counters(&name, "rdma_hw_counters", line, counters, partial);
        } else if let Some(state) = link.get("state") {
            let name = interface_of(intake, &link.device, line);
            intake.site.put(&name, |i| &mut i.rdma.state, At::new(state.to_ascii_lowercase(), line));
        }
    }
}

/// Device, group and counter of `/sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence`.
fn counter_path(path: &str) -> Option<(&str, &'static str, &str)> {
    let (device, rest) = path.strip_prefix(CLASS)?.split_once("/ports/")?;
    let (_, rest) = rest.split_once('/')?;
    let (folder, name) = rest.split_once('/')?;
    let group = match folder {
        "hw_counters" => "rdma_hw_counters",
        "counters" => "rdma_counters",
        _ => return None,
    };
    (!path.contains(['*', '?', '$', '{'])).then_some((device, group, name))
}

/// The same and the value, of a line `path:value`.
fn counter_file(text: &str) -> Option<(&str, &'static str, &str, u64)> {
    let (path, value) = path_value(text)?;
    let (device, group, name) = counter_path(path)?;
    Some((device, group, name, value.trim().parse().ok()?))
}

fn files(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command.cloned();
    let paths = command.as_ref().map(|command| command.files()).unwrap_or_default();
    let mut next = paths.iter().filter_map(|path| counter_path(path));
    while let Some(line) = cursor.peek() {
        let found = counter_file(line.text).or_else(|| {
            let value = line.text.trim().parse().ok()?;
            next.next().map(|(device, group, name)| (device, group, name, value))
        });
        let Some((device, group, counter, value)) = found else { break };
        cursor.take();
        let name = interface_of(intake, device, line.number);
        intake.site.counters(&name, group, line.number, vec![(counter.to_owned(), value)], true);
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::snapshot::Interface;

    fn values(interface: &Interface, group: &str, name: &str) -> Vec<Option<u64>> {
        interface.counters.iter().find(|block| block.group == group).unwrap().get(name).unwrap().values.clone()
    }

    #[test]
    fn counters_go_to_the_interface_of_the_device() {
        let statistic = |sequence: u32| {
            format!("$ rdma statistic show link mlx5_0/1\nlink mlx5_0/1 out_of_buffer 0 out_of_sequence {sequence} \n")
        };
        let link = "$ rdma link show\nlink mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1 \n";
        let file = "$ grep . /sys/class/infiniband/*/ports/1/counters/*\n/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_packets:77\n\
            $ cat /sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_packets\n78\n";
        let (snapshot, understood) = one(&format!("{link}{}{}{file}", statistic(5), statistic(9)));
        assert_eq!(understood.left, []);
        let [port] = snapshot.interfaces.as_slice() else { panic!("one interface") };
        assert_eq!((port.name.as_str(), port.rdma.state.known().unwrap().as_str()), ("ens1", "active"));
        assert_eq!(values(port, "rdma_hw_counters", "out_of_sequence"), [Some(5), Some(9)]);
        assert_eq!(values(port, "rdma_counters", "port_rcv_packets"), [Some(77)]);
        assert_eq!(values(port, "rdma_counters", "port_xmit_packets"), [Some(78)]);
        // Where nobody says which interface it is, both outputs are of the same one all the same.
        let (snapshot, _) = one(&format!("{}{}", statistic(5), statistic(9)));
        let [port] = snapshot.interfaces.as_slice() else { panic!("one interface") };
        assert_eq!(port.name, "unnamed:2");
        assert_eq!(values(port, "rdma_hw_counters", "out_of_sequence").len(), 2);
    }

    #[test]
    fn each_counter_may_have_its_line() {
        let text = "$ rdma -p statistic\nlink mlx5_0/1 \n    rx_write_requests 5 \n    out_of_sequence 7 \n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        assert_eq!(values(&snapshot.interfaces[0], "rdma_hw_counters", "out_of_sequence"), [Some(7)]);
    }
}
