//! `ip -j`: the same things as JSON. They become the same rows as the text does; all stand on the line on which the
//! document begins.

use serde_json::{Map, Value};

use super::address::Address;
use super::link::{Link, Lower};
use super::neighbour::Neighbour;
use super::route::Route;
use super::rule::Rule;
use super::words::Words;
use crate::formats::cursor::At;
use crate::formats::json::plain;

/// A document of `ip -j`.
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// Of `ip link` or `ip addr`.
    Links(Vec<Link>),
    /// Of `ip route`.
    Routes(Vec<Route>),
    /// Of `ip neigh`.
    Neighbours(Vec<Neighbour>),
    /// Of `ip rule`.
    Rules(Vec<Rule>),
}

/// Reads a document; none where it is another tool's, or empty.
pub fn document(value: &Value, line: u32) -> Option<Document> {
    let items: Vec<&Map<String, Value>> = value.as_array()?.iter().filter_map(Value::as_object).collect();
    // An interface that does not fit a filter is printed as an empty object.
    let first = items.iter().find(|item| !item.is_empty())?;
    let items = items.iter().copied();
    if first.contains_key("ifname") && (first.contains_key("flags") || first.contains_key("addr_info")) {
        Some(Document::Links(items.filter_map(|item| link(item, line)).collect()))
    } else if first.contains_key("dst") && (first.contains_key("state") || first.contains_key("lladdr")) {
        Some(Document::Neighbours(items.filter_map(neighbour).collect()))
    } else if first.contains_key("dst") && ["dev", "nexthops", "type"].iter().any(|key| first.contains_key(*key)) {
        Some(Document::Routes(items.filter_map(|item| route(item, line)).collect()))
    } else if first.contains_key("priority") && first.contains_key("src") {
        Some(Document::Rules(items.filter_map(rule).collect()))
    } else {
        None
    }
}

fn text(item: &Map<String, Value>, key: &str) -> Option<String> {
    item.get(key)?.as_str().map(str::to_owned)
}

fn number(item: &Map<String, Value>, key: &str) -> Option<u32> {
    item.get(key)?.as_u64()?.try_into().ok()
}

/// Puts values under the keys that the text form has for them.
fn fill(words: &mut Words, item: &Map<String, Value>, keys: &[(&str, &str)], line: u32) {
    for (key, word) in keys {
        if let Some(value) = item.get(*key).and_then(plain) {
            words.put(word, &value, line);
        }
    }
}

const HEAD: &[(&str, &str)] =
    &[("mtu", "mtu"), ("qdisc", "qdisc"), ("master", "master"), ("operstate", "state"), ("txqlen", "qlen")];
const DETAILS: &[(&str, &str)] = &[
    ("promiscuity", "promiscuity"),
    ("min_mtu", "minmtu"),
    ("max_mtu", "maxmtu"),
    ("permaddr", "permaddr"),
    ("link_netnsid", "link-netnsid"),
    ("num_tx_queues", "numtxqueues"),
    ("num_rx_queues", "numrxqueues"),
    ("gso_max_size", "gso_max_size"),
    ("gro_max_size", "gro_max_size"),
    ("tso_max_size", "tso_max_size"),
    ("parentbus", "parentbus"),
    ("parentdev", "parentdev"),
];

/// Side and key of a counter, and its name in `struct rtnl_link_stats64`.
const STATISTICS: &[(&str, &str, &str)] = &[
    ("rx", "bytes", "rx_bytes"),
    ("rx", "packets", "rx_packets"),
    ("rx", "errors", "rx_errors"),
    ("rx", "dropped", "rx_dropped"),
    ("rx", "over_errors", "rx_over_errors"),
    ("rx", "multicast", "multicast"),
    ("rx", "compressed", "rx_compressed"),
    ("rx", "length_errors", "rx_length_errors"),
    ("rx", "crc_errors", "rx_crc_errors"),
    ("rx", "frame_errors", "rx_frame_errors"),
    ("rx", "fifo_errors", "rx_fifo_errors"),
    ("rx", "missed_errors", "rx_missed_errors"),
    ("rx", "nohandler", "rx_nohandler"),
    ("rx", "otherhost_dropped", "rx_otherhost_dropped"),
    ("tx", "bytes", "tx_bytes"),
    ("tx", "packets", "tx_packets"),
    ("tx", "errors", "tx_errors"),
    ("tx", "dropped", "tx_dropped"),
    ("tx", "carrier_errors", "tx_carrier_errors"),
    ("tx", "collisions", "collisions"),
    ("tx", "compressed", "tx_compressed"),
    ("tx", "aborted_errors", "tx_aborted_errors"),
    ("tx", "fifo_errors", "tx_fifo_errors"),
    ("tx", "window_errors", "tx_window_errors"),
    ("tx", "heartbeat_errors", "tx_heartbeat_errors"),
];

fn link(item: &Map<String, Value>, line: u32) -> Option<Link> {
    let at = |value: String| At::new(value, line);
    let flags = item.get("flags").and_then(Value::as_array);
    let lower = match (item.get("link"), item.get("link_index")) {
        (Some(Value::Null), _) => Some(Lower::None),
        (Some(name), _) => name.as_str().map(|name| Lower::Name(name.to_owned())),
        (None, Some(index)) => index.as_u64().and_then(|index| index.try_into().ok()).map(Lower::Elsewhere),
        (None, None) => None,
    };
    let mut link = Link {
        name: text(item, "ifname")?,
        line,
        index: number(item, "ifindex"),
        lower,
        flags: flags.map(|flags| flags.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
        hardware: text(item, "link_type").map(at),
        address: text(item, "address").map(at),
        alias: text(item, "ifalias").map(at),
        statistics_line: line,
        ..Link::default()
    };
    fill(&mut link.head, item, HEAD, line);
    fill(&mut link.details, item, DETAILS, line);
    if let Some(info) = item.get("linkinfo").and_then(Value::as_object) {
        link.kind = text(info, "info_kind").map(at);
        link.member_of = text(info, "info_slave_kind").map(at);
        options(&mut link.options, info.get("info_data"), line);
        options(&mut link.member, info.get("info_slave_data"), line);
    }
    let statistics = ["stats64", "stats"].iter().find_map(|key| item.get(*key)?.as_object());
    if let Some(statistics) = statistics {
        let value = |side: &str, key: &str| statistics.get(side)?.get(key)?.as_u64();
        let rows = STATISTICS.iter().filter_map(|(side, key, name)| Some((*name, value(side, key)?)));
        link.statistics.extend(rows);
    }
    if let Some(addresses) = item.get("addr_info").and_then(Value::as_array) {
        link.addresses.extend(addresses.iter().filter_map(Value::as_object).map(|item| address(item, line)));
    }
    Some(link)
}

/// The options of a kind, under the names of the text form.
fn options(words: &mut Words, data: Option<&Value>, line: u32) {
    let Some(data) = data.and_then(Value::as_object) else { return };
    for (key, value) in data {
        match (key.as_str(), value) {
            // The lower link of a tunnel.
            ("link", Value::String(name)) => words.put("dev", name, line),
            ("ad_info", Value::Object(inner)) => {
                for (key, value) in inner {
                    if let Some(value) = plain(value) {
                        words.put(&format!("ad_{key}"), &value, line);
                    }
                }
            }
            _ => {
                if let Some(value) = plain(value) {
                    words.put(key, &value, line);
                }
            }
        }
    }
}

fn address(item: &Map<String, Value>, line: u32) -> Address {
    let flags = item.iter().filter(|(_, value)| **value == Value::Bool(true)).map(|(key, _)| key.clone());
    Address {
        local: text(item, "local").and_then(|local| local.parse().ok()),
        prefix: number(item, "prefixlen").and_then(|prefix| prefix.try_into().ok()),
        scope: text(item, "scope"),
        flags: flags.collect(),
        line,
    }
}

fn route(item: &Map<String, Value>, line: u32) -> Option<Route> {
    let mut route = Route {
        kind: text(item, "type").unwrap_or_else(|| "unicast".to_owned()),
        destination: text(item, "dst")?,
        line,
        ..Route::default()
    };
    let keys = [("gateway", "via"), ("dev", "dev"), ("metric", "metric"), ("table", "table"), ("pref", "pref")];
    fill(&mut route.words, item, &keys, line);
    let metrics = item.get("metrics").and_then(Value::as_array);
    for metrics in metrics.into_iter().flatten().filter_map(Value::as_object) {
        options(&mut route.words, Some(&Value::Object(metrics.clone())), line);
    }
    route.devices.extend(text(item, "dev").map(|device| At::new(device, line)));
    let hops = item.get("nexthops").and_then(Value::as_array);
    for hop in hops.into_iter().flatten().filter_map(Value::as_object) {
        route.devices.extend(text(hop, "dev").map(|device| At::new(device, line)));
    }
    Some(route)
}

fn neighbour(item: &Map<String, Value>) -> Option<Neighbour> {
    let state = item.get("state").and_then(|state| state.get(0)).and_then(Value::as_str);
    Some(Neighbour {
        address: text(item, "dst")?.parse().ok()?,
        device: text(item, "dev")?,
        hardware: text(item, "lladdr"),
        state: state.map(str::to_owned),
        is_learned: item.contains_key("extern_learn"),
    })
}

fn rule(item: &Map<String, Value>) -> Option<Rule> {
    let with_length = |address: &str, length: &str| {
        let address = text(item, address)?;
        Some(number(item, length).map_or(address.clone(), |length| format!("{address}/{length}")))
    };
    let mut words = if item.contains_key("not") { "not from ".to_owned() } else { "from ".to_owned() };
    words += &with_length("src", "srclen")?;
    let to = with_length("dst", "dstlen").map(|to| format!("to {to}"));
    let mark = text(item, "fwmark").map(|mark| match text(item, "fwmask") {
        Some(mask) => format!("fwmark {mark}/{mask}"),
        None => format!("fwmark {mark}"),
    });
    let named = |key: &str| Some(format!("{key} {}", item.get(key).and_then(plain)?));
    let ports = |key: &str| {
        let (first, last) = (number(item, &format!("{key}_start"))?, number(item, &format!("{key}_end"))?);
        Some(format!("{key} {first}-{last}"))
    };
    let of_vrf = || item.contains_key("l3mdev").then(|| "[l3mdev-table]".to_owned());
    let table = text(item, "table").or_else(of_vrf);
    let action = match (&table, text(item, "action")) {
        (Some(table), _) => Some(format!("lookup {table}")),
        (None, None) if item.contains_key("goto") => named("goto"),
        (None, action) => action,
    };
    let parts = [
        to,
        mark,
        named("iif"),
        named("oif"),
        named("ipproto"),
        named("sport").or_else(|| ports("sport")),
        named("dport").or_else(|| ports("dport")),
        action,
    ];
    for part in parts.into_iter().flatten() {
        words = format!("{words} {part}");
    }
    Some(Rule { priority: number(item, "priority")?, text: words, table })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Document> {
        document(&serde_json::from_str(text).unwrap(), 1)
    }

    #[test]
    fn links_become_what_the_text_becomes() {
        let text = r#"[{},{"ifindex":5,"link":"eth0","ifname":"eth0.7","flags":["UP","LOWER_UP"],"mtu":1500,"operstate":"UP",
            "txqlen":1000,"link_type":"ether","address":"02:00:00:00:00:01","promiscuity":0,"min_mtu":68,"max_mtu":9216,
            "linkinfo":{"info_kind":"vlan","info_data":{"protocol":"802.1Q","id":7,"flags":["REORDER_HDR"]}},
            "parentbus":"pci","parentdev":"0000:03:00.0",
            "stats64":{"rx":{"bytes":1,"packets":2,"missed_errors":3,"multicast":4},"tx":{"collisions":5,"carrier_changes":9}},
            "addr_info":[{"family":"inet","local":"192.0.2.7","prefixlen":24,"scope":"global","dynamic":true}]}]"#;
        let Some(Document::Links(links)) = read(text) else { panic!("no links") };
        let link = &links[0];
        assert_eq!((link.name.as_str(), &link.lower), ("eth0.7", &Some(Lower::Name("eth0".into()))));
        assert_eq!(link.head.number::<u32>("mtu").unwrap().value, 1500);
        assert_eq!(link.detail("maxmtu").unwrap().value, "9216");
        assert_eq!(link.options.after("id").unwrap().value, "7");
        assert!(link.is_detailed());
        assert_eq!(
            link.statistics,
            [("rx_bytes", 1), ("rx_packets", 2), ("multicast", 4), ("rx_missed_errors", 3), ("collisions", 5)]
        );
        assert_eq!(link.addresses[0].text().as_deref(), Some("192.0.2.7/24"));
        assert_eq!(link.addresses[0].flags, ["dynamic"]);
    }

    #[test]
    fn a_bond_keeps_the_names_of_the_text_form() {
        let text = r#"[{"ifname":"bond0","flags":["UP"],"linkinfo":{"info_kind":"bond","info_data":{"mode":"802.3ad",
            "miimon":100,"xmit_hash_policy":"layer3+4","ad_info":{"aggregator":2,"partner_mac":"00:00:00:00:00:00"}}}}]"#;
        let Some(Document::Links(links)) = read(text) else { panic!("no links") };
        assert_eq!(links[0].options.after("ad_aggregator").unwrap().value, "2");
        assert_eq!(links[0].options.after("mode").unwrap().value, "802.3ad");
    }

    #[test]
    fn routes_neighbours_and_rules() {
        let text = r#"[{"dst":"default","gateway":"192.0.2.1","dev":"eth0","metric":100,"flags":[],"metrics":[{"mtu":1400}]},
            {"dst":"default","flags":[],"nexthops":[{"gateway":"10.0.0.1","dev":"eth1","weight":1}]}]"#;
        let Some(Document::Routes(routes)) = read(text) else { panic!("no routes") };
        assert!(routes[0].is_default() && routes[0].metric() == 100);
        assert_eq!((routes[0].mtu(), routes[1].devices[0].value.as_str()), (Some((1400, false)), "eth1"));
        let Some(Document::Neighbours(found)) = read(r#"[{"dst":"fd00::1","dev":"eth0","state":["FAILED"]}]"#) else {
            panic!("no neighbours")
        };
        assert_eq!(found[0].state.as_deref(), Some("FAILED"));
        let Some(Document::Rules(rules)) = read(r#"[{"priority":0,"src":"all","table":"local"}]"#) else {
            panic!("no rules")
        };
        assert_eq!((rules[0].table.as_deref(), rules[0].text.as_str()), (Some("local"), "from all lookup local"));
        let text = r#"[{"priority":7,"not":null,"src":"192.0.2.0","srclen":24,"fwmark":"0x7","fwmask":"0xff","iif":"eth0","table":"100"}]"#;
        let Some(Document::Rules(rules)) = read(text) else { panic!("no rules") };
        assert_eq!(rules[0].text, "not from 192.0.2.0/24 fwmark 0x7/0xff iif eth0 lookup 100");
        for other in ["[]", "{}", "[1]", r#"[{"id":1}]"#, r#"[{"ifname":"eth0","rx":1}]"#] {
            assert_eq!(read(other), None, "{other}");
        }
    }
}
