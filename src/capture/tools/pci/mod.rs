//! PCI: lspci, and the files of sysfs.

mod sysfs;

use super::super::command::Command;
use super::super::pci::Kind;
use super::super::site::not_permitted;
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};
use crate::formats::lspci::{self, Function};
use crate::reading::{Bytes, Gigatransfers, Reading};
use crate::snapshot::{PciAddress, PcieRole};

pub(super) static TOOLS: &[Tool] = &[
    sysfs::TOOL,
    Tool { name: "lspci -t", answers: is_tree, begins: begins_tree, read: tree },
    Tool { name: "lspci", answers: |command| command.program == "lspci", begins, read },
];

fn is_tree(command: &Command) -> bool {
    command.program == "lspci" && command.has_flag('t')
}

fn begins_tree(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| lspci::begins_tree(line.text.trim_end()))
}

fn begins(cursor: &Cursor<'_>) -> bool {
    cursor.peek().is_some_and(|line| lspci::begins(line.text.trim()))
}

/// The function that `-s` names, where it names one.
fn asked_for(command: &Command) -> Option<PciAddress> {
    let mut words = command.arguments.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("-s") {
            Some("") => words.next()?.as_str(),
            Some(value) => value,
            None => continue,
        };
        return value.parse().ok();
    }
    None
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command;
    let filtered = intake.is_filtered();
    let functions = lspci::parse(cursor);
    let picks = ["-s", "-d", "-i", "-H1", "-A"];
    let picked = command
        .is_none_or(|command| command.arguments.iter().any(|word| picks.iter().any(|pick| word.starts_with(pick))));
    for function in &functions {
        let named = function.address.as_ref().and_then(|at| at.value.parse().ok());
        let Some(address) = named.or_else(|| command.and_then(asked_for)) else { continue };
        put(intake, address, function, filtered);
        intake.site.pci.function(address).asked_for |= command.and_then(asked_for) == Some(address);
    }
    if let Some(first) = functions.first().filter(|_| !picked && !filtered && functions.len() > 1) {
        let source = intake.site.source(first.line);
        intake.site.pci.lists_all(source);
    }
}

fn put(intake: &mut Intake<'_>, address: PciAddress, function: &Function, filtered: bool) {
    let command = intake.command;
    let site = &mut *intake.site;
    macro_rules! put {
        ($($leaf:ident: $value:expr),* $(,)?) => { $(
            if let Some(at) = $value {
                site.put_pci(address, |function| &mut function.$leaf, at);
            }
        )* };
    }
    put! {
        class: function.class.clone(),
        id: function.id.clone(),
        subsystem: function.subsystem.clone(),
        name: function.name.clone(),
        driver: function.driver.clone(),
        numa_node: function.numa_node.clone(),
        slot: function.slot.clone(),
        buses: function.buses.clone(),
        kind: function.kind.as_ref().and_then(|at| Some(At::new(kind(&at.value)?, at.line))),
        mps: function.payload.clone().map(|at| at.map(Bytes)),
        mps_supported: function.payload_most.clone().map(|at| at.map(Bytes)),
        mrrs: function.read_request.clone().map(|at| at.map(Bytes)),
        relaxed_ordering: function.relaxed_ordering.clone(),
        aspm: function.aspm.clone(),
    }
    for (link, is_now) in [(&function.link_now, true), (&function.link_most, false)] {
        let Some(At { value: figures, line }) = link else { continue };
        let speed = figures.speed.map(|speed| At::new(Gigatransfers(speed), *line));
        let width = figures.width.map(|width| At::new(width, *line));
        if is_now {
            put! { speed: speed, width: width }
        } else {
            put! { speed_max: speed, width_max: width }
        }
    }
    if let Some(line) = function.modules.filter(|_| function.driver.is_none() && !filtered) {
        let source = site.source(line);
        site.pci.function(address).driver.fill(Reading::Absent(source));
    }
    if let Some(line) = function.denied {
        let gap = match command {
            Some(command) => not_permitted(command, &site.file, line),
            None => crate::reading::Gap::new(crate::reading::GapKind::NotPermitted)
                .detail(format!("access denied at {}:{line}", site.file))
                .command(format!("sudo lspci -vv -s {address}")),
        };
        let gap = site.snapshot.origins.gap(gap);
        let held = site.pci.function(address);
        held.speed.fill(Reading::Unknown(gap));
        held.width.fill(Reading::Unknown(gap));
        held.mps.fill(Reading::Unknown(gap));
        held.mps_supported.fill(Reading::Unknown(gap));
        held.mrrs.fill(Reading::Unknown(gap));
        held.relaxed_ordering.fill(Reading::Unknown(gap));
        held.aspm.fill(Reading::Unknown(gap));
    } else if let Some(line) = function.shows_capabilities.filter(|_| function.kind.is_none() && !filtered) {
        // All capabilities were shown, and the one of PCI Express is not among them.
        let source = site.source(line);
        let held = site.pci.function(address);
        held.kind.fill(Reading::Absent(source));
        held.mps.fill(Reading::Absent(source));
        held.mps_supported.fill(Reading::Absent(source));
        held.mrrs.fill(Reading::Absent(source));
        held.relaxed_ordering.fill(Reading::Absent(source));
        held.aspm.fill(Reading::Absent(source));
    }
}

/// `Endpoint`, `Root Port (Slot+)`, `Downstream Port (Slot-)`.
fn kind(words: &str) -> Option<Kind> {
    let port = |role| Some(Kind::Port(role));
    match words.split(" (").next().unwrap_or_default().trim() {
        "Endpoint" | "Legacy Endpoint" => Some(Kind::Endpoint),
        "Root Complex Integrated Endpoint" | "Root Complex Event Collector" => Some(Kind::Integrated),
        "Root Port" => port(PcieRole::RootPort),
        "Upstream Port" => port(PcieRole::SwitchUpstream),
        "Downstream Port" => port(PcieRole::SwitchDownstream),
        "PCI-Express to PCI/PCI-X Bridge" | "PCI/PCI-X to PCI-Express Bridge" => port(PcieRole::PciBridge),
        _ => None,
    }
}

fn tree(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let complete = !intake.is_filtered();
    let rows = lspci::tree(cursor);
    for row in &rows {
        let address = PciAddress { domain: row.domain, bus: row.bus, device: row.device, function: row.function };
        intake.site.pci.function(address);
        if let Some(buses) = row.below {
            intake.site.put_pci(address, |function| &mut function.buses, At::new(buses, row.line));
        }
    }
    if let Some(first) = rows.first().filter(|_| complete) {
        let source = intake.site.source(first.line);
        intake.site.pci.lists_all(source);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;
    use crate::reading::{GapKind, Reading};
    use crate::snapshot::PcieRole;

    const BRIDGES: &str = "00:1c.0 PCI bridge: Intel Corporation Sunrise Point PCI Express Root Port\n\
        \tBus: primary=00, secondary=01, subordinate=03, sec-latency=0\n\
        \tCapabilities: [40] Express (v2) Root Port (Slot+), MSI 00\n\
        \t\tLnkCap:\tPort #5, Speed 8GT/s, Width x4, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s, Width x4\n\n\
        01:00.0 PCI bridge: PLX Technology PEX 8747\n\tBus: primary=01, secondary=02, subordinate=03, sec-latency=0\n\
        \tCapabilities: [68] Express (v2) Upstream Port, MSI 00\n\
        \t\tLnkCap:\tPort #0, Speed 8GT/s, Width x16, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s, Width x4 (downgraded)\n\n\
        02:08.0 PCI bridge: PLX Technology PEX 8747\n\tBus: primary=02, secondary=03, subordinate=03, sec-latency=0\n\
        \tCapabilities: [68] Express (v2) Downstream Port (Slot+), MSI 00\n\
        \t\tLnkCap:\tPort #8, Speed 8GT/s, Width x8, ASPM L1\n\t\tLnkSta:\tSpeed 8GT/s, Width x8\n\n";
    const CARD: &str = "03:00.0 Ethernet controller: Intel Corporation Ethernet Controller X710 (rev 02)\n\
        \tPhysical Slot: 4\n\tCapabilities: [a0] Express (v2) Endpoint, MSI 00\n\
        \t\tDevCap:\tMaxPayload 2048 bytes, PhantFunc 0\n\t\t\tMaxPayload 256 bytes, MaxReadReq 512 bytes\n\
        \t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8\n\t\tLnkSta:\tSpeed 8GT/s, Width x8\n\tKernel driver in use: i40e\n";

    #[test]
    fn the_path_up_has_a_link_on_each_side_of_a_switch() {
        let (snapshot, understood) = one(&format!("# lspci -vv\n{BRIDGES}{CARD}"));
        assert_eq!(understood.left, []);
        let device = &snapshot.devices[0];
        assert_eq!((snapshot.devices.len(), device.address.to_string().as_str()), (1, "0000:03:00.0"));
        assert_eq!((device.class.known(), device.driver.known().unwrap().as_str()), (Some(&0x0200), "i40e"));
        assert_eq!((device.pcie.mps.known().unwrap().0, device.pcie.mrrs.known().unwrap().0), (256, 512));
        let links = device.pcie.links.known().unwrap();
        let ends = |at: usize| (links[at].lower.to_string(), links[at].upper.known().unwrap().to_string());
        assert_eq!(ends(0), ("0000:03:00.0".into(), "0000:02:08.0".into()));
        assert_eq!(ends(1), ("0000:01:00.0".into(), "0000:00:1c.0".into()));
        assert_eq!((links[0].width.known(), links[1].width.known()), (Some(&8), Some(&4)));
        assert_eq!((links[1].lower_width_max.known(), links[1].upper_width_max.known()), (Some(&16), Some(&4)));
        assert_eq!(links[1].role.known(), Some(&PcieRole::RootPort));
        assert_eq!(links[0].slot.known().unwrap(), "4");
        assert_eq!(links[1].siblings.known(), Some(&Vec::new()));
    }

    #[test]
    fn one_function_alone_does_not_show_what_is_above() {
        let (snapshot, _) = one(&format!("# lspci -vv -s 03:00.0\n{CARD}"));
        let links = snapshot.devices[0].pcie.links.known().unwrap();
        assert_eq!((links.len(), links[0].upper.known(), links[0].siblings.known()), (1, None, None));
        let text = "# lspci -s 08:00.0 -vv | grep Lnk\n\t\tLnkCap:\tPort #0, Speed 8GT/s, Width x8\n\t\tLnkSta:\tSpeed 8GT/s, Width x2 (downgraded)\n";
        let (snapshot, _) = one(text);
        let device = &snapshot.devices[0];
        let link = &device.pcie.links.known().unwrap()[0];
        assert_eq!((device.address.to_string().as_str(), device.class.known()), ("0000:08:00.0", None));
        assert_eq!((link.width.known(), link.lower_width_max.known()), (Some(&2), Some(&8)));
    }

    #[test]
    fn without_root_the_links_are_a_gap() {
        let text = "$ lspci -vv\n00:1c.0 PCI bridge: Intel Corporation X\n\tBus: primary=00, secondary=03, subordinate=03, sec-latency=0\n\
                    \tCapabilities: <access denied>\n03:00.0 Ethernet controller: Intel Corporation X710\n\tCapabilities: <access denied>\n";
        let (snapshot, _) = one(text);
        let device = &snapshot.devices[0];
        let link = &device.pcie.links.known().unwrap()[0];
        let gap = snapshot.origins.gap_of(link.width.gap().unwrap());
        assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "sudo lspci -vv"));
        assert_eq!(link.upper.known().unwrap().to_string(), "0000:00:1c.0");
        assert!(matches!(device.pcie.mps, Reading::Unknown(_)));
    }

    #[test]
    fn guests_are_known_by_what_only_hypervisors_have() {
        let text = "$ lspci -nn\n00:03.0 Ethernet controller [0200]: Red Hat, Inc. Virtio network device [1af4:1000]\n\
                    00:04.0 Ethernet controller [0200]: Intel Corporation 82574L [8086:10d3]\n";
        let (snapshot, _) = one(text);
        assert_eq!(snapshot.host.is_guest.known(), Some(&true));
        let roots: Vec<_> = snapshot.devices.iter().map(|device| device.pcie.virtual_root.known().copied()).collect();
        assert_eq!(roots, [Some(true), None]);
    }

    #[test]
    fn a_function_that_no_driver_drives() {
        let text = "# lspci -nnk\n03:00.0 Ethernet controller [0200]: Intel Corporation I226-V [8086:125c] (rev 04)\n\
                    \tSubsystem: Intel Corporation Device [8086:0000]\n\tKernel modules: igc\n\
                    04:00.0 Ethernet controller [0200]: Intel Corporation I226-V [8086:125c] (rev 04)\n\
                    \tKernel driver in use: igc\n\tKernel modules: igc\n\
                    # ls -l /sys/class/net\ntotal 0\nlrwxrwxrwx 1 root root 0 Jan  1 00:00 enp4s0 -> ../../devices/pci0000:00/0000:00:1c.0/0000:04:00.0/net/enp4s0\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let [dead, alive] = snapshot.devices.as_slice() else { panic!("two functions") };
        assert!(dead.driver.is_absent() && alive.driver.known().is_some());
        assert_eq!((dead.interfaces.known(), alive.interfaces.known().map(Vec::len)), (Some(&Vec::new()), Some(1)));
        // Without the line of the modules nothing is said of drivers.
        let (snapshot, _) = one("# lspci\n03:00.0 Ethernet controller: Intel Corporation I226-V (rev 04)\n");
        assert!(snapshot.devices[0].driver.is_unasked() && snapshot.devices[0].interfaces.is_unasked());
    }

    #[test]
    fn a_tree_tells_who_is_above_whom() {
        let text = "# lspci -t\n-[0000:00]-+-00.0\n           \\-1c.0-[03]----00.0\n# lspci\n\
                    03:00.0 Ethernet controller: Intel Corporation X710\n";
        let (snapshot, _) = one(text);
        let link = &snapshot.devices[0].pcie.links.known().unwrap()[0];
        assert_eq!(link.upper.known().unwrap().to_string(), "0000:00:1c.0");
        assert!(link.width.known().is_none());
    }
}
