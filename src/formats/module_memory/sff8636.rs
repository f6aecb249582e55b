//! QSFP, QSFP+ and QSFP28: SFF-8636.

use super::codes::{extended, is_copper_connector, named};
use super::{Lane, Limits, Memory, Module, Place, Thresholds, degrees, milliampere, power, volts};

const LOWER: Place = Place::FIRST;
const ID: Place = Place::page(0);
const LIMITS: Place = Place::page(3);
const LANES: u32 = 4;

pub(super) fn parse(memory: &Memory) -> Module {
    let byte = |at: usize| memory.byte(ID, at);
    let technology = byte(147).map(|technology| technology >> 4);
    let copper = technology.map(|technology| technology >= 10);
    let mut module = Module {
        vendor: memory.text(ID, 148, 16),
        part: memory.text(ID, 168, 16),
        compliance: memory.half(ID).map(|_| compliance(memory)),
        bit_rate: match byte(140) {
            Some(0xff) => byte(222).map(|units| u32::from(units) * 250),
            units => units.map(|units| u32::from(units) * 100),
        },
        copper: copper.zip(byte(130)).map(|(copper, connector)| copper || is_copper_connector(connector)),
        ..Module::default()
    };
    module.bit_rate = module.bit_rate.filter(|rate| *rate > 0);
    live(memory, &mut module);
    module
}

/// A cable has none of what is measured, and shows zeros; a module that is too hot for its light still tells its
/// temperature.
fn live(memory: &Memory, module: &mut Module) {
    let word = |at: usize| memory.word(LOWER, at);
    let measures = word(22).is_some_and(|raw| raw != 0) || word(26).is_some_and(|raw| raw != 0);
    module.diagnostics = word(22).map(|_| measures && module.copper != Some(true));
    if !measures {
        return;
    }
    module.temperature = word(22).map(degrees);
    module.voltage = word(26).map(volts);
    if module.copper != Some(false) {
        return;
    }
    let sends_power = memory.byte(ID, 220).is_some_and(|kinds| kinds & 4 != 0);
    module.lanes = (0..LANES)
        .map(|lane| {
            let at = |from: usize| word(from + 2 * lane as usize);
            Lane {
                number: lane + 1,
                received: at(34).map(power),
                bias: at(42).map(milliampere),
                // Older modules do not measure what they send.
                sent: at(50).filter(|raw| sends_power || *raw != 0).map(power),
            }
        })
        .collect();
    module.rx_los = memory.byte(LOWER, 3).map(|flags| flags & 0x0f != 0);
    module.tx_fault = memory.byte(LOWER, 4).map(|flags| flags & 0x0f != 0);
    module.thresholds = Thresholds {
        temperature: Limits::at(memory, LIMITS, 128, degrees),
        received: Limits::at(memory, LIMITS, 176, power),
        bias: Limits::at(memory, LIMITS, 184, milliampere),
        sent: Limits::at(memory, LIMITS, 192, power),
    };
}

fn compliance(memory: &Memory) -> Vec<&'static str> {
    let byte = |at: usize| memory.byte(ID, at).unwrap_or(0);
    let ethernet = [
        None,
        Some("10g base-lrm"),
        Some("10g base-lr"),
        Some("10g base-sr"),
        Some("40g base-cr4"),
        Some("40g base-sr4"),
        Some("40g base-lr4"),
        Some("40g active cable (xlppi)"),
    ];
    let gigabit =
        [None, None, None, None, Some("1000base-t"), Some("1000base-cx"), Some("1000base-lx"), Some("1000base-sx")];
    // Four lanes of 25 Gb/s; the other name of these codes is for one.
    let extended = match byte(192) {
        3 => Some("100g base-lr4"),
        4 => Some("100g base-er4"),
        code => extended(code),
    };
    named(byte(131), ethernet).chain(named(byte(134), gigabit)).chain(extended).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{HALF, parse as read};
    use super::*;

    fn put(bytes: &mut [u8], at: usize, words: &[u16]) {
        for (number, word) in words.iter().enumerate() {
            bytes[at + 2 * number..at + 2 * number + 2].copy_from_slice(&word.to_be_bytes());
        }
    }

    fn module(halves: &[(Place, &[u8])]) -> Module {
        let mut memory = Memory::default();
        for (place, bytes) in halves {
            memory.put(*place, bytes);
        }
        read(&memory).unwrap()
    }

    #[test]
    fn an_optical_module_has_four_lanes() {
        let (mut lower, mut id, mut limits) = ([0; HALF], [0; HALF], [0; HALF]);
        (lower[0], lower[3]) = (0x11, 0x04);
        put(&mut lower, 22, &[35 << 8]);
        put(&mut lower, 26, &[33_000]);
        put(&mut lower, 34, &[10_000, 5000, 0, 10_000, 3000, 3000, 3000, 3500, 8000, 8000, 8000, 8000]);
        // Offsets of the upper half begin at 128.
        (id[2], id[12], id[64], id[92]) = (0x0c, 255, 2, 0x0c);
        id[94] = 103;
        id[20..36].copy_from_slice(b"ACME            ");
        id[40..56].copy_from_slice(b"Q28-SR4         ");
        put(&mut limits, 0, &[75 << 8, 0xfb00, 70 << 8, 0]);
        put(&mut limits, 48, &[20_000, 501, 10_000, 1000]);
        put(&mut limits, 56, &[5000, 1000, 4500, 1500]);
        put(&mut limits, 64, &[20_000, 1000, 15_849, 1995]);
        let module = module(&[(LOWER, &lower), (ID, &id), (LIMITS, &limits)]);
        assert_eq!((module.identifier, module.bit_rate), (Some("QSFP28"), Some(25_750)));
        assert_eq!((module.copper, module.diagnostics), (Some(false), Some(true)));
        assert_eq!((module.vendor.as_deref(), module.part.as_deref()), (Some("ACME"), Some("Q28-SR4")));
        assert_eq!(module.compliance.unwrap(), ["100g base-sr4 or 25gbase-sr"]);
        assert_eq!((module.temperature, module.voltage), (Some(35.0), Some(3.3)));
        let powers: Vec<_> = module.lanes.iter().map(|lane| (lane.number, lane.received.unwrap())).collect();
        assert_eq!(powers, [(1, 0.0), (2, -3.01), (3, -40.0), (4, 0.0)]);
        assert_eq!((module.lanes[3].bias, module.lanes[0].sent), (Some(7.0), Some(-0.97)));
        assert_eq!((module.rx_los, module.tx_fault), (Some(true), Some(false)));
        let limits = module.thresholds;
        assert_eq!((limits.temperature.high_alarm, limits.temperature.high_warn), (Some(75.0), Some(70.0)));
        assert_eq!(
            (limits.received.low_warn, limits.bias.low_warn, limits.sent.high_warn),
            (Some(-10.0), Some(3.0), Some(2.0))
        );
    }

    #[test]
    fn a_copper_cable_shows_no_light() {
        let (mut lower, mut id) = ([0; HALF], [0; HALF]);
        (lower[0], lower[2]) = (0x0d, 4);
        (id[2], id[3], id[19]) = (0x23, 0x08, 0xa0);
        let module = module(&[(LOWER, &lower), (ID, &id)]);
        assert_eq!((module.identifier, module.copper, module.diagnostics), (Some("QSFP+"), Some(true), Some(false)));
        assert_eq!(module.compliance.unwrap(), ["40g base-cr4"]);
        assert!(module.lanes.is_empty() && module.temperature.is_none() && module.rx_los.is_none());
        assert_eq!(module.bit_rate, None);
    }

    #[test]
    fn without_its_identity_a_module_is_little_known() {
        let mut lower = [0; HALF];
        lower[0] = 0x11;
        let module = module(&[(LOWER, &lower)]);
        assert_eq!((module.identifier, module.copper, module.compliance), (Some("QSFP28"), None, None));
    }
}
