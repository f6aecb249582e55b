//! QSFP-DD, OSFP and others: CMIS.

use super::codes::is_copper_connector;
use super::{Lane, Limits, Memory, Module, Place, Thresholds, degrees, milliampere, power, rounded, volts};

const LOWER: Place = Place::FIRST;
const ID: Place = Place::page(0);
const OFFERS: Place = Place::page(1);
const LIMITS: Place = Place::page(2);
const LIVE: Place = Place::page(0x11);
const LANES: u32 = 8;

pub(super) fn parse(memory: &Memory) -> Module {
    let byte = |at: usize| memory.byte(ID, at);
    // Media interface technology: from 10 on copper.
    let copper = byte(212).map(|technology| technology >= 10);
    let mut module = Module {
        vendor: memory.text(ID, 129, 16),
        part: memory.text(ID, 148, 16),
        copper: copper.zip(byte(203)).map(|(copper, connector)| copper || is_copper_connector(connector)),
        ..Module::default()
    };
    let offers = memory.byte(OFFERS, 160);
    let flat = memory.byte(LOWER, 2).is_some_and(|flags| flags & 0x80 != 0);
    module.diagnostics = match (flat, offers) {
        (true, _) => Some(false),
        (false, Some(offers)) => Some(offers & 7 != 0),
        (false, None) => None,
    };
    let own = memory.byte(OFFERS, 159);
    let word = |at: usize| memory.word(LOWER, at);
    module.temperature = word(14).filter(|_| own.is_some_and(|own| own & 1 != 0)).map(degrees);
    module.voltage = word(16).filter(|_| own.is_some_and(|own| own & 2 != 0)).map(volts);
    if let Some(offers) = offers.filter(|_| module.copper == Some(false)) {
        live(memory, &mut module, offers);
    }
    module
}

fn live(memory: &Memory, module: &mut Module, offers: u8) {
    let scale = f64::from(1 << (offers >> 3 & 3).min(2));
    let bias = |raw: u16| rounded(milliampere(raw) * scale, 3);
    let lanes = lanes(memory);
    if memory.half(LIVE).is_some() {
        module.lanes = (0..lanes)
            .map(|lane| {
                let at = |from: usize| memory.word(LIVE, from + 2 * lane as usize);
                Lane {
                    number: lane + 1,
                    sent: at(154).filter(|_| offers & 2 != 0).map(power),
                    bias: at(170).filter(|_| offers & 1 != 0).map(bias),
                    received: at(186).filter(|_| offers & 4 != 0).map(power),
                }
            })
            .collect();
    }
    let used = u8::try_from((1u32 << lanes) - 1).unwrap_or(u8::MAX);
    // Which of the flags the module has.
    let has = |at: usize, bit: u8| memory.byte(OFFERS, at).is_some_and(|flags| flags & bit != 0);
    module.tx_fault = memory.byte(LIVE, 135).filter(|_| has(157, 1)).map(|flags| flags & used != 0);
    module.rx_los = memory.byte(LIVE, 147).filter(|_| has(158, 2)).map(|flags| flags & used != 0);
    module.thresholds = Thresholds {
        temperature: Limits::at(memory, LIMITS, 128, degrees),
        sent: Limits::at(memory, LIMITS, 176, power),
        bias: Limits::at(memory, LIMITS, 184, bias),
        received: Limits::at(memory, LIMITS, 192, power),
    };
}

/// Lanes of the medium: those that the first application needs, as often as it may begin on a lane.
fn lanes(memory: &Memory) -> u32 {
    let needs = memory.byte(LOWER, 88).map_or(0, |counts| u32::from(counts & 15));
    let starts = memory.byte(OFFERS, 176).map_or(1, u8::count_ones).max(1);
    match needs * starts {
        lanes @ 1..=LANES => lanes,
        _ => LANES,
    }
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

    #[test]
    fn a_module_of_four_lanes_tells_of_four() {
        let mut halves = [[0u8; HALF]; 5];
        let [lower, id, offers, limits, live] = &mut halves;
        // 400GBASE-DR4: four lanes of the medium, which begin on the first.
        (lower[0], lower[1], lower[88]) = (0x18, 0x40, 0x84);
        put(lower, 14, &[45 << 8, 33_000]);
        id[1..17].copy_from_slice(b"ACME OPTICS     ");
        id[20..36].copy_from_slice(b"QDD-DR4         ");
        (id[203 - 128], id[212 - 128]) = (0x0c, 4);
        // All three are measured, bias in units of four microampere; faults and losses are told.
        (offers[157 - 128], offers[158 - 128], offers[159 - 128], offers[160 - 128]) = (1, 2, 3, 0x0f);
        offers[176 - 128] = 1;
        put(limits, 0, &[75 << 8, 0xfb00, 70 << 8, 0]);
        put(limits, 48, &[25_119, 1000, 19_953, 1995]);
        put(limits, 56, &[25_000, 5000, 20_000, 7500]);
        put(limits, 64, &[25_119, 501, 19_953, 1000]);
        put(live, 154 - 128, &[10_000, 10_000, 5000, 10_000, 9, 9, 9, 9]);
        put(live, 170 - 128, &[12_500; 8]);
        put(live, 186 - 128, &[10_000, 1000, 0, 10_000]);
        (live[135 - 128], live[147 - 128]) = (0xf0, 0x04);
        let mut memory = Memory::default();
        let places = [LOWER, ID, OFFERS, LIMITS, LIVE];
        for (place, half) in places.into_iter().zip(&halves) {
            memory.put(place, half);
        }
        let module = read(&memory).unwrap();
        assert_eq!((module.identifier, module.copper, module.diagnostics), (Some("QSFP-DD"), Some(false), Some(true)));
        assert_eq!((module.vendor.as_deref(), module.part.as_deref()), (Some("ACME OPTICS"), Some("QDD-DR4")));
        assert_eq!((module.temperature, module.voltage), (Some(45.0), Some(3.3)));
        let lanes: Vec<_> = module.lanes.iter().map(|lane| (lane.sent.unwrap(), lane.received.unwrap())).collect();
        assert_eq!(lanes, [(0.0, 0.0), (0.0, -10.0), (-3.01, -40.0), (0.0, 0.0)]);
        assert_eq!(module.lanes[0].bias, Some(50.0));
        // The faults are of lanes that are not there.
        assert_eq!((module.tx_fault, module.rx_los), (Some(false), Some(true)));
        let limits = module.thresholds;
        assert_eq!((limits.received.low_warn, limits.sent.low_warn), (Some(-10.0), Some(-7.0)));
        assert_eq!((limits.bias.high_warn, limits.temperature.high_alarm), (Some(80.0), Some(75.0)));
        assert_eq!((module.compliance, module.bit_rate), (None, None));
    }

    #[test]
    fn a_copper_cable_has_one_page() {
        let (mut lower, mut id) = ([0; HALF], [0; HALF]);
        (lower[0], lower[2]) = (0x19, 0x80);
        (id[203 - 128], id[212 - 128]) = (0x23, 0x0a);
        let mut memory = Memory::default();
        memory.put(LOWER, &lower);
        memory.put(ID, &id);
        let module = read(&memory).unwrap();
        assert_eq!((module.identifier, module.copper, module.diagnostics), (Some("OSFP"), Some(true), Some(false)));
        assert!(module.lanes.is_empty() && module.temperature.is_none());
    }
}
