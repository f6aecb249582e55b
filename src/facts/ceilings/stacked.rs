//! Interfaces that stand on one other: VLANs, bridges with one uplink, tunnels. They carry what that one does, in packets of
//! their own.

use super::{Asked, Facts, INTERFACE, InterfaceCeiling, interface_at, set_rate};
use crate::ceiling::Tunnel;
use crate::ceiling::combine::Part;
use crate::lang::{State, Value};
use crate::reading::Reading;
use crate::snapshot::{Interface, InterfaceKind};

/// How deep interfaces stand on each other at most; the kernel has a limit of its own.
const DEEPEST: u32 = 8;

/// The interface that all leaves by, as far as it is known.
fn egress(facts: &Facts<'_>, index: usize) -> Option<usize> {
    let key = facts.key(INTERFACE, index, "egress").into_iter().next()?;
    match facts.lookup(key).state {
        State::Known(Value::Entity(found)) => Some(found.index as usize),
        _ => None,
    }
}

fn parent(facts: &Facts<'_>, interface: &Interface) -> Option<usize> {
    facts.topology().interface(&interface.namespace, interface.stack.parent.known()?)
}

/// True for a port of a bridge that leads out of the host: not those of guests and containers.
fn leads_out(interface: &Interface) -> bool {
    let kind = interface.kind.known();
    interface.device.known().is_some()
        || interface.port.physical.known() == Some(&true)
        || matches!(kind, Some(InterfaceKind::Bond | InterfaceKind::Vlan))
}

/// The one port of a bridge that leads out; none where several do, for then nobody knows which is meant.
fn uplink(facts: &Facts<'_>, bridge: &Interface) -> Option<usize> {
    let interfaces = &facts.snapshot().interfaces;
    let named = |names: &Vec<String>| {
        names.iter().filter_map(|name| facts.topology().interface(&bridge.namespace, name)).collect::<Vec<_>>()
    };
    let mine = |at: &usize| {
        let one = &interfaces[*at];
        one.namespace == bridge.namespace && one.stack.master.known() == Some(&bridge.name)
    };
    let members = bridge.stack.members.known().map(named);
    let members = members.unwrap_or_else(|| (0..interfaces.len()).filter(mine).collect());
    let mut out = members.into_iter().filter(|at| {
        let member = &interfaces[*at];
        leads_out(member) && member.link.up.known() != Some(&false)
    });
    out.next().filter(|_| out.next().is_none())
}

/// The interface below, and the tunnel that leads there.
fn below(facts: &Facts<'_>, index: usize) -> Option<(usize, Option<Tunnel>)> {
    let interface = &facts.snapshot().interfaces[index];
    let v6 = match &interface.tunnel.remote {
        Reading::Known(remote, _) => remote.contains(':'),
        _ => false,
    };
    let tunnel = |v4: Tunnel, other: Tunnel| Some((egress(facts, index)?, Some(if v6 { other } else { v4 })));
    match interface.kind.known()? {
        InterfaceKind::Vlan | InterfaceKind::Macvlan | InterfaceKind::Macvtap | InterfaceKind::Ipvlan => {
            Some((parent(facts, interface)?, None))
        }
        InterfaceKind::Bridge => Some((uplink(facts, interface)?, None)),
        InterfaceKind::Vxlan => tunnel(Tunnel::Vxlan4, Tunnel::Vxlan6),
        InterfaceKind::Geneve => tunnel(Tunnel::Geneve4 { options: 0 }, Tunnel::Geneve6 { options: 0 }),
        InterfaceKind::Wireguard => tunnel(Tunnel::Wireguard4, Tunnel::Wireguard6),
        // Over IPv6 the overhead has other parts.
        InterfaceKind::Gre if !v6 => tunnel(Tunnel::Gre4, Tunnel::Gre4),
        InterfaceKind::Ipip if !v6 => tunnel(Tunnel::Ipip4, Tunnel::Ipip4),
        _ => None,
    }
}

/// Fills in the ceiling of an interface that stands on another; any other stays as it is.
pub(super) fn fill(result: &mut InterfaceCeiling, facts: &Facts<'_>, index: usize, asked: Asked) {
    if result.combined.is_some() || asked.depth >= DEEPEST || asked.tunnel.is_some() && asked.depth > 4 {
        return;
    }
    let Some((lower, tunnel)) = below(facts, index).filter(|(lower, _)| *lower != index) else { return };
    let interface = &facts.snapshot().interfaces[index];
    let is_vlan = interface.kind.known() == Some(&InterfaceKind::Vlan);
    let own_tags = interface.vlan_tags.known().copied().or(is_vlan.then_some(1));
    let buses = facts.knowledge().buses();
    let inner = Asked { tunnel: tunnel.or(asked.tunnel), ..asked };
    let outer = |mtu: u64| {
        // What the tunnel adds stands between the packets inside and those on the wire.
        let added = tunnel.map_or(0, |_| inner.framing(facts, 0).tunnel_bytes(buses));
        mtu.saturating_add(u64::from(added))
    };
    let mtu = asked.mtu.map(outer).or_else(|| facts.snapshot().interfaces[lower].mtu.known().map(|mtu| mtu.0));
    let tags = if tunnel.is_some() { None } else { asked.tags.or(own_tags) };
    let found = interface_at(facts, lower, Asked { mtu, tags, depth: asked.depth + 1, ..inner });
    let Some(whole) = found.combined.clone() else { return };
    result.receiving.clone_from(&found.receiving);
    result.one_flow.clone_from(&found.one_flow);
    result.taken_sending.clone_from(&found.taken_sending);
    result.link_from = [facts.key(INTERFACE, index, "mtu"), found.link_from.clone()].concat();
    if tunnel.is_some() && interface.kind.known() == Some(&InterfaceKind::Wireguard) {
        result.notes.push("it encrypts: a processor core often binds before the link".into());
    }
    let parts = vec![Part { mechanism: whole.binding, ceiling: whole.ceiling.clone() }];
    result.combined = Some(whole);
    let framing = Asked { mtu, tags, ..inner }.framing(facts, own_tags.unwrap_or(0));
    result.stands_on = Some((lower, Box::new(found)));
    set_rate::hold_back(result, facts, index, parts, &framing);
}
