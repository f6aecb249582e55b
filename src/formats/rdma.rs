//! `ibdev2netdev`, `ibstat`, `ibstatus`, `ibv_devinfo`, and `rdma` of iproute2.

use super::cursor::{At, Cursor, pair};
use super::kernel_log::speaker::is_pci_address;

/// A row of ibdev2netdev: `mlx5_0 port 1 ==> ib0 (Down)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Netdev {
    /// RDMA device.
    pub device: String,
    /// Port, from 1.
    pub port: u32,
    /// Interface.
    pub interface: String,
    /// Its link is up.
    pub up: bool,
}

/// Reads such a row; with -v a PCI address stands before it.
pub fn netdev(text: &str) -> Option<Netdev> {
    let (front, rest) = text.split_once(" ==> ")?;
    let words: Vec<&str> = front.split_ascii_whitespace().collect();
    let at = words.iter().position(|word| *word == "port")?;
    let (interface, state) = rest.trim().split_once(' ')?;
    Some(Netdev {
        device: (*words.iter().find(|word| !is_pci_address(word)).filter(|_| at > 0)?).to_owned(),
        port: words.get(at + 1)?.parse().ok()?,
        interface: interface.to_owned(),
        up: state.trim_matches(['(', ')']).starts_with("Up"),
    })
}

/// A port of an RDMA device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Port {
    /// RDMA device: `mlx5_0`.
    pub device: String,
    /// Line that it begins on.
    pub line: u32,
    /// Rows `key: value` of the device and the port, as they are printed.
    pub rows: Vec<(String, String)>,
}

impl Port {
    /// The value of a row, by the name that one of the tools gives it.
    pub fn get(&self, names: &[&str]) -> Option<&str> {
        self.rows
            .iter()
            .find(|(key, _)| names.iter().any(|name| name.eq_ignore_ascii_case(key)))
            .map(|(_, value)| value.as_str())
    }
}

/// The device in the line that it begins with: `CA 'mlx5_0'`, `hca_id:  mlx5_1`, `Infiniband device 'mlx5_0' port 1 status:`.
pub fn head(text: &str) -> Option<&str> {
    let text = text.trim();
    let quoted = |rest: &'_ str| -> Option<usize> { rest.find('\'') };
    if let Some(rest) = text.strip_prefix("CA '").or_else(|| text.strip_prefix("Infiniband device '")) {
        return quoted(rest).map(|end| &rest[..end]);
    }
    text.strip_prefix("hca_id:").map(str::trim).filter(|name| !name.is_empty() && !name.contains(' '))
}

/// Reads the devices that come next; none where none does.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Vec<At<Port>>> {
    let mut ports: Vec<At<Port>> = Vec::new();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        if let Some(device) = head(line.text) {
            ports.push(At::new(Port { device: device.to_owned(), line: line.number, rows: Vec::new() }, line.number));
        } else if let (Some(port), Some((key, value))) = (ports.last_mut(), pair(line.text)) {
            if !line.text.starts_with([' ', '\t']) || key.len() > 40 {
                break;
            }
            port.value.rows.push((key.to_owned(), value.to_owned()));
        } else {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    (!ports.is_empty()).then_some(ports)
}

/// A line of `rdma link` or `rdma statistic`: `link mlx5_0/1 state ACTIVE netdev eth0`, `link mlx5_0/1 out_of_buffer 0 ...`.
/// Older versions print `1/1: mlx5_0/1: state ACTIVE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// RDMA device.
    pub device: String,
    /// Port, from 1.
    pub port: u32,
    /// Words behind it in pairs: `state` and `ACTIVE`, names of counters and their values.
    pub pairs: Vec<(String, String)>,
}

impl Link {
    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().find(|(held, _)| held == name).map(|(_, value)| value.as_str())
    }

    /// The counters.
    pub fn counters(&self) -> Vec<(String, u64)> {
        self.pairs.iter().filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?))).collect()
    }
}

/// Reads such a line.
pub fn link(text: &str) -> Option<Link> {
    let mut words = text.split_ascii_whitespace();
    let first = words.next()?;
    let old = || first.strip_suffix(':')?.split_once('/')?.1.parse::<u32>().ok();
    if first != "link" && old().is_none() {
        return None;
    }
    let (device, port) = words.next()?.trim_end_matches(':').split_once('/')?;
    let plain = !device.is_empty() && device.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let port = port.parse().ok().filter(|_| plain)?;
    Some(Link { device: device.to_owned(), port, pairs: pairs(words) })
}

/// Names and values by turns; one without the other is left out.
fn pairs<'t>(words: impl Iterator<Item = &'t str>) -> Vec<(String, String)> {
    let words: Vec<&str> = words.collect();
    words.chunks_exact(2).map(|pair| (pair[0].to_owned(), pair[1].to_owned())).collect()
}

/// A further line of counters, as `rdma -p statistic` prints them one by one, or as a terminal wraps them.
pub fn more(text: &str) -> Option<Vec<(String, String)>> {
    let pairs = pairs(text.split_ascii_whitespace());
    let counter = |(name, value): &(String, String)| {
        name.starts_with(|char: char| char.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            && value.parse::<u64>().is_ok()
    };
    (text.starts_with([' ', '\t']) && !pairs.is_empty() && pairs.iter().all(counter)).then_some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_both_versions() {
        let new = link("link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0 ").unwrap();
        let old = link("1/1: mlx5_0/1: state ACTIVE physical_state LINK_UP netdev eth0").unwrap();
        assert_eq!(new, old);
        assert_eq!((new.device.as_str(), new.port, new.get("netdev")), ("mlx5_0", 1, Some("eth0")));
        let counted = link("link mlx5_0/1 out_of_buffer 0 out_of_sequence 120447 cut").unwrap();
        assert_eq!(counted.counters(), [("out_of_buffer".to_owned(), 0), ("out_of_sequence".to_owned(), 120_447)]);
        for other in
            ["", "link", "link up", "link mlx5_0/x a b", "link a b/1 c", "2: eth0: <UP>", "1/x: mlx5_0/1: state ACTIVE"]
        {
            assert_eq!(link(other), None, "{other}");
        }
        assert_eq!(more("    rx_write_requests 5 ").unwrap(), [("rx_write_requests".to_owned(), "5".to_owned())]);
        assert_eq!((more("rx 5"), more("  rx five"), more("  Rx: 5"), more("   ")), (None, None, None, None));
    }
    use crate::formats::cursor::lines;

    #[test]
    fn devices_and_their_interfaces() {
        let wanted = Netdev { device: "mlx5_2".into(), port: 1, interface: "enp23s0f0".into(), up: true };
        assert_eq!(netdev("mlx5_2 port 1 ==> enp23s0f0 (Up)"), Some(wanted.clone()));
        assert_eq!(
            netdev("0000:17:00.0 mlx5_2 (MT4115 - x) fw 12.20 port 1 (ACTIVE) ==> enp23s0f0 (Up)"),
            Some(wanted)
        );
        assert_eq!(netdev("a ==> b"), None);
        let text = "hca_id:\tmlx5_1\n\tfw_ver:\t\t\t\t12.20.1010\n\t\tport:\t1\n\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tlink_layer:\t\tInfiniBand\n\n\
                    CA 'mlx5_0'\n\tCA type: MT4115\n\tPort 1:\n\t\tState: Active\n\t\tRate: 100\n$ x\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let ports = parse(&mut cursor).unwrap();
        assert_eq!((ports.len(), cursor.position()), (2, 11));
        assert_eq!(
            (ports[0].value.get(&["state"]), ports[1].value.get(&["rate"])),
            (Some("PORT_ACTIVE (4)"), Some("100"))
        );
        assert_eq!(parse(&mut cursor), None);
    }
}
