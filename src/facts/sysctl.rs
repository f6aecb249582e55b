//! Kernel parameters as typed facts: what they are, `host.sysctl.net.ipv4.tcp_rmem.max`, and what files set them to at the
//! next boot, `host.at_boot.net.ipv4.tcp_rmem.max`.

use super::entry::{Access, Entry, Put};
use super::unit::Unit;
use crate::lang::{Dim, Type, Value};
use crate::reading::Reading;
use crate::snapshot::{ConfiguredSetting, Host};

/// How the text of a parameter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A size in bytes.
    Bytes,
    /// A number without unit, or in the unit of its documentation.
    Number,
    /// Words separated by blanks.
    Words,
    /// One word or free text.
    Text,
    /// The n-th number of several, in bytes.
    BytesAt(usize),
    /// The n-th number of several, without unit.
    NumberAt(usize),
}

/// One fact of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parameter {
    name: &'static str,
    /// What stands behind the name in the path, for a parameter of several numbers.
    field: &'static str,
    shape: Shape,
    doc: &'static str,
}

const fn one(name: &'static str, shape: Shape, doc: &'static str) -> Parameter {
    Parameter { name, field: "", shape, doc }
}

const fn part(name: &'static str, field: &'static str, shape: Shape, doc: &'static str) -> Parameter {
    Parameter { name, field, shape, doc }
}

/// The parameters that rules may ask for. Meanings by Documentation/networking/ip-sysctl and admin-guide/sysctl/net.
const PARAMETERS: &[Parameter] = &[
    one("net.core.rmem_max", Shape::Bytes, "largest receive buffer that a program may ask for"),
    one("net.core.wmem_max", Shape::Bytes, "largest send buffer that a program may ask for"),
    one("net.core.rmem_default", Shape::Bytes, "receive buffer of sockets other than TCP"),
    one("net.core.wmem_default", Shape::Bytes, "send buffer of sockets other than TCP"),
    one(
        "net.core.netdev_max_backlog",
        Shape::Number,
        "packets that wait per CPU where RPS or a virtual device queues them",
    ),
    one("net.core.netdev_budget", Shape::Number, "packets per round of the receive softirq"),
    one("net.core.netdev_budget_usecs", Shape::Number, "microseconds per round of the receive softirq"),
    one("net.core.somaxconn", Shape::Number, "longest accept queue"),
    one("net.core.default_qdisc", Shape::Text, "queueing discipline of new interfaces"),
    one("net.core.busy_poll", Shape::Number, "microseconds that poll spins for packets"),
    one("net.core.rps_sock_flow_entries", Shape::Number, "size of the flow table of RFS"),
    part("net.ipv4.tcp_rmem", "min", Shape::BytesAt(0), "least receive buffer of a TCP socket"),
    part("net.ipv4.tcp_rmem", "default", Shape::BytesAt(1), "first receive buffer of a TCP socket"),
    part("net.ipv4.tcp_rmem", "max", Shape::BytesAt(2), "largest receive buffer that autotuning gives"),
    part("net.ipv4.tcp_wmem", "min", Shape::BytesAt(0), "least send buffer of a TCP socket"),
    part("net.ipv4.tcp_wmem", "default", Shape::BytesAt(1), "first send buffer of a TCP socket"),
    part("net.ipv4.tcp_wmem", "max", Shape::BytesAt(2), "largest send buffer that autotuning gives"),
    part("net.ipv4.tcp_mem", "low", Shape::NumberAt(0), "pages below which TCP does not care about memory"),
    part("net.ipv4.tcp_mem", "pressure", Shape::NumberAt(1), "pages from which TCP saves memory"),
    part("net.ipv4.tcp_mem", "high", Shape::NumberAt(2), "most pages of TCP"),
    one("net.ipv4.tcp_congestion_control", Shape::Text, "congestion control of new connections"),
    one("net.ipv4.tcp_available_congestion_control", Shape::Words, "congestion controls that are loaded"),
    one("net.ipv4.tcp_sack", Shape::Number, "selective acknowledgements"),
    one("net.ipv4.tcp_dsack", Shape::Number, "duplicate selective acknowledgements"),
    one("net.ipv4.tcp_timestamps", Shape::Number, "timestamps"),
    one("net.ipv4.tcp_window_scaling", Shape::Number, "window scaling"),
    one("net.ipv4.tcp_moderate_rcvbuf", Shape::Number, "autotuning of the receive buffer"),
    one("net.ipv4.tcp_adv_win_scale", Shape::Number, "share of the receive buffer that is offered as window"),
    one("net.ipv4.tcp_mtu_probing", Shape::Number, "search for the path MTU without ICMP"),
    one("net.ipv4.ip_no_pmtu_disc", Shape::Number, "switch for path MTU discovery: 1 is off"),
    one("net.ipv4.tcp_tw_reuse", Shape::Number, "reuse of connections in TIME-WAIT"),
    one("net.ipv4.tcp_tw_recycle", Shape::Number, "early end of TIME-WAIT: by timestamps; kernels before 4.12 have it"),
    one("net.ipv4.tcp_max_syn_backlog", Shape::Number, "most half-open connections per listener"),
    one(
        "net.ipv4.tcp_no_metrics_save",
        Shape::Number,
        "switch for keeping metrics of closed connections: 1 keeps none",
    ),
    one("net.ipv4.tcp_slow_start_after_idle", Shape::Number, "slow start after idle time"),
    one("net.ipv4.tcp_ecn", Shape::Number, "explicit congestion notification"),
    one("net.ipv4.tcp_max_orphans", Shape::Number, "most sockets without an owner"),
    one("net.ipv4.ip_forward", Shape::Number, "forwarding of packets"),
    one("net.ipv4.conf.all.rp_filter", Shape::Number, "reverse path filter"),
    one("net.ipv4.conf.all.arp_ignore", Shape::Number, "choice of the addresses that ARP answers for"),
    one("net.ipv4.neigh.default.gc_thresh1", Shape::Number, "neighbours that are always kept"),
    one("net.ipv4.neigh.default.gc_thresh2", Shape::Number, "neighbours from which old ones go"),
    one("net.ipv4.neigh.default.gc_thresh3", Shape::Number, "most IPv4 neighbours"),
    one("net.ipv6.neigh.default.gc_thresh3", Shape::Number, "most IPv6 neighbours"),
    one("net.ipv4.ipfrag_high_thresh", Shape::Bytes, "memory for fragments"),
    one("net.bridge.bridge-nf-call-iptables", Shape::Number, "passing of bridged packets through iptables"),
    one("net.netfilter.nf_conntrack_max", Shape::Number, "most tracked connections"),
    one("net.netfilter.nf_conntrack_count", Shape::Number, "tracked connections"),
];

impl Parameter {
    fn numbers(text: &str) -> impl Iterator<Item = Option<f64>> {
        text.split_whitespace().map(|word| word.parse().ok())
    }

    fn value(self, text: &str) -> Option<Value> {
        let at = |place: usize| Self::numbers(text).nth(place).flatten();
        match self.shape {
            Shape::Bytes => at(0).map(|number| Value::Number(number * 8.0)),
            Shape::Number => at(0).map(Value::Number),
            Shape::BytesAt(place) => at(place).map(|number| Value::Number(number * 8.0)),
            Shape::NumberAt(place) => at(place).map(Value::Number),
            Shape::Text => Some(Value::Text(text.trim().into())),
            Shape::Words => Some(Value::List(text.split_whitespace().map(|word| Value::Text(word.into())).collect())),
        }
    }

    /// The reading of this parameter. Absent where the module that brings it is not loaded; unknown where it was not read, or
    /// its text is not as expected.
    pub(super) fn get(self, host: &Host) -> Reading<Value> {
        match &host.sysctl {
            Reading::Known(all, source) => match all.get(self.name) {
                Some(text) => match self.value(text) {
                    Some(value) => Reading::Known(value, *source),
                    None => Reading::default(),
                },
                // What a module brings is not there without it; any other name is missing because nobody could read it.
                None if ["net.bridge.", "net.netfilter."].iter().any(|module| self.name.starts_with(module)) => {
                    Reading::Absent(*source)
                }
                None => Reading::default(),
            },
            Reading::Absent(source) => Reading::Absent(*source),
            Reading::Unknown(gap) => Reading::Unknown(*gap),
        }
    }

    /// What files set this parameter to at boot: the row that wins, or the last one where nobody knows which does. Absent
    /// where no file sets it. A list whose rows nobody compared is that of single files, and others may set it.
    pub(super) fn at_boot(self, host: &Host) -> Reading<Value> {
        match &host.configured {
            Reading::Known(rows, source) => match rows.iter().rev().find(|row| self.is_set_by(row)) {
                Some(row) => match self.value(&row.value) {
                    Some(value) => Reading::Known(value, row.wins.source().unwrap_or(*source)),
                    None => Reading::default(),
                },
                None if rows.iter().any(|row| row.wins.is_unasked()) => Reading::default(),
                None => Reading::Absent(*source),
            },
            Reading::Absent(source) => Reading::Absent(*source),
            Reading::Unknown(gap) => Reading::Unknown(*gap),
        }
    }

    /// True for a row of sysctl of this parameter that no other file overrides. Files may part the words of a name by slashes
    /// and have a dash before it.
    fn is_set_by(self, row: &ConfiguredSetting) -> bool {
        row.manager == "sysctl"
            && row.wins.known() != Some(&false)
            && row.key.trim_start_matches('-').replace('/', ".") == self.name
    }

    /// Writes what files set this parameter to; of several numbers the others stay.
    pub(super) fn set_at_boot(self, host: &mut Host, put: &Put) -> Result<(), String> {
        let mut rows = host.configured.known().cloned().unwrap_or_default();
        let before = rows.iter().rev().find(|row| self.is_set_by(row)).cloned();
        rows.retain(|row| !self.is_set_by(row));
        let (value, source) = match put {
            Put::Known(value, source) => {
                (Some(self.text(value, before.as_ref().map_or("", |row| row.value.as_str()))?), Some(*source))
            }
            Put::Absent(source) => (None, Some(*source)),
            // A text that is no number is what a value looks like that nobody could read.
            Put::Unknown(_) => (Some(String::new()), None),
        };
        if let Some(value) = value {
            let named = || ConfiguredSetting {
                manager: "sysctl".into(),
                file: "/etc/sysctl.conf".into(),
                key: self.name.into(),
                wins: Reading::Known(true, crate::reading::SourceId::ASSUMED),
                ..ConfiguredSetting::default()
            };
            rows.push(ConfiguredSetting { value, ..before.unwrap_or_else(named) });
        }
        let source = host.configured.source().or(source).unwrap_or(crate::reading::SourceId::ASSUMED);
        host.configured = Reading::Known(rows, source);
        Ok(())
    }

    /// Writes the parameter; of several numbers the others stay.
    pub(super) fn set(self, host: &mut Host, put: &Put) -> Result<(), String> {
        let mut all = host.sysctl.known().cloned().unwrap_or_default();
        let source = match put {
            Put::Known(value, source) => {
                let text = self.text(value, all.get(self.name).map_or("", String::as_str))?;
                all.insert(self.name.into(), text);
                *source
            }
            Put::Absent(source) => {
                all.remove(self.name);
                *source
            }
            Put::Unknown(_) => {
                // A text that is no number is what an unreadable parameter looks like.
                all.insert(self.name.into(), String::new());
                host.sysctl.source().unwrap_or(crate::reading::SourceId::ASSUMED)
            }
        };
        host.sysctl = Reading::Known(all, host.sysctl.source().unwrap_or(source));
        Ok(())
    }

    fn text(self, value: &Value, before: &str) -> Result<String, String> {
        let number = |scale: f64| match value {
            Value::Number(number) => Ok(format!("{:.0}", number / scale)),
            other => Err(format!("{other:?} is no number")),
        };
        let place = |place: usize, text: String| {
            let mut words: Vec<String> = before.split_whitespace().map(Into::into).collect();
            words.resize(words.len().max(3).max(place + 1), "0".into());
            words[place] = text;
            words.join(" ")
        };
        match self.shape {
            Shape::Bytes => number(8.0),
            Shape::Number => number(1.0),
            Shape::BytesAt(at) => number(8.0).map(|text| place(at, text)),
            Shape::NumberAt(at) => number(1.0).map(|text| place(at, text)),
            Shape::Text | Shape::Words => match value {
                Value::Text(text) | Value::Word(text) => Ok(text.to_string()),
                Value::List(items) => {
                    Ok(items.iter().map(|item| super::show(item, Unit::Plain)).collect::<Vec<_>>().join(" "))
                }
                other => Err(format!("{other:?} is no text")),
            },
        }
    }
}

/// Facts `host.sysctl.*`.
pub(super) fn entries() -> Vec<Entry> {
    // One small text per parameter, for as long as the program runs.
    let command =
        |parameter: &Parameter| -> &'static str { Box::leak(format!("sysctl {}", parameter.name).into_boxed_str()) };
    named("sysctl", |parameter| (parameter.doc.into(), command(parameter), Access::Sysctl(*parameter)))
}

/// Facts `host.at_boot.*`.
pub(super) fn at_boot() -> Vec<Entry> {
    const COMMAND: &str = "cat /etc/sysctl.conf /etc/sysctl.d/*.conf /usr/lib/sysctl.d/*.conf";
    named("at_boot", |parameter| {
        (format!("what files set it to at boot: {}", parameter.doc), COMMAND, Access::AtBoot(*parameter))
    })
}

/// An entry for each parameter, with these meanings, commands and accesses.
fn named(front: &str, of: impl Fn(&Parameter) -> (String, &'static str, Access)) -> Vec<Entry> {
    PARAMETERS
        .iter()
        .map(|parameter| {
            let (doc, command, access) = of(parameter);
            let (kind, unit) = match parameter.shape {
                Shape::Bytes | Shape::BytesAt(_) => (Type::number(Dim::DATA), Unit::Bytes),
                Shape::Number | Shape::NumberAt(_) => (Type::PLAIN, Unit::Plain),
                Shape::Words => (Type::list(Type::Text), Unit::Plain),
                Shape::Text => (Type::Text, Unit::Plain),
            };
            let dot = if parameter.field.is_empty() { "" } else { "." };
            Entry {
                // A dash would be a minus in a rule.
                path: format!("{front}.{}{dot}{}", parameter.name.replace('-', "_"), parameter.field),
                kind,
                unit,
                doc,
                command,
                access,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::SourceId;

    fn parameter(name: &str, field: &str) -> Parameter {
        *PARAMETERS.iter().find(|one| one.name == name && one.field == field).unwrap()
    }

    #[test]
    fn several_numbers_are_read_and_written_one_by_one() {
        let mut host = Host::default();
        let max = parameter("net.ipv4.tcp_rmem", "max");
        assert!(max.get(&host).gap().is_some());
        let all = [("net.ipv4.tcp_rmem".to_owned(), "4096 131072 6291456".to_owned())].into();
        host.sysctl = Reading::Known(all, SourceId::ASSUMED);
        assert_eq!(max.get(&host).known(), Some(&Value::Number(6_291_456.0 * 8.0)));
        max.set(&mut host, &Put::Known(Value::Number(8.0 * 1024.0), SourceId::ASSUMED)).unwrap();
        assert_eq!(host.sysctl.known().unwrap()["net.ipv4.tcp_rmem"], "4096 131072 1024");
    }

    #[test]
    fn a_parameter_that_the_kernel_does_not_have_is_absent() {
        let host = Host { sysctl: Reading::Known([].into(), SourceId::ASSUMED), ..Host::default() };
        assert!(parameter("net.bridge.bridge-nf-call-iptables", "").get(&host).is_absent());
    }

    #[test]
    fn files_say_what_will_be() {
        let row = |key: &str, value: &str, wins: Option<bool>| ConfiguredSetting {
            manager: "sysctl".into(),
            key: key.into(),
            value: value.into(),
            wins: wins.map_or_else(Reading::default, |wins| Reading::Known(wins, SourceId::ASSUMED)),
            ..ConfiguredSetting::default()
        };
        let max = parameter("net.ipv4.tcp_rmem", "max");
        let mut host = Host::default();
        assert!(max.at_boot(&host).gap().is_some());
        let with = |rows: Vec<ConfiguredSetting>| Host {
            configured: Reading::Known(rows, SourceId::ASSUMED),
            ..Host::default()
        };
        // The last row counts where nobody knows which wins, and a name may be written as a path.
        host.configured = with(vec![
            row("net.ipv4.tcp_rmem", "4096 131072 1000", None),
            row("-net/ipv4/tcp_rmem", "4096 131072 2000", None),
            row("net.core.rmem_max", "x", None),
        ])
        .configured;
        assert_eq!(max.at_boot(&host).known(), Some(&Value::Number(16_000.0)));
        assert!(parameter("net.core.rmem_max", "").at_boot(&host).gap().is_some());
        // Nobody compared these with other files.
        assert!(parameter("net.core.wmem_max", "").at_boot(&host).is_unasked());
        let two = with(vec![row("net.core.rmem_max", "1", Some(true)), row("net.core.rmem_max", "2", Some(false))]);
        assert_eq!(parameter("net.core.rmem_max", "").at_boot(&two).known(), Some(&Value::Number(8.0)));
        assert!(parameter("net.core.wmem_max", "").at_boot(&two).is_absent());
        max.set_at_boot(&mut host, &Put::Known(Value::Number(8.0 * 3000.0), SourceId::ASSUMED)).unwrap();
        assert_eq!(host.configured.known().unwrap().last().unwrap().value, "4096 131072 3000");
        let mut none = with(Vec::new());
        max.set_at_boot(&mut none, &Put::Known(Value::Number(8.0), SourceId::ASSUMED)).unwrap();
        assert!(parameter("net.core.wmem_max", "").at_boot(&none).is_absent());
        max.set_at_boot(&mut none, &Put::Absent(SourceId::ASSUMED)).unwrap();
        assert!(max.at_boot(&none).is_absent());
    }
}
