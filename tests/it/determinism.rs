//! Equal input gives equal bytes, in whatever order a document lists what has no order.

use serde_json::Value;

use crate::support::{fixtures, formats, read, report, snapshot};

/// A small generator of our own: the same shuffles in each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        // The constants of Knuth's MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn shuffle(&mut self, list: &mut [Value]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}

/// Another order of what has none: interfaces, devices, blocks of counters, names in sets. The links of a path keep theirs.
fn shuffled(document: &Value, seed: u64) -> Value {
    let mut dice = Dice(seed);
    let mut other = document.clone();
    for list in ["interfaces", "devices", "conflicts"] {
        if let Some(Value::Array(items)) = other.get_mut(list) {
            dice.shuffle(items);
            for item in items {
                if let Some(Value::Array(blocks)) = item.get_mut("counters") {
                    dice.shuffle(blocks);
                }
            }
        }
    }
    other
}

fn documents() -> Vec<(String, String)> {
    let mut all = fixtures();
    all.push(("snapshot-1.json".into(), read("fixtures/golden/snapshot-1.json")));
    all
}

#[test]
fn the_same_document_twice_is_byte_equal() {
    for (name, text) in documents() {
        let (first, second) = (report(&snapshot(&text)), report(&snapshot(&text)));
        assert_eq!(formats(&first), formats(&second), "{name}");
    }
}

#[test]
fn the_order_of_a_document_does_not_show() {
    for (name, text) in documents() {
        let plain = formats(&report(&snapshot(&text)));
        let document: Value = serde_json::from_str(&text).unwrap();
        let mut moved = false;
        for seed in 1..=5 {
            let other = shuffled(&document, seed);
            moved |= other != document;
            for ((format, expected), (_, found)) in plain.iter().zip(formats(&report(&snapshot(&other.to_string())))) {
                assert!(*expected == found, "{name}, {format}, order {seed}: the order of the document shows");
            }
        }
        assert!(moved, "{name}: no shuffle changed anything");
    }
}

#[test]
fn a_report_reads_nothing_of_the_snapshots_tables() {
    // Written and read again, sources and gaps have other numbers.
    for (name, text) in documents() {
        let first = snapshot(&text);
        let again = snapshot(&first.to_json());
        assert_eq!(formats(&report(&first)), formats(&report(&again)), "{name}");
    }
}
