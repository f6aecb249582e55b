//! The memory of a pluggable module: what it is, and what its diagnostics say (SFF-8472, SFF-8636, CMIS).

mod cmis;
mod codes;
mod sff8472;
mod sff8636;

use std::collections::BTreeMap;

/// Bytes of half a page, which is what one read yields.
pub const HALF: usize = 128;
/// The power that stands for no light at all, in dBm.
pub const DARK: f64 = -40.0;

/// Half a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Address on the bus of the module: 0x50, or 0x51 for the diagnostics of an SFP.
    pub address: u8,
    /// Number of the page.
    pub page: u8,
    /// Bytes 128 to 255; the lower ones are the same for all pages.
    pub upper: bool,
}

impl Place {
    /// Where every module says what it is.
    pub const FIRST: Self = Self { address: 0x50, page: 0, upper: false };

    /// The upper half of a page.
    pub const fn page(page: u8) -> Self {
        Self { address: 0x50, page, upper: true }
    }

    /// The diagnostics of an SFP.
    pub const DIAGNOSTICS: Self = Self { address: 0x51, page: 0, upper: false };

    /// Where it stands among the bytes of its page.
    pub fn offset(self) -> u8 {
        if self.upper { HALF as u8 } else { 0 }
    }
}

/// What was read of a memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory(BTreeMap<Place, Vec<u8>>);

impl Memory {
    /// Keeps what was read at this place; what is shorter than half a page is none.
    pub fn put(&mut self, place: Place, bytes: &[u8]) {
        if let Some(half) = bytes.get(..HALF) {
            self.0.insert(place, half.to_vec());
        }
    }

    /// The memory in one piece, as drivers without pages give it: an SFP has its diagnostics behind 256 bytes, others one
    /// upper half behind the other.
    pub fn flat(bytes: &[u8]) -> Self {
        let mut memory = Self::default();
        let is_sfp = bytes.first().is_some_and(|identifier| family(*identifier) == Some(Family::Sfp));
        for (at, half) in bytes.chunks_exact(HALF).enumerate() {
            let place = match (is_sfp, at) {
                (_, 0) => Place::FIRST,
                (_, 1) => Place::page(0),
                (true, 2) => Place::DIAGNOSTICS,
                (true, _) => continue,
                (false, at) => match u8::try_from(at - 1) {
                    Ok(page) => Place::page(page),
                    Err(_) => break,
                },
            };
            memory.put(place, half);
        }
        memory
    }

    fn half(&self, place: Place) -> Option<&[u8]> {
        self.0.get(&place).map(Vec::as_slice)
    }

    /// A byte by its number within its page, as the specifications count.
    fn byte(&self, place: Place, at: usize) -> Option<u8> {
        self.half(place)?.get(at.checked_sub(usize::from(place.offset()))?).copied()
    }

    /// Two bytes, the higher one first.
    fn word(&self, place: Place, at: usize) -> Option<u16> {
        Some(u16::from_be_bytes([self.byte(place, at)?, self.byte(place, at + 1)?]))
    }

    /// Text of these bytes; none where it is empty or no text.
    fn text(&self, place: Place, from: usize, length: usize) -> Option<String> {
        let bytes: Option<Vec<u8>> = (from..from + length).map(|at| self.byte(place, at)).collect();
        let text: String = bytes?.into_iter().map(char::from).collect();
        let text = text.trim_matches([' ', '\0']);
        let plain = text.chars().all(|char| char.is_ascii_graphic() || char == ' ');
        (plain && !text.is_empty()).then(|| text.to_owned())
    }
}

/// A layout of the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Sfp,
    Qsfp,
    Cmis,
}

fn family(identifier: u8) -> Option<Family> {
    match identifier {
        0x03 | 0x0b => Some(Family::Sfp),
        0x0c | 0x0d | 0x11 => Some(Family::Qsfp),
        0x18 | 0x19 | 0x1b | 0x1e | 0x1f | 0x20 | 0x21 | 0x22 | 0x23 | 0x24 | 0x25 => Some(Family::Cmis),
        _ => None,
    }
}

/// What to read besides the first place, which this is: one page of it after the other.
pub fn further(first: &[u8]) -> Vec<Place> {
    let byte = |at: usize| first.get(at).copied().unwrap_or(0);
    match first.first().and_then(|identifier| family(*identifier)) {
        Some(Family::Sfp) if sff8472::has_diagnostics(byte(92)) => vec![Place::DIAGNOSTICS],
        // Bit 2: there are no further pages.
        Some(Family::Qsfp) if byte(2) & 4 == 0 => vec![Place::page(0), Place::page(3)],
        Some(Family::Qsfp) => vec![Place::page(0)],
        // Bit 7, likewise.
        Some(Family::Cmis) if byte(2) & 0x80 == 0 => [0, 1, 2, 0x11].map(Place::page).to_vec(),
        Some(Family::Cmis) => vec![Place::page(0)],
        _ => Vec::new(),
    }
}

/// A module. What its memory does not hold is none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Form factor: `SFP`, `QSFP28`, `QSFP-DD` ...
    pub identifier: Option<&'static str>,
    /// Vendor.
    pub vendor: Option<String>,
    /// Part number.
    pub part: Option<String>,
    /// What it complies with, in the words of ethtool in lower case; none where its layout has no such codes.
    pub compliance: Option<Vec<&'static str>>,
    /// Nominal bit rate in Mb/s.
    pub bit_rate: Option<u32>,
    /// It is a copper cable.
    pub copper: Option<bool>,
    /// It has diagnostics.
    pub diagnostics: Option<bool>,
    /// Degrees Celsius.
    pub temperature: Option<f64>,
    /// Volts.
    pub voltage: Option<f64>,
    /// Lanes in their order.
    pub lanes: Vec<Lane>,
    /// A fault of the transmitter is reported.
    pub tx_fault: Option<bool>,
    /// A loss of the received signal is reported.
    pub rx_los: Option<bool>,
    /// Thresholds.
    pub thresholds: Thresholds,
}

/// A lane of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lane {
    /// From 1.
    pub number: u32,
    /// Received power in dBm.
    pub received: Option<f64>,
    /// Sent power in dBm.
    pub sent: Option<f64>,
    /// Bias current in mA.
    pub bias: Option<f64>,
}

/// High alarm, low alarm, high warning and low warning.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// High alarm.
    pub high_alarm: Option<f64>,
    /// Low alarm.
    pub low_alarm: Option<f64>,
    /// High warning.
    pub high_warn: Option<f64>,
    /// Low warning.
    pub low_warn: Option<f64>,
}

impl Limits {
    /// The four words from here on, each through `unit`.
    fn at(memory: &Memory, place: Place, from: usize, unit: impl Fn(u16) -> f64) -> Self {
        let limit = |number: usize| memory.word(place, from + 2 * number).map(&unit);
        Self { high_alarm: limit(0), low_alarm: limit(1), high_warn: limit(2), low_warn: limit(3) }
    }
}

/// Thresholds of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Thresholds {
    /// Of the temperature in degrees Celsius.
    pub temperature: Limits,
    /// Of the received power in dBm.
    pub received: Limits,
    /// Of the sent power in dBm.
    pub sent: Limits,
    /// Of the bias current in mA.
    pub bias: Limits,
}

/// Reads a module; `None` where its memory says nothing.
pub fn parse(memory: &Memory) -> Option<Module> {
    let identifier = memory.byte(Place::FIRST, 0)?;
    let mut module = match family(identifier) {
        Some(Family::Sfp) => sff8472::parse(memory),
        Some(Family::Qsfp) => sff8636::parse(memory),
        Some(Family::Cmis) => cmis::parse(memory),
        None => Module::default(),
    };
    module.identifier = codes::identifier(identifier);
    (module != Module::default()).then_some(module)
}

fn rounded(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

/// Tenths of a microwatt in dBm.
fn dbm(tenths: f64) -> f64 {
    if tenths < 0.05 { DARK } else { rounded(10.0 * (tenths * 1e-4).log10(), 2).max(DARK) }
}

fn power(word: u16) -> f64 {
    dbm(f64::from(word))
}

/// 256ths of a degree.
fn degrees(word: u16) -> f64 {
    rounded(f64::from(word.cast_signed()) / 256.0, 2)
}

/// Tenths of a millivolt in volts.
fn volts(word: u16) -> f64 {
    rounded(f64::from(word) * 1e-4, 4)
}

/// Units of two microampere in mA.
fn milliampere(word: u16) -> f64 {
    rounded(f64::from(word) * 2e-3, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_specifications() {
        // 0.5719 mW is -2.43 dBm, 1 mW is 0.
        assert_eq!((power(5719), power(10_000), power(0)), (-2.43, 0.0, DARK));
        assert_eq!((degrees(0x2645), degrees(0xff80)), (38.27, -0.5));
        assert_eq!((volts(32_983), milliampere(3302)), (3.2983, 6.604));
    }

    #[test]
    fn each_layout_names_its_pages() {
        let first = |identifier: u8, at: usize, value: u8| {
            let mut bytes = [0; HALF];
            bytes[0] = identifier;
            bytes[at] = value;
            further(&bytes)
        };
        assert_eq!(first(3, 92, 0x68), [Place::DIAGNOSTICS]);
        assert_eq!(first(3, 92, 0x00), []);
        // The diagnostics stand elsewhere until an address is written, which is not ours to do.
        assert_eq!(first(3, 92, 0x6c), []);
        assert_eq!(first(0x11, 2, 0x00), [Place::page(0), Place::page(3)]);
        assert_eq!(first(0x11, 2, 0x04), [Place::page(0)]);
        assert_eq!(first(0x18, 2, 0x80), [Place::page(0)]);
        assert_eq!(first(0x18, 2, 0x00).len(), 4);
        assert_eq!((first(0, 1, 0), further(&[])), (Vec::new(), Vec::new()));
    }

    #[test]
    fn a_memory_in_one_piece_is_cut_into_its_pages() {
        let mut bytes = vec![0; 640];
        bytes[0] = 0x11;
        for (page, mark) in [(1, 10), (2, 11), (3, 12), (4, 13)] {
            bytes[page * HALF] = mark;
        }
        let memory = Memory::flat(&bytes);
        assert_eq!(memory.byte(Place::page(0), 128), Some(10));
        assert_eq!(memory.byte(Place::page(3), 128), Some(13));
        bytes[0] = 3;
        let memory = Memory::flat(&bytes[..512]);
        assert_eq!(memory.byte(Place::DIAGNOSTICS, 0), Some(11));
        assert_eq!(memory.byte(Place::page(3), 128), None);
        assert_eq!(parse(&Memory::flat(&[])), None);
        assert_eq!(parse(&Memory::flat(&[0; 200])), None);
    }
}
