//! `ethtool -i`.

use crate::formats::cursor::{At, Cursor, pair};

/// What `ethtool -i` says; an empty value is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Driver {
    /// `driver`.
    pub name: Option<At<String>>,
    /// `version`.
    pub version: Option<At<String>>,
    /// `firmware-version`.
    pub firmware: Option<At<String>>,
    /// `bus-info`; `Some("")` where the device is on no bus.
    pub bus_info: Option<At<String>>,
}

const KEYS: [&str; 10] = [
    "driver",
    "version",
    "firmware-version",
    "expansion-rom-version",
    "bus-info",
    "supports-statistics",
    "supports-test",
    "supports-eeprom-access",
    "supports-register-dump",
    "supports-priv-flags",
];

/// True for the line that such an output begins with.
pub fn begins(text: &str) -> bool {
    text.strip_prefix("driver: ").is_some_and(|name| !name.trim().contains(' '))
}

/// Reads the lines of an `ethtool -i`; none where the next line is no such line.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Driver> {
    let mut driver = Driver::default();
    let start = cursor.position();
    while let Some(row) = cursor.take_if(|text| pair(text).filter(|(key, _)| KEYS.contains(key))) {
        let (key, value) = row.value;
        let slot = match key {
            "driver" => &mut driver.name,
            "version" => &mut driver.version,
            "firmware-version" => &mut driver.firmware,
            "bus-info" => &mut driver.bus_info,
            _ => continue,
        };
        // A second driver is a second output.
        if slot.is_some() {
            cursor.back_to(cursor.position() - 1);
            break;
        }
        *slot = Some(At::new(value.to_owned(), row.line));
    }
    (cursor.position() > start).then_some(driver)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn values_may_be_empty_and_outputs_follow_each_other() {
        let text = "driver: bonding\nversion: 5.15.0\nfirmware-version: 2\nexpansion-rom-version: \nbus-info: \n\
                    supports-statistics: no\ndriver: igb\nbus-info: 0000:01:00.0\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let bond = parse(&mut cursor).unwrap();
        assert_eq!(bond.bus_info, Some(At::new(String::new(), 5)));
        let igb = parse(&mut cursor).unwrap();
        assert_eq!((igb.name.unwrap().value.as_str(), igb.bus_info.unwrap().line), ("igb", 8));
        assert_eq!(parse(&mut cursor), None);
        assert!(begins("driver: igb") && !begins("driver: the man"));
    }
}
