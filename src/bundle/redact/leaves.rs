//! The texts in a serialised snapshot, and which of them are the words of the system and which are people's.

use serde_json::{Map, Value};

/// What a text may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Words of the kernel, of drivers and of this program, and versions, which look like addresses.
    Technical,
    /// Anything.
    Text,
}

/// What stands at this place, named by the keys that lead to it. What is not known here may hold anything.
pub(super) fn role(path: &[&str]) -> Role {
    let is_technical = match path {
        ["schema"] | ["sample", "source"] | ["gaps", "why"] | ["conflicts", "fact"] => true,
        ["sources", "kind" | "command" | "tool" | "name"] => true,
        ["host", "name"] => false,
        ["host", "sysctl", name, ..] => !name.contains("hostname") && !name.contains("domainname"),
        ["host", "flows", rest, ..] => ["congestion", "samples"].contains(rest),
        ["host", "listeners" | "udp_sockets", rest, ..] => *rest == "program",
        ["host", "routes", rest, ..] => *rest == "table",
        ["host", "nfs", rest, ..] => ["version", "transport"].contains(rest),
        ["host", "measured", rest, ..] => ["tool", "protocol", "version"].contains(rest),
        ["host", "configured", rest, ..] => ["manager", "key"].contains(rest),
        ["host", "log" | "rules", ..] => false,
        ["host", ..] => true,
        ["devices", rest, ..] => *rest != "interfaces",
        ["interfaces", "tunnel", rest, ..] => *rest == "program",
        ["interfaces", "bond", "members", rest, ..] => *rest != "name",
        ["interfaces", "bond", rest, ..] => !["active_member", "partner_address"].contains(rest),
        ["interfaces", "irqs", rest, ..] => *rest != "action",
        ["interfaces", "rdma", rest, ..] => *rest != "device",
        ["interfaces", section, ..] => [
            "kind",
            "device",
            "oper_state",
            "driver",
            "port",
            "link",
            "eee",
            "fec",
            "qdiscs",
            "features",
            "features_refused",
            "private_flags",
            "bus",
            "queues",
            "tc_actions",
            "rss",
            "pfc",
            "module",
            "xdp",
            "usb",
            "wireless",
            "bridge",
            "devlink",
            "counters",
        ]
        .contains(section),
        _ => false,
    };
    if is_technical { Role::Technical } else { Role::Text }
}

/// Shows each text of a document together with the keys that lead to it. Indices of lists are no part of the way.
pub(super) fn visit<'v>(value: &'v Value, path: &mut Vec<&'v str>, see: &mut dyn FnMut(&[&'v str], &'v str)) {
    match value {
        Value::String(text) => see(path, text),
        Value::Array(items) => items.iter().for_each(|item| visit(item, path, see)),
        Value::Object(fields) => {
            for (key, inner) in fields {
                path.push(key);
                visit(inner, path, see);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A document with other texts and other keys in it.
pub(super) fn rewritten<'v>(
    value: &'v Value,
    path: &mut Vec<&'v str>,
    text: &dyn Fn(&[&'v str], &'v str) -> String,
    key: &dyn Fn(&[&'v str], &'v str) -> String,
) -> Value {
    match value {
        Value::String(old) => Value::String(text(path, old)),
        Value::Array(items) => Value::Array(items.iter().map(|item| rewritten(item, path, text, key)).collect()),
        Value::Object(fields) => {
            let mut out = Map::new();
            for (old, inner) in fields {
                let new = key(path, old);
                path.push(old);
                out.insert(new, rewritten(inner, path, text, key));
                path.pop();
            }
            Value::Object(out)
        }
        other => other.clone(),
    }
}
