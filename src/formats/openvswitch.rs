//! `ovs-dpctl show`, `ovs-vsctl show` and `ovs-appctl bond/show`.

use super::cursor::{At, Cursor, pair};

/// Takes lines in which a tool says that it has no answer.
pub fn complaints(cursor: &mut Cursor<'_>) {
    let complains = |text: &str| text.starts_with("ovs-") && text.contains(": ") || text == "no such bond";
    while cursor.take_if(|text| complains(text.trim()).then_some(())).is_some() {}
}

/// A datapath of `ovs-dpctl show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Datapath {
    /// `system@ovs-system`.
    pub name: String,
    /// Line.
    pub line: u32,
    /// Packets that found a flow, packets that were sent up, and those of them that were lost.
    pub lookups: Option<At<[u64; 3]>>,
    /// Names of its ports.
    pub ports: Vec<String>,
}

/// True for the head of a datapath.
pub fn begins_datapath(text: &str) -> bool {
    let text = text.trim();
    text.ends_with(':') && text.split_once('@').is_some_and(|(kind, _)| matches!(kind, "system" | "netdev"))
}

/// Reads datapaths; none where none comes next.
pub fn datapaths(cursor: &mut Cursor<'_>) -> Option<Vec<Datapath>> {
    let mut found: Vec<Datapath> = Vec::new();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        if begins_datapath(text) {
            found.push(Datapath {
                name: text.trim_end_matches(':').to_owned(),
                line: line.number,
                ..Datapath::default()
            });
        } else if let Some(datapath) = found.last_mut() {
            let word = |name: &str| {
                text.split_ascii_whitespace().find_map(|word| word.strip_prefix(name)?.parse::<u64>().ok())
            };
            if text.starts_with("lookups:") {
                let counts = word("hit:").zip(word("missed:")).zip(word("lost:"));
                datapath.lookups = counts.map(|((hit, missed), lost)| At::new([hit, missed, lost], line.number));
            } else if let Some((_, name)) = text.strip_prefix("port ").and_then(|rest| rest.split_once(": ")) {
                datapath.ports.push(name.split(' ').next().unwrap_or_default().to_owned());
            } else if !["flows:", "masks:", "cache:", "caches:", "sparse", "stats for", "keep "]
                .iter()
                .any(|start| text.starts_with(start))
            {
                break;
            }
        } else {
            break;
        }
        cursor.take();
    }
    (!found.is_empty()).then_some(found)
}

/// A bridge of `ovs-vsctl show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridge {
    /// Its name.
    pub name: String,
    /// Line.
    pub line: u32,
    /// Its ports with what is wrong with them, if anything is.
    pub ports: Vec<(String, Option<String>)>,
}

/// A whole configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Bridges.
    pub bridges: Vec<Bridge>,
    /// Version of Open vSwitch.
    pub version: Option<String>,
}

fn is_uuid(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [8, 4, 4, 4, 12] && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
}

/// True where `ovs-vsctl show` begins: an identifier, and the tree below it.
pub fn begins_configuration(cursor: &Cursor<'_>) -> bool {
    let text = |ahead: usize| cursor.peek_at(ahead).map(|line| line.text.trim()).unwrap_or_default();
    is_uuid(text(0)) && ["Manager ", "Bridge ", "ovs_version"].iter().any(|start| text(1).starts_with(start))
}

/// Reads `ovs-vsctl show`; none where it does not come next.
pub fn configuration(cursor: &mut Cursor<'_>) -> Option<Configuration> {
    if !begins_configuration(cursor) {
        return None;
    }
    cursor.take();
    let mut found = Configuration::default();
    while let Some(line) = cursor.peek().filter(|line| line.text.starts_with([' ', '\t'])) {
        let text = line.text.trim();
        let (key, value) = text.split_once([' ', ':']).unwrap_or((text, ""));
        let value = value.trim().trim_matches('"');
        match key {
            "Bridge" => found.bridges.push(Bridge { name: value.to_owned(), line: line.number, ports: Vec::new() }),
            "Port" => {
                if let Some(bridge) = found.bridges.last_mut() {
                    bridge.ports.push((value.to_owned(), None));
                }
            }
            "error" => {
                if let Some(port) = found.bridges.last_mut().and_then(|bridge| bridge.ports.last_mut()) {
                    port.1 = Some(value.to_owned());
                }
            }
            "ovs_version" => found.version = Some(value.to_owned()),
            _ => {}
        }
        cursor.take();
    }
    Some(found)
}

/// A bond of `ovs-appctl bond/show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bond {
    /// Its name.
    pub name: String,
    /// `active-backup`, `balance-slb`, `balance-tcp`.
    pub mode: Option<String>,
    /// `negotiated`, `configured` or `off`.
    pub lacp: Option<String>,
    /// Members and whether they are enabled.
    pub members: Vec<(String, bool)>,
}

fn bond_head(text: &str) -> Option<&str> {
    text.trim().strip_prefix("---- ")?.strip_suffix(" ----")
}

/// True where `ovs-appctl bond/show` begins.
pub fn begins_bond(cursor: &Cursor<'_>) -> bool {
    let text = |ahead: usize| cursor.peek_at(ahead).map(|line| line.text.trim()).unwrap_or_default();
    bond_head(text(0)).is_some() && text(1).starts_with("bond_mode:")
}

/// Reads bonds; none where none comes next.
pub fn bonds(cursor: &mut Cursor<'_>) -> Option<Vec<Bond>> {
    let mut found: Vec<Bond> = Vec::new();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let text = line.text.trim();
        if let Some(name) = bond_head(text) {
            found.push(Bond { name: name.to_owned(), ..Bond::default() });
        } else if let (Some(bond), Some((key, value))) = (found.last_mut(), pair(text)) {
            let member = key.strip_prefix("slave ").or_else(|| key.strip_prefix("member "));
            match (key, member) {
                ("bond_mode", _) => bond.mode = Some(value.to_owned()),
                ("lacp_status", _) => bond.lacp = Some(value.to_owned()),
                (_, Some(name)) => bond.members.push((name.to_owned(), value == "enabled")),
                _ if key.starts_with("bond")
                    || key.starts_with("lacp")
                    || key.starts_with("active")
                    || key.contains("delay")
                    || key.contains("next rebalance")
                    || key.contains("hash")
                    || key == "may_enable"
                    || key == "other_config" => {}
                _ => break,
            }
        } else if text != "active slave" && text != "active member" {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn datapaths_bridges_and_bonds() {
        let text = "system@ovs-system:\n  lookups: hit:68166908035 missed:65130584 lost:4419\n  flows: 490\n  masks: hit:5 total:12 hit/pkt:7.93\n  port 0: ovs-system (internal)\n\
                    bf2c5c29-a5ed-4c0d-8e2f-0d2b1b1f1a11\n    Bridge br-int\n        fail_mode: secure\n        Port \"eth1\"\n            Interface \"eth1\"\n                error: \"could not open\"\n    ovs_version: \"2.17.9\"\n\
                    ---- bond0 ----\nbond_mode: balance-tcp\nlacp_status: negotiated\n\nmember eth0: enabled\n  active member\n  may_enable: true\n$ x\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let datapaths = datapaths(&mut cursor).unwrap();
        assert_eq!(
            (datapaths[0].lookups.clone(), datapaths[0].ports.len()),
            (Some(At::new([68_166_908_035, 65_130_584, 4419], 2)), 1)
        );
        let found = configuration(&mut cursor).unwrap();
        assert_eq!((found.version.as_deref(), found.bridges[0].name.as_str()), (Some("2.17.9"), "br-int"));
        assert_eq!(found.bridges[0].ports, [("eth1".to_owned(), Some("could not open".to_owned()))]);
        assert!(begins_bond(&cursor));
        let bonds = bonds(&mut cursor).unwrap();
        assert_eq!(
            (bonds[0].mode.as_deref(), bonds[0].lacp.as_deref(), bonds[0].members.as_slice()),
            (Some("balance-tcp"), Some("negotiated"), &[("eth0".to_owned(), true)][..])
        );
        assert_eq!(cursor.peek().unwrap().text, "$ x");
    }
}
