//! Command lines that set something of the network: in rules of udev, stanzas of ifupdown, units, boot scripts.

use super::{Setting, logical_lines};

/// Words by which a command that sets speed or loss is known. Commands that name keys or passwords are none.
const MARKS: [&str; 13] = [
    "ethtool",
    "smp_affinity",
    "rps_cpus",
    "xps_cpus",
    "rps_flow_cnt",
    "sysctl -w",
    "/proc/sys/net/",
    "txqueuelen",
    "tc qdisc",
    "tc filter",
    "setpci",
    "devlink ",
    "mtu",
];
const SECRETS: [&str; 5] = ["psk", "passw", "passp", "secret", " key "];

/// True for a command that sets something of the network.
pub fn is_tuning(command: &str) -> bool {
    let lower = command.to_ascii_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark)) && !SECRETS.iter().any(|mark| lower.contains(mark))
}

/// Such commands of a shell script, of which the key is `command`.
pub fn commands(text: &str) -> Vec<Setting> {
    let rows = logical_lines(text, &['#']).filter(|(_, command)| is_tuning(command));
    rows.filter_map(|(line, command)| Setting::new("", "command", command, line)).collect()
}

/// Such commands of a unit of systemd, of which the key is `ExecStart` and the like.
pub fn unit(text: &str) -> Vec<Setting> {
    let rows = super::ini::parse(text).into_iter();
    rows.filter(|row| row.section == "Service" && row.key.starts_with("Exec") && is_tuning(&row.value))
        .filter_map(|row| Setting::new("", row.key, row.value, row.line))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_tune_are_found_and_secrets_are_not() {
        let text = "#!/bin/sh\n# ethtool -K eth0 tso off\nethtool -G eth0 rx 4096\nwpa_passphrase x mtu\necho 2 > \\\n \
                    /proc/irq/45/smp_affinity_list\nexit 0\n";
        let seen = commands(text);
        assert_eq!(seen.iter().map(|row| row.line).collect::<Vec<_>>(), [3, 5]);
        assert_eq!(seen[1].value, "echo 2 > /proc/irq/45/smp_affinity_list");
        let text =
            "[Unit]\nDescription=ethtool\n[Service]\nExecStart=/usr/sbin/ethtool -K eth0 gro on\nExecStop=/bin/true\n";
        let [row] = unit(text).try_into().unwrap();
        assert_eq!(
            (row.key.as_str(), row.value.as_str(), row.line),
            ("ExecStart", "/usr/sbin/ethtool -K eth0 gro on", 4)
        );
    }
}
