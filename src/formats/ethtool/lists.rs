//! Short outputs of ethtool: receive hashing (-x, -n), time stamping (-T), private flags, statistics of the PHY, the permanent
//! address, dumps.

use super::headed;
use crate::formats::cursor::{At, Cursor, pair};

/// `ethtool -x`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hashing {
    /// Interface.
    pub interface: String,
    /// Receive rings.
    pub rings: u32,
    /// Line of the headline.
    pub line: u32,
    /// Rings in the order of the indirection table.
    pub table: Vec<u32>,
    /// Hash functions that are on.
    pub functions: Vec<String>,
}

/// `RX flow hash indirection table for eth0 with 8 RX ring(s):`.
fn hashing_head(text: &str) -> Option<(&str, u32)> {
    let rest = text.trim().strip_prefix("RX flow hash indirection table for ")?;
    let (name, rest) = rest.split_once(" with ")?;
    Some((name, rest.split_ascii_whitespace().next()?.parse().ok()?))
}

/// True where `ethtool -x` begins.
pub fn begins_hashing(text: &str) -> bool {
    hashing_head(text).is_some()
}

/// Reads `ethtool -x`; none where its headline does not come next.
pub fn hashing(cursor: &mut Cursor<'_>) -> Option<Hashing> {
    let head = cursor.take_if(|text| hashing_head(text).map(|(name, rings)| (name.to_owned(), rings)))?;
    let mut found = Hashing { interface: head.value.0, rings: head.value.1, line: head.line, ..Hashing::default() };
    let mut in_functions = false;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let hex = |text: &str| {
            text.len() > 20
                && text.split(':').all(|byte| byte.len() == 2 && byte.bytes().all(|byte| byte.is_ascii_hexdigit()))
        };
        if let Some((offset, rings)) = text.split_once(':').filter(|(offset, _)| offset.parse::<u32>().is_ok()) {
            let rings: Option<Vec<u32>> = rings.split_ascii_whitespace().map(|ring| ring.parse().ok()).collect();
            let Some(rings) = rings.filter(|_| !offset.is_empty()) else { break };
            found.table.extend(rings);
        } else if let Some((name, state)) =
            pair(text).filter(|(_, state)| in_functions && matches!(*state, "on" | "off"))
        {
            if state == "on" {
                found.functions.push(name.to_owned());
            }
        } else if text == "RSS hash function:" {
            in_functions = true;
        } else if !(text.starts_with("RSS hash key:")
            || text.starts_with("RSS input transformation:")
            || hex(text)
            || text == "Operation not supported")
        {
            break;
        }
        cursor.take();
    }
    Some(found)
}

/// True for a row of `ethtool -n`.
pub fn is_rule_row(text: &str) -> bool {
    let text = text.trim();
    let starts = [
        "Filter: ",
        "Rule Type: ",
        "Src ",
        "Dest ",
        "TOS: ",
        "Protocol: ",
        "L4 bytes: ",
        "VLAN EtherType: ",
        "VLAN: ",
        "User-defined: ",
        "Action: ",
        "TTL: ",
        "RSS Context ID: ",
    ];
    text.ends_with(" RX rings available")
        || text.strip_prefix("Total ").is_some_and(|rest| rest.ends_with(" rules"))
        || starts.iter().any(|start| text.starts_with(start))
        || text.starts_with("rxclass: ")
}

/// True for the headline or a row of `ethtool -T`.
pub fn is_stamping_row(text: &str) -> bool {
    let text = text.trim();
    let starts = [
        "PTP Hardware Clock: ",
        "PTP Clock: ",
        "Hardware Transmit Timestamp Modes:",
        "Hardware Receive Filter Modes:",
        "Hardware timestamp provider",
        "Capabilities:",
    ];
    let flags =
        ["software-", "hardware-", "off", "on", "none", "all", "some", "ptpv", "ntp-all", "one-step", "onestep"];
    headed(text, &["Time stamping parameters for"]).is_some()
        || starts.iter().any(|start| text.starts_with(start))
        || flags.iter().any(|flag| text.starts_with(flag)) && text.split_ascii_whitespace().count() <= 2
}

/// Private flags of an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateFlags {
    /// Interface.
    pub interface: String,
    /// Names and states.
    pub flags: Vec<(At<String>, bool)>,
}

/// Reads `ethtool --show-priv-flags`; none where its headline does not come next.
pub fn private_flags(cursor: &mut Cursor<'_>) -> Option<PrivateFlags> {
    let head = cursor.take_if(|text| headed(text, &["Private flags for"]).map(str::to_owned))?;
    let mut found = PrivateFlags { interface: head.value, flags: Vec::new() };
    while let Some(row) = cursor.take_if(|text| {
        let (name, state) = pair(text)?;
        matches!(state, "on" | "off").then(|| (name.to_owned(), state == "on"))
    }) {
        found.flags.push((At::new(row.value.0, row.line), row.value.1));
    }
    Some(found)
}

/// `Permanent address: 02:00:00:00:00:01`; none inside for `not set`.
pub fn permanent_address(text: &str) -> Option<Option<&str>> {
    let value = text.trim().strip_prefix("Permanent address: ")?.trim();
    Some(Some(value).filter(|value| value.contains(':') && value.bytes().any(|byte| byte != b'0' && byte != b':')))
}

/// True for a row of a dump of registers or of the EEPROM.
pub fn is_dump_row(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("0x")
        || text.starts_with("Offset")
        || text.starts_with("------")
        || text.starts_with("MAC Registers")
        || text.starts_with("RegDump")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn the_table_of_the_receive_hash() {
        let text = "RX flow hash indirection table for eth0 with 4 RX ring(s):\n    0:      0     1     2     3\n    4:      0     1     2     2\n\
                    RSS hash key:\n6d:5a:56:da:25:5b:0e:c2:41:67\nRSS hash function:\n    toeplitz: on\n    xor: off\n    crc32: off\nnext: on\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let found = hashing(&mut cursor).unwrap();
        assert_eq!(
            (found.interface.as_str(), found.rings, found.table.as_slice()),
            ("eth0", 4, &[0, 1, 2, 3, 0, 1, 2, 2][..])
        );
        assert_eq!(found.functions, ["toeplitz", "next"]);
        assert_eq!(hashing(&mut cursor), None);
    }

    #[test]
    fn short_outputs() {
        let text = "Private flags for eth0:\nrx_cqe_compress   : off\nlegacy-rx          : on\nSettings for eth0:\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let found = private_flags(&mut cursor).unwrap();
        assert_eq!((found.interface.as_str(), found.flags.len(), found.flags[1].1), ("eth0", 2, true));
        assert_eq!(permanent_address("Permanent address: 52:54:00:e2:28:a3"), Some(Some("52:54:00:e2:28:a3")));
        assert_eq!(permanent_address("Permanent address: 00:00:00:00:00:00"), Some(None));
        assert_eq!((permanent_address("Permanent address: not set"), permanent_address("x")), (Some(None), None));
        for row in [
            "Time stamping parameters for eth0:",
            "\tsoftware-transmit     (SOF_TIMESTAMPING_TX_SOFTWARE)",
            "PTP Hardware Clock: none",
            "\tall",
            "\thardware-raw-clock",
        ] {
            assert!(is_stamping_row(row), "{row}");
        }
        assert!(
            !is_stamping_row("all is well here")
                && is_rule_row("8 RX rings available")
                && is_rule_row("Total 0 rules")
                && !is_rule_row("8 RX rings")
        );
    }
}
