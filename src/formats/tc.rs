//! `tc qdisc`, `tc class` and `tc filter`, with and without statistics.

use super::cursor::{Cursor, Line};

/// A queueing discipline or one of its classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discipline {
    /// It is a class.
    pub is_class: bool,
    /// `fq_codel`, `mq`, `htb` ...
    pub kind: String,
    /// `8001:`, or of a class `1:10`.
    pub handle: String,
    /// Interface, where the output names it.
    pub device: Option<String>,
    /// `root`, `ingress`, or what it hangs on: `1:10`, `:4`.
    pub parent: String,
    /// What it was set up with, in tc's words.
    pub options: String,
    /// `sent_bytes sent_packets dropped overlimits requeues backlog_bytes backlog_packets`, as far as they were printed.
    pub counters: Vec<(&'static str, u64)>,
    /// Line.
    pub line: u32,
}

/// True for the line that a discipline or class begins with.
pub fn begins(text: &str) -> bool {
    head(text, 0).is_some()
}

fn head(text: &str, line: u32) -> Option<Discipline> {
    let mut words = text.split_ascii_whitespace().peekable();
    let is_class = match words.next()? {
        "qdisc" => false,
        "class" => true,
        _ => return None,
    };
    let kind = words
        .next()
        .filter(|kind| kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'))?;
    let handle = words.next()?;
    let (major, minor) = handle.split_once(':')?;
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit()) && part.len() <= 4;
    if !hex(major) || !hex(minor) {
        return None;
    }
    let mut found =
        Discipline { is_class, kind: kind.to_owned(), handle: handle.to_owned(), line, ..Discipline::default() };
    if !is_class && !minor.is_empty() {
        // Some versions glue the minor number of a discipline to it: `qdisc sfq 30:0`.
        found.handle = format!("{major}:");
    }
    while let Some(word) = words.peek().copied() {
        match word {
            "dev" => {
                words.next();
                found.device = words.next().map(str::to_owned);
            }
            "root" => {
                words.next();
                found.parent = "root".to_owned();
            }
            "parent" => {
                words.next();
                found.parent = words.next()?.to_owned();
            }
            "refcnt" => {
                words.next();
                words.next();
            }
            "[deleted]" => return None,
            _ => break,
        }
    }
    if found.parent == "ffff:fff1" || matches!(kind, "ingress" | "clsact") {
        found.parent = "ingress".to_owned();
    }
    found.options = words.collect::<Vec<_>>().join(" ");
    Some(found)
}

/// ` Sent 195450545 bytes 2252952 pkt (dropped 213, overlimits 65672 requeues 0)`.
fn sent(text: &str) -> Option<[(&'static str, u64); 5]> {
    let text = text.trim().strip_prefix("Sent ")?.replace(['(', ')', ','], " ");
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let before = |name: &str| {
        words.iter().position(|word| word.starts_with(name)).and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok())
    };
    let behind =
        |name: &str| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)?.parse().ok());
    Some([
        ("sent_bytes", before("bytes")?),
        ("sent_packets", before("pkt")?),
        ("dropped", behind("dropped")?),
        ("overlimits", behind("overlimits")?),
        ("requeues", behind("requeues")?),
    ])
}

/// ` backlog 0b 0p requeues 0`: bytes and packets that wait. Beyond 1024 bytes tc rounds.
fn backlog(text: &str) -> Option<[(&'static str, u64); 2]> {
    let rest = text.split_once("backlog ")?.1;
    let mut words = rest.split_ascii_whitespace();
    let (bytes, packets) = (words.next()?, words.next()?);
    let bytes = bytes.strip_suffix('b')?;
    let (number, scale) = match bytes.strip_suffix(['K', 'M', 'G']) {
        Some(number) => (number, 1 << (10 * (1 + "KMG".find(&bytes[number.len()..])?))),
        None => (bytes, 1_u64),
    };
    let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)?;
    let packets = packets.strip_suffix('p')?.parse().ok()?;
    Some([("backlog_bytes", (number * scale as f64) as u64), ("backlog_packets", packets)])
}

/// Words that further lines of a discipline begin with, where their indentation is gone.
const FURTHER: &[&str] = &[
    "backlog ",
    "rate ",
    "Sent ",
    "maxpacket ",
    "new_flows_len ",
    "lended: ",
    "tokens: ",
    "count ",
    "flows ",
    "throttled ",
    "memory used: ",
    "capacity ",
    "min/max ",
    "average network hdr size: ",
    "highpri ",
    "gc ",
    "marked ",
    "period ",
    "deficit ",
    "borrowed ",
];

/// Reads the disciplines and classes that come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Discipline> {
    let mut rows: Vec<Discipline> = Vec::new();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        if let Some(row) = head(text, line.number) {
            rows.push(row);
        } else if let Some(row) = rows.last_mut() {
            if let Some(counters) = sent(text) {
                row.counters.extend(counters);
            } else if let Some(counters) = backlog(text) {
                row.counters.extend(counters);
            } else if text.is_empty() {
                // An empty line stands between classes.
                let next = cursor.peek_at(1).is_some_and(|next| begins(next.text.trim()));
                if !next {
                    break;
                }
            } else if !line.text.starts_with([' ', '\t']) && !FURTHER.iter().any(|start| text.starts_with(start)) {
                break;
            }
        } else {
            break;
        }
        cursor.take();
    }
    rows
}

/// A rate as tc prints it, in bit/s: `1024Kbit`, `1Gbit`, `100Mibit`.
pub fn rate(text: &str) -> Option<u64> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let number: f64 = text[..end].parse().ok()?;
    let scale = match &text[end..] {
        "bit" => 1.0,
        "Kbit" => 1e3,
        "Mbit" => 1e6,
        "Gbit" => 1e9,
        "Tbit" => 1e12,
        "Kibit" => 1024.0,
        "Mibit" => 1_048_576.0,
        "Gibit" => 1_073_741_824.0,
        "bps" => 8.0,
        "Kbps" => 8e3,
        "Mbps" => 8e6,
        _ => return None,
    };
    let rate = number * scale;
    (rate.is_finite() && (0.0..1e15).contains(&rate)).then_some(rate as u64)
}

/// The word behind another one in the options.
pub fn option<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let mut words = options.split_ascii_whitespace();
    words.by_ref().find(|word| *word == name)?;
    words.next()
}

/// An action of a filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Action {
    /// `ingress`, `egress`, or the parent that the filter names; empty where it names none.
    pub hook: String,
    /// `police`, `gact`, `mirred` ...
    pub kind: String,
    /// Rate of a policer in bit/s.
    pub rate: Option<u64>,
    /// As those of a discipline.
    pub counters: Vec<(&'static str, u64)>,
    /// Line.
    pub line: u32,
}

/// True for the line that a filter begins with.
pub fn begins_filter(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("filter ") && (text.contains(" protocol ") || text.contains(" pref "))
}

/// What a filter hangs on.
fn hook(text: &str) -> String {
    match option(text, "parent") {
        Some("ffff:" | "ffff:fff2") => "ingress".to_owned(),
        Some("ffff:fff3") => "egress".to_owned(),
        parent => parent.unwrap_or_default().to_owned(),
    }
}

/// Reads the filters that come next and their actions; none where no filter does.
pub fn filters(cursor: &mut Cursor<'_>) -> Option<Vec<Action>> {
    cursor.peek().filter(|line| begins_filter(line.text))?;
    let mut actions: Vec<Action> = Vec::new();
    let mut place = String::new();
    let mut of_action = false;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let indented = line.text.starts_with([' ', '\t']);
        let ordered =
            text.strip_prefix("action order ").and_then(|rest| rest.split_once(':')).map(|(_, rest)| rest.trim());
        if text.is_empty() {
            let goes_on = |next: Line<'_>| next.text.starts_with([' ', '\t']) || begins_filter(next.text);
            if !cursor.peek_at(1).is_some_and(goes_on) {
                break;
            }
        } else if begins_filter(line.text) {
            place = hook(text);
            of_action = false;
        } else if let Some(action) =
            ordered.or_else(|| Some(text).filter(|text| indented && text.starts_with("police ")))
        {
            let kind = action.split_ascii_whitespace().next().unwrap_or_default().to_owned();
            let rate = option(action, "rate").and_then(rate);
            actions.push(Action { hook: place.clone(), kind, rate, counters: Vec::new(), line: line.number });
            of_action = true;
        } else if !indented {
            break;
        } else if let (Some(counters), Some(action)) = (sent(text), actions.last_mut().filter(|_| of_action)) {
            // The first such line counts packets; further ones split them into those of the hardware and of the software.
            if action.counters.is_empty() {
                action.counters.extend(counters);
            }
        }
        cursor.take();
    }
    Some(actions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Discipline>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor), cursor.position())
    }

    #[test]
    fn disciplines_with_counters() {
        let text = "qdisc mq 0: dev eth0 root \n Sent 112993511508 bytes 76805125 pkt (dropped 28660, overlimits 0 requeues 243670) \n\
                    \u{20}backlog 120Kb 80p requeues 243670\n\
                    qdisc fq_codel 0: dev eth0 parent :4 limit 10240p flows 1024 quantum 1514 target 5ms\n\
                    \u{20}Sent 5 bytes 1 pkt (dropped 2, overlimits 3 requeues 4)\n rate 0bit 0pps backlog 0b 0p requeues 4 \n\
                    \u{20} maxpacket 66308 drop_overlimit 0 new_flow_count 56220 ecn_mark 22\nqdisc ingress ffff: dev eth0 parent ffff:fff1 ---------------- \n\
                    root@a:~#\n";
        let (rows, taken) = read(text);
        assert_eq!((rows.len(), taken), (3, 8));
        assert_eq!((rows[0].kind.as_str(), rows[0].handle.as_str(), rows[0].parent.as_str()), ("mq", "0:", "root"));
        assert_eq!(
            rows[0].counters,
            [
                ("sent_bytes", 112_993_511_508),
                ("sent_packets", 76_805_125),
                ("dropped", 28_660),
                ("overlimits", 0),
                ("requeues", 243_670),
                ("backlog_bytes", 122_880),
                ("backlog_packets", 80)
            ]
        );
        assert_eq!((rows[1].parent.as_str(), rows[1].counters.len()), (":4", 7));
        assert!(rows[1].options.starts_with("limit 10240p"));
        assert_eq!((rows[2].parent.as_str(), rows[2].device.as_deref()), ("ingress", Some("eth0")));
    }

    #[test]
    fn classes_and_rates() {
        let text = "class htb 1:1 root rate 1024Kbit ceil 1Mbit burst 1599b cburst 1599b \n Sent 17204293 bytes 34752 pkt (dropped 0, overlimits 2190 requeues 0) \n\
                    \u{20}lended: 9079 borrowed: 0 giants: 0\n tokens: 21611 ctokens: 21611\n\n\
                    class htb 1:10 parent 1:1 leaf 10: prio 0 rate 8bit ceil 1Gbit\n\nprose\n";
        let (rows, taken) = read(text);
        assert_eq!((rows.len(), taken), (2, 6));
        assert!(rows[0].is_class && rows[0].parent == "root");
        assert_eq!(option(&rows[0].options, "ceil").and_then(rate), Some(1_000_000));
        assert_eq!(
            (rate("1024Kbit"), rate("1Gbit"), rate("1Mibit"), rate("unlimited"), rate("")),
            (Some(1_024_000), Some(1_000_000_000), Some(1_048_576), None, None)
        );
        for other in ["qdisc is a word", "class action 5", "qdisc x y:", "", "qdisc"] {
            assert!(!begins(other), "{other}");
        }
    }

    #[test]
    fn police_actions_drop() {
        let text = "filter parent ffff: protocol all pref 49152 u32 chain 0 \nfilter parent ffff: protocol all pref 49152 u32 fh 800::800 flowid :1\n\
                    \u{20} match 00000000/00000000 at 0\n\taction order 1:  police 0x1 rate 1Mbit burst 10Kb mtu 2Kb action drop overhead 0b\n\
                    \tref 1 bind 1\n\tSent 1234 bytes 12 pkts (dropped 3, overlimits 4 requeues 0)\nnext\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let actions = filters(&mut cursor).unwrap();
        let [action] = actions.as_slice() else { panic!("one action") };
        assert_eq!(
            (action.hook.as_str(), action.kind.as_str(), action.rate, action.line),
            ("ingress", "police", Some(1_000_000), 4)
        );
        assert_eq!(action.counters[2], ("dropped", 3));
        assert_eq!(cursor.position(), 6);
        assert_eq!(filters(&mut cursor), None);
    }
}
