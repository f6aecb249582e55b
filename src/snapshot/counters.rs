//! Counters come in blocks: one source, names in the order in which it lists them, one or two samples.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::reading::SourceId;

/// One counter of a block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "CounterRow", into = "CounterRow")]
pub struct Counter {
    /// The name as the source spells it, trimmed.
    pub name: String,
    /// The value at each sample; `None` where this sample did not list it.
    pub values: Vec<Option<u64>>,
}

/// Serialised as `["rx_packets", 10, 25]`, so that a row stays on a line and can be written by hand.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct CounterRow(Vec<CounterCell>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum CounterCell {
    Value(u64),
    Name(String),
    Missing(()),
}

impl From<CounterRow> for Counter {
    fn from(row: CounterRow) -> Self {
        let mut name = String::new();
        let mut values = Vec::new();
        for cell in row.0 {
            match cell {
                CounterCell::Name(text) => name = text,
                CounterCell::Value(value) => values.push(Some(value)),
                CounterCell::Missing(()) => values.push(None),
            }
        }
        Self { name, values }
    }
}

impl From<Counter> for CounterRow {
    fn from(counter: Counter) -> Self {
        let cells = counter.values.into_iter().map(|value| value.map_or(CounterCell::Missing(()), CounterCell::Value));
        Self(std::iter::once(CounterCell::Name(counter.name)).chain(cells).collect())
    }
}

/// Counters of one source, for example `ethtool -S` of an interface.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CounterBlock {
    /// Which list it is: `rtnl_link_stats64`, `ethtool_statistics`, `ethtool_pause`, `proc_net_dev` ...
    pub group: String,
    /// Where it was read.
    pub source: SourceId,
    /// True where rows may be missing without a trace: a capture that a filter went over, or that was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
    /// When each sample was taken, in milliseconds since the first.
    pub at_ms: Vec<u64>,
    /// The counters in the order of the source.
    pub counters: Vec<Counter>,
}

/// How far a counter moved between the first and the last sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Growth {
    /// It grew by this much, or stood still.
    By(u64),
    /// It went down: a reset, a wrap of unknown width, or a re-created device.
    Reset,
    /// There is no second sample of it.
    OneSample,
}

impl CounterBlock {
    /// The counter of this name; the first one where a driver uses a name twice.
    pub fn get(&self, name: &str) -> Option<&Counter> {
        self.counters.iter().find(|counter| counter.name == name)
    }

    /// Seconds between the first and the last sample; `None` with fewer than two.
    pub fn window(&self) -> Option<f64> {
        match (self.at_ms.first(), self.at_ms.last()) {
            (Some(first), Some(last)) if last > first => Some((last - first) as f64 / 1000.0),
            _ => None,
        }
    }
}

impl CounterBlock {
    /// Adds the rows of a later sample, taken `after_ms` after the first. Names are compared: a driver may list others
    /// than before.
    pub fn append<'n>(&mut self, after_ms: u64, rows: impl IntoIterator<Item = (&'n str, u64)>) {
        let rows: Vec<(&str, u64)> = rows.into_iter().collect();
        let earlier = self.at_ms.len();
        let same = rows.len() == self.counters.len()
            && rows.iter().zip(&self.counters).all(|((name, _), counter)| *name == counter.name);
        if same {
            for (counter, (_, value)) in self.counters.iter_mut().zip(rows) {
                counter.values.push(Some(value));
            }
        } else {
            let mut fresh: BTreeMap<&str, u64> = rows.iter().copied().collect();
            for counter in &mut self.counters {
                let value = fresh.remove(counter.name.as_str());
                counter.values.push(value);
            }
            for (name, _) in rows {
                if let Some(value) = fresh.remove(name) {
                    let mut values = vec![None; earlier];
                    values.push(Some(value));
                    self.counters.push(Counter { name: name.to_owned(), values });
                }
            }
        }
        self.at_ms.push(after_ms);
    }
}

impl Counter {
    /// The newest value.
    pub fn total(&self) -> Option<u64> {
        self.values.iter().rev().flatten().next().copied()
    }

    /// Difference between the last and the first sample, in u64: a f64 would lose packets after two days at 400 Gb/s.
    pub fn growth(&self) -> Growth {
        if self.values.len() < 2 {
            return Growth::OneSample;
        }
        match (self.values[0], self.values[self.values.len() - 1]) {
            (Some(first), Some(last)) if last >= first => Growth::By(last - first),
            (Some(_), Some(_)) => Growth::Reset,
            _ => Growth::OneSample,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counter(values: &[Option<u64>]) -> Counter {
        Counter { name: "rx_missed".into(), values: values.to_vec() }
    }

    #[test]
    fn growth_is_exact_and_a_decrease_is_a_reset() {
        let high = 1 << 60;
        assert_eq!(counter(&[Some(high), Some(high + 1)]).growth(), Growth::By(1));
        assert_eq!(counter(&[Some(5), Some(4)]).growth(), Growth::Reset);
        assert_eq!(counter(&[Some(5)]).growth(), Growth::OneSample);
        assert_eq!(counter(&[Some(5), None]).growth(), Growth::OneSample);
        assert_eq!(counter(&[Some(5), None]).total(), Some(5));
    }

    #[test]
    fn a_row_is_one_short_list() {
        let text = r#"["rx_missed",10,null,25]"#;
        let counter: Counter = serde_json::from_str(text).unwrap();
        assert_eq!(counter.values, [Some(10), None, Some(25)]);
        assert_eq!(serde_json::to_string(&counter).unwrap(), text);
    }
}
