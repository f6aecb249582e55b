//! Messages of drivers about the link of an interface.

/// What such a message says; what it leaves out is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkMessage<'t> {
    /// The word before the phrase, which older drivers use for the name of the interface: `igb: eth0 NIC Link is Up`.
    pub subject: Option<&'t str>,
    /// Whether the link came or went; none for a message about flow control or error correction alone.
    pub up: Option<bool>,
    /// Bits per second.
    pub speed: Option<f64>,
    /// Full duplex.
    pub full: Option<bool>,
    /// Flow control: this end obeys, and sends, pause frames.
    pub pause: Option<(bool, bool)>,
    /// Error correction in use, as ethtool's words in lower case: `off`, `baser`, `rs`, `llrs`.
    pub fec: Option<&'static str>,
}

/// What drivers call the coming and going of a link, in lower case.
const PHRASES: &[(&str, bool)] = &[
    ("link is up", true),
    ("link is down", false),
    ("link up", true),
    ("link down", false),
    ("nic up:", true),
    ("nic down", false),
    ("link becomes ready", true),
    ("found link beat", true),
    ("lost link beat", false),
    ("carrier on", true),
    ("carrier off", false),
];

/// Words that stand between the name of the interface and the phrase.
const BETWEEN: &[&str] =
    &["nic", "copper", "fibre", "fiber", "remote", "serdes", "network", "interface", "the", "physical"];

/// Reads a message; none where it is not about a link.
pub fn message(text: &str) -> Option<LinkMessage<'_>> {
    let lower = text.to_ascii_lowercase();
    // `Downshift occurred from negotiated speed 1Gbps to actual speed 100Mbps, check cabling!`
    if let Some((_, actual)) =
        lower.split_once("downshift occurred from ").and_then(|(_, rest)| rest.split_once(" actual speed "))
    {
        let speed = speed_in(actual);
        return Some(LinkMessage { up: Some(true), speed, ..LinkMessage::default() });
    }
    let phrase = PHRASES.iter().filter_map(|(phrase, up)| Some((lower.find(phrase)?, *up))).min_by_key(|(at, _)| *at);
    let (at, up) = match phrase {
        Some((at, up)) => (at, Some(up)),
        None => match (lower.find("link change old "), lower.find("flow control is ")) {
            // atlantic: `link change old 0 new 10000`, in Mb/s.
            (Some(at), _) => (at, number_behind(&lower, " new ").map(|new| new > 0.0)),
            (None, Some(at)) => (at, None),
            (None, None) => (fec(&lower).map(|_| 0)?, None),
        },
    };
    let is_up = up != Some(false);
    let speed = number_behind(&lower, "link change old ").and_then(|_| number_behind(&lower, " new "));
    let speed = speed.map(|megabits| megabits * 1e6).or_else(|| speed_in(&lower)).filter(|speed| *speed > 0.0);
    Some(LinkMessage {
        subject: subject(&text[..at]),
        up,
        speed: speed.filter(|_| is_up),
        full: duplex(&lower).filter(|_| is_up),
        pause: pause(&lower).filter(|_| is_up),
        fec: fec(&lower).filter(|_| is_up),
    })
}

/// The last word before the phrase.
fn subject(front: &str) -> Option<&str> {
    let words = front.split_ascii_whitespace().rev();
    let mut words = words.skip_while(|word| BETWEEN.contains(&word.to_ascii_lowercase().trim_end_matches(':')));
    let word = words.next()?.trim_end_matches([':', ',']);
    (!word.is_empty()).then_some(word)
}

fn number_behind(lower: &str, piece: &str) -> Option<f64> {
    let rest = &lower[lower.find(piece)? + piece.len()..];
    rest[..rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len())].parse().ok()
}

/// The first speed in a line in lower case, in bit/s: `1000 mbps`, `10 gbps`, `2.5gbps`, `10000mb/s`, `10g full duplex`.
pub fn speed_in(line: &str) -> Option<f64> {
    let bytes = line.as_bytes();
    for (at, _) in line.match_indices(|c: char| c.is_ascii_digit()) {
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || b".:".contains(&bytes[at - 1])) {
            continue;
        }
        let rest = &line[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let Ok(number) = rest[..end].parse::<f64>() else { continue };
        let unit = rest[end..].trim_start();
        let scale = if ["gbps", "gb/s", "gbit/s", "gigabit"].iter().any(|one| unit.starts_with(one)) {
            1e9
        } else if ["mbps", "mb/s", "mbit/s", "megabit"].iter().any(|one| unit.starts_with(one)) {
            1e6
        } else if unit
            .strip_prefix('g')
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/'))
        {
            1e9
        } else {
            continue;
        };
        return Some(number * scale);
    }
    None
}

fn duplex(lower: &str) -> Option<bool> {
    let words = || lower.split(|char: char| !char.is_ascii_alphanumeric());
    match (words().any(|word| word == "full"), words().any(|word| word == "half")) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// `flow control: rx/tx`, `flow control off`, `flow control is on for tx and on for rx`, `flow control: on - receive`,
/// `receive & transmit flow control on`, `tx/rx pause`.
fn pause(lower: &str) -> Option<(bool, bool)> {
    let Some((front, tail)) = lower.split_once("flow control") else {
        let front = lower.split_once(" pause")?.0.rsplit([' ', ',']).next()?;
        return matches!(front, "rx" | "tx" | "tx/rx" | "rx/tx").then(|| (front.contains("rx"), front.contains("tx")));
    };
    let tail = tail.trim_start_matches([':', ' ', '-']);
    let on = |direction: &str| tail.split_once(direction).map(|(before, _)| before.trim_end().ends_with("on for"));
    if tail.starts_with("is ") {
        return Some((on(" rx")?, on(" tx")?));
    }
    let value = tail.split([',', '.', ';', ')']).next().unwrap_or_default().trim();
    let both = |text: &str| {
        let words = || text.split(|char: char| !char.is_ascii_alphanumeric());
        let has = |names: [&str; 2]| words().any(|word| names.contains(&word));
        (has(["rx", "receive"]), has(["tx", "transmit"]))
    };
    match value {
        "none" | "off" => Some((false, false)),
        "both" => Some((true, true)),
        // bnx2: the directions stand in front.
        "on" => Some(both(front.rsplit(',').next()?)).filter(|found| *found != (false, false)),
        value => Some(both(value)).filter(|found| *found != (false, false)),
    }
}

/// `Negotiated FEC: RS-FEC` of ice and i40e, `FEC autoneg off encoding: BaseR` of bnxt_en.
fn fec(lower: &str) -> Option<&'static str> {
    let rest = lower
        .split_once("negotiated fec: ")
        .or_else(|| lower.split_once("fec autoneg ").and_then(|(_, rest)| rest.split_once("encoding: ")));
    let value = rest?.1.split(',').next()?.trim();
    match value {
        "none" | "off" => Some("off"),
        value if value.contains("llrs") => Some("llrs"),
        value if value.contains("rs-fec") || value.contains("rs(") || value == "rs" => Some("rs"),
        value if value.contains("base-r") || value.contains("baser") || value.contains("fc-fec") => Some("baser"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Told<'t> = (Option<&'t str>, Option<bool>, Option<f64>, Option<bool>, Option<(bool, bool)>, Option<&'t str>);

    fn told(text: &str) -> Told<'_> {
        let found = message(text).unwrap();
        (found.subject, found.up, found.speed, found.full, found.pause, found.fec)
    }

    #[test]
    fn drivers_tell_the_same_in_many_ways() {
        let up = Some(true);
        let both = Some((true, true));
        let none = Some((false, false));
        for (text, wanted) in [
            ("NIC Link is Up 2500 Mbps Full Duplex, Flow Control: RX/TX", (None, up, Some(2.5e9), up, both, None)),
            ("NIC Link is Up 10 Gbps, Flow Control: RX", (None, up, Some(1e10), None, Some((true, false)), None)),
            ("NIC Link is Up, 40 Gbps Full Duplex, Flow Control: None", (None, up, Some(4e10), up, none, None)),
            (
                "NIC Link is up 100 Gbps Full Duplex, Requested FEC: RS-FEC, Negotiated FEC: RS-FEC, Autoneg Advertised: On, \
                 Autoneg Negotiated: True, Flow Control: None",
                (None, up, Some(1e11), up, none, Some("rs")),
            ),
            ("Link is up at 1000 Mbps, full duplex", (None, up, Some(1e9), up, None, None)),
            ("Flow control is on for TX and on for RX", (None, None, None, None, both, None)),
            ("Flow control is off for TX and on for RX", (None, None, None, None, Some((true, false)), None)),
            ("Link is Up - 1Gbps/Full - flow control off", (None, up, Some(1e9), up, none, None)),
            ("Link is Up - 100Mbps/Half - flow control rx/tx", (None, up, Some(1e8), Some(false), both, None)),
            ("Link up", (None, up, None, None, None, None)),
            (
                "NIC Link is Up, 25000 Mbps (NRZ) full duplex, Flow control: ON - receive",
                (None, up, Some(2.5e10), up, Some((true, false)), None),
            ),
            ("bna: enp1s0f2 link up", (Some("enp1s0f2"), up, None, None, None, None)),
            (
                "igb: eth0 NIC Link is Up 1000 Mbps Full Duplex, Flow Control: RX/TX",
                (Some("eth0"), up, Some(1e9), up, both, None),
            ),
            (
                "bnx2: eth0 NIC Copper Link is Up, 1000 Mbps full duplex, receive & transmit flow control ON",
                (Some("eth0"), up, Some(1e9), up, both, None),
            ),
            ("eth2: link up, 10Gbps, full-duplex, Tx/Rx PAUSE", (Some("eth2"), up, Some(1e10), up, both, None)),
            ("NIC Up: 1 Gbps Full", (None, up, Some(1e9), up, None, None)),
            ("atlantic: link change old 0 new 10000", (Some("atlantic"), up, Some(1e10), None, None, None)),
            ("atlantic: link change old 10000 new 0", (Some("atlantic"), Some(false), None, None, None, None)),
            ("eth0: lost link beat", (Some("eth0"), Some(false), None, None, None, None)),
            ("NIC Link is Down", (None, Some(false), None, None, None, None)),
        ] {
            assert_eq!(told(text), wanted, "{text}");
        }
        assert_eq!(told("FEC autoneg off encoding: None"), (None, None, None, None, None, Some("off")));
        assert_eq!(fec("fec autoneg on encoding: clause 91 rs(528,514)"), Some("rs"));
        assert_eq!(fec("negotiated fec: cl74 fc-fec/base-r, x"), Some("baser"));
        for other in ["PCIe link lost, device now detached", "renamed from eth0", ""] {
            assert_eq!(message(other), None, "{other}");
        }
    }

    #[test]
    fn speeds_are_read_in_all_spellings() {
        assert_eq!(speed_in("eth0: nic link is up 2.5 gbps full duplex"), Some(2.5e9));
        assert_eq!(speed_in("eth0: link is up - 1gbps/full"), Some(1e9));
        assert_eq!(speed_in("nic link is up, 10000 mbps full duplex"), Some(1e10));
        assert_eq!(speed_in("eth0: link up"), None);
        assert_eq!(speed_in("0000:01:00.0: 8 gt/s x4"), None);
    }
}
