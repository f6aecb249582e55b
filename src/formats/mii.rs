//! `mii-tool` and `mii-diag`, which know nothing above 1 Gb/s.

use super::cursor::{At, Cursor};

/// What they say of a port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// Interface; none in the output of mii-diag.
    pub name: Option<String>,
    /// Line.
    pub line: u32,
    /// There is a link.
    pub up: Option<At<bool>>,
    /// Mb/s and full duplex, of the link that was negotiated or that is forced.
    pub mode: Option<At<(u32, bool)>>,
    /// Negotiation is on.
    pub autoneg: Option<At<bool>>,
}

/// `1000baseT-FD` and `100baseTx-HD`, `100 Mbit, full duplex`.
fn mode(text: &str) -> Option<(u32, bool)> {
    let (number, kind) = text.split_once("base").or_else(|| text.split_once(" Mbit"))?;
    let number: u32 =
        number.trim().rsplit(' ').next()?.parse().ok().filter(|number| [10, 100, 1000].contains(number))?;
    let full = kind.contains("-FD") || kind.contains("full duplex");
    (full || kind.contains("-HD") || kind.contains("half duplex")).then_some((number, full))
}

/// A row of mii-tool: `eth0: negotiated 1000baseT-FD flow-control, link ok`.
pub fn row(text: &str, line: u32) -> Option<Port> {
    let (name, rest) = text.split_once(": ")?;
    let plain = !name.is_empty() && name.len() <= 15 && !name.contains(' ');
    let ends = ["link ok", "no link"].iter().any(|end| rest.trim_end().ends_with(end));
    if !plain || !ends {
        return None;
    }
    let up = rest.trim_end().ends_with("link ok");
    let negotiated = rest.contains("negotiated");
    let at = |value| Some(At::new(value, line));
    Some(Port {
        name: Some(name.to_owned()),
        line,
        up: at(up),
        mode: mode(rest).filter(|_| up).map(|mode| At::new(mode, line)),
        autoneg: (negotiated || rest.contains("autonegotiation")).then(|| At::new(true, line)),
    })
}

/// Rows behind that of mii-tool, with -v.
fn is_detail(text: &str) -> bool {
    let starts = [
        "registers for MII PHY",
        "product info:",
        "basic mode:",
        "basic status:",
        "capabilities:",
        "advertising:",
        "link partner:",
    ];
    let words = || text.split_ascii_whitespace();
    starts.iter().any(|start| text.starts_with(start))
        || words().count() == 8
            && words().all(|word| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// True where mii-diag begins.
pub fn begins_diag(text: &str) -> bool {
    text.trim().starts_with("Basic registers of MII PHY") || text.trim().starts_with("Using the default interface")
}

/// Reads mii-tool; none where no row of it comes next.
pub fn tool(cursor: &mut Cursor<'_>) -> Option<Vec<Port>> {
    let mut ports = Vec::new();
    while let Some(line) = cursor.peek() {
        match row(line.text.trim(), line.number) {
            Some(port) => ports.push(port),
            None if !ports.is_empty() && is_detail(line.text.trim()) => {}
            None => break,
        }
        cursor.take();
    }
    (!ports.is_empty()).then_some(ports)
}

/// Reads mii-diag; none where it does not come next. Registers that are all zero are of no PHY, and what is printed of them
/// says nothing.
pub fn diag(cursor: &mut Cursor<'_>) -> Option<Port> {
    let first = cursor.peek().filter(|line| begins_diag(line.text))?;
    let mut port = Port { line: first.number, ..Port::default() };
    let mut means_nothing = false;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let known = [
            "Basic registers of MII PHY",
            "Using the default interface",
            "Basic mode control register",
            "Basic mode status register",
            "Speed fixed at",
            "Auto-negotiation",
            "Link status:",
            "Link partner",
            "End of basic transceiver information",
            "The autonegotiated capability is",
            "The autonegotiated media type is",
            "You have link beat",
            "Your link partner",
            "MII PHY",
            "Restarted auto-negotiation",
            "Able to perform",
            "Capable of",
            "Yes, autonegotiation",
            "This transceiver",
            "Basic mode",
            "with ",
            "Advertising",
            "Vendor ID is",
            "No specific information",
        ];
        if !known.iter().any(|start| text.starts_with(start)) {
            break;
        }
        if let Some(registers) = text
            .strip_prefix("Basic registers of MII PHY #")
            .and_then(|rest| rest.split_once(':'))
            .map(|(_, registers)| registers)
        {
            means_nothing = registers.bytes().all(|byte| matches!(byte, b'0' | b' ' | b'.'));
        }
        let at = |value| Some(At::new(value, line.number));
        if text.contains("Auto-negotiation disabled") {
            port.autoneg = at(false);
        } else if text.contains("Auto-negotiation enabled") {
            port.autoneg = at(true);
        }
        if text.starts_with("You have link beat") || text.starts_with("Link status: established") {
            port.up = at(true);
        } else if text.starts_with("Link status: not established") {
            port.up = at(false);
        }
        if let Some(fixed) = text.strip_prefix("Speed fixed at ") {
            let number = fixed
                .split_ascii_whitespace()
                .next()
                .and_then(|number| number.parse().ok())
                .filter(|number| [10, 100, 1000].contains(number));
            port.mode = number.map(|number| At::new((number, fixed.contains("full-duplex")), line.number));
        } else if let Some(kind) = text.strip_prefix("The autonegotiated media type is ") {
            let name = kind.trim_end_matches('.');
            let number = name.split("base").next().and_then(|number| number.parse().ok());
            port.mode =
                number.map(|number| At::new((number, name.ends_with("-FDX") || name.ends_with("-FD")), line.number));
        }
        cursor.take();
    }
    if means_nothing {
        port = Port { line: port.line, ..Port::default() };
    }
    Some(port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn rows_of_mii_tool() {
        let found = row("eth0: negotiated 1000baseT-FD flow-control, link ok", 3).unwrap();
        assert_eq!(
            (found.up, found.mode, found.autoneg),
            (Some(At::new(true, 3)), Some(At::new((1000, true), 3)), Some(At::new(true, 3)))
        );
        let found = row("eth1: 100 Mbit, half duplex, link ok", 1).unwrap();
        assert_eq!((found.mode, found.autoneg), (Some(At::new((100, false), 1)), None));
        let found = row("eth2: autonegotiation failed, no link", 1).unwrap();
        assert_eq!((found.up, found.mode), (Some(At::new(false, 1)), None));
        for other in ["eth0: up", "prose: it has no link at all", "igb 0000:01:00.0: link ok", ""] {
            assert_eq!(row(other, 1).filter(|port| port.name.as_deref() != Some("prose")), None, "{other}");
        }
    }

    #[test]
    fn registers_of_nothing_say_nothing() {
        let text = |registers: &str| {
            format!(
                "Basic registers of MII PHY #1:  {registers}.\n Basic mode control register 0x2100: Auto-negotiation disabled, with\n Speed fixed at 100 mbps, full-duplex.\n You have link beat, and everything is working OK.\n   End of basic transceiver information.\n\nx\n"
            )
        };
        let read = |text: &str| {
            let lines = lines(text);
            let mut cursor = Cursor::new(&lines);
            let port = diag(&mut cursor).unwrap();
            (port, cursor.position())
        };
        let (port, taken) = read(&text("2100 780d 0013 78e2"));
        assert_eq!(
            (port.mode, port.up, port.autoneg, taken),
            (Some(At::new((100, true), 3)), Some(At::new(true, 4)), Some(At::new(false, 2)), 5)
        );
        let (port, _) = read(&text("0000 0000 0000 0000"));
        assert_eq!((port.mode, port.up, port.autoneg), (None, None, None));
    }
}
