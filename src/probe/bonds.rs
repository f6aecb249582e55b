//! Bonds: what RTM_GETLINK says of the device and of its members.

use std::collections::BTreeMap;

use super::interfaces::{self, Links, Netdev};
use super::netlink::{attribute, u16_at, u32_at};
use super::scan::Scan;
use super::tuning::or_absent;
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::{Bond, BondMember, InterfaceKind};

/// IFLA_INFO_DATA of a bond.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct BondRow {
    pub mode: Option<u8>,
    /// Index of the member in use.
    pub active: Option<u32>,
    pub miimon: Option<u32>,
    pub arp_interval: Option<u32>,
    pub hash_policy: Option<u8>,
    pub aggregator: Option<u16>,
    pub partner: Option<Vec<u8>>,
}

/// IFLA_INFO_SLAVE_DATA of a member of a bond.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct MemberRow {
    pub mii_status: Option<u8>,
    pub failures: Option<u32>,
    pub aggregator: Option<u16>,
}

pub(super) fn bond(data: &[u8]) -> BondRow {
    let byte = |kind| attribute(data, kind)?.first().copied();
    let word = |kind| u32_at(attribute(data, kind)?, 0);
    let aggregate = attribute(data, 23).unwrap_or_default();
    BondRow {
        mode: byte(1),
        active: word(2).filter(|index| *index != 0),
        miimon: word(3),
        arp_interval: word(7),
        hash_policy: byte(14),
        aggregator: attribute(aggregate, 1).and_then(|value| u16_at(value, 0)),
        partner: attribute(aggregate, 5).map(<[u8]>::to_vec),
    }
}

pub(super) fn member(data: &[u8]) -> MemberRow {
    MemberRow {
        mii_status: attribute(data, 2).and_then(|value| value.first().copied()),
        failures: attribute(data, 3).and_then(|value| u32_at(value, 0)),
        aggregator: attribute(data, 6).and_then(|value| u16_at(value, 0)),
    }
}

const LACP: u8 = 4;

/// Names of the modes as the kernel spells them.
fn mode(code: u8) -> Option<&'static str> {
    const MODES: [&str; 7] =
        ["balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"];
    MODES.get(usize::from(code)).copied()
}

/// True for the modes that have one member in use: active-backup, balance-tlb and balance-alb.
fn has_active_member(code: u8) -> bool {
    matches!(code, 1 | 5 | 6)
}

/// Names of the policies by which flows are spread.
fn hash_policy(code: u8) -> Option<&'static str> {
    const POLICIES: [&str; 6] = ["layer2", "layer3+4", "layer2+3", "encap2+3", "encap3+4", "vlan+srcmac"];
    POLICIES.get(usize::from(code)).copied()
}

/// Fills the bond of each interface. Speeds of members are those of their own links, so this comes after ethtool.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let elsewhere = scan.netlink("RTM_GETLINK", "all interfaces");
    let mut taken = std::mem::take(&mut scan.out.interfaces);
    let bonds: Vec<(usize, &Netdev)> = taken
        .iter()
        .enumerate()
        .filter(|(_, interface)| interface.kind.known() == Some(&InterfaceKind::Bond))
        .filter_map(|(at, interface)| Some((at, links.at(*interface.index.known()?)?)))
        .collect();
    let speeds: BTreeMap<&str, _> = if bonds.is_empty() {
        BTreeMap::new()
    } else {
        taken.iter().map(|interface| (interface.name.as_str(), interface.link.speed.clone())).collect()
    };
    let mut filled = Vec::new();
    for (at, device) in bonds {
        let source = scan.netlink("RTM_GETLINK", &device.name);
        let mut bond = section(scan, links, device, source);
        let mut members = members(scan, links, device);
        for member in &mut members {
            if let Some(speed) = speeds.get(member.name.as_str()) {
                member.speed = speed.clone();
            }
        }
        bond.members = Reading::Known(members, source);
        filled.push((at, bond));
    }
    for (at, bond) in filled {
        taken[at].bond = bond;
    }
    for interface in &mut taken {
        if interface.kind.known().is_some_and(|kind| *kind != InterfaceKind::Bond) {
            interface.bond.mark_absent(elsewhere);
        }
    }
    scan.out.interfaces = taken;
}

fn section(scan: &mut Scan<'_>, links: &Links, device: &Netdev, source: SourceId) -> Bond {
    let row = device.row.bond.as_deref().cloned().unwrap_or_default();
    let why = GapKind::KernelTooOld;
    let detail = "not in the answer to RTM_GETLINK";
    let words = |name: Option<&str>| name.map(ToOwned::to_owned);
    let is = |test: fn(u8) -> bool| row.mode.map(test);
    let active_member = match (row.active, is(has_active_member)) {
        (Some(active), Some(true)) => {
            let name = links.at(active).map(|member| member.name.clone());
            scan.or_unknown(name, source, GapKind::Changed, &format!("no link with index {active}"))
        }
        (_, None) => Reading::Unknown(scan.dead_end(why, detail)),
        (_, Some(_)) => Reading::Absent(source),
    };
    let (mut active_aggregator, mut partner_address) = (Reading::Absent(source), Reading::Absent(source));
    if is(|mode| mode == LACP) != Some(false) {
        let partner = row.partner.as_deref().and_then(|bytes| interfaces::address(bytes, libc::ARPHRD_ETHER));
        active_aggregator = scan.or_unknown(row.aggregator.map(u32::from), source, why, detail);
        partner_address = scan.or_unknown(partner, source, why, detail);
    }
    Bond {
        mode: scan.or_unknown(words(row.mode.and_then(mode)), source, why, detail),
        miimon: scan.or_unknown(row.miimon, source, why, detail),
        arp_interval: scan.or_unknown(row.arp_interval, source, why, detail),
        xmit_hash_policy: scan.or_unknown(words(row.hash_policy.and_then(hash_policy)), source, why, detail),
        active_member,
        active_aggregator,
        partner_address,
        members: Reading::default(),
    }
}

fn members(scan: &mut Scan<'_>, links: &Links, bond: &Netdev) -> Vec<BondMember> {
    let mut rows: Vec<&Netdev> =
        links.devices.iter().filter(|device| device.row.master == Some(bond.row.index)).collect();
    rows.sort_by_key(|device| crate::snapshot::natural(&device.name));
    let detail = "not in the answer to RTM_GETLINK";
    let mut members = Vec::with_capacity(rows.len());
    for device in rows {
        let source = scan.netlink("RTM_GETLINK", &device.name);
        let row = device.row.member.as_deref().cloned().unwrap_or_default();
        let aggregates = bond.row.bond.as_deref().and_then(|bond| bond.mode) == Some(LACP);
        members.push(BondMember {
            name: device.name.clone(),
            mii_up: scan.or_unknown(row.mii_status.map(|status| status == 0), source, GapKind::KernelTooOld, detail),
            link_failures: scan.or_unknown(row.failures, source, GapKind::KernelTooOld, detail),
            aggregator: if aggregates {
                scan.or_unknown(row.aggregator.map(u32::from), source, GapKind::KernelTooOld, detail)
            } else {
                or_absent(None, source)
            },
            ..BondMember::default()
        });
    }
    members
}

#[cfg(test)]
mod tests {
    use super::super::netlink::push;
    use super::*;

    /// The attributes of the bond `bond0` of the testbed, and of its member `e1000e0`.
    #[test]
    fn a_bond_and_its_members_are_read() {
        let mut aggregate = Vec::new();
        push(&mut aggregate, 1, &1u16.to_ne_bytes());
        push(&mut aggregate, 2, &1u16.to_ne_bytes());
        push(&mut aggregate, 5, &[0; 6]);
        let mut data = Vec::new();
        push(&mut data, 1, &[4]);
        push(&mut data, 3, &100u32.to_ne_bytes());
        push(&mut data, 7, &0u32.to_ne_bytes());
        push(&mut data, 14, &[1]);
        push(&mut data, 0x8017, &aggregate);
        let row = bond(&data);
        assert_eq!(
            (row.mode.and_then(mode), row.hash_policy.and_then(hash_policy)),
            (Some("802.3ad"), Some("layer3+4"))
        );
        assert_eq!((row.miimon, row.arp_interval, row.active), (Some(100), Some(0), None));
        assert_eq!((row.aggregator, row.partner.as_deref()), (Some(1), Some(&[0; 6][..])));
        assert_eq!(bond(&[]), BondRow::default());

        let mut data = Vec::new();
        push(&mut data, 1, &[1]);
        push(&mut data, 2, &[0]);
        push(&mut data, 3, &3u32.to_ne_bytes());
        push(&mut data, 6, &2u16.to_ne_bytes());
        assert_eq!(member(&data), MemberRow { mii_status: Some(0), failures: Some(3), aggregator: Some(2) });
        assert_eq!(mode(7), None);
        assert_eq!(hash_policy(6), None);
    }
}
