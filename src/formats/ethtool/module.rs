//! `ethtool -m`: what a pluggable module says of itself.

use crate::formats::cursor::{At, Cursor, pair};
use crate::formats::module_memory::{self, Limits, Memory};

/// A module. What the output leaves out is none or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Line of the first row.
    pub line: u32,
    /// Form factor: `SFP`, `QSFP28` ...
    pub identifier: Option<At<String>>,
    /// Vendor.
    pub vendor: Option<At<String>>,
    /// Part number.
    pub part: Option<At<String>>,
    /// Compliance codes in lower case: `10g base-sr`.
    pub compliance: Vec<At<String>>,
    /// Nominal bit rate in Mb/s.
    pub bit_rate: Option<At<u32>>,
    /// It is a copper cable; none where neither connector nor cable are told.
    pub copper: Option<At<bool>>,
    /// It has diagnostics.
    pub diagnostics: Option<At<bool>>,
    /// Degrees Celsius.
    pub temperature: Option<At<f64>>,
    /// Volts.
    pub voltage: Option<At<f64>>,
    /// Lanes in their order.
    pub lanes: Vec<Lane>,
    /// A fault of the transmitter is reported.
    pub tx_fault: Option<At<bool>>,
    /// A loss of the received signal is reported.
    pub rx_los: Option<At<bool>>,
    /// Thresholds: the words before `threshold`, such as `Laser rx power low alarm`, and dBm, mA, degrees or volts.
    pub thresholds: Vec<(String, At<f64>)>,
    /// Alarms and warnings that are on.
    pub alarms: Vec<At<String>>,
}

/// A lane of a module.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// From 1.
    pub number: u32,
    /// Received power in dBm; no light is minus infinity.
    pub received: Option<At<f64>>,
    /// Sent power in dBm.
    pub sent: Option<At<f64>>,
    /// Bias current in mA.
    pub bias: Option<At<f64>>,
}

/// Most lanes of a module.
const MOST_LANES: u32 = 16;

/// True for a row that only this output has.
pub fn begins(text: &str) -> bool {
    let Some((key, value)) = pair(text) else { return false };
    key == "Identifier" && value.starts_with("0x") || key == "Offset" && value.is_empty()
}

fn row(text: &str) -> Option<(&str, &str)> {
    let bare = || text.trim_end().strip_suffix(" :").map(|key| (key, ""));
    let (key, value) = text.split_once(" : ").or_else(|| text.split_once("\t: ")).or_else(bare)?;
    let (key, value) = (key.trim(), value.trim());
    let starts = key.starts_with(|char: char| char.is_ascii_alphabetic());
    (starts && key.len() <= 60 && key.split(' ').count() <= 9).then_some((key, value))
}

/// The power in dBm of `0.5889 mW / -2.30 dBm`.
fn dbm(value: &str) -> Option<f64> {
    match value.split('/').next_back()?.trim().strip_suffix("dBm")?.trim() {
        "-inf" => Some(f64::NEG_INFINITY),
        number => number.parse().ok().filter(|power: &f64| power.is_finite()),
    }
}

/// The number in front of a unit: `6.604 mA`, `38.27 degrees C / 100.88 degrees F`.
fn number(value: &str) -> Option<f64> {
    value.split_ascii_whitespace().next()?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Most bytes of a memory.
const MOST_BYTES: usize = 1 << 16;

/// Where a row of the hexadecimal form stands, and its bytes.
fn hex_row(text: &str) -> Option<(usize, Vec<u8>)> {
    let (offset, rest) = text.strip_prefix("0x")?.split_once(':')?;
    let bytes: Option<Vec<u8>> = rest
        .split_ascii_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).ok().filter(|_| byte.len() == 2))
        .collect();
    Some((usize::from_str_radix(offset, 16).ok()?, bytes?))
}

/// A row of the hexadecimal form: `0x0000:\t\t03 04 07`.
fn is_hex(text: &str) -> bool {
    let hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit()) && !word.is_empty();
    let bytes = |text: &str| text.split_ascii_whitespace().all(|byte| byte.len() == 2 && hex(byte));
    let row = text.strip_prefix("0x").and_then(|rest| rest.split_once(':'));
    text.starts_with("Offset") && text.ends_with("Values")
        || text.starts_with("------")
        || row.is_some_and(|(offset, rest)| hex(offset) && bytes(rest))
}

/// Reads the rows of one module; none where no row comes next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Module> {
    let mut module = Module::default();
    let mut bytes = Vec::new();
    while let Some(line) = cursor.peek() {
        if let Some((key, value)) = row(line.text) {
            // A second identifier is a second module.
            if key == "Identifier" && module.identifier.is_some() {
                break;
            }
            module.take(key, value, line.number);
        } else if !is_hex(line.text.trim()) {
            break;
        } else if let Some((offset, more)) = hex_row(line.text.trim())
            && offset == bytes.len()
            && bytes.len() < MOST_BYTES
        {
            bytes.extend(more);
        }
        if module.line == 0 {
            module.line = line.number;
        }
        cursor.take();
    }
    if module.identifier.is_none()
        && let Some(found) = module_memory::parse(&Memory::flat(&bytes))
    {
        module.decoded(found);
    }
    (module.line > 0).then_some(module)
}

impl Module {
    /// Takes what the bytes of the memory say, in the words of the other form.
    fn decoded(&mut self, found: module_memory::Module) {
        let line = self.line;
        self.identifier = found.identifier.map(|word| At::new(word.to_owned(), line));
        self.vendor = found.vendor.map(|text| At::new(text, line));
        self.part = found.part.map(|text| At::new(text, line));
        self.compliance = found.compliance.into_iter().flatten().map(|code| At::new(code.to_owned(), line)).collect();
        self.bit_rate = found.bit_rate.map(|rate| At::new(rate, line));
        let flag = |on: Option<bool>| on.map(|on| At::new(on, line));
        (self.copper, self.diagnostics) = (flag(found.copper), flag(found.diagnostics));
        (self.tx_fault, self.rx_los) = (flag(found.tx_fault), flag(found.rx_los));
        let value = |value: Option<f64>| value.map(|value| At::new(value, line));
        (self.temperature, self.voltage) = (value(found.temperature), value(found.voltage));
        let lane = |lane: module_memory::Lane| Lane {
            number: lane.number,
            received: value(lane.received),
            sent: value(lane.sent),
            bias: value(lane.bias),
        };
        self.lanes = found.lanes.into_iter().map(lane).collect();
        let all = found.thresholds;
        let kinds = [
            ("Laser rx power", all.received),
            ("Laser output power", all.sent),
            ("Laser bias current", all.bias),
            ("Module temperature", all.temperature),
        ];
        for (what, limits) in kinds {
            let Limits { high_alarm, low_alarm, high_warn, low_warn } = limits;
            let named = [
                ("high alarm", high_alarm),
                ("low alarm", low_alarm),
                ("high warning", high_warn),
                ("low warning", low_warn),
            ];
            let named = named.into_iter().filter_map(|(which, limit)| Some((format!("{what} {which}"), value(limit)?)));
            self.thresholds.extend(named);
        }
    }

    fn lane(&mut self, key: &str) -> Option<&mut Lane> {
        let digits =
            key.split_once("Chan").map_or("", |(_, rest)| rest.trim_start_matches(|char: char| !char.is_ascii_digit()));
        let number = match digits.trim_end_matches(')') {
            "" => 1,
            digits => digits.parse().ok().filter(|lane| (1..=MOST_LANES).contains(lane))?,
        };
        let at = self.lanes.iter().position(|lane| lane.number == number).unwrap_or_else(|| {
            self.lanes.push(Lane { number, ..Lane::default() });
            self.lanes.len() - 1
        });
        self.lanes.get_mut(at)
    }

    fn take(&mut self, key: &str, value: &str, line: u32) {
        let text = |value: &str| Some(At::new(value.to_owned(), line)).filter(|at| !at.value.is_empty());
        let flag = |on: bool| Some(At::new(on, line));
        if let Some(name) = key.strip_suffix("threshold") {
            if let Some(limit) = dbm(value).or_else(|| number(value)) {
                self.thresholds.push((name.trim().to_owned(), At::new(limit, line)));
            }
            return;
        }
        if ["alarm", "warning"].iter().any(|word| key.contains(word)) {
            if value.eq_ignore_ascii_case("on") {
                self.alarms.push(At::new(key.to_owned(), line));
            }
            return;
        }
        // `Yes`, or a list of lanes: `[ No, Yes ]`.
        let reported =
            || value.split(|char: char| !char.is_ascii_alphabetic()).any(|word| word == "Yes" || word == "On");
        match key {
            "Identifier" => {
                let inner =
                    value.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or(value, |(inner, _)| inner);
                self.identifier = text(inner);
            }
            "Connector" => {
                self.copper = self.copper.take().filter(|at| at.value).or_else(|| flag(value.contains("Copper")));
            }
            "Vendor name" => self.vendor = text(value),
            "Vendor PN" => self.part = text(value),
            "Transceiver type" => {
                let code = value.rsplit_once(": ").map_or(value, |(_, code)| code);
                self.compliance.extend(text(&code.to_ascii_lowercase()));
            }
            "BR, Nominal" | "BR Nominal" => {
                let digits = &value[..value.find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len())];
                self.bit_rate = digits.parse().ok().filter(|rate| *rate > 0).map(|rate| At::new(rate, line));
            }
            "Optical diagnostics support" => self.diagnostics = flag(value == "Yes"),
            "Module temperature" => self.temperature = number(value).map(|degrees| At::new(degrees, line)),
            "Module voltage" => self.voltage = number(value).map(|volts| At::new(volts, line)),
            "Tx fault" | "TX fault" => self.tx_fault = flag(reported()),
            "Rx loss of signal" | "RX loss of signal" => self.rx_los = flag(reported()),
            _ if key.starts_with("Passive Cu") || key.starts_with("Active Cu") => self.copper = flag(true),
            _ => self.measured(key, value, line),
        }
    }

    /// Rows of a lane. Thresholds and alarms were told apart before.
    fn measured(&mut self, key: &str, value: &str, line: u32) {
        let starts = |words: &[&str]| words.iter().any(|word| key.starts_with(word));
        let power = dbm(value).map(|power| At::new(power, line));
        if starts(&["Receiver signal", "Rcvr signal"]) {
            if let Some(lane) = self.lane(key) {
                lane.received = power.or(lane.received.take());
            }
        } else if starts(&["Laser output power", "Transmit avg optical power"]) {
            if let Some(lane) = self.lane(key) {
                lane.sent = power.or(lane.sent.take());
            }
        } else if starts(&["Laser bias current", "Laser tx bias current"])
            && let Some(current) = number(value)
            && let Some(lane) = self.lane(key)
        {
            lane.bias = Some(At::new(current, line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Module, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let module = parse(&mut cursor).unwrap();
        (module, cursor.position())
    }

    #[test]
    fn thresholds_are_no_readings() {
        let text = "\tIdentifier                                : 0x03 (SFP)\n\tConnector                                 : 0x07 (LC)\n\
                    \tTransceiver type                          : 10G Ethernet: 10G Base-SR\n\tBR, Nominal                               : 10300MBd\n\
                    \tVendor name                               : FINISAR CORP.\n\tVendor PN                                 : FTLX8571D3BCL\n\
                    \tOptical diagnostics support               : Yes\n\tLaser bias current                        : 6.604 mA\n\
                    \tLaser output power                        : 0.5719 mW / -2.43 dBm\n\
                    \tReceiver signal average optical power     : 0.0000 mW / -inf dBm\n\tModule temperature                        : 38.27 degrees C / 100.88 degrees F\n\
                    \tLaser output power high alarm             : Off\n\tLaser rx power low alarm                  : On\n\
                    \tLaser rx power low alarm threshold        : 0.0100 mW / -20.00 dBm\nSettings for eth0:\n";
        let (module, taken) = read(text);
        assert_eq!(taken, 14);
        let told = |at: Option<At<String>>| at.unwrap().value;
        assert_eq!((told(module.identifier), told(module.part)), ("SFP".to_owned(), "FTLX8571D3BCL".to_owned()));
        assert_eq!((module.compliance[0].value.as_str(), module.bit_rate), ("10g base-sr", Some(At::new(10_300, 4))));
        assert_eq!((module.copper, module.diagnostics), (Some(At::new(false, 2)), Some(At::new(true, 7))));
        let lane = Lane {
            number: 1,
            received: Some(At::new(f64::NEG_INFINITY, 10)),
            sent: Some(At::new(-2.43, 9)),
            bias: Some(At::new(6.604, 8)),
        };
        assert_eq!((module.lanes, module.temperature), (vec![lane], Some(At::new(38.27, 11))));
        assert_eq!(module.alarms, [At::new("Laser rx power low alarm".to_owned(), 13)]);
        assert_eq!(module.thresholds, [("Laser rx power low alarm".to_owned(), At::new(-20.0, 14))]);
    }

    #[test]
    fn the_bytes_of_a_memory_say_the_same_as_the_rows() {
        let mut memory = [0u8; 512];
        (memory[0], memory[2], memory[3], memory[92], memory[93]) = (3, 7, 0x10, 0x68, 0x30);
        memory[20..36].copy_from_slice(b"ACME            ");
        // Diagnostics stand behind 256 bytes: 0.5719 mW sent, no light received; -20 dBm is alarming.
        for (at, word) in [(32, 10_000u16), (34, 100), (36, 7943), (38, 158), (96, 0x2645), (98, 33_000), (102, 5719)] {
            memory[256 + at..258 + at].copy_from_slice(&word.to_be_bytes());
        }
        let row = |(at, bytes): (usize, &[u8])| {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0x{:04x}:\t\t{}\n", at * 16, bytes.join(" "))
        };
        let rows: String = memory.chunks(16).enumerate().map(row).collect();
        let (module, taken) = read(&format!("Offset\t\tValues\n------\t\t------\n{rows}"));
        let told = |at: Option<At<String>>| at.unwrap().value;
        assert_eq!((told(module.identifier), told(module.vendor), taken), ("SFP".into(), "ACME".into(), 34));
        let lane = module.lanes[0].clone();
        assert_eq!((lane.sent, lane.received), (Some(At::new(-2.43, 1)), Some(At::new(-40.0, 1))));
        assert_eq!(module.temperature, Some(At::new(38.27, 1)));
        let low = ("Laser rx power low alarm".to_owned(), At::new(-20.0, 1));
        assert!(module.thresholds.contains(&low) && module.thresholds.len() == 16, "{:?}", module.thresholds);
        // Cut short, and not from the beginning on.
        assert_eq!(read("0x0000:\t\t03 04 07\n").0.identifier, None);
        assert_eq!(read(&rows[rows.len() / 2..]).0.identifier, None);
    }

    #[test]
    fn lanes_cables_and_bytes() {
        let text = "\tConnector                                 : 0x23 (No separable connector)\n\tRcvr signal avg optical power(Channel 1)  : 0.5889 mW / -2.30 dBm\n\
                    \tRcvr signal avg optical power (Channel 2) : 0.7221 mW / -1.41 dBm\n\tRx loss of signal                         : [ No, Yes ]\n\tTx fault : None\n";
        let (module, _) = read(text);
        let received: Vec<_> =
            module.lanes.iter().map(|lane| (lane.number, lane.received.as_ref().unwrap().value)).collect();
        assert_eq!(received, [(1, -2.30), (2, -1.41)]);
        assert_eq!((module.rx_los, module.tx_fault), (Some(At::new(true, 4)), Some(At::new(false, 5))));
        let (module, taken) =
            read("Offset\t\tValues\n------\t\t------\n0x0000:\t\t03 04 07 10\n0x0010:\t\t00 00\nwhat\n");
        assert_eq!((module.identifier, taken), (None, 4));
        assert!(begins("\tIdentifier    : 0x11 (QSFP28)") && !begins("Identifier: none"));
    }
}
