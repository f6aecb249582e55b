//! Counters that are computed from others.

use std::collections::BTreeMap;

use super::{Count, Counted, activity, add, rows};
use crate::facts::Facts;
use crate::knowledge::schema::Derivation;
use crate::reading::Reading;
use crate::snapshot::{CounterBlock, Interface};

/// Microseconds of a second.
const MICROSECONDS: f64 = 1e6;

pub(super) fn count(facts: &Facts<'_>, index: usize, derivation: Derivation) -> Count {
    let interface = facts.snapshot().interfaces.get(index);
    let counted = match derivation {
        Derivation::SqueezedPackets(budget) => squeezed_packets(facts, budget),
        Derivation::TcpRetransGenuine => tcp_retrans_genuine(facts),
        Derivation::Window => interface.and_then(|interface| window(facts, interface)),
        Derivation::LineBits => interface.and_then(|interface| line_bits(facts, interface)),
        Derivation::TxPacketsSynthetic => tx_packets_synthetic(facts, index),
        Derivation::RxDroppedCore => interface.and_then(|interface| rx_dropped_core(facts, index, interface)),
        Derivation::MemberTxBytes => {
            let Some(interface) = interface else { return Count::Unknown };
            match &interface.stack.members {
                Reading::Absent(_) => return Count::Absent,
                Reading::Known(names, _) => {
                    let members = members(facts, index);
                    // A member that is missing would make its like look busier.
                    if members.len() == names.len() { add(members.into_values().map(Some)) } else { None }
                }
                Reading::Unknown(_) => None,
            }
        }
        Derivation::QueueIrqsRemote => return activity::remote(facts, index),
        Derivation::CarrierDown => {
            let Some(interface) = interface else { return Count::Unknown };
            match &interface.link.carrier_down {
                Reading::Absent(_) => return Count::Absent,
                Reading::Known(total, source) => Some(Counted {
                    total: *total,
                    growth: None,
                    window: None,
                    source: *source,
                    rows: vec!["carrier_down_count".into()],
                    ambiguous: None,
                    aside: false,
                    growth_only: false,
                }),
                Reading::Unknown(_) => None,
            }
        }
    };
    counted.map_or(Count::Unknown, Count::Counted)
}

/// Takes off what is contained in `of`; never below zero.
fn less(mut of: Counted, part: &Counted) -> Counted {
    of.total = of.total.saturating_sub(part.total);
    of.growth = of.growth.zip(part.growth).map(|(of, part)| of.saturating_sub(part));
    of.ambiguous = of.ambiguous.or_else(|| part.ambiguous.clone());
    of
}

fn times(mut counted: Counted, factor: u64) -> Counted {
    counted.total = counted.total.saturating_mul(factor);
    counted.growth = counted.growth.map(|growth| growth.saturating_mul(factor));
    counted
}

/// squeezed packets <= time_squeeze * net.core.netdev_budget: no softirq round takes more packets than its budget.
fn squeezed_packets(facts: &Facts<'_>, default_budget: u32) -> Option<Counted> {
    let squeezes = facts.count(0, "softnet_time_squeeze").counted()?;
    let sysctl = facts.snapshot().host.sysctl.known();
    let budget = sysctl.and_then(|values| values.get("net.core.netdev_budget")?.trim().parse().ok());
    Some(times(squeezes, budget.unwrap_or(u64::from(default_budget))))
}

/// RetransSegs - TCPSynRetrans - TCPDSACKRecv - TCPLossProbes: a lower bound, for a probe may be acknowledged twice and is
/// then taken off twice.
fn tcp_retrans_genuine(facts: &Facts<'_>) -> Option<Counted> {
    let mut left = facts.count(0, "RetransSegs").counted()?;
    for part in ["TCPSynRetrans", "TCPDSACKRecv", "TCPLossProbes"] {
        left = less(left, &facts.count(0, part).counted()?);
    }
    Some(left)
}

/// tx_packets - vf_tx_packets: the kernel's field holds both ways.
fn tx_packets_synthetic(facts: &Facts<'_>, index: usize) -> Option<Counted> {
    let all = facts.count(index, "tx_packets").counted()?;
    Some(less(all, &facts.count(index, "vf_tx_packets").counted()?))
}

/// rx_dropped of the kernel - the driver's own part of it. Drops of the CPU backlog stay inside: they are counted for the
/// whole host and can't be told apart by interface.
fn rx_dropped_core(facts: &Facts<'_>, index: usize, interface: &Interface) -> Option<Counted> {
    let field = facts.count(index, "rx_dropped").counted()?;
    let driver = interface.driver.name.known();
    let known = driver.and_then(|driver| facts.knowledge().driver_counters(driver));
    let mut core = match known {
        Some(known) if !known.rx_dropped_own.is_empty() => {
            let statistics = block(interface, "ethtool_statistics")?;
            less(field, &rows::sum_of(statistics, &known.rx_dropped_own)?)
        }
        _ => field,
    };
    let untold = known.is_none_or(|known| known.rx_dropped_shared) && !super::made_up(&interface.kind);
    let backlog = facts.count(0, "softnet_dropped").counted();
    if untold {
        core.ambiguous = Some("drops of the driver itself may be inside".into());
    } else if backlog.is_none_or(|backlog| backlog.growth.unwrap_or(backlog.total) > 0) {
        core.ambiguous = Some("drops of the CPU backlog may be inside".into());
    }
    Some(core)
}

fn block<'i>(interface: &'i Interface, group: &str) -> Option<&'i CounterBlock> {
    interface.counters.iter().find(|block| block.group == group)
}

/// Length of the sample in microseconds. Its total is the time since boot: no counter of a driver is older.
fn window(facts: &Facts<'_>, interface: &Interface) -> Option<Counted> {
    let sampled = interface.counters.iter().find_map(|block| Some((block.window()?, block.source)));
    let uptime = &facts.snapshot().host.uptime;
    let source = sampled.map(|(_, source)| source).or_else(|| uptime.source())?;
    let uptime = uptime.known().map(|uptime| (uptime.0 * MICROSECONDS) as u64);
    let seconds = sampled.map(|(seconds, _)| seconds);
    if uptime.is_none() && seconds.is_none() {
        return None;
    }
    Some(Counted {
        total: uptime.unwrap_or(0),
        growth: seconds.map(|seconds| (seconds * MICROSECONDS) as u64),
        window: seconds,
        source,
        rows: Vec::new(),
        ambiguous: None,
        aside: false,
        growth_only: uptime.is_none(),
    })
}

/// speed * length of the sample; the total is what the link could have carried since boot.
fn line_bits(facts: &Facts<'_>, interface: &Interface) -> Option<Counted> {
    let speed = interface.link.speed.known().filter(|speed| speed.0 > 0)?;
    let window = window(facts, interface)?;
    let bits = |microseconds: u64| {
        u64::try_from(u128::from(microseconds) * u128::from(speed.0) / 1_000_000).unwrap_or(u64::MAX)
    };
    Some(Counted { total: bits(window.total), growth: window.growth.map(bits), ..window })
}

/// tx_bytes of each member of a bond that could be read.
pub(super) fn members(facts: &Facts<'_>, index: usize) -> BTreeMap<String, Counted> {
    let Some(interface) = facts.snapshot().interfaces.get(index) else { return BTreeMap::new() };
    let Some(names) = interface.stack.members.known() else { return BTreeMap::new() };
    names
        .iter()
        .filter_map(|name| {
            let member = facts.topology().interface(&interface.namespace, name)?;
            Some((name.clone(), facts.count(member, "tx_bytes").counted()?))
        })
        .collect()
}
