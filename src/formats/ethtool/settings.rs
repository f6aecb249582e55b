//! `ethtool DEVICE`: what the link is, what both ends offer.

use std::collections::BTreeSet;

use super::{headline, switch};
use crate::formats::cursor::{At, Cursor};

/// The rows of `ethtool DEVICE`, values as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The interface; none where the headline is missing.
    pub interface: Option<At<String>>,
    /// Line of the headline, or of the first row.
    pub line: u32,
    /// Modes that the port supports.
    pub supported: Option<At<BTreeSet<String>>>,
    /// Modes that this end offers.
    pub advertised: Option<At<BTreeSet<String>>>,
    /// Modes that the partner offers; `Not reported` is none.
    pub partner: Option<At<BTreeSet<String>>>,
    /// Supports autonegotiation.
    pub autoneg_supported: Option<At<bool>>,
    /// Offers autonegotiation.
    pub autoneg_advertised: Option<At<bool>>,
    /// Speed in Mb/s; none for `Unknown!`.
    pub speed: Option<At<Option<u32>>>,
    /// `Full`, `Half` or `Unknown! (255)`.
    pub duplex: Option<At<String>>,
    /// Connector.
    pub port: Option<At<String>>,
    /// Autonegotiation is on.
    pub autoneg: Option<At<bool>>,
    /// Lanes.
    pub lanes: Option<At<u32>>,
    /// There is a link.
    pub link: Option<At<bool>>,
    /// Why there is no link: what stands in parentheses behind it.
    pub ext_state: Option<At<String>>,
    /// FEC modes that this end offers, in lower case.
    pub advertised_fec: Option<At<BTreeSet<String>>>,
    /// FEC modes that the partner offers, in lower case.
    pub partner_fec: Option<At<BTreeSet<String>>>,
    /// Signal quality index.
    pub sqi: Option<At<u32>>,
    /// Questions that were refused: the lines `Cannot get wake-on-lan settings: Operation not permitted`.
    pub refused: Vec<At<String>>,
    /// True where `No data available` stands instead of rows.
    pub no_data: Option<At<()>>,
}

/// Beginnings of the headline.
pub const HEADLINES: &[&str] = &["Settings for"];

/// Keys of rows, as ethtool prints them.
const KEYS: &[&str] = &[
    "Supported ports",
    "Supported link modes",
    "Supports auto-negotiation",
    "Supported pause frame use",
    "Supported FEC modes",
    "Advertised link modes",
    "Advertised pause frame use",
    "Advertised auto-negotiation",
    "Advertised FEC modes",
    "Link partner advertised link modes",
    "Link partner advertised pause frame use",
    "Link partner advertised auto-negotiation",
    "Link partner advertised FEC modes",
    "Speed",
    "Lanes",
    "Duplex",
    "Auto-negotiation",
    "master-slave cfg",
    "master-slave status",
    "Port",
    "PHYAD",
    "Transceiver",
    "MDI-X",
    "Supports Wake-on",
    "Wake-on",
    "SecureOn password",
    "Current message level",
    "Link detected",
    "SQI",
];

/// A word that names a link mode: `1000baseT/Full`, `10baseT1L/Full`, `100000baseSR4/Full`.
fn is_mode(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    digits > 1 && word[digits..].starts_with("base")
}

/// Reads the settings of one interface; none where neither headline nor row comes next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Settings> {
    let start = cursor.position();
    let interface = headline(cursor, HEADLINES);
    let mut settings = Settings { line: cursor.rest().first().map_or(0, |line| line.number), ..Settings::default() };
    if let Some(interface) = &interface {
        settings.line = interface.line;
    }
    let mut key = "";
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let row = text.split_once(':').and_then(|(name, value)| {
            let name = name.trim();
            KEYS.iter().find(|key| key.eq_ignore_ascii_case(name)).map(|key| (*key, value.trim()))
        });
        if let Some((name, value)) = row {
            // Twice the same row is another output.
            if settings.has(name) {
                break;
            }
            key = name;
            settings.row(key, value, line.number);
        } else if (text.starts_with("Cannot get ") || text.starts_with("netlink error:")) && cursor.position() > start {
            settings.refused.push(At::new(text.to_owned(), line.number));
        } else if text == "No data available" && interface.is_some() {
            settings.no_data = Some(At::new((), line.number));
        } else if !key.is_empty() && continues(key, text) {
            settings.more(key, text);
        } else {
            break;
        }
        cursor.take();
    }
    settings.interface = interface;
    (cursor.position() > start).then_some(settings)
}

/// True for a line that goes on with the value of the row above it.
fn continues(key: &str, text: &str) -> bool {
    let modes = key.ends_with("link modes") && !text.is_empty() && text.split_ascii_whitespace().all(is_mode);
    // The names of the message level's bits.
    let levels = key == "Current message level"
        && !text.is_empty()
        && text
            .split_ascii_whitespace()
            // Bits without a name are printed as a number.
            .all(|word| {
                word.starts_with("0x")
                    || word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-')
            });
    modes || levels || (key == "Port" && text.is_empty())
}

impl Settings {
    fn has(&self, key: &str) -> bool {
        match key {
            "Supported link modes" => self.supported.is_some(),
            "Speed" => self.speed.is_some(),
            "Duplex" => self.duplex.is_some(),
            "Link detected" => self.link.is_some(),
            _ => false,
        }
    }

    fn row(&mut self, key: &str, value: &str, line: u32) {
        let words = || value.split_ascii_whitespace().filter(|word| is_mode(word)).map(str::to_owned).collect();
        let fec = || -> BTreeSet<String> {
            let plain = |word: &&str| !matches!(*word, "Not" | "reported" | "None");
            value.split_ascii_whitespace().filter(plain).map(str::to_ascii_lowercase).collect()
        };
        let text = || Some(At::new(value.to_owned(), line));
        match key {
            "Supported link modes" => self.supported = Some(At::new(words(), line)),
            "Advertised link modes" => self.advertised = Some(At::new(words(), line)),
            "Link partner advertised link modes" => self.partner = Some(At::new(words(), line)),
            "Supports auto-negotiation" => {
                self.autoneg_supported = switch(&value.to_ascii_lowercase()).map(|on| At::new(on, line));
            }
            "Advertised auto-negotiation" => {
                self.autoneg_advertised = switch(&value.to_ascii_lowercase()).map(|on| At::new(on, line));
            }
            "Advertised FEC modes" => self.advertised_fec = Some(At::new(fec(), line)),
            "Link partner advertised FEC modes" => self.partner_fec = Some(At::new(fec(), line)),
            "Speed" => self.speed = Some(At::new(speed(value), line)),
            "Duplex" => self.duplex = text(),
            "Port" => self.port = text(),
            "Auto-negotiation" => self.autoneg = switch(value).map(|on| At::new(on, line)),
            "Lanes" => self.lanes = value.parse().ok().map(|lanes| At::new(lanes, line)),
            "SQI" => {
                let number = value.split('/').next().and_then(|number| number.parse().ok());
                self.sqi = number.map(|number| At::new(number, line));
            }
            "Link detected" => {
                self.link = switch(value).map(|up| At::new(up, line));
                let inner = value.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
                self.ext_state = inner.map(|(state, _)| At::new(state.trim().to_owned(), line));
            }
            _ => {}
        }
    }

    fn more(&mut self, key: &str, text: &str) {
        let modes = match key {
            "Supported link modes" => &mut self.supported,
            "Advertised link modes" => &mut self.advertised,
            "Link partner advertised link modes" => &mut self.partner,
            _ => return,
        };
        if let Some(modes) = modes {
            modes.value.extend(text.split_ascii_whitespace().map(str::to_owned));
        }
    }
}

/// `10000Mb/s`, `2.5Gb/s`, in Mb/s. Old versions print the driver's "unknown" as `65535` or `4294967295`.
fn speed(value: &str) -> Option<u32> {
    let end = value.find(|char: char| !char.is_ascii_digit() && char != '.')?;
    let (number, unit) = value.split_at(end);
    let number: f64 = number.parse().ok()?;
    let number = match unit.trim() {
        "Mb/s" | "Mbps" | "Mbit/s" => number,
        "Gb/s" | "Gbps" | "Gbit/s" => number * 1000.0,
        _ => return None,
    };
    ((1.0..10_000_000.0).contains(&number) && number != 65_535.0).then_some(number as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Settings, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor).unwrap(), cursor.position())
    }

    #[test]
    fn a_copper_port_with_modes_over_several_lines() {
        let text = "Settings for eth0:\n\tSupported ports: [ TP ]\n\tSupported link modes:   10baseT/Half 10baseT/Full \n\
                    \t                        100baseT/Half 100baseT/Full \n\t                        1000baseT/Full \n\
                    \tSupported pause frame use: Symmetric\n\tSupports auto-negotiation: Yes\n\
                    \tSupported FEC modes: Not reported\n\tAdvertised link modes:  1000baseT/Full \n\
                    \tLink partner advertised link modes:  Not reported\n\tSpeed: 1000Mb/s\n\tDuplex: Full\n\
                    \tAuto-negotiation: on\n\tPort: Twisted Pair\n\tPHYAD: 1\n\tTransceiver: internal\n\tMDI-X: off (auto)\n\
                    Cannot get wake-on-lan settings: Operation not permitted\n\tCurrent message level: 0x00000007 (7)\n\
                    \t\t\t       drv probe link\n\tLink detected: no (No cable)\n\nRing parameters for eth0:\n";
        let (settings, taken) = read(text);
        assert_eq!(settings.supported.as_ref().unwrap().value.len(), 5);
        assert_eq!(settings.advertised.unwrap(), At::new(BTreeSet::from(["1000baseT/Full".to_owned()]), 9));
        assert!(settings.partner.unwrap().value.is_empty());
        assert_eq!(settings.speed, Some(At::new(Some(1000), 11)));
        assert_eq!((settings.link.unwrap().value, settings.ext_state.unwrap().value), (false, "No cable".to_owned()));
        assert_eq!(settings.autoneg_supported.unwrap().value, true);
        assert_eq!((settings.refused.len(), taken), (1, 21));
    }

    #[test]
    fn unknown_is_not_a_speed() {
        let (settings, _) =
            read("Settings for ens3:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: yes\n");
        assert_eq!(settings.speed, Some(At::new(None, 2)));
        assert_eq!(settings.link, Some(At::new(true, 4)));
        for (text, wanted) in [
            ("65535Mb/s", None),
            ("Unknown! (4294967295)", None),
            ("2500Mb/s", Some(2500)),
            ("2.5Gb/s", Some(2500)),
            ("100000Mb/s", Some(100_000)),
            ("", None),
            ("0Mb/s", None),
        ] {
            assert_eq!(speed(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_filtered_output_and_a_second_one() {
        let (settings, taken) = read("\tSpeed: 10000Mb/s\n\tSpeed: 1000Mb/s\n");
        assert_eq!((settings.speed.unwrap().value, taken), (Some(10_000), 1));
        let lines = lines("nothing of it");
        assert_eq!(parse(&mut Cursor::new(&lines)), None);
    }
}
