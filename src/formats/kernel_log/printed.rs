//! Lines of a log as dmesg, syslog daemons, the journal and BusyBox print them: when, by whom, and the message.

use std::borrow::Cow;

use serde_json::Value;

use super::stamp::{self, Stamp};

/// A line with a prefix that only logs have.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed<'t> {
    /// When it was written; none where the stamp is missing or empty.
    pub when: Option<When>,
    /// Seconds on the kernel's clock, where a daemon's line bears that stamp too.
    pub boot: Option<f64>,
    /// True where the kernel wrote it.
    pub of_kernel: bool,
    /// The message without stamp, host name and tag.
    pub text: Cow<'t, str>,
}

/// When a line was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// By the clock of the host.
    Clock(Stamp),
    /// Seconds on the kernel's clock, which begins with the boot.
    Boot(f64),
    /// Seconds after the line before it, as `dmesg -H` prints them.
    After(f64),
}

/// Reads a line; none where it has no prefix of a log.
pub fn printed(line: &str) -> Option<Printed<'_>> {
    let line = line.trim_start();
    let bare = without_priority(line).or_else(|| without_level(line));
    let of_kernel = !line.starts_with(|char: char| char.is_ascii_lowercase()) || line.starts_with("kern");
    match (bare, line.as_bytes().first()) {
        (Some(rest), _) => {
            let found = bracketed(rest).unwrap_or(Printed { when: None, boot: None, of_kernel, text: rest.into() });
            Some(Printed { of_kernel: found.of_kernel && of_kernel, ..found })
        }
        (None, Some(b'[')) => bracketed(line),
        (None, Some(b'{')) => json(line),
        _ => {
            let found = of_daemon(line)?;
            Some(Printed {
                when: found.stamp.map(When::Clock),
                boot: found.boot,
                of_kernel: found.of_kernel,
                text: found.text.into(),
            })
        }
    }
}

/// `<6>`, what the kernel puts before a message.
fn without_priority(line: &str) -> Option<&str> {
    let (digits, rest) = line.strip_prefix('<')?.split_once('>')?;
    let number = (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    number.then(|| rest.trim_start())
}

/// `kern  :info  :`, as `dmesg -x` prints it.
fn without_level(line: &str) -> Option<&str> {
    const LEVELS: [&str; 8] = ["emerg", "alert", "crit", "err", "warn", "notice", "info", "debug"];
    let (facility, rest) = line.split_once(':')?;
    let (level, rest) = rest.split_once(':')?;
    let named = matches!(facility.trim_end(), "kern" | "user" | "daemon" | "syslog" | "auth" | "mail" | "local0");
    (named && LEVELS.contains(&level.trim_end())).then(|| rest.trim_start())
}

/// `[ 12.345678] message` and its kin: `[+0.1]`, `[Mon Nov 30 ...]`, `[Nov30 12:05]`, `[ ]`.
fn bracketed(line: &str) -> Option<Printed<'_>> {
    let (inner, rest) = line.strip_prefix('[')?.split_once(']')?;
    // `dmesg -d` puts the distance to the line before behind the stamp.
    let inner = inner.split(" <").next().unwrap_or_default().trim();
    let when = if inner.is_empty() {
        None
    } else if let Some(seconds) = inner.strip_prefix('+').and_then(|inner| seconds(inner.trim())) {
        Some(When::After(seconds))
    } else if let Some(seconds) = seconds(inner) {
        Some(When::Boot(seconds))
    } else if let Some((stamp, "")) = stamp::ctime(inner) {
        Some(When::Clock(stamp))
    } else {
        Some(When::Clock(stamp::minute(inner)?))
    };
    let text = without_caller(rest).trim();
    // `journalctl -o short-monotonic` names host and program behind the stamp.
    let (first, after) = text.split_once(' ').unwrap_or((text, ""));
    let (second, rest) = after.split_once(' ').unwrap_or((after, ""));
    let (of_kernel, text) = match (is_program(first), second) {
        (true, _) => (false, after),
        (false, "kernel:") => (true, rest),
        (false, second) if is_program(second) => (false, rest),
        _ => (true, text),
    };
    Some(Printed { when, boot: None, of_kernel, text: text.into() })
}

/// `systemd[1]:`.
fn is_program(word: &str) -> bool {
    let process = word.strip_suffix("]:").and_then(|word| word.split_once('['));
    process.is_some_and(|(name, id)| !name.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The identity of the task or processor that kernels with CONFIG_PRINTK_CALLER add: `[    T1]`.
fn without_caller(rest: &str) -> &str {
    let caller = rest.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match caller {
        Some((inner, after)) if inner.trim_start().strip_prefix(['T', 'C']).is_some_and(is_number) => after,
        _ => rest,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `12.345678`.
fn seconds(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    (is_number(whole) && is_number(fraction) && whole.len() <= 10 && fraction.len() <= 9).then(|| text.parse().ok())?
}

/// A line that a syslog daemon or the journal wrote.
struct OfDaemon<'t> {
    stamp: Option<Stamp>,
    boot: Option<f64>,
    of_kernel: bool,
    text: &'t str,
}

/// Reads `STAMP HOST FACILITY.LEVEL PROGRAM: message`, of which the stamp is needed for programs other than the kernel.
fn of_daemon(line: &str) -> Option<OfDaemon<'_>> {
    let (stamp, rest) = stamp::stamp(line);
    let mut rest = rest;
    for _ in 0..3 {
        // QNAP: the stamp, then the priority.
        if let Some(text) = without_priority(rest).filter(|_| stamp.is_some()) {
            let (boot, text) = without_kernel_stamp(text);
            return Some(OfDaemon { stamp, boot, of_kernel: true, text });
        }
        let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
        if word == "kernel:" {
            let message = after.trim();
            let (boot, text) = without_kernel_stamp(without_priority(message).unwrap_or(message));
            return Some(OfDaemon { stamp, boot, of_kernel: true, text });
        }
        if word.len() > 1 && word.ends_with(':') {
            return stamp.map(|stamp| OfDaemon {
                stamp: Some(stamp),
                boot: None,
                of_kernel: false,
                text: after.trim(),
            });
        }
        rest = after.trim_start();
    }
    None
}

/// A line that a syslog daemon wrote for the kernel: when, and the message without stamp, host name, tag and the stamp
/// of the kernel. `None` for lines of other programs. The stamp is `None` where it is of an unknown form.
pub fn syslog(line: &str) -> Option<(Option<Stamp>, &str)> {
    of_daemon(line).filter(|found| found.of_kernel).map(|found| (found.stamp, found.text))
}

/// The message without a leading `[ 1234.567890]`, and that stamp.
fn without_kernel_stamp(message: &str) -> (Option<f64>, &str) {
    let inner = message.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match inner.and_then(|(inner, rest)| Some((seconds(inner.trim())?, rest))) {
        Some((boot, rest)) => (Some(boot), without_caller(rest).trim_start()),
        None => (None, message),
    }
}

/// A line of `journalctl -o json`.
fn json(line: &str) -> Option<Printed<'_>> {
    if !line.contains("\"MESSAGE\"") {
        return None;
    }
    let fields: Value = serde_json::from_str(line).ok()?;
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let microseconds: Option<f64> = text("__REALTIME_TIMESTAMP").and_then(|text| text.parse().ok());
    Some(Printed {
        when: microseconds.map(|us| When::Clock(Stamp::Absolute(us / 1e6))),
        boot: None,
        of_kernel: text("_TRANSPORT") == Some("kernel"),
        text: text("MESSAGE")?.trim().to_owned().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_dmesg() {
        let boot = |seconds| Some(When::Boot(seconds));
        for (line, when, text) in [
            ("[   12.345678] eth0: x", boot(12.345_678), "eth0: x"),
            ("[2876130.147704] br-lan: x", boot(2_876_130.147_704), "br-lan: x"),
            ("[ 2.541813] ixgbe 0000:82:00.0: x", boot(2.541_813), "ixgbe 0000:82:00.0: x"),
            ("<6>[    7.100000] x: y", boot(7.1), "x: y"),
            ("<4>x: y", None, "x: y"),
            ("kern  :info  : [    0.500000] x", boot(0.5), "x"),
            ("[    0.500000][    T1] x", boot(0.5), "x"),
            ("[    1.500000 <    0.000012>] x", boot(1.5), "x"),
            ("[  +0.100000] x", Some(When::After(0.1)), "x"),
            ("[ ] igc x", None, "igc x"),
            ("[Mar23 13:30] x", Some(When::Clock(Stamp::Yearless { month: 3, day: 23, second: 48_600 })), "x"),
            ("[Fri Dec 31 12:41:02 2021] x", Some(When::Clock(Stamp::Local(1_640_954_462.0))), "x"),
            ("[   12.500000] host1 kernel: igc x", boot(12.5), "igc x"),
        ] {
            let wanted = Printed { when, boot: None, of_kernel: true, text: text.into() };
            assert_eq!(printed(line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn other_programs_are_told_from_the_kernel() {
        for line in [
            "[   12.500000] systemd[1]: x",
            "[   12.500000] host1 NetworkManager[777]: x",
            "daemon:info  : [    0.500000] x",
            "Fri Dec 31 12:41:02 2021 daemon.notice netifd: x",
            "Feb 10 00:00:01 host1 systemd[1]: x",
        ] {
            let found = printed(line).unwrap();
            assert!(!found.of_kernel && found.when.is_some() && found.text == "x", "{line}: {found:?}");
        }
        let line = r#"{"MESSAGE":"eth0: link up","_TRANSPORT":"kernel","__REALTIME_TIMESTAMP":"1640954462500000"}"#;
        let found = printed(line).unwrap();
        assert!(found.of_kernel && found.text == "eth0: link up");
        assert_eq!(found.when, Some(When::Clock(Stamp::Absolute(1_640_954_462.5))));
    }

    #[test]
    fn a_daemons_line_bears_both_stamps() {
        let found = printed("Fri Dec 31 12:41:02 2021 kern.info kernel: [58437.485179] igc x").unwrap();
        assert_eq!((found.boot, found.of_kernel, &*found.text), (Some(58_437.485_179), true, "igc x"));
        let found = printed("2021-12-31 13:41:02 +01:00 <4> [  112.123456] igc x").unwrap();
        assert_eq!((found.boot, &*found.text), (Some(112.123_456), "igc x"));
        assert_eq!(printed("kernel: igc x").unwrap().text, "igc x");
    }

    #[test]
    fn other_outputs_are_no_logs() {
        for line in [
            "[  5]   0.00-1.00   sec   489 KBytes  4.01 Mbits/sec",
            "[ ID] Interval",
            "[SUM]   0.00-10.00  sec",
            "[drm] RC6 on",
            "[PF_RING] Welcome",
            "[root@host1 ~]# x",
            "rx_packets: 5",
            "Speed: 1000Mb/s",
            "{",
            "<1>x>",
            "",
        ] {
            let is_priority = line.starts_with("<1>");
            assert_eq!(printed(line).is_some(), is_priority, "{line}");
        }
    }

    #[test]
    fn lines_of_the_kernel_are_found_and_stripped() {
        let line = "Feb  4 09:34:10 compute4 kernel: [    0.126254] audit: initializing netlink subsys (disabled)";
        let (stamp, text) = syslog(line).unwrap();
        assert_eq!(stamp, Some(Stamp::Yearless { month: 2, day: 4, second: 34450 }));
        assert_eq!(text, "audit: initializing netlink subsys (disabled)");
        let line = "2026-02-10T09:34:10.500000+01:00 box kernel: igb 0000:01:00.0 eth0: NIC Link is Down";
        let (stamp, text) = syslog(line).unwrap();
        assert_eq!(stamp, Some(Stamp::Absolute(1_770_712_450.5)));
        assert_eq!(text, "igb 0000:01:00.0 eth0: NIC Link is Down");
        let line = "Jan  1 00:00:09 nas kern.info kernel: [    9.1] eth0: link up";
        assert_eq!(syslog(line).unwrap().1, "eth0: link up");
        assert_eq!(syslog("box kernel: eth0: link up"), Some((None, "eth0: link up")));
        for other in [
            "Feb 10 00:00:01 compute4 systemd[1]: logrotate.service: Succeeded.",
            "Feb 10 00:00:01 compute4 bot: they said kernel: boo",
            "Feb 10 00:00:01 compute4 mykernel: boo",
            "",
        ] {
            assert_eq!(syslog(other), None, "{other}");
        }
    }
}
