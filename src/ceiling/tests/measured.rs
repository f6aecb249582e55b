//! Published and own measurements against the ranges, with only the inputs that each source states.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::bus::{named, pcix_dma};
use super::super::combine::{Mechanism, Part, combine};
use super::super::ethernet::{Duplex, Framing, Traffic, link};
use super::super::pcie::{Dma, Hop, Path, Platform, dma, nic};
use super::super::range::{Ceiling, Direction};
use super::super::shaper::shaper;
use super::super::tcp::{ReceiveBuffer, receive_window, send_window};
use super::super::verdict::{Verdict, judge};
use super::buses;
use crate::knowledge::buses::Buses;

struct Row(BTreeMap<&'static str, &'static str>);

impl Row {
    fn text(&self, column: &str) -> &'static str {
        self.0[column]
    }

    fn number<T: std::str::FromStr>(&self, column: &str) -> Option<T> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.parse().unwrap_or_else(|_| panic!("{column}: {text}")))
    }

    fn scored(&self) -> bool {
        self.text("scored") == "yes"
    }

    fn framing(&self) -> Framing {
        let traffic = match self.text("traffic") {
            "tcp4" => Traffic::Tcp4,
            "l2" => Traffic::L2,
            "roce_v2" => Traffic::RoceV2,
            other => panic!("traffic {other}"),
        };
        Framing { frame_bytes: self.number("frame_bytes"), ..Framing::new(self.number("mtu").unwrap(), traffic) }
    }

    fn direction(&self) -> Option<Direction> {
        match self.text("direction") {
            "receive" => Some(Direction::Receive),
            "transmit" => Some(Direction::Transmit),
            "bidirectional" => Some(Direction::Bidirectional),
            _ => None,
        }
    }

    fn ceiling(&self, b: &Buses) -> Ceiling {
        let hops: Vec<Hop> =
            self.number("gigatransfers").map(|g| Hop::new(g, self.number("lanes").unwrap())).into_iter().collect();
        let path = Path {
            mps: self.number("mps"),
            driver: self.number::<String>("driver").map(|d| &*d.leak()),
            compressed_completions: self.text("kind") == "compressed",
            platform: Platform::X86,
            ..Path::new(&hops)
        };
        let window = || self.number::<u64>("buffer_bytes").unwrap();
        let seconds = || self.number::<f64>("rtt_ms").unwrap() / 1e3;
        match self.text("kind") {
            "dma_read" => dma(&path, Dma::Read, b).unwrap().ceiling,
            "dma_write" => dma(&path, Dma::Write, b).unwrap().ceiling,
            "pcix_read" => pcix_dma(self.text("bus"), self.number("burst").unwrap(), Dma::Read, b).unwrap(),
            "pcix_write" => pcix_dma(self.text("bus"), self.number("burst").unwrap(), Dma::Write, b).unwrap(),
            "window_send" => send_window(window(), b).over(seconds()).unwrap(),
            "window_receive" => {
                let buffer = ReceiveBuffer {
                    bytes: window(),
                    explicit: false,
                    kernel: Some((6, 18)),
                    adv_win_scale: None,
                    mtu: self.number("mtu"),
                };
                receive_window(&buffer, b).over(seconds()).unwrap()
            }
            "shaper" => shaper(self.number::<f64>("link_gbps").unwrap() * 1e9, &self.framing(), b),
            "nic" | "compressed" | "bus" => self.interface(&path, b),
            other => panic!("kind {other}"),
        }
    }

    fn interface(&self, path: &Path<'_>, b: &Buses) -> Ceiling {
        let framing = self.framing();
        let speed = self.number::<f64>("link_gbps").unwrap() * 1e9;
        let mut parts = vec![Part { mechanism: Mechanism::Link, ceiling: link(speed, &framing, Duplex::Full, b) }];
        if !path.hops.is_empty() {
            let found = nic(path, &framing, self.direction(), b).unwrap();
            parts.push(Part { mechanism: Mechanism::Pcie, ceiling: found.ceiling });
        }
        if !self.text("bus").is_empty() {
            let ceiling = named(self.text("bus"), &framing, self.direction(), b).unwrap();
            parts.push(Part { mechanism: Mechanism::Usb, ceiling });
        }
        combine(&parts).unwrap().ceiling
    }
}

fn rows() -> Vec<Row> {
    let mut lines = include_str!("../../../fixtures/measured-ceilings.csv").lines();
    let columns: Vec<&str> = lines.next().unwrap().split(',').collect();
    lines
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            assert_eq!(fields.len(), columns.len(), "{line}");
            Row(columns.iter().copied().zip(fields).collect())
        })
        .collect()
}

/// Rows whose source names another limit than link and bus.
fn bound_elsewhere(row: &Row) -> bool {
    matches!(row.text("bound_by"), "cpu" | "nic_pps" | "loss")
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// At least 90 % of the scored rows inside their range, mean error of typical at most 4 % (PCIe), 1 % (links) and 6 %
/// (PCI-X), mean width at most 20 % of typical.
#[test]
#[expect(clippy::print_stdout, reason = "the table is for whoever runs the test with --nocapture")]
fn ranges_hold_the_published_measurements() {
    let b = buses();
    let mut table = format!(
        "{:<5} {:<15} {:<7} {:>8} {:>8} {:>8} {:>8} {:>7}\n",
        "id", "kind", "binding", "measured", "lo", "typical", "hi", "error"
    );
    let mut errors: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut widths_of: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let (mut inside, mut widths) = (0, Vec::new());
    for row in rows().iter().filter(|r| r.scored()) {
        let measured = row.number::<f64>("measured_gbps").unwrap() * 1e9;
        let ceiling = row.ceiling(&b);
        let error = ceiling.typical_bps / measured - 1.0;
        let within = ceiling.contains(measured);
        inside += usize::from(within);
        widths.push(ceiling.relative_width());
        widths_of.entry(row.text("bound_by")).or_default().push(ceiling.relative_width());
        errors.entry(row.text("bound_by")).or_default().push(error.abs());
        writeln!(
            table,
            "{:<5} {:<15} {:<7} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>+6.1}%{}",
            row.text("id"),
            row.text("kind"),
            row.text("bound_by"),
            measured / 1e9,
            ceiling.lo_bps / 1e9,
            ceiling.typical_bps / 1e9,
            ceiling.hi_bps / 1e9,
            error * 100.0,
            if within { "" } else { "  OUTSIDE" }
        )
        .unwrap();
    }
    let scored = widths.len();
    writeln!(table, "inside {inside} of {scored}, mean width {:.1} % of typical", mean(&widths) * 100.0).unwrap();
    for (mechanism, errors) in &errors {
        let (error, width) = (mean(errors) * 100.0, mean(&widths_of[mechanism]) * 100.0);
        writeln!(table, "{mechanism:<7} {:>2} rows, mean error {error:.2} %, mean width {width:.1} %", errors.len())
            .unwrap();
    }
    for row in rows().iter().filter(|r| bound_elsewhere(r)) {
        let (measured, ceiling) = (row.number::<f64>("measured_gbps").unwrap() * 1e9, row.ceiling(&b));
        let (id, by, verdict) = (row.text("id"), row.text("bound_by"), judge(measured, &ceiling, &b).unwrap().verdict);
        let share = measured / ceiling.typical_bps * 100.0;
        writeln!(table, "{id:<5} bound by {by:<8} {share:>5.1} % of typical: {verdict:?}").unwrap();
    }
    println!("{table}");
    assert!(scored >= 48, "{table}");
    assert!(inside * 10 >= scored * 9, "{table}");
    assert!(mean(&widths) <= 0.20, "{table}");
    for (mechanism, most) in [("pcie", 0.04), ("link", 0.01), ("pcix", 0.06), ("shaper", 0.03)] {
        assert!(mean(&errors[mechanism]) <= most, "{mechanism}\n{table}");
    }
}

#[test]
fn rows_bound_by_something_else_are_not_blamed_on_the_interface() {
    let b = buses();
    let mut seen = 0;
    for row in rows().iter().filter(|r| bound_elsewhere(r)) {
        let judgement = judge(row.number::<f64>("measured_gbps").unwrap() * 1e9, &row.ceiling(&b), &b).unwrap();
        assert_eq!(judgement.verdict, Verdict::NotTheLimit, "{}", row.text("id"));
        seen += 1;
    }
    assert_eq!(seen, 5);
}

#[test]
fn no_measurement_is_called_impossible() {
    let b = buses();
    for row in &rows() {
        let judgement = judge(row.number::<f64>("measured_gbps").unwrap() * 1e9, &row.ceiling(&b), &b).unwrap();
        assert_ne!(judgement.verdict, Verdict::ModelOrInputWrong, "{}", row.text("id"));
    }
}
