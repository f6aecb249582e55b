//! SFP, SFP+ and SFP28: SFF-8472.

use super::codes::{extended, is_copper_connector, named};
use super::{Lane, Limits, Memory, Module, Place, Thresholds, dbm, degrees, milliampere, power, rounded, volts};

const ID: Place = Place::FIRST;
const LIVE: Place = Place::DIAGNOSTICS;

/// By the type of monitoring: there is one, and it can be read without a write.
pub(super) fn has_diagnostics(monitoring: u8) -> bool {
    monitoring & 0x40 != 0 && monitoring & 0x04 == 0
}

/// Raw values are to be calibrated by the reader.
const EXTERNAL: u8 = 0x10;

pub(super) fn parse(memory: &Memory) -> Module {
    let byte = |at: usize| memory.byte(ID, at);
    let monitoring = byte(92).unwrap_or(0);
    let cable = byte(8).unwrap_or(0);
    let mut module = Module {
        vendor: memory.text(ID, 20, 16),
        part: memory.text(ID, 40, 16),
        compliance: Some(compliance(memory)),
        bit_rate: match byte(12) {
            // Beyond 25.4 Gb/s it stands elsewhere, in other units.
            Some(0xff) => byte(66).map(|units| u32::from(units) * 250),
            units => units.map(|units| u32::from(units) * 100),
        },
        copper: byte(2).map(|connector| cable & 0x0c != 0 || is_copper_connector(connector)),
        diagnostics: byte(92).map(|monitoring| monitoring & 0x40 != 0),
        ..Module::default()
    };
    module.bit_rate = module.bit_rate.filter(|rate| *rate > 0);
    if has_diagnostics(monitoring) && memory.half(LIVE).is_some() {
        live(memory, &mut module, monitoring & EXTERNAL != 0);
        // Which of the flags the module has.
        let flags = byte(93).unwrap_or(0);
        let status = memory.byte(LIVE, 110);
        module.tx_fault = status.filter(|_| flags & 0x20 != 0).map(|status| status & 4 != 0);
        module.rx_los = status.filter(|_| flags & 0x10 != 0).map(|status| status & 2 != 0);
    }
    module
}

fn compliance(memory: &Memory) -> Vec<&'static str> {
    let byte = |at: usize| memory.byte(ID, at).unwrap_or(0);
    let ten = [
        Some("10g base-er"),
        Some("10g base-lrm"),
        Some("10g base-lr"),
        Some("10g base-sr"),
        Some("1x sx"),
        Some("1x lx"),
        Some("1x copper active"),
        Some("1x copper passive"),
    ];
    let one = [
        Some("base-px"),
        Some("base-bx10"),
        Some("100base-fx"),
        Some("100base-lx/lx10"),
        Some("1000base-t"),
        Some("1000base-cx"),
        Some("1000base-lx"),
        Some("1000base-sx"),
    ];
    let cable = [None, None, None, None, Some("active cable"), Some("passive cable"), None, None];
    named(byte(3), ten).chain(named(byte(6), one)).chain(named(byte(8), cable)).chain(extended(byte(36))).collect()
}

/// What the module measures, and its thresholds, which need no calibration.
fn live(memory: &Memory, module: &mut Module, external: bool) {
    let word = |at: usize| memory.word(LIVE, at);
    // Slope in 256ths and offset, in the units of the raw value.
    let linear = |raw: f64, at: usize| -> Option<f64> {
        if !external {
            return Some(raw);
        }
        Some(raw * f64::from(word(at)?) / 256.0 + f64::from(word(at + 2)?.cast_signed()))
    };
    // Values of these units are whole numbers, in range by nature; a calibration that leads out of it is nonsense.
    let signed = |raw: Option<u16>, at: usize| linear(f64::from(raw?.cast_signed()), at);
    let unsigned = |raw: Option<u16>, at: usize| linear(f64::from(raw?), at).filter(|value| *value >= 0.0);
    module.temperature = signed(word(96), 84).map(|raw| rounded(raw / 256.0, 2));
    module.voltage = unsigned(word(98), 88).map(|raw| rounded(raw * 1e-4, 4));
    module.lanes = vec![Lane {
        number: 1,
        bias: unsigned(word(100), 76).map(|raw| rounded(raw * 2e-3, 3)),
        sent: unsigned(word(102), 80).map(dbm),
        received: if external { word(104).and_then(|raw| received(memory, raw)) } else { word(104).map(power) },
    }];
    module.thresholds = Thresholds {
        temperature: Limits::at(memory, LIVE, 0, degrees),
        bias: Limits::at(memory, LIVE, 16, milliampere),
        sent: Limits::at(memory, LIVE, 24, power),
        received: Limits::at(memory, LIVE, 32, power),
    };
    // Where the supply is implausible the page was not there at all.
    if module.voltage.is_some_and(|supply| supply == volts(0)) && module.temperature == Some(0.0) {
        (module.voltage, module.temperature, module.lanes) = (None, None, Vec::new());
    }
}

/// Received power by a polynomial of the fourth degree, whose factors are floating point numbers.
fn received(memory: &Memory, raw: u16) -> Option<f64> {
    let factor = |at: usize| -> Option<f64> {
        let bits = u32::from(memory.word(LIVE, at)?) << 16 | u32::from(memory.word(LIVE, at + 2)?);
        Some(f64::from(f32::from_bits(bits))).filter(|factor| factor.is_finite())
    };
    let raw = f64::from(raw);
    let tenths = [56, 60, 64, 68, 72].into_iter().try_fold(0.0, |sum, at| Some(sum * raw + factor(at)?))?;
    (tenths.is_finite() && tenths <= f64::from(u16::MAX)).then(|| dbm(tenths))
}

#[cfg(test)]
mod tests {
    use super::super::{DARK, HALF, parse as read};
    use super::*;

    fn put(bytes: &mut [u8], at: usize, words: &[u16]) {
        for (number, word) in words.iter().enumerate() {
            bytes[at + 2 * number..at + 2 * number + 2].copy_from_slice(&word.to_be_bytes());
        }
    }

    /// A 10G SR module, as the specification lays it out.
    fn halves() -> [[u8; HALF]; 2] {
        let (mut id, mut live) = ([0; HALF], [0; HALF]);
        (id[0], id[2], id[3], id[12], id[92], id[93]) = (3, 7, 0x10, 103, 0x68, 0xf0);
        id[20..36].copy_from_slice(b"FINISAR CORP.   ");
        id[40..56].copy_from_slice(b"FTLX8571D3BCL   ");
        put(&mut live, 0, &[78 << 8, 0xf300, 73 << 8, 0xf800]);
        put(&mut live, 16, &[6500, 1500, 5000, 2000]);
        put(&mut live, 24, &[10_000, 1585, 7943, 1995]);
        put(&mut live, 32, &[10_000, 100, 7943, 158]);
        put(&mut live, 96, &[0x2645, 32_983, 3302, 5719, 0]);
        live[110] = 0x02;
        [id, live]
    }

    fn module(id: &[u8], live: &[u8]) -> Module {
        let mut memory = Memory::default();
        memory.put(ID, id);
        memory.put(LIVE, live);
        read(&memory).unwrap()
    }

    #[test]
    fn an_optical_module_is_read_with_its_thresholds() {
        let [id, live] = halves();
        let module = module(&id, &live);
        assert_eq!((module.identifier, module.bit_rate, module.copper), (Some("SFP"), Some(10_300), Some(false)));
        assert_eq!((module.vendor.as_deref(), module.part.as_deref()), (Some("FINISAR CORP."), Some("FTLX8571D3BCL")));
        assert_eq!(module.compliance.unwrap(), ["10g base-sr"]);
        assert_eq!((module.temperature, module.voltage), (Some(38.27), Some(3.2983)));
        let lane = Lane { number: 1, received: Some(DARK), sent: Some(-2.43), bias: Some(6.604) };
        assert_eq!(module.lanes, [lane]);
        assert_eq!((module.tx_fault, module.rx_los), (Some(false), Some(true)));
        let limits = module.thresholds;
        assert_eq!((limits.temperature.high_alarm, limits.temperature.low_alarm), (Some(78.0), Some(-13.0)));
        assert_eq!((limits.received.low_alarm, limits.received.high_alarm), (Some(-20.0), Some(0.0)));
        assert_eq!((limits.sent.low_warn, limits.bias.high_warn), (Some(-7.0), Some(10.0)));
    }

    #[test]
    fn a_copper_cable_has_neither_light_nor_diagnostics() {
        let mut id = [0; HALF];
        (id[0], id[2], id[8], id[12]) = (3, 0x21, 4, 0xff);
        id[66] = 103;
        let module = module(&id, &[]);
        assert_eq!((module.copper, module.diagnostics, module.bit_rate), (Some(true), Some(false), Some(25_750)));
        assert_eq!(module.compliance.unwrap(), ["passive cable"]);
        assert!(module.lanes.is_empty() && module.temperature.is_none() && module.rx_los.is_none());
    }

    #[test]
    fn raw_values_are_calibrated_where_the_module_says_so() {
        let [mut id, mut live] = halves();
        id[92] = 0x58;
        // Slopes of one and a half, offsets of -100 units; received power is half the raw value and one more.
        put(&mut live, 76, &[0x180, 0xff9c, 0x180, 0xff9c, 0x100, 0, 0x100, 0]);
        put(&mut live, 56, &[0; 10]);
        for (at, factor) in [(68, 0.5f32), (72, 1.0)] {
            live[at..at + 4].copy_from_slice(&factor.to_be_bytes());
        }
        put(&mut live, 100, &[1000, 2000, 1998]);
        let lane = module(&id, &live).lanes[0];
        // 1400 units of 2 uA; 290 uW; 100 uW.
        assert_eq!((lane.bias, lane.sent, lane.received), (Some(2.8), Some(-5.38), Some(-10.0)));
    }
}
