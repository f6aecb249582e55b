//! `ethtool -m`: what a pluggable module says of itself.

use crate::formats::cursor::{At, Cursor, pair};

/// A module. What the output leaves out is none or empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Line of the first row.
    pub line: u32,
    /// `0x03 (SFP)`, `0x11 (QSFP28)` ...
    pub identifier: Option<At<String>>,
    /// `0x21 (Copper pigtail)` ...
    pub connector: Option<At<String>>,
    /// Vendor.
    pub vendor: Option<At<String>>,
    /// Part number.
    pub part: Option<At<String>>,
    /// Degrees Celsius.
    pub temperature: Option<At<f64>>,
    /// Received power of each lane in dBm; `-inf` and -40 are no light.
    pub received: Vec<At<f64>>,
    /// Sent power of each lane in dBm.
    pub sent: Vec<At<f64>>,
    /// Alarms and warnings that are on.
    pub alarms: Vec<At<String>>,
    /// All other rows as they are printed.
    pub rows: Vec<(String, String)>,
}

/// True for a row that only this output has.
pub fn begins(text: &str) -> bool {
    let Some((key, value)) = pair(text) else { return false };
    key == "Identifier" && value.starts_with("0x") || key == "Offset" && value.is_empty()
}

fn row(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text
        .split_once(" : ")
        .or_else(|| text.split_once("\t: "))
        .or_else(|| text.trim_end().strip_suffix(" :").map(|key| (key, "")))?;
    let (key, value) = (key.trim(), value.trim());
    let plain = !key.is_empty()
        && key.len() <= 60
        && key.starts_with(|char: char| char.is_ascii_alphabetic())
        && key.split(' ').count() <= 9;
    plain.then_some((key, value))
}

/// The power in dBm of `0.5889 mW / -2.30 dBm`.
fn dbm(value: &str) -> Option<f64> {
    let text = value.split('/').next_back()?.trim().strip_suffix("dBm")?.trim();
    match text {
        "-inf" => Some(f64::NEG_INFINITY),
        number => number.parse().ok(),
    }
}

/// A row of the hexadecimal form: `0x0000:\t\t03 04 07`.
fn is_hex(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("Offset") && text.ends_with("Values")
        || text.starts_with("------")
        || text.strip_prefix("0x").and_then(|rest| rest.split_once(':')).is_some_and(|(offset, bytes)| {
            let hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit()) && !word.is_empty();
            hex(offset) && bytes.split_ascii_whitespace().all(|byte| byte.len() == 2 && hex(byte))
        })
}

/// Reads the rows of one module; none where no row comes next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Module> {
    let mut module = Module::default();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        if let Some((key, value)) = row(line.text) {
            // A second identifier is a second module.
            if key == "Identifier" && module.identifier.is_some() {
                break;
            }
            module.take(key, value, line.number);
        } else if !is_hex(text) {
            break;
        }
        if module.line == 0 {
            module.line = line.number;
        }
        cursor.take();
    }
    (module.line > 0).then_some(module)
}

impl Module {
    fn take(&mut self, key: &str, value: &str, line: u32) {
        let text = || Some(At::new(value.to_owned(), line));
        let threshold = key.contains("threshold");
        let watch = key.ends_with("alarm") || key.ends_with("warning");
        match key {
            "Identifier" => self.identifier = text(),
            "Connector" => self.connector = text(),
            "Vendor name" => self.vendor = text(),
            "Vendor PN" => self.part = text(),
            "Module temperature" => {
                self.temperature = value
                    .split_ascii_whitespace()
                    .next()
                    .and_then(|number| number.parse().ok())
                    .map(|degrees| At::new(degrees, line));
            }
            _ if watch && !threshold => {
                if value.eq_ignore_ascii_case("on") {
                    self.alarms.push(At::new(key.to_owned(), line));
                }
            }
            _ if threshold => self.rows.push((key.to_owned(), value.to_owned())),
            _ => match dbm(value) {
                Some(power)
                    if key.starts_with("Receiver signal")
                        || key.starts_with("Rcvr signal")
                        || key.starts_with("Rx ") =>
                {
                    self.received.push(At::new(power, line));
                }
                Some(power)
                    if key.starts_with("Laser output power")
                        || key.starts_with("Transmit avg optical power")
                        || key.starts_with("Laser tx power") =>
                {
                    self.sent.push(At::new(power, line));
                }
                _ => self.rows.push((key.to_owned(), value.to_owned())),
            },
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
        let text = "\tIdentifier                                : 0x03 (SFP)\n\tVendor name                               : FINISAR CORP.\n\
                    \tVendor PN                                 : FTLX8571D3BCL\n\tLaser output power                        : 0.5719 mW / -2.43 dBm\n\
                    \tReceiver signal average optical power     : 0.0000 mW / -inf dBm\n\tModule temperature                        : 38.27 degrees C / 100.88 degrees F\n\
                    \tLaser output power high alarm             : Off\n\tLaser rx power low alarm                  : On\n\
                    \tLaser output power high alarm threshold   : 1.0000 mW / 0.00 dBm\nSettings for eth0:\n";
        let (module, taken) = read(text);
        assert_eq!(taken, 9);
        assert_eq!(
            (module.identifier.unwrap().value.as_str(), module.part.unwrap().value.as_str()),
            ("0x03 (SFP)", "FTLX8571D3BCL")
        );
        assert_eq!((module.sent, module.received), (vec![At::new(-2.43, 4)], vec![At::new(f64::NEG_INFINITY, 5)]));
        assert_eq!((module.temperature, module.alarms.len()), (Some(At::new(38.27, 6)), 1));
        assert_eq!(module.alarms[0].value, "Laser rx power low alarm");
    }

    #[test]
    fn lanes_and_bytes() {
        let (module, _) = read(
            "\tRcvr signal avg optical power(Channel 1)  : 0.5889 mW / -2.30 dBm\n\tRcvr signal avg optical power(Channel 2)  : 0.7221 mW / -1.41 dBm\n",
        );
        assert_eq!(module.received.iter().map(|at| at.value).collect::<Vec<_>>(), [-2.30, -1.41]);
        let (module, taken) =
            read("Offset\t\tValues\n------\t\t------\n0x0000:\t\t03 04 07 10\n0x0010:\t\t00 00\nwhat\n");
        assert_eq!((module.identifier, taken), (None, 4));
        assert!(begins("\tIdentifier    : 0x11 (QSFP28)") && !begins("Identifier: none"));
    }
}
