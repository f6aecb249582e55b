//! Secrets that files of the network hold: keys, passwords, tokens. Their values never leave the host.

use crate::probe::{Ask, Blob, Recording, Reply};
use crate::reading::Reading;
use crate::snapshot::Snapshot;

/// What stands in the place of a secret.
pub const LEFT_OUT: &str = "(left out)";

/// Parts of a key's name that tell of a secret, without the marks between its words.
const SECRET: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "privatekey",
    "presharedkey",
    "sharedkey",
    "wepkey",
    "wirelesskey",
    "token",
    "apikey",
    "authkey",
    "fastopenkey",
];
/// Keys that hold a secret where the value looks like one.
const DOUBTFUL: [&str; 7] = ["key", "private", "shared", "cak", "mkacak", "macseckey", "auth"];
/// Characters from which the value of a doubtful key is taken for a secret.
const LONG: usize = 16;

/// True where the name of a key or a file tells of a secret.
fn is_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    if plain.ends_with("flags") {
        return false;
    }
    let is_psk = key
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word.to_ascii_lowercase().starts_with("psk") || word.to_ascii_lowercase().ends_with("psk"));
    is_psk || SECRET.iter().any(|part| plain.contains(part))
}

/// True where this value of this key is a secret.
fn hides(key: &str, value: &str) -> bool {
    if value.is_empty() || value == LEFT_OUT {
        return false;
    }
    if is_secret(key) {
        return true;
    }
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let value = value.trim_matches(['"', '\'', ',', ';']);
    DOUBTFUL.contains(&plain.trim_end_matches(|c: char| c.is_ascii_digit()))
        && value.len() >= LONG
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte))
}

/// Replaces the values in `KEY=VALUE` words of a line, or those of the like with another mark between them.
fn words(line: &str, mark: char) -> Option<String> {
    let is_key = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let mut out = String::new();
    let (mut from, mut search) = (0, 0);
    while let Some(at) = line[search..].find(mark).map(|at| at + search) {
        search = at + 1;
        let before = line[from..at].trim_end_matches(['"', '\'', ' ']);
        let key = before.rfind(|c: char| !is_key(c)).map_or(before, |end| {
            let skipped = before[end..].chars().next().map_or(1, char::len_utf8);
            &before[end + skipped..]
        });
        let rest = &line[at + 1..];
        let value = if mark == ':' { rest.trim_start() } else { rest };
        let begin = line.len() - value.len();
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].find(quote).map_or(value.len(), |at| at + 2),
            _ => value.find(|c: char| c.is_whitespace() || ";,}".contains(c)).unwrap_or(value.len()),
        };
        if hides(key, &value[..end]) {
            out += &line[from..begin];
            out += LEFT_OUT;
            from = begin + end;
            search = from;
        }
    }
    if from == 0 {
        return None;
    }
    out += &line[from..];
    Some(out)
}

/// Key and value of a line of a configuration file, and where the value begins.
fn key_value(line: &str) -> Option<(&str, usize)> {
    let begin = line.find(|c: char| c.is_ascii_alphanumeric())?;
    let end = begin
        + line[begin..].find(|c: char| !(c.is_ascii_alphanumeric() || "._-".contains(c))).unwrap_or(line.len() - begin);
    let rest = &line[end..];
    let value = rest.trim_start_matches(['"', '\'']).trim_start();
    let marked = value.strip_prefix(['=', ':']);
    // A remark is a sentence where no mark follows its first word.
    if marked.is_none() && line.trim_start().starts_with(['#', ';', '/', '!']) {
        return None;
    }
    let value = marked.unwrap_or(value).trim_start();
    Some((&line[begin..end], line.len() - value.len()))
}

/// Replaces the secrets of a text. `is_file` says that it is a file of the user's, whose lines are `key value` in one of many
/// forms; texts of the kernel hold `key=value` at most. None where there is nothing to replace.
fn text(text: &str, is_file: bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut changed = false;
    // What stands further in than this belongs to a secret.
    let mut below: Option<usize> = None;
    let mut in_key = false;
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let ending = &whole[line.len()..];
        let indent = line.len() - line.trim_start().len();
        if line.contains("-----BEGIN") && line.contains("PRIVATE KEY") {
            in_key = true;
        }
        let is_inside = below.is_some_and(|outer| indent > outer) && !line.trim().is_empty();
        if in_key || is_inside {
            in_key = in_key && !line.contains("-----END");
            changed = true;
            out += &line[..indent];
            out += LEFT_OUT;
            out += ending;
            continue;
        }
        if !line.trim().is_empty() {
            below = None;
        }
        let mut replaced = None;
        if is_file && let Some((key, at)) = key_value(line) {
            let value = line[at..].trim_end();
            if is_secret(key) && ["", "|", ">", "|-", ">-", "[", "{"].contains(&value) && line.contains(':') {
                below = Some(indent);
            } else if hides(key, value) {
                replaced = Some(format!("{}{LEFT_OUT}", &line[..at]));
            }
        }
        if below.is_none() {
            replaced = replaced.or_else(|| words(line, '='));
            replaced = replaced.or_else(|| is_file.then(|| words(line, ':')).flatten());
        }
        changed |= replaced.is_some();
        out += replaced.as_deref().unwrap_or(line);
        out += ending;
    }
    changed.then_some(out)
}

/// True for a file that the kernel writes.
fn is_of_kernel(path: &str) -> bool {
    ["/proc/", "/sys/", "/dev/"].iter().any(|root| path.starts_with(root))
}

/// Replaces secrets in a file that was read; none where it holds none.
fn file(path: &str, bytes: &[u8]) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or_default();
    if is_secret(name) && !is_of_kernel(path) || is_secret(name) && path.starts_with("/proc/sys/") {
        return (!bytes.is_empty()).then(|| format!("{LEFT_OUT}\n"));
    }
    text(std::str::from_utf8(bytes).ok()?, !is_of_kernel(path))
}

/// Replaces the secrets in the replies of a recording; yields the paths of the files that held some.
pub fn scrub_recording(recording: &mut Recording) -> Vec<String> {
    let mut found = Vec::new();
    for exchange in &mut recording.exchanges {
        let (Ask::Read { path, .. } | Ask::Tail { path, .. } | Ask::Records { path, .. }) = &exchange.ask else {
            continue;
        };
        let Reply::Bytes(Blob(bytes)) = &mut exchange.reply else { continue };
        let path = path.text();
        if let Some(clean) = file(&path, bytes) {
            *bytes = clean.into_bytes();
            if !found.contains(&path) {
                found.push(path);
            }
        }
    }
    found
}

/// Replaces the secrets in a snapshot; yields how many there were.
pub fn scrub_snapshot(snapshot: &mut Snapshot) -> usize {
    let mut found = 0;
    let mut replace = |value: &mut String, with: String| {
        *value = with;
        found += 1;
    };
    if let Reading::Known(rows, _) = &mut snapshot.host.configured {
        for row in rows {
            if hides(&row.key, &row.value) {
                replace(&mut row.value, LEFT_OUT.into());
            } else if let Some(clean) = words(&row.value, '=') {
                replace(&mut row.value, clean);
            }
        }
    }
    if let Reading::Known(parameters, _) = &mut snapshot.host.sysctl {
        for (name, value) in parameters {
            if hides(name, value) {
                replace(value, LEFT_OUT.into());
            }
        }
    }
    if let Reading::Known(lines, _) = &mut snapshot.host.log {
        for line in lines {
            if let Some(clean) = words(&line.text, '=') {
                replace(&mut line.text, clean);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_each_form_of_file_are_left_out() {
        for (path, given, kept) in [
            (
                "/etc/NetworkManager/system-connections/home.nmconnection",
                "[wifi-security]\nkey-mgmt=wpa-psk\npsk=correct horse\npsk-flags=0\nwep-key0=abcde\n[802-1x]\npassword=x\nidentity=me\n",
                "[wifi-security]\nkey-mgmt=wpa-psk\npsk=(left out)\npsk-flags=0\nwep-key0=(left out)\n[802-1x]\npassword=(left out)\nidentity=me\n",
            ),
            (
                "/etc/systemd/network/wg0.netdev",
                "[NetDev]\nName=wg0\n[WireGuard]\nPrivateKey = aGVsbG8=\nListenPort=51820\n[WireGuardPeer]\nPresharedKey=Zm9v\nPublicKey=YmFy\n",
                "[NetDev]\nName=wg0\n[WireGuard]\nPrivateKey = (left out)\nListenPort=51820\n[WireGuardPeer]\nPresharedKey=(left out)\nPublicKey=YmFy\n",
            ),
            (
                "/etc/netplan/50-wifi.yaml",
                "    access-points:\n      \"home\":\n        password: \"hush hush\"\n  tunnels:\n    wg0:\n      key: 4GgaQCy68nzNsUE5aJ9fuLzHhB65tAlwbmA72MWnOm8=\n      mtu: 1420\n      token: |\n        one\n        two\n      mode: wireguard\n",
                "    access-points:\n      \"home\":\n        password: (left out)\n  tunnels:\n    wg0:\n      key: (left out)\n      mtu: 1420\n      token: |\n        (left out)\n        (left out)\n      mode: wireguard\n",
            ),
            (
                "/etc/network/interfaces",
                "iface wlan0 inet dhcp\n  wpa-ssid home\n  wpa-psk 00112233\n  mtu 1500\n",
                "iface wlan0 inet dhcp\n  wpa-ssid home\n  wpa-psk (left out)\n  mtu 1500\n",
            ),
            (
                "/etc/wpa_supplicant.conf",
                "network={\n\tssid=\"a\"\n\tpsk=\"b c\"\n\tprivate_key_passwd=\"d\"\n}\n",
                "network={\n\tssid=\"a\"\n\tpsk=(left out)\n\tprivate_key_passwd=(left out)\n}\n",
            ),
            ("/etc/ppp/options", "user me\npassword hush\nmtu 1492\n", "user me\npassword (left out)\nmtu 1492\n"),
            (
                "/proc/cmdline",
                "root=/dev/sda1 rd.iscsi.password=hush quiet\n",
                "root=/dev/sda1 rd.iscsi.password=(left out) quiet\n",
            ),
            (
                "/etc/netplan/2.yaml",
                "      access-points: {home: {password: hush, band: 5GHz}}\n",
                "      access-points: {home: {password: (left out), band: 5GHz}}\n",
            ),
            (
                "/etc/x.json",
                "{\"mtu\": 1500, \"auth_token\": \"a b\"}\n",
                "{\"mtu\": 1500, \"auth_token\": (left out)}\n",
            ),
            ("/proc/sys/net/ipv4/tcp_fastopen_key", "1-2-3-4\n", "(left out)\n"),
            ("/etc/ppp/chap-secrets", "a * b *\n", "(left out)\n"),
            (
                "/etc/x.conf",
                "a=1\n-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\nb=2\n",
                "a=1\n(left out)\n(left out)\n(left out)\nb=2\n",
            ),
            (
                "/etc/rc.local",
                "tool --token=abc --mtu=9000 password='a b' x\n",
                "tool --token=(left out) --mtu=9000 password=(left out) x\n",
            ),
        ] {
            assert_eq!(file(path, given.as_bytes()).as_deref(), Some(kept), "{path}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for (path, given) in [
            ("/etc/sysctl.conf", "net.core.rmem_max = 16777216\n# token bucket\n"),
            ("/proc/net/netstat", "TcpExt: TCPMD5NotFound Passive\nTcpExt: 0 1\n"),
            ("/etc/network/interfaces", "iface gre1 inet tunnel\n  key 42\n  mtu 1476\n"),
            ("/sys/class/net/eth0/mtu", "1500\n"),
            ("/etc/netplan/a.yaml", "network:\n  ethernets:\n    eth0:\n      auth:\n        key-management: eap\n"),
            ("/proc/net/x", "password: hush\n"),
        ] {
            assert_eq!(file(path, given.as_bytes()), None, "{path}");
        }
        assert_eq!(file("/etc/x", b"psk=\xff\xfe"), None, "no text");
    }
}
