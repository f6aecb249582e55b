//! What the kernel log says in words of things that readings tell in figures. The words decide only where the figures do not:
//! where both do and differ, nobody knows; an unread log leaves nothing open that the figures decide.

use super::catalogue::{DEVICE, HOST, INTERFACE};
use super::entry::{Entry, derived};
use super::speed::hides_faster;
use super::unit::Unit;
use super::{Derived, Facts};
use crate::lang::{Entity, State, Type, Value};

pub(super) fn of_interface() -> Vec<Entry> {
    let mut entries = of_falls();
    entries.extend(of_words());
    entries
}

fn of_words() -> Vec<Entry> {
    vec![
        derived(
            "usb.held_back",
            Type::Bool,
            Unit::Plain,
            "the kernel says that its USB device could run faster than it does; asked where its own link modes do not tell",
            |facts, index| {
                let interface = &facts.snapshot().interfaces[index];
                let decided = interface.link.supported.known().is_some() || interface.usb.id.known().is_some();
                said(facts, "usb_not_top_speed", decided, Facts::entity(INTERFACE, index))
            },
        ),
        derived(
            "link.hides_faster",
            Type::Bool,
            Unit::Plain,
            "the port supports a mode that the partner offers, is faster than all that both offer, and is hidden",
            |facts, index| {
                let interface = &facts.snapshot().interfaces[index];
                let from = ["link.supported", "link.advertised", "link.partner"];
                let from = from.iter().flat_map(|path| facts.key(INTERFACE, index, path)).collect();
                match hides_faster(&interface.link) {
                    Some(hides) => Derived::of(State::Known(Value::Bool(hides)), from),
                    // The verdict on the speed says it then.
                    None if interface.link.speed.known().is_some() => Derived::of(State::FALSE, from),
                    None => Derived::unknown(from),
                }
            },
        ),
    ]
}

/// Falls of a link in one stretch of the log.
fn of_falls() -> Vec<Entry> {
    vec![
        derived(
            "link.fell_twice",
            Type::Bool,
            Unit::Plain,
            "the log of the last day tells two falls of its link in all, within a minute, and not while the system started",
            |facts, index| steadiness(facts, index, |link| link.falls.len() == 2 && link.span() <= 60.0),
        ),
        derived(
            "link.did_not_hold",
            Type::Bool,
            Unit::Plain,
            "the link came up, fell again within a second and has not come back, as the log of the last day tells",
            |facts, index| steadiness(facts, index, |link| link.falls.len() <= 2 && link.fell_at_once),
        ),
    ]
}

/// What the log tells of the steadiness of a link.
struct Steadiness {
    /// Ages of its falls, oldest first; what two programs tell within a second is one.
    falls: Vec<f64>,
    /// The last line is a fall, within a second of a rise.
    fell_at_once: bool,
}

impl Steadiness {
    fn span(&self) -> f64 {
        self.falls.first().zip(self.falls.last()).map_or(0.0, |(oldest, newest)| oldest - newest)
    }
}

/// Seconds after the boot in which links come and go by themselves.
const STARTING: f64 = 600.0;
/// Oldest fall that counts, in seconds.
const OLDEST: f64 = 86_400.0;
/// Seconds within which two lines tell the same fall.
const SAME: f64 = 1.0;

fn steadiness(facts: &Facts<'_>, index: usize, holds: fn(&Steadiness) -> bool) -> Derived {
    let from = facts.key(HOST, 0, "log_lines");
    if facts.snapshot().host.log.known().is_none() {
        return if facts.snapshot().host.log.is_absent() {
            Derived::of(State::FALSE, from)
        } else {
            Derived::unknown(from)
        };
    }
    let names = facts.knowledge().log_events();
    let mut found = Steadiness { falls: Vec::new(), fell_at_once: false };
    let (mut starting, mut undated) = (false, false);
    let mut rise: Option<f64> = None;
    let mine = facts.events_of(Facts::entity(INTERFACE, index));
    for (event, line) in mine.filter_map(|(_, event)| Some((event, facts.log_line(event)?))) {
        let up = match names[event.kind].event.as_str() {
            "link_up" => true,
            "link_down" => false,
            _ => continue,
        };
        let Some(age) = line.age else { return Derived::unknown(from) };
        if up {
            (rise, found.fell_at_once) = (Some(age), false);
            continue;
        }
        found.fell_at_once |= rise.is_some_and(|rise| rise - age <= SAME);
        if found.falls.last().is_none_or(|last| last - age > SAME) {
            found.falls.push(age);
        }
        starting |= line.since_boot.is_some_and(|after| after < STARTING);
        undated |= line.since_boot.is_none();
    }
    if found.falls.is_empty() || !holds(&found) || starting || found.falls[0] > OLDEST {
        return Derived::of(State::FALSE, from);
    }
    if undated { Derived::unknown(from) } else { Derived::of(State::TRUE, from) }
}

pub(super) fn of_device() -> Vec<Entry> {
    vec![derived(
        "pcie.told_too_narrow",
        Type::Bool,
        Unit::Plain,
        "the driver says that the PCIe path is too narrow for the card; asked where the speeds of path and ports do not tell",
        too_narrow,
    )]
}

/// True where the rates of the path and of all ports that are up are known.
fn path_decides(facts: &Facts<'_>, index: usize) -> bool {
    let is_known = |scope, index, path| {
        facts.key(scope, index, path).iter().all(|key| matches!(facts.lookup(*key).state, State::Known(_)))
    };
    let link = |port: usize| facts.snapshot().interfaces[port].link.up.known().copied();
    is_known(DEVICE, index, "ports")
        && is_known(DEVICE, index, "pcie.path.typical")
        && facts.topology().card_ports(index).into_iter().all(|port| match link(port) {
            Some(up) => !up || is_known(INTERFACE, port, "ceiling.link.typical"),
            None => false,
        })
}

/// Of a function without a path there is nothing to say.
fn too_narrow(facts: &Facts<'_>, index: usize) -> Derived {
    let path = facts.key(DEVICE, index, "pcie.path.typical");
    if path.iter().any(|key| facts.lookup(*key).state == State::Absent) {
        return Derived::absent(path);
    }
    said(facts, "pcie_too_narrow", path_decides(facts, index), Facts::entity(DEVICE, index))
}

fn said(facts: &Facts<'_>, name: &str, decided: bool, of: Entity) -> Derived {
    let from = facts.key(HOST, 0, "log_lines");
    let events = facts.knowledge().log_events();
    let told = facts.events_of(of).any(|(_, event)| events[event.kind].event == name);
    let read = facts.snapshot().host.log.known().is_some();
    match (told, decided) {
        (true, false) => Derived::of(State::TRUE, from),
        (false, true) => Derived::of(State::FALSE, from),
        (false, false) if read => Derived::of(State::FALSE, from),
        _ => Derived::unknown(from),
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::{Catalogue, Facts, INTERFACE};
    use crate::knowledge::Knowledge;
    use crate::lang::{Key, State};
    use crate::snapshot::Snapshot;

    fn fact(path: &str, lines: &[(f64, Option<f64>, &str)]) -> State {
        let line = |(age, since_boot, text): &(f64, Option<f64>, &str)| {
            let since = since_boot.map_or_else(String::new, |since| format!(r#""since_boot": {since}, "#));
            format!(r#"{{"age": {age}, {since}"text": "eth0: {text}", "source": "assumed"}}"#)
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        let text = format!(
            r#"{{"schema": "netdoctor.snapshot/1", "host": {{"log": [[{}], "assumed"]}}, "interfaces": [{{"name": "eth0"}}]}}"#,
            lines.join(", ")
        );
        let snapshot = Snapshot::from_json(&text).unwrap();
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let slot = Catalogue::shared().slot(INTERFACE, path).unwrap();
        facts.lookup(Key { entity: Facts::entity(INTERFACE, 0), slot }).state
    }

    #[test]
    fn two_falls_within_a_minute_are_no_chance() {
        const DOWN: &str = "Link is Down";
        let twice = |lines: &[(f64, Option<f64>, &str)]| fact("link.fell_twice", lines);
        let late = Some(7000.0);
        assert_eq!(twice(&[(90.0, late, DOWN), (30.0, late, DOWN)]), State::TRUE);
        assert_eq!(twice(&[(90.1, late, DOWN), (30.0, late, DOWN)]), State::FALSE, "more than a minute");
        assert_eq!(twice(&[(90.0, late, DOWN), (89.5, late, "Lost carrier")]), State::FALSE, "one fall told twice");
        assert_eq!(
            twice(&[(90.0, late, DOWN), (60.0, late, DOWN), (50.0, late, DOWN)]),
            State::FALSE,
            "the arm counts those"
        );
        assert_eq!(twice(&[(90.0, Some(599.0), DOWN), (30.0, late, DOWN)]), State::FALSE, "while the system starts");
        assert_eq!(twice(&[(90.0, Some(600.0), DOWN), (30.0, late, DOWN)]), State::TRUE);
        assert_eq!(twice(&[(90.0, None, DOWN), (30.0, late, DOWN)]), State::Unknown, "when that was, nobody knows");
        assert_eq!(twice(&[(86_401.0, late, DOWN), (86_380.0, late, DOWN)]), State::FALSE, "yesterday");
        assert_eq!(twice(&[]), State::FALSE);
    }

    #[test]
    fn a_link_that_falls_at_once_does_not_hold() {
        const UP: &str = "Link is Up - 1Gbps/Full";
        const DOWN: &str = "Link is Down";
        let unheld = |lines: &[(f64, Option<f64>, &str)]| fact("link.did_not_hold", lines);
        let late = Some(7000.0);
        assert_eq!(unheld(&[(20.0, late, UP), (19.0, late, DOWN)]), State::TRUE);
        assert_eq!(unheld(&[(20.0, late, UP), (18.9, late, DOWN)]), State::FALSE, "it held for more than a second");
        assert_eq!(unheld(&[(20.0, late, UP), (19.5, late, DOWN), (5.0, late, UP)]), State::FALSE, "it came back");
        assert_eq!(unheld(&[(20.0, late, DOWN), (19.5, late, UP)]), State::FALSE);
        assert_eq!(unheld(&[(20.0, Some(9.0), UP), (19.5, Some(9.5), DOWN)]), State::FALSE, "while the system starts");
    }

    fn held_back(fields: &str, log: &str) -> State {
        let text = format!(
            r#"{{"schema": "netdoctor.snapshot/1", "host": {{{log}}}, "interfaces": [{{"name": "eth0"{fields}}}]}}"#
        );
        let snapshot = Snapshot::from_json(&text).unwrap();
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        let slot = Catalogue::shared().slot(INTERFACE, "usb.held_back").unwrap();
        facts.lookup(Key { entity: Facts::entity(INTERFACE, 0), slot }).state
    }

    #[test]
    fn words_decide_where_figures_do_not() {
        let line = r#""log": [[{"text": "usb 1-1: not running at top speed", "about": "eth0", "source": "assumed"}], "assumed"]"#;
        let none = r#""log": [[], "assumed"]"#;
        let modes = r#", "link": {"supported": [["100baseT/Full"], "assumed"]}"#;
        assert_eq!(held_back("", line), State::TRUE);
        assert_eq!(held_back("", none), State::FALSE);
        assert_eq!(held_back("", ""), State::Unknown);
        assert_eq!(held_back(modes, ""), State::FALSE, "an unread log leaves nothing open");
        assert_eq!(held_back(modes, line), State::Unknown, "they differ");
    }
}
