//! Why a link runs at its speed: one word, so that the rules about it exclude each other.

use super::catalogue::{HOST, INTERFACE};
use super::functions::mode_speed;
use super::{Derived, Facts};
use crate::lang::{State, Value, Words};
use crate::reading::Reading;
use crate::snapshot::{Interface, Link, LinkModes};

/// The verdicts, in the order in which they are tried.
pub(super) static VERDICTS: Words =
    Words { name: "speed verdict", words: &["downshift", "below", "advertised", "peer", "port", "full"], open: false };

/// Signal quality below which training counts as troubled (index 0 to 7).
const POOR_SQI: u32 = 3;

fn fastest<'m>(modes: impl IntoIterator<Item = &'m String>) -> Option<f64> {
    modes.into_iter().filter_map(|mode| mode_speed(mode)).reduce(f64::max)
}

/// S, A and P are the modes that this port supports, that it offers, and that the partner offers.
/// downshift: slower than the fastest of A and P (of A, where P is unknown), with evidence that training failed.
/// below: the same without evidence. advertised: A hides a faster mode of S (and P). peer: the fastest of S and P, and S has more.
/// port: the fastest of S, and P has more. full: none of these.
pub(super) fn verdict(facts: &Facts<'_>, index: usize) -> Derived {
    let interface = &facts.snapshot().interfaces[index];
    let inputs = ["link.speed", "link.supported", "link.advertised", "link.partner"];
    let from = inputs.iter().flat_map(|path| facts.key(INTERFACE, index, path)).collect::<Vec<_>>();
    let (Some(speed), Some(supported), Some(advertised)) =
        (interface.link.speed.known(), interface.link.supported.known(), interface.link.advertised.known())
    else {
        if let Some(word) = far_below(interface) {
            let assumed = "this port offers all that it supports, and so does the link partner: not read";
            return Derived::of(State::Known(Value::Word(word.into())), from).assuming(vec![assumed.to_owned()]);
        }
        // The PHY itself says that it left a higher speed, whatever modes there are.
        if interface.link.speed.known().is_some() && told_from_higher(facts, index) {
            let from = [facts.key(INTERFACE, index, "link.speed"), facts.key(HOST, 0, "log_lines")].concat();
            return Derived::of(State::Known(Value::Word("downshift".into())), from);
        }
        let absent = interface.link.supported.is_absent() || interface.link.advertised.is_absent();
        return if absent { Derived::absent(from) } else { Derived::unknown(from) };
    };
    let partner = match &interface.link.partner {
        Reading::Known(modes, _) => Some(modes),
        Reading::Absent(_) | Reading::Unknown(_) => None,
    };
    let word = word_of(speed.0 as f64, supported, advertised, partner, training_failed(facts, index, interface));
    let from = if word == "downshift" { [from, facts.key(HOST, 0, "log_lines")].concat() } else { from };
    let unread = partner.is_none() && matches!(word, "downshift" | "below" | "advertised");
    let assumed = unread.then(|| "the link partner offers what this port offers: not read".to_owned());
    Derived::of(State::Known(Value::Word(word.into())), from).assuming(assumed.into_iter().collect())
}

/// Whether the port hides a mode that the partner has and that is faster than all that both offer; none where a list was not read.
pub(super) fn hides_faster(link: &Link) -> Option<bool> {
    let (s, a, p) = (link.supported.known()?, link.advertised.known()?, link.partner.known()?);
    let possible = fastest(s.0.intersection(&p.0));
    let offered = fastest(a.0.intersection(&p.0));
    Some(possible.is_some_and(|possible| offered.is_none_or(|offered| possible > offered)))
}

/// Speed up to which a port that can do ten times as much is taken to be held down, though what it offers was not read.
const FAR_BELOW: f64 = 10e6;

/// `below`, for a port of which a tool shows the modes that it supports, but not those that it offers.
fn far_below(interface: &Interface) -> Option<&'static str> {
    let is_unread = |modes: &Reading<LinkModes>| matches!(modes, Reading::Unknown(_));
    let unread = is_unread(&interface.link.advertised) && is_unread(&interface.link.partner);
    let speed = interface.link.speed.known().filter(|_| unread)?.0 as f64;
    let own = fastest(&interface.link.supported.known()?.0)?;
    (speed <= FAR_BELOW && own >= 10.0 * speed && own >= 1e9).then_some("below")
}

fn word_of(speed: f64, s: &LinkModes, a: &LinkModes, p: Option<&LinkModes>, failed: bool) -> &'static str {
    let offered = match p {
        Some(p) => fastest(a.0.intersection(&p.0)),
        None => fastest(&a.0),
    };
    if offered.is_some_and(|offered| speed < offered) {
        return if failed { "downshift" } else { "below" };
    }
    let possible = match p {
        Some(p) => fastest(s.0.intersection(&p.0)),
        None => fastest(s.0.difference(&a.0)),
    };
    let hidden = match (possible, offered) {
        (Some(possible), Some(offered)) => possible > offered,
        (Some(possible), None) => p.is_some() || possible > speed,
        (None, _) => false,
    };
    if hidden {
        return "advertised";
    }
    let own = fastest(&s.0);
    match p {
        Some(p) if fastest(s.0.intersection(&p.0)) == Some(speed) && own.is_some_and(|own| speed < own) => "peer",
        Some(p) if own == Some(speed) && fastest(&p.0).is_some_and(|theirs| speed < theirs) => "port",
        _ => "full",
    }
}

/// True where the last word of the log on the link of an interface is that it left a higher speed.
fn told_from_higher(facts: &Facts<'_>, index: usize) -> bool {
    let events = facts.knowledge().log_events();
    let mut last = None;
    for (_, event) in facts.events_of(Facts::entity(INTERFACE, index)) {
        let name = events[event.kind].event.as_str();
        let text = facts.log_line(event).map(|line| line.text.to_lowercase()).unwrap_or_default();
        if name == "phy_downshift" && text.contains("downshift occurred from ") {
            last = Some(true);
        } else if name == "link_up" || name == "link_down" {
            last = Some(false);
        }
    }
    last == Some(true)
}

/// Evidence that training failed. A log that could not be read is no evidence.
fn training_failed(facts: &Facts<'_>, index: usize, interface: &Interface) -> bool {
    let events = facts.knowledge().log_events();
    let mut mine = facts.events_of(Facts::entity(INTERFACE, index));
    let downshift = mine.any(|(_, event)| events[event.kind].event == "phy_downshift");
    let state = interface.link.ext_state.known().is_some_and(|state| state.to_lowercase().contains("training failure"));
    downshift || state || interface.link.sqi.known().is_some_and(|sqi| *sqi < POOR_SQI)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes(names: &[&str]) -> LinkModes {
        LinkModes(names.iter().map(|name| (*name).to_owned()).collect())
    }

    fn judge(speed: f64, s: &[&str], a: &[&str], p: Option<&[&str]>) -> &'static str {
        word_of(speed * 1e6, &modes(s), &modes(a), p.map(modes).as_ref(), false)
    }

    const ALL: &[&str] = &["100baseT/Full", "1000baseT/Full", "2500baseT/Full", "10000baseT/Full"];

    #[test]
    fn each_verdict_has_its_case() {
        assert_eq!(judge(100.0, ALL, ALL, Some(ALL)), "below");
        assert_eq!(judge(100.0, ALL, ALL, None), "below");
        assert_eq!(judge(1000.0, ALL, &["1000baseT/Full"], Some(ALL)), "advertised");
        assert_eq!(judge(1000.0, ALL, &["1000baseT/Full"], None), "advertised");
        assert_eq!(judge(1000.0, ALL, ALL, Some(&["1000baseT/Full"])), "peer");
        assert_eq!(judge(1000.0, &["1000baseT/Full"], &["1000baseT/Full"], Some(ALL)), "port");
        assert_eq!(judge(10000.0, ALL, ALL, Some(ALL)), "full");
    }

    #[test]
    fn what_is_hidden_shows_in_the_lists_alone() {
        let known = |names: &[&str]| Reading::Known(modes(names), crate::reading::SourceId::ASSUMED);
        let link = |p: Reading<LinkModes>| Link {
            supported: known(ALL),
            advertised: known(&["1000baseT/Full", "10000baseT/Full"]),
            partner: p,
            ..Link::default()
        };
        assert_eq!(hides_faster(&link(known(&["1000baseT/Full", "2500baseT/Full"]))), Some(true));
        assert_eq!(hides_faster(&link(known(&["2500baseT/Full"]))), Some(true), "nothing in common");
        assert_eq!(hides_faster(&link(known(ALL))), Some(false), "10G is offered");
        assert_eq!(hides_faster(&link(Reading::default())), None);
    }

    #[test]
    fn ten_megabits_are_far_below_what_a_port_supports() {
        let known = |names: &[&str]| Reading::Known(modes(names), crate::reading::SourceId::ASSUMED);
        let port = |speed: u64, names: &[&str]| {
            let mut interface = Interface::default();
            interface.link.speed =
                Reading::Known(crate::reading::BitsPerSecond(speed), crate::reading::SourceId::ASSUMED);
            interface.link.supported = known(names);
            interface
        };
        assert_eq!(far_below(&port(10_000_000, ALL)), Some("below"));
        assert_eq!(far_below(&port(100_000_000, ALL)), None, "a switch of 100 Mb/s");
        assert_eq!(far_below(&port(10_000_000, &["10baseT/Full", "100baseT/Full"])), None);
        let mut offers = port(10_000_000, ALL);
        offers.link.advertised = known(ALL);
        assert_eq!(far_below(&offers), None, "the lists decide");
    }

    #[test]
    fn a_hidden_mode_in_the_middle_counts() {
        let hides = &["1000baseT/Full", "10000baseT/Full"];
        assert_eq!(judge(1000.0, ALL, hides, Some(&["1000baseT/Full", "2500baseT/Full"])), "advertised");
    }
}
