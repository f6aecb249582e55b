//! What keeps a command from being typed as it stands.

/// A placeholder or an empty word in a command; `None` for a command that is complete.
pub fn flaw(command: &str) -> Option<String> {
    // Words of programs that look like placeholders: every processor of `mpstat -P ALL`.
    const NAMES: [&str; 1] = ["ALL"];
    if let Some(found) = in_brackets(command) {
        return Some(format!("`{found}` is a placeholder"));
    }
    let words = command.split_whitespace().map(|word| word.trim_matches(['\'', '"', '(', ')', ';']));
    for word in words {
        if word.is_empty() {
            return Some("a word is empty".into());
        }
        if word.bytes().all(|byte| byte.is_ascii_uppercase()) && !NAMES.contains(&word) {
            return Some(format!("`{word}` is a placeholder"));
        }
    }
    None
}

/// `<interface of the sender>`, but neither `<in >out` nor `2>&1`.
fn in_brackets(command: &str) -> Option<&str> {
    command.match_indices('<').find_map(|(start, _)| {
        let inner = command[start + 1..].split(['<', '>']).next()?;
        let end = start + 1 + inner.len();
        let name = inner.starts_with(|c: char| c.is_alphabetic()) && !inner.ends_with(char::is_whitespace);
        (name && command[end..].starts_with('>')).then(|| &command[start..=end])
    })
}

/// False for what begins as a sentence does. A command begins with a program, a path, a variable or a name that is filled in.
pub fn reads_as_command(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    !first.starts_with(char::is_uppercase) || first.contains('=')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_could_type_is_told() {
        for (command, found) in [
            ("tc qdisc del dev '<interface of the sender>' root", "`<interface of the sender>`"),
            ("ethtool -G eth0 rx <iface.ring.rx_max>", "`<iface.ring.rx_max>`"),
            ("iperf3 -c PEER -P 4", "`PEER`"),
            ("nmcli connection modify CONNECTION ethtool.ring-rx 1", "`CONNECTION`"),
            ("ethtool -G eth0 rx N", "`N`"),
            ("ip link set dev '' up", "empty"),
        ] {
            let told = flaw(command).unwrap_or_default();
            assert!(told.contains(found), "{command}: {told}");
        }
        for command in [
            "mpstat -P ALL 1 5",
            "iperf3 -c 10.0.0.2 -P 4 -t 30 -R",
            "sort <in >out 2>&1",
            "nstat -az TcpRetransSegs",
            "grep -o 'dev [^ ]*'",
            "ethtool -s eth0 autoneg on advertise 1000baseT/Full off",
        ] {
            assert_eq!(flaw(command), None, "{command}");
        }
    }

    #[test]
    fn sentences_are_no_commands() {
        for text in ["Put the former part back", "Set it in the setup"] {
            assert!(!reads_as_command(text), "{text}");
        }
        for text in ["ethtool eth0", "LANG=C ls", "/bin/ls", "{{ x }}", ""] {
            assert!(reads_as_command(text), "{text}");
        }
    }
}
