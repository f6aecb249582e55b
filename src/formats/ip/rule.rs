//! `ip rule`: priority, packets, action.

/// A rule of the routing policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its priority; the lowest is asked first.
    pub priority: u32,
    /// Which packets it takes, and what it does with them, as it is printed.
    pub text: String,
    /// Table that it looks into.
    pub table: Option<String>,
}

/// Reads a line.
pub fn row(text: &str) -> Option<Rule> {
    let (priority, rest) = text.trim().split_once(':')?;
    let priority = priority.parse().ok()?;
    let rest = rest.trim();
    if !rest.strip_prefix("not ").unwrap_or(rest).starts_with("from ") {
        return None;
    }
    let mut words = rest.split_ascii_whitespace().skip_while(|word| *word != "lookup" && *word != "table");
    let table = words.nth(1).map(str::to_owned);
    Some(Rule { priority, text: rest.to_owned(), table })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_name_their_table() {
        let rule = row("32766:\tfrom all lookup main ").unwrap();
        assert_eq!((rule.priority, rule.table.as_deref()), (32766, Some("main")));
        let inverted = row("100:\tnot from all fwmark 0xca6c lookup 51820").unwrap();
        assert_eq!(inverted.table.as_deref(), Some("51820"));
        assert_eq!(inverted.text, "not from all fwmark 0xca6c lookup 51820");
        assert_eq!(row("5: from 10.0.0.0/8 unreachable").unwrap().table, None);
        for other in ["2: eth0: <UP> mtu 1500", "a: from all", "1", ""] {
            assert_eq!(row(other), None, "{other}");
        }
    }
}
