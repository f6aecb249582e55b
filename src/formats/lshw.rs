//! `lshw`, as text and as JSON: the nodes of class network.

use serde_json::Value;

use super::cursor::{At, Cursor, pair};
use super::json;

/// A node of class network. What the output leaves out is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Line that it begins on.
    pub line: u32,
    /// Interface (`logical name`).
    pub name: Option<At<String>>,
    /// PCI function of it, or of the node around it: `0000:03:00.0`.
    pub pci: Option<At<String>>,
    /// `product`, with `vendor` before it.
    pub product: Option<At<String>>,
    /// Hardware address (`serial`).
    pub address: Option<At<String>>,
    /// Bits per second (`size`).
    pub speed: Option<At<u64>>,
    /// Bits per second that it could do (`capacity`).
    pub capacity: Option<At<u64>>,
    /// Words of `capabilities`: `tp`, `1000bt-fd`, `autonegotiation` ...
    pub capabilities: Option<At<Vec<String>>>,
    /// Words of `configuration`.
    pub configuration: Vec<(String, String)>,
    /// Line of the configuration.
    pub configuration_line: u32,
    /// No driver claims it.
    pub unclaimed: bool,
}

impl Node {
    /// A word of the configuration: `driver`, `duplex`, `link` ...
    pub fn configured(&self, name: &str) -> Option<At<&str>> {
        let (_, value) = self.configuration.iter().find(|(held, _)| held == name)?;
        Some(At::new(value.as_str(), self.configuration_line))
    }

    /// Link modes out of the capabilities by ethtool's names: `1000bt-fd` is 1000baseT/Full. None where it lists none.
    pub fn modes(&self) -> Option<At<Vec<String>>> {
        let words = self.capabilities.as_ref()?;
        let mode = |word: &String| {
            let (speed, kind) = word.split_once("bt")?;
            let duplex = match kind {
                "" => "Half",
                "-fd" => "Full",
                _ => return None,
            };
            speed.parse::<u32>().ok()?;
            Some(format!("{speed}baseT/{duplex}"))
        };
        let modes: Vec<String> = words.value.iter().filter_map(mode).collect();
        (!modes.is_empty()).then(|| At::new(modes, words.line))
    }

    fn set(&mut self, key: &str, value: &str, line: u32) {
        let text = || Some(At::new(value.to_owned(), line));
        match key {
            "logical name" => self.name = self.name.take().or_else(text),
            "bus info" => {
                if let Some(address) = value.strip_prefix("pci@") {
                    self.pci = Some(At::new(address.to_owned(), line));
                }
            }
            "product" => self.product = text(),
            "vendor" => {
                if let Some(product) = &mut self.product {
                    product.value = format!("{value} {}", product.value);
                }
            }
            "serial" => self.address = text().filter(|at| at.value.len() == 17 && at.value.matches(':').count() == 5),
            "size" => self.speed = rate(value).map(|rate| At::new(rate, line)),
            "capacity" => self.capacity = rate(value).map(|rate| At::new(rate, line)),
            "capabilities" => {
                self.capabilities = Some(At::new(value.split_ascii_whitespace().map(str::to_owned).collect(), line));
            }
            "configuration" => {
                self.configuration_line = line;
                let words = value.split_ascii_whitespace().filter_map(|word| word.split_once('='));
                self.configuration = words.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            }
            _ => {}
        }
    }
}

/// `10Gbit/s`, in bit/s.
fn rate(text: &str) -> Option<u64> {
    let number = text.strip_suffix("bit/s")?;
    let (number, scale) = match number.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(front) => (front, 1000_u64.pow("KMGT".find(&number[front.len()..])? as u32 + 1)),
        None => (number, 1),
    };
    let number: f64 = number.parse().ok()?;
    let rate = number * scale as f64;
    (rate.is_finite() && rate > 0.0 && rate < 1e15).then_some(rate as u64)
}

/// True for the head of a node: `*-network:0 DISABLED`.
pub fn begins(text: &str) -> bool {
    text.trim_start().strip_prefix("*-").is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_lowercase()))
}

/// True where the JSON of lshw begins.
pub fn begins_json(cursor: &Cursor<'_>) -> bool {
    let opens = |text: &str| matches!(text.trim(), "{" | "[" | "[ {" | "},{");
    let ahead = cursor.rest().iter().take(4).map(|line| line.text.trim());
    cursor.peek().is_some_and(|line| opens(line.text))
        && ahead.skip(1).any(|text| text.starts_with("\"id\" :") || text.starts_with("\"id\":"))
        && {
            let ahead = cursor.rest().iter().take(5).map(|line| line.text.trim());
            ahead.into_iter().any(|text| text.starts_with("\"class\" :") || text.starts_with("\"class\":"))
        }
}

/// Keys of rows.
const KEYS: &[&str] = &[
    "description",
    "product",
    "vendor",
    "physical id",
    "bus info",
    "logical name",
    "version",
    "serial",
    "size",
    "capacity",
    "width",
    "clock",
    "capabilities",
    "configuration",
    "resources",
    "slot",
    "date",
];

/// A node that is open while the text is read.
struct Open {
    depth: usize,
    is_network: bool,
    node: Node,
}

/// Reads what comes next; none where it is not of lshw.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Vec<Node>> {
    if cursor.peek()?.text.trim_start().starts_with(['{', '[']) {
        let start = cursor.position();
        let found = json::take(cursor)?;
        let mut nodes = Vec::new();
        of_json(&found.value, found.line, None, &mut nodes, 0);
        if nodes.is_empty() && !is_lshw(&found.value) {
            cursor.back_to(start);
            return None;
        }
        return Some(nodes);
    }
    let start = cursor.position();
    let mut open: Vec<Open> = Vec::new();
    let mut nodes = Vec::new();
    // The name of the host stands alone above the tree.
    if cursor.peek().is_some_and(|line| !begins(line.text))
        && cursor.rest().iter().skip(1).take(12).any(|line| begins(line.text))
    {
        let ahead = cursor.rest().iter().take_while(|line| !begins(line.text)).count();
        let of_host = |text: &str| pair(text.trim()).is_some_and(|(key, _)| KEYS.contains(&key));
        if !cursor.rest()[1..ahead].iter().all(|line| of_host(line.text)) {
            return None;
        }
        for _ in 0..ahead {
            cursor.take();
        }
    }
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let depth = line.text.len() - line.text.trim_start().len();
        if begins(line.text) {
            close(&mut open, depth, &mut nodes);
            let mut words = text[2..].split_ascii_whitespace();
            let id = words.next().unwrap_or_default();
            let around = open.last().map(|open| open.node.pci.clone()).unwrap_or_default();
            let node = Node {
                line: line.number,
                pci: around,
                unclaimed: words.any(|word| word == "UNCLAIMED"),
                ..Node::default()
            };
            open.push(Open { depth, is_network: id.split(':').next() == Some("network"), node });
        } else if let Some((key, value)) = pair(text).filter(|(key, _)| KEYS.contains(key) && !open.is_empty()) {
            if let Some(open) = open.last_mut() {
                // Children such as `*-virtio0` are known by what they are.
                open.is_network |=
                    key == "description" && matches!(value, "Ethernet interface" | "Wireless interface" | "interface");
                open.node.set(key, value, line.number);
            }
        } else {
            break;
        }
        cursor.take();
    }
    close(&mut open, 0, &mut nodes);
    (cursor.position() > start).then_some(nodes)
}

/// Closes the nodes that are not around a node of this depth.
fn close(open: &mut Vec<Open>, depth: usize, nodes: &mut Vec<Node>) {
    while open.last().is_some_and(|last| last.depth >= depth) {
        nodes.extend(open.pop().filter(|last| last.is_network).map(|last| last.node));
    }
}

fn is_lshw(value: &Value) -> bool {
    let one = value.as_array().and_then(|all| all.first()).unwrap_or(value);
    one.get("id").is_some() && one.get("class").is_some()
}

fn of_json(value: &Value, line: u32, around: Option<&str>, nodes: &mut Vec<Node>, depth: u32) {
    if let Some(all) = value.as_array() {
        for one in all {
            of_json(one, line, around, nodes, depth);
        }
        return;
    }
    if depth > 32 || !value.is_object() {
        return;
    }
    let text = |key: &str| {
        let value = value.get(key)?;
        value.as_str().or_else(|| value.as_array()?.first()?.as_str())
    };
    let mut pci = around;
    if let Some(address) = text("businfo").and_then(|bus| bus.strip_prefix("pci@")) {
        pci = Some(address);
    }
    if text("class") == Some("network") {
        let number = |key: &str| {
            value.get(key).and_then(Value::as_u64).filter(|number| *number > 0).map(|number| At::new(number, line))
        };
        let mut node = Node {
            line,
            pci: pci.map(|address| At::new(address.to_owned(), line)),
            speed: number("size"),
            capacity: number("capacity"),
            configuration_line: line,
            unclaimed: value.get("claimed").is_none() && value.get("configuration").is_none(),
            ..Node::default()
        };
        for (key, name) in
            [("logicalname", "logical name"), ("product", "product"), ("vendor", "vendor"), ("serial", "serial")]
        {
            if let Some(value) = text(key) {
                node.set(name, value, line);
            }
        }
        let capabilities = value.get("capabilities").and_then(Value::as_object);
        node.capabilities = capabilities.map(|all| At::new(all.keys().cloned().collect(), line));
        let configuration = value.get("configuration").and_then(Value::as_object).into_iter().flatten();
        node.configuration =
            configuration.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        nodes.push(node);
    }
    if let Some(children) = value.get("children") {
        of_json(children, line, pci, nodes, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Node>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let nodes = parse(&mut cursor).unwrap();
        (nodes, cursor.position())
    }

    #[test]
    fn text_with_nodes_in_nodes() {
        let text = "  *-network\n       description: Ethernet controller\n       product: Virtio 1.0 network device\n       bus info: pci@0000:00:03.0\n\
                    \u{20}      configuration: driver=virtio-pci latency=0\n     *-virtio2\n          description: Ethernet interface\n          logical name: eth0\n\
                    \u{20}         bus info: virtio@2\n          serial: 02:fc:00:00:00:01\n          configuration: driver=virtio_net link=yes\n\
                    \u{20} *-network:1 DISABLED\n       product: 82599ES\n       vendor: Intel Corporation\n       bus info: pci@0000:03:00.1\n       logical name: ens1f1\n\
                    \u{20}      size: 1Gbit/s\n       capacity: 10Gbit/s\n\
                    \u{20}      capabilities: pm msi ethernet physical tp 1000bt 1000bt-fd 10000bt-fd autonegotiation\n       configuration: autonegotiation=on driver=ixgbe duplex=full firmware=0x1 link=no speed=1Gbit/s\n\
                    \u{20} *-network UNCLAIMED\n       bus info: pci@0000:04:00.0\nroot@a:~#\n";
        let (nodes, taken) = read(text);
        assert_eq!((nodes.len(), taken), (4, 22));
        assert_eq!(
            (nodes[0].name.as_ref().unwrap().value.as_str(), nodes[0].pci.as_ref().unwrap().value.as_str()),
            ("eth0", "0000:00:03.0")
        );
        assert_eq!(nodes[0].configured("driver").unwrap().value, "virtio_net");
        let card = nodes.iter().find(|node| node.line == 12).unwrap();
        assert_eq!(
            (card.speed.clone(), card.capacity.clone()),
            (Some(At::new(1_000_000_000, 17)), Some(At::new(10_000_000_000, 18)))
        );
        assert_eq!(
            (card.product.as_ref().unwrap().value.as_str(), card.configured("link").unwrap()),
            ("Intel Corporation 82599ES", At::new("no", 20))
        );
        assert_eq!(card.modes().unwrap().value, ["1000baseT/Half", "1000baseT/Full", "10000baseT/Full"]);
        assert!(nodes[3].unclaimed && nodes[3].name.is_none() && nodes[3].modes().is_none());
        let (nodes, taken) =
            read("host1\n    description: Computer\n    width: 64 bits\n  *-core\n       physical id: 0\n");
        assert_eq!((nodes.len(), taken), (0, 5));
    }

    #[test]
    fn json_in_both_forms() {
        let text = "{\n \"id\" : \"host\",\n \"class\" : \"system\",\n \"children\" : [ {\"id\": \"network\", \"class\": \"network\", \"claimed\": true,\n\
                    \"businfo\": \"pci@0000:03:00.0\", \"logicalname\": [\"eth0\", \"x\"], \"size\": 10000000000, \"configuration\": {\"driver\": \"ixgbe\"}} ] }\n";
        let all = lines(text);
        let mut cursor = Cursor::new(&all);
        assert!(begins_json(&cursor));
        let nodes = parse(&mut cursor).unwrap();
        assert_eq!(
            (nodes[0].name.as_ref().unwrap().value.as_str(), nodes[0].speed.as_ref().unwrap().value),
            ("eth0", 10_000_000_000)
        );
        assert_eq!(nodes[0].configured("driver").unwrap().value, "ixgbe");
        let all = lines("{\"a\": 1}\n");
        let mut cursor = Cursor::new(&all);
        assert_eq!((parse(&mut cursor), cursor.position()), (None, 0));
    }
}
