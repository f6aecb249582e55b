//! `/proc/net/vlan/config` and `/proc/net/vlan/X`.

use super::cursor::{At, Cursor, pair};

/// A VLAN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// Interface.
    pub name: String,
    /// VLAN identifier.
    pub id: u32,
    /// Interface below.
    pub parent: String,
}

/// True for a line that one of the files begins with.
pub fn begins(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("VLAN Dev name") && text.contains("VLAN ID") || detail(text).is_some()
}

/// `eth0.100  VID: 100\t REORDER_HDR: 1  dev->priv_flags: 1`.
fn detail(text: &str) -> Option<(&str, u32)> {
    let (name, rest) = text.split_once("VID: ")?;
    let id = rest.split_ascii_whitespace().next()?.parse().ok()?;
    let name = name.trim();
    (rest.contains("REORDER_HDR") && !name.is_empty() && !name.contains(' ')).then_some((name, id))
}

fn row(text: &str) -> Option<Vlan> {
    let mut cells = text.split('|').map(str::trim);
    let (name, id, parent) = (cells.next()?, cells.next()?.parse().ok()?, cells.next()?);
    let plain = |name: &str| !name.is_empty() && !name.contains(' ');
    (cells.next().is_none() && plain(name) && plain(parent)).then(|| Vlan {
        name: name.to_owned(),
        id,
        parent: parent.to_owned(),
    })
}

/// Reads what comes next; none where neither file begins.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Vec<At<Vlan>>> {
    let first = cursor.peek().filter(|line| begins(line.text))?;
    cursor.take();
    let mut vlans = Vec::new();
    if let Some((name, id)) = detail(first.text.trim()) {
        while let Some(line) = cursor.peek() {
            let text = line.text.trim();
            let (key, value) = pair(text).unwrap_or_default();
            let known = [
                "total frames received",
                "total bytes received",
                "Broadcast/Multicast Rcvd",
                "total frames transmitted",
                "total bytes transmitted",
            ];
            if key == "Device" {
                let vlan = Vlan { name: name.to_owned(), id, parent: value.to_owned() };
                vlans.push(At::new(vlan, first.number));
            } else if !known.iter().any(|known| text.starts_with(known))
                && !["INGRESS priority mappings", "EGRESS priority mappings"].contains(&key)
                && !text.is_empty()
            {
                break;
            }
            cursor.take();
        }
        return Some(vlans);
    }
    cursor.take_if(|text| text.starts_with("Name-Type:").then_some(()));
    while let Some(found) = cursor.take_if(row) {
        vlans.push(found);
    }
    Some(vlans)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn both_files() {
        let text = "VLAN Dev name\t | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\nbond0.100      | 100  | bond0\nx | y | z\n";
        let text_lines = lines(text);
        let mut cursor = Cursor::new(&text_lines);
        let vlan = Vlan { name: "bond0.100".into(), id: 100, parent: "bond0".into() };
        assert_eq!(parse(&mut cursor), Some(vec![At::new(vlan, 3)]));
        assert_eq!(cursor.position(), 3);
        let text = "eth0.5  VID: 5\t REORDER_HDR: 1  dev->priv_flags: 1021\n         total frames received            0\n\
                    \u{20}     Broadcast/Multicast Rcvd            0\n\nDevice: eth0\nINGRESS priority mappings: 0:0  1:0\n EGRESS priority mappings: \n";
        let text_lines = lines(text);
        let mut cursor = Cursor::new(&text_lines);
        let found = parse(&mut cursor).unwrap();
        assert_eq!((found[0].value.parent.as_str(), cursor.position()), ("eth0", 7));
    }
}
