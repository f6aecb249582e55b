//! Which bridges above a function are the upper ends of links.

use super::device::PciAddress;
use super::words::PcieRole;

/// The links from a function up to the root: the lower end of each, and the place of its upper end in `chain`, which holds
/// the bridges above the function, nearest first. The bus inside a switch, and one behind a bridge to conventional PCI, is
/// no link.
pub fn pcie_ends(lowest: PciAddress, chain: &[(PciAddress, Option<PcieRole>)]) -> Vec<(PciAddress, usize)> {
    let mut ends = Vec::new();
    let mut lower = lowest;
    let mut at = 0;
    while let Some((upper, role)) = chain.get(at) {
        if let Some(PcieRole::PciBridge | PcieRole::SwitchUpstream) = role {
            lower = *upper;
            at += 1;
            continue;
        }
        ends.push((lower, at));
        if *role == Some(PcieRole::RootPort) {
            break;
        }
        at += 1;
        // Above a downstream port comes the upstream port of the same switch: the lower end of the next link.
        if let Some((upstream, _)) = chain.get(at) {
            lower = *upstream;
            at += 1;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> PciAddress {
        text.parse().unwrap()
    }

    #[test]
    fn a_switch_has_a_link_on_each_side() {
        use PcieRole::{PciBridge, RootPort, SwitchDownstream, SwitchUpstream};
        let root = [(at("00:1c.0"), Some(RootPort))];
        assert_eq!(pcie_ends(at("01:00.0"), &root), [(at("01:00.0"), 0)]);
        let switch = [
            (at("02:01.0"), Some(SwitchDownstream)),
            (at("01:00.0"), Some(SwitchUpstream)),
            (at("00:1c.0"), Some(RootPort)),
        ];
        assert_eq!(pcie_ends(at("03:00.0"), &switch), [(at("03:00.0"), 0), (at("01:00.0"), 2)]);
        let unnamed = switch.map(|(port, _)| (port, None));
        assert_eq!(pcie_ends(at("03:00.0"), &unnamed), [(at("03:00.0"), 0), (at("01:00.0"), 2)]);
        let bridge = [(at("01:00.0"), Some(PciBridge)), (at("00:1c.0"), Some(RootPort))];
        assert_eq!(pcie_ends(at("02:00.0"), &bridge), [(at("01:00.0"), 1)]);
        assert_eq!(pcie_ends(at("02:00.0"), &[]), []);
    }
}
