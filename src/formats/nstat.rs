//! `nstat`: `TcpRetransSegs                  153                0.0`, or JSON with `-j`.

use serde_json::Value;

use super::cursor::{At, Cursor};

/// A counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Group of the counter block: `snmp`, `netstat` or `snmp6`.
    pub group: &'static str,
    /// Name in that group: `Tcp.RetransSegs`; `Ip6InReceives` in the last one, whose file has no protocols.
    pub name: String,
    /// The number that is printed: without `-a` what was added since this user last asked.
    pub value: u64,
}

/// Protocols, longer names first.
const PROTOCOLS: &[(&str, &str)] = &[
    ("MPTcpExt", "netstat"),
    ("TcpExt", "netstat"),
    ("IpExt", "netstat"),
    ("UdpLite6", "snmp6"),
    ("Icmp6", "snmp6"),
    ("Udp6", "snmp6"),
    ("Ip6", "snmp6"),
    ("IcmpMsg", "snmp"),
    ("UdpLite", "snmp"),
    ("Icmp", "snmp"),
    ("Tcp", "snmp"),
    ("Udp", "snmp"),
    ("Ip", "snmp"),
];

/// Group and name of a counter that nstat calls `TcpRetransSegs`.
pub fn place(name: &str) -> Option<(&'static str, String)> {
    let (protocol, group) = PROTOCOLS.iter().find(|(protocol, _)| name.starts_with(protocol))?;
    let rest = &name[protocol.len()..];
    let fits = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| match *group {
        "snmp6" => (*group, name.to_owned()),
        _ => (*group, format!("{protocol}.{rest}")),
    })
}

/// True for the line before the first counter: `#kernel`, with a daemon also `#41.1804289383 sampling_interval=1`.
pub fn is_headline(text: &str) -> bool {
    text == "#kernel" || text.starts_with('#') && text.contains("sampling_interval=")
}

/// A line: name, number, rate.
pub fn row(text: &str) -> Option<Row> {
    let mut words = text.split_ascii_whitespace();
    let (name, value, rate) = (words.next()?, words.next()?, words.next()?);
    rate.parse::<f64>().ok()?;
    let (group, name) = place(name)?;
    Some(Row { group, name, value: value.parse().ok().filter(|_| words.next().is_none())? })
}

/// Reads one output.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<At<Row>> {
    let mut rows: Vec<At<Row>> = Vec::new();
    let begun = cursor.take_if(|text| is_headline(text).then_some(())).is_some();
    if !begun && let Some(document) = document(cursor) {
        return document;
    }
    while let Some(line) = cursor.peek() {
        let Some(row) = row(line.text) else { break };
        // A name that comes again begins the next output.
        if rows.first().is_some_and(|first| first.value.name == row.name) {
            break;
        }
        rows.push(At::new(row, line.number));
        cursor.take();
    }
    rows
}

/// `{"kernel":{"IpInReceives":8727, ...}}`.
fn document(cursor: &mut Cursor<'_>) -> Option<Vec<At<Row>>> {
    let before = cursor.position();
    let value = super::json::take(cursor)?;
    let Some(kernel) = value.value.get("kernel").and_then(Value::as_object) else {
        cursor.back_to(before);
        return None;
    };
    let row = |(name, number): (&String, &Value)| {
        let (group, name) = place(name)?;
        Some(At::new(Row { group, name, value: number.as_u64()? }, value.line))
    };
    Some(kernel.iter().filter_map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn counters_find_their_group() {
        for (name, wanted) in [
            ("IpInReceives", Some(("snmp", "Ip.InReceives"))),
            ("IpExtInNoRoutes", Some(("netstat", "IpExt.InNoRoutes"))),
            ("TcpExtTCPTimeouts", Some(("netstat", "TcpExt.TCPTimeouts"))),
            ("TcpExtTcpTimeoutRehash", Some(("netstat", "TcpExt.TcpTimeoutRehash"))),
            ("IcmpMsgInType3", Some(("snmp", "IcmpMsg.InType3"))),
            ("Ip6InReceives", Some(("snmp6", "Ip6InReceives"))),
            ("UdpLite6InErrors", Some(("snmp6", "UdpLite6InErrors"))),
            ("UdpLiteInErrors", Some(("snmp", "UdpLite.InErrors"))),
            ("Tcp", None),
            ("Ipsec is", None),
            ("eth0", None),
        ] {
            assert_eq!(place(name), wanted.map(|(group, name)| (group, name.to_owned())), "{name}");
        }
    }

    #[test]
    fn outputs_follow_each_other() {
        let text = "#kernel\nIpInReceives                    2168061            0.0\nTcpRetransSegs  153  0.0\n\
                    #kernel\nIpInReceives 5 0.0\nother\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let first = parse(&mut cursor);
        assert_eq!((first.len(), first[1].value.name.as_str(), first[1].line), (2, "Tcp.RetransSegs", 3));
        assert_eq!(parse(&mut cursor)[0].value.value, 5);
        assert!(parse(&mut cursor).is_empty());
        assert_eq!(row("Tcp: 5 0.0"), None);
        assert_eq!(row("TcpRetransSegs 153"), None);
    }

    #[test]
    fn json_is_read() {
        let text = "{\"kernel\":{\"IpInReceives\":8727,\"Ip6InReceives\":2,\"x\":1}}\n";
        let lines = lines(text);
        let rows = parse(&mut Cursor::new(&lines));
        assert_eq!(rows.iter().map(|at| at.value.value).collect::<Vec<_>>(), [2, 8727]);
    }
}
