//! modprobe.d(5): options of kernel modules.

use super::{Setting, logical_lines, unquoted};

/// The options of modules that `wanted` says yes to, by their names with underscores. The scope of a setting is the module.
pub fn options(text: &str, wanted: impl Fn(&str) -> bool) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (line, text) in logical_lines(text, &['#']) {
        let mut words = text.split_ascii_whitespace();
        if words.next() != Some("options") {
            continue;
        }
        let Some(module) = words.next().map(|name| name.replace('-', "_")).filter(|name| wanted(name)) else {
            continue;
        };
        for word in words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            settings.extend(Setting::new(&module, key, unquoted(value), line));
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_wanted_modules_are_read_one_by_one() {
        let text = "# options ixgbe a=1\nblacklist ixgbe\noptions snd x=1\noptions nf-conntrack hashsize=65536\n\
                    options ixgbe \\\n allow_unsupported_sfp=1 InterruptThrottleRate=\"1,1\" debug\noptions\n";
        let seen = options(text, |module| module != "snd");
        let seen: Vec<(&str, &str, &str, u32)> =
            seen.iter().map(|row| (row.scope.as_str(), row.key.as_str(), row.value.as_str(), row.line)).collect();
        assert_eq!(
            seen,
            [
                ("nf_conntrack", "hashsize", "65536", 4),
                ("ixgbe", "allow_unsupported_sfp", "1", 5),
                ("ixgbe", "InterruptThrottleRate", "1,1", 5),
                ("ixgbe", "debug", "", 5),
            ]
        );
    }
}
