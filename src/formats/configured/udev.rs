//! Rules of udev(7) that set something of an interface or a device.

use super::{Setting, logical_lines, scripts};

/// A part of a rule: `KEY`, `KEY{name}`, its operator and its value.
struct Part<'l> {
    key: &'l str,
    operator: &'l str,
    value: &'l str,
}

/// Attributes whose setting matters.
const ATTRIBUTES: [&str; 7] =
    ["mtu", "tx_queue_len", "queues/", "gro_flush_timeout", "napi_defer_hard_irqs", "power/control", "threaded"];

/// The settings. The scope of one is what the rule asks for: `SUBSYSTEM=="net", ATTR{address}=="02:00:5e:00:53:01"`.
pub fn rules(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (line, text) in logical_lines(text, &['#']) {
        let parts = parts(&text);
        let asks = |part: &&Part<'_>| matches!(part.operator, "==" | "!=");
        let scope: Vec<String> =
            parts.iter().filter(asks).map(|part| format!("{}{}\"{}\"", part.key, part.operator, part.value)).collect();
        for part in parts.iter().filter(|part| !asks(part) && sets(part)) {
            settings.extend(Setting::new(scope.join(", "), part.key, part.value, line));
        }
    }
    settings
}

fn sets(part: &Part<'_>) -> bool {
    let attribute = part.key.strip_prefix("ATTR{").and_then(|rest| rest.strip_suffix('}'));
    match attribute {
        Some(name) => ATTRIBUTES.iter().any(|wanted| name.contains(wanted)),
        None => (part.key == "RUN" || part.key.starts_with("RUN{")) && scripts::is_tuning(part.value),
    }
}

/// The parts of a rule, up to the first that makes no sense.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let Some(at) = rest.find(['=', '!', '+', '-', ':']) else { break };
        let (key, tail) = rest.split_at(at);
        let Some(operator) = ["==", "!=", "+=", "-=", ":=", "="].into_iter().find(|sign| tail.starts_with(sign)) else {
            break;
        };
        // `e"..."` holds escapes.
        let tail = tail[operator.len()..].trim_start();
        let tail = tail.strip_prefix('e').unwrap_or(tail);
        let Some((value, after)) = tail.strip_prefix('"').and_then(quoted) else { break };
        parts.push(Part { key: key.trim(), operator, value });
        rest = after;
    }
    parts
}

/// The text up to the quote that ends it, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rule_sets_comes_with_what_it_asks_for() {
        let text = "# x\nACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"02:00:5e:00:53:01\", \\\n  \
                    ATTR{mtu}=\"9000\", RUN+=\"/usr/sbin/ethtool -G $name rx 4096\", NAME=\"lan0\"\n\
                    SUBSYSTEM==\"tty\", RUN+=\"/bin/x\"\nSUBSYSTEM==\"net\", RUN{program}+=\"/bin/sh -c 'echo \\\"f\\\" > /sys/class/net/$name/queues/rx-0/rps_cpus'\"\n";
        let seen = rules(text);
        let keys: Vec<(&str, &str, u32)> =
            seen.iter().map(|row| (row.key.as_str(), row.value.as_str(), row.line)).collect();
        assert_eq!(keys[0], ("ATTR{mtu}", "9000", 2));
        assert_eq!(keys[1], ("RUN", "/usr/sbin/ethtool -G $name rx 4096", 2));
        assert_eq!((keys[2].0, keys[2].2, keys.len()), ("RUN{program}", 5, 3));
        assert_eq!(seen[0].scope, "ACTION==\"add\", SUBSYSTEM==\"net\", ATTR{address}==\"02:00:5e:00:53:01\"");
    }

    #[test]
    fn broken_rules_set_nothing() {
        for odd in ["ATTR{mtu}", "ATTR{mtu}=9000", "ATTR{mtu}=\"9000", "=\"\"", "é==\"\\\"", "A~\"x\""] {
            assert!(rules(odd).is_empty(), "{odd}");
        }
    }
}
