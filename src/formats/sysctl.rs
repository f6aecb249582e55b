//! Files of /proc/sys, the lines of `sysctl -a`, and sysctl.conf.

/// A value: trimmed, with one space between figures, which the kernel parts by tabs.
pub fn value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(word);
    }
    value
}

/// A line `key = value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted name; a dot inside a part is a slash, as in `net.ipv4.conf.eth0/100.rp_filter`.
    pub key: String,
    /// Value, as [`value`] leaves it.
    pub value: String,
    /// True where it is written as `sysctl` prints it, with one space at each side of the sign.
    pub printed: bool,
}

/// First parts of names.
const ROOTS: [&str; 10] = ["abi", "crypto", "debug", "dev", "fs", "kernel", "net", "sunrpc", "user", "vm"];

/// Reads a line of `sysctl` or of sysctl.conf.
pub fn setting(text: &str) -> Option<Setting> {
    let trimmed = text.trim();
    // A leading dash in sysctl.conf: errors are to be ignored.
    let (key, found) = trimmed.strip_prefix('-').unwrap_or(trimmed).split_once('=')?;
    let printed = key.ends_with(' ')
        && !key.ends_with("  ")
        && !trimmed.starts_with('-')
        && (found.is_empty() || found.starts_with(' '));
    let key = dotted(key.trim())?;
    let unquoted = found.trim().trim_matches(['"', '\'']);
    Some(Setting { key, value: value(unquoted), printed })
}

/// The dotted name of a key that may be written with slashes.
fn dotted(key: &str) -> Option<String> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-/:@".contains(&byte);
    if !key.bytes().all(plain) {
        return None;
    }
    let first = key.find(['.', '/'])?;
    let name = if key.as_bytes()[first] == b'/' { swap(key) } else { key.to_owned() };
    ROOTS.contains(&&name[..first]).then_some(name)
}

fn swap(path: &str) -> String {
    let swap = |char: char| match char {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    path.chars().map(swap).collect()
}

/// The dotted name of a file below /proc/sys.
pub fn key_of_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/proc/sys/")?;
    let plain = !rest.is_empty() && !rest.contains(['*', '{', '$', '?']) && !rest.ends_with('/');
    plain.then(|| swap(rest))
}

/// True for a file with settings for the next boot.
pub fn is_configuration(path: &str) -> bool {
    path.ends_with("/sysctl.conf") || path == "sysctl.conf" || path.contains("/sysctl.d/")
}

/// True for a line in which `sysctl` complains.
pub fn is_complaint(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("sysctl: ") || text.starts_with("error: ") && text.contains("key")
}

/// The parameter that the kernel does not have, by a complaint of `sysctl`: `cannot stat /proc/sys/net/ipv4/tcp_fack: No
/// such file or directory`, `error: "net.ipv4.tcp_fack" is an unknown key`.
pub fn unknown_key(text: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix("sysctl: cannot stat ") {
        return key_of_path(rest.strip_suffix(": No such file or directory")?);
    }
    let rest = text.strip_prefix("sysctl: ").unwrap_or(text).strip_prefix("error: \"")?;
    dotted(rest.strip_suffix("\" is an unknown key")?)
}

/// The file in a heading of `sysctl --system`: `* Applying /etc/sysctl.d/99-sysctl.conf ...`.
pub fn heading(text: &str) -> Option<&str> {
    text.trim().strip_prefix("* Applying ")?.split_ascii_whitespace().next().filter(|path| path.starts_with('/'))
}

/// True for a heading of `sysctl --system`.
pub fn is_heading(text: &str) -> bool {
    text.starts_with("* Applying ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_become_one_space() {
        assert_eq!(value("4096\t131072\t6291456\n"), "4096 131072 6291456");
        assert_eq!(value("cubic\n"), "cubic");
        assert_eq!(value(" \n"), "");
    }

    #[test]
    fn settings_of_all_forms() {
        for (text, key, wanted, printed) in [
            ("net.ipv4.tcp_rmem = 4096\t87380\t6291456", "net.ipv4.tcp_rmem", "4096 87380 6291456", true),
            ("net.core.rmem_max=212992", "net.core.rmem_max", "212992", false),
            ("net.core.rmem_max  =  1", "net.core.rmem_max", "1", false),
            ("-net.ipv4.conf.all.rp_filter = 2", "net.ipv4.conf.all.rp_filter", "2", false),
            ("net/ipv4/conf/eth0.100/rp_filter = 1", "net.ipv4.conf.eth0/100.rp_filter", "1", true),
            ("net.ipv4.tcp_congestion_control = \"bbr\"", "net.ipv4.tcp_congestion_control", "bbr", true),
            ("kernel.hostname = ", "kernel.hostname", "", true),
        ] {
            let wanted = Setting { key: key.into(), value: wanted.into(), printed };
            assert_eq!(setting(text), Some(wanted), "{text}");
        }
        for other in
            ["a = b", "net = 1", "net.core rmem = 1", "x.net.y = 1", "# net.core.rmem_max = 1", "net.core.x", ""]
        {
            assert_eq!(setting(other), None, "{other}");
        }
    }

    #[test]
    fn paths_name_keys() {
        assert_eq!(key_of_path("/proc/sys/net/core/rmem_max").as_deref(), Some("net.core.rmem_max"));
        assert_eq!(key_of_path("/proc/sys/net/ipv4/conf/eth0.5/mtu").as_deref(), Some("net.ipv4.conf.eth0/5.mtu"));
        assert_eq!(key_of_path("/proc/sys/net/ipv4/tcp_*mem"), None);
        assert!(is_configuration("/etc/sysctl.conf") && is_configuration("/usr/lib/sysctl.d/50-x.conf"));
        assert!(is_complaint("sysctl: cannot stat /proc/sys/net/ipv4/tcp_tw_recycle: No such file or directory"));
        assert!(!is_complaint("error: no such host"));
    }
}
