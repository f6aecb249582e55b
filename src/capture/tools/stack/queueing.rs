//! tc: queueing disciplines and what police actions drop.

use std::collections::BTreeMap;

use super::super::super::command::Command;
use super::super::super::site::{Site, sample_leaf};
use super::super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::tc::{self, Discipline, option, rate};
use crate::reading::{BitsPerSecond, Gap, GapKind, Reading};
use crate::snapshot::{Counter, CounterBlock, Qdisc, TcAction};

pub(super) const TC: Tool = Tool {
    name: "tc",
    answers: |command| is_tc(command) && !command.has("filter"),
    begins: |cursor| cursor.peek().is_some_and(|line| tc::begins(line.text.trim())),
    read,
};
pub(super) const FILTERS: Tool = Tool {
    name: "tc filter",
    answers: |command| is_tc(command),
    begins: |cursor| cursor.peek().is_some_and(|line| tc::begins_filter(line.text)),
    read: filters,
};

fn is_tc(command: &Command) -> bool {
    ["tc", "wondershaper"].contains(&command.program.as_str())
}

/// The interface that a command is about: behind `dev`, or the last word of a script around tc.
fn device(command: Option<&Command>) -> Option<&str> {
    let command = command.filter(|command| is_tc(command))?;
    let mut words = command.arguments.iter();
    match words.by_ref().find(|word| *word == "dev") {
        Some(_) => words.next().map(String::as_str),
        None => command.last_operand().filter(|_| command.program != "tc"),
    }
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let filtered = intake.is_filtered();
    let rows = tc::parse(cursor);
    let named = device(intake.command).map(str::to_owned);
    let mut by_name: BTreeMap<String, Vec<&Discipline>> = BTreeMap::new();
    for row in &rows {
        let name = intake.interface_or_stand_in(row.device.as_deref().or(named.as_deref()), rows[0].line);
        by_name.entry(name).or_default().push(row);
    }
    for (name, rows) in by_name {
        put(intake.site, &name, &rows, filtered);
    }
}

/// Puts the disciplines of an interface; those that were seen before get a further sample.
fn put(site: &mut Site, name: &str, rows: &[&Discipline], partial: bool) {
    let mut qdiscs = site.interface(name).qdiscs.known().cloned().unwrap_or_default();
    for row in rows.iter().filter(|row| !row.is_class) {
        let counters = Some(&row.counters).filter(|counters| !counters.is_empty() && row.kind != "noqueue");
        let same = |held: &&mut Qdisc| held.kind == row.kind && held.handle == row.handle && held.parent == row.parent;
        if let Some(held) = qdiscs.iter_mut().find(same) {
            match (&mut held.counters, counters) {
                (Some(block), Some(counters)) => block.append(0, counters.iter().copied()),
                (slot, Some(counters)) => *slot = Some(block(site, row.line, counters, partial)),
                _ => {}
            }
            continue;
        }
        let counters = counters.map(|counters| block(site, row.line, counters, partial));
        let rate = rate_of(site, name, row);
        qdiscs.push(Qdisc {
            kind: row.kind.clone(),
            handle: row.handle.clone(),
            parent: row.parent.clone(),
            counters,
            rate,
        });
    }
    classes(site, rows, &mut qdiscs);
    if let Some(line) = rows.iter().find(|row| !row.is_class).map(|row| row.line) {
        site.put(name, |i| &mut i.qdiscs, At::new(qdiscs, line));
    } else if let Reading::Known(held, _) = &mut site.interface(name).qdiscs {
        *held = qdiscs;
    }
}

fn block(site: &mut Site, line: u32, counters: &[(&'static str, u64)], partial: bool) -> CounterBlock {
    let counters =
        counters.iter().map(|(name, value)| Counter { name: (*name).to_owned(), values: vec![Some(*value)] });
    CounterBlock {
        group: "qdisc".to_owned(),
        source: site.source(line),
        partial,
        at_ms: vec![0],
        counters: counters.collect(),
    }
}

fn rate_of(site: &mut Site, name: &str, row: &Discipline) -> Reading<BitsPerSecond> {
    let source = site.source(row.line);
    let told = match row.kind.as_str() {
        "tbf" => option(&row.options, "rate"),
        "cake" => match option(&row.options, "bandwidth") {
            Some(bandwidth) => Some(bandwidth),
            None if row.options.split(' ').any(|word| word == "unlimited") => return Reading::Absent(source),
            None => None,
        },
        "htb" | "hfsc" | "cbq" | "netem" | "taprio" | "cbs" | "etf" => None,
        _ => return Reading::Absent(source),
    };
    match told {
        Some("unlimited") => Reading::Absent(source),
        Some(told) if rate(told).is_some() => {
            rate(told).map_or_else(Reading::default, |rate| Reading::Known(BitsPerSecond(rate), source))
        }
        _ => {
            let gap = Gap::new(GapKind::NotInCapture)
                .detail(format!("classes and options of {} hold it", row.kind))
                .command(format!("tc class show dev {}", crate::formats::shell::shell_quote(name)));
            Reading::Unknown(site.snapshot.origins.gap(gap))
        }
    }
}

/// The ceiling of the one class below the root of an htb limits all traffic; of several, none does alone.
fn classes(site: &mut Site, rows: &[&Discipline], qdiscs: &mut [Qdisc]) {
    for qdisc in qdiscs.iter_mut().filter(|qdisc| qdisc.kind == "htb") {
        let of_root = |row: &&&Discipline| {
            row.is_class
                && row.kind == "htb"
                && row.handle.starts_with(&qdisc.handle)
                && (row.parent == "root" || row.parent == qdisc.handle)
        };
        let roots: Vec<&&Discipline> = rows.iter().filter(of_root).collect();
        if let [class] = roots.as_slice()
            && let Some(ceiling) = option(&class.options, "ceil").and_then(rate)
        {
            qdisc.rate = Reading::Known(BitsPerSecond(ceiling), site.source(class.line));
        }
    }
}

fn filters(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = tc::filters(cursor) else { return };
    let Some(first) = found.first().map(|action| action.line) else { return };
    let Some(name) = device(intake.command).filter(|name| is_interface_name(name)).map(str::to_owned) else { return };
    let partial = intake.is_filtered();
    let asked = intake.command.and_then(|command| ["ingress", "egress"].into_iter().find(|hook| command.has(hook)));
    let site = &mut *intake.site;
    let mut actions = site.interface(&name).tc_actions.known().cloned().unwrap_or_default();
    let mut policed: [Option<u64>; 2] = [None; 2];
    for action in &found {
        let count = |name: &str| action.counters.iter().find(|(held, _)| *held == name).map(|(_, count)| *count);
        let hook = if action.hook.is_empty() { asked.unwrap_or_default() } else { action.hook.as_str() };
        if action.kind == "police" {
            for (sum, name) in policed.iter_mut().zip(["sent_packets", "dropped"]) {
                *sum = match (*sum, count(name)) {
                    (Some(sum), Some(count)) => Some(sum.saturating_add(count)),
                    (sum, count) => sum.or(count),
                };
            }
        }
        let source = site.source(action.line);
        let kept = action.counters.iter().filter(|(name, _)| *name != "requeues");
        let counters: Vec<(String, u64)> = kept.map(|(name, count)| ((*name).to_owned(), *count)).collect();
        let mut row = TcAction { hook: hook.to_owned(), kind: action.kind.clone(), ..TcAction::default() };
        row.rate = match action.rate {
            Some(rate) => Reading::Known(BitsPerSecond(rate), source),
            None => Reading::Absent(source),
        };
        if !counters.is_empty() {
            sample_leaf(&mut row.counters, "tc_actions", source, counters, partial);
        }
        actions.push(row);
    }
    // The same command again is a further sample of the sums, and no further list of actions.
    if site
        .interface(&name)
        .tc_actions
        .known()
        .is_none_or(|held| !held.iter().any(|row| actions.last().is_some_and(|last| row.hook == last.hook)))
    {
        site.put(&name, |i| &mut i.tc_actions, At::new(actions, first));
    }
    if let [Some(packets), Some(drops)] = policed {
        let rows = vec![("police_packets".to_owned(), packets), ("police_drops".to_owned(), drops)];
        site.counters(&name, "tc_actions", first, rows, partial);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::super::transcript::one;

    #[test]
    fn shapers_and_samples() {
        let show = |sent: u32| {
            format!(
                "qdisc htb 1: root refcnt 2 r2q 10 default 0x20\n Sent {sent} bytes 34746 pkt (dropped 0, overlimits 13520 requeues 0)\n\
                 \u{20}backlog 0b 0p requeues 0\nclass htb 1:1 root rate 1024Kbit ceil 2Mbit burst 1599b\n"
            )
        };
        let text = format!("# tc -s qdisc show dev ppp0\n{}# tc -s qdisc show dev ppp0\n{}", show(10), show(25));
        let (snapshot, understood) = one(&text);
        assert_eq!(understood.left, []);
        let qdiscs = snapshot.interface("ppp0").unwrap().qdiscs.known().unwrap();
        assert_eq!((qdiscs.len(), qdiscs[0].rate.known().unwrap().0), (1, 2_000_000));
        assert_eq!(qdiscs[0].counters.as_ref().unwrap().get("sent_bytes").unwrap().values, [Some(10), Some(25)]);
    }

    #[test]
    fn one_output_tells_of_many_interfaces() {
        let text = "# tc -s qdisc\nqdisc noqueue 0: dev lo root refcnt 2\n Sent 0 bytes 0 pkt (dropped 0, overlimits 0 requeues 0)\n\
                    qdisc cake 8001: dev eth0 root refcnt 2 bandwidth 90Mbit diffserv3\n Sent 7 bytes 1 pkt (dropped 2, overlimits 0 requeues 0)\n\
                    qdisc htb 1: dev eth1 root refcnt 2 r2q 10\n";
        let (snapshot, _) = one(text);
        let first = |name: &str| snapshot.interface(name).unwrap().qdiscs.known().unwrap()[0].clone();
        assert!(first("lo").counters.is_none() && first("lo").rate.is_absent());
        assert_eq!(first("eth0").rate.known().unwrap().0, 90_000_000);
        assert!(first("eth1").rate.gap().is_some());
    }

    #[test]
    fn what_a_policer_drops() {
        let text = "# tc -s filter show dev eth0 ingress\nfilter protocol all pref 1 matchall chain 0\nfilter protocol all pref 1 matchall chain 0 handle 0x1\n\
                    \taction order 1:  police 0x1 rate 10Mbit burst 10Kb mtu 2Kb action drop overhead 0b\n\
                    \tSent 1234 bytes 12 pkts (dropped 3, overlimits 4 requeues 0)\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let port = snapshot.interface("eth0").unwrap();
        let action = &port.tc_actions.known().unwrap()[0];
        assert_eq!(
            (action.hook.as_str(), action.kind.as_str(), action.rate.known().unwrap().0),
            ("ingress", "police", 10_000_000)
        );
        assert_eq!(action.counters.known().unwrap().get("dropped").unwrap().total(), Some(3));
        assert_eq!(port.counters[0].get("police_drops").unwrap().total(), Some(3));
    }
}
