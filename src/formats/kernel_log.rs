//! Lines of the kernel log: records of /dev/kmsg, and lines that a syslog daemon wrote.

/// A record of /dev/kmsg.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who wrote it: 0 is the kernel itself.
    pub facility: u32,
    /// Microseconds on the kernel's clock.
    pub stamp_us: u64,
    /// The message.
    pub text: String,
}

/// Reads one record: `6,1234,5678,-;message`, followed by lines of a dictionary that begin with a space.
pub fn record(bytes: &[u8]) -> Option<Record> {
    let bytes = bytes.split(|byte| *byte == b'\n').next()?;
    let at = bytes.iter().position(|byte| *byte == b';')?;
    let mut fields = std::str::from_utf8(&bytes[..at]).ok()?.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let stamp_us = fields.nth(1)?.parse().ok()?;
    Some(Record { facility: priority >> 3, stamp_us, text: unescape(&bytes[at + 1..]) })
}

/// The kernel writes what is not plain ASCII as `\xNN`. Control characters stay written so.
fn unescape(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let code = match rest {
            [b'\\', b'x', high, low, ..] => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .filter(|code| !code.is_ascii_control()),
            _ => None,
        };
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { tail };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// When a line of a log file was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stamp {
    /// Seconds since 1970, from a stamp with its time zone.
    Absolute(f64),
    /// Month, day and second of the day in the local time of the host, without a year.
    Yearless {
        /// 1 to 12.
        month: u32,
        /// 1 to 31.
        day: u32,
        /// 0 to 86,400.
        second: u32,
    },
}

impl Stamp {
    /// Seconds since 1970. A stamp without a year is of the last year that does not put it more than a day ahead of
    /// `now`; `offset` is what local time is ahead of universal time. `None` for a day that no recent year has.
    pub fn seconds(self, now: f64, offset: f64) -> Option<f64> {
        let (month, day, second) = match self {
            Self::Absolute(seconds) => return Some(seconds),
            Self::Yearless { month, day, second } => (month, day, second),
        };
        let this_year = year_of(((now + offset) / DAY).floor() as i64);
        (0..9).map(|back| this_year + 1 - back).find_map(|year| {
            let days = days(year, month, day)?;
            let seconds = days as f64 * DAY + f64::from(second) - offset;
            (seconds <= now + DAY).then_some(seconds)
        })
    }
}

const DAY: f64 = 86_400.0;

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Days from 1970-01-01; `None` for a day that the month does not have.
fn days(year: i64, month: u32, day: u32) -> Option<i64> {
    const BEFORE: [i64; 12] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    const LENGTH: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let at = usize::try_from(month.checked_sub(1)?).ok()?;
    let longer = is_leap(year) && month == 2;
    if day == 0 || day > *LENGTH.get(at)? + u32::from(longer) || !(1900..=9999).contains(&year) {
        return None;
    }
    let leap_days = |year: i64| year / 4 - year / 100 + year / 400;
    let before = (year - 1970) * 365 + leap_days(year - 1) - leap_days(1969);
    Some(before + BEFORE[at] + i64::from(is_leap(year) && month > 2) + i64::from(day) - 1)
}

fn year_of(day: i64) -> i64 {
    let mut year = 1970 + day.clamp(0, 2_900_000) / 366;
    while days(year + 1, 1, 1).is_some_and(|next| next <= day) {
        year += 1;
    }
    year
}

/// A line that a syslog daemon wrote for the kernel: when, and the message without stamp, host name, tag and the stamp
/// of the kernel. `None` for lines of other programs. The stamp is `None` where it is of an unknown form.
pub fn syslog(line: &str) -> Option<(Option<Stamp>, &str)> {
    let (stamp, rest) = stamp(line);
    // The host name, on BusyBox also `kern.info`, then the tag.
    let at = rest.find("kernel:")?;
    let front = &rest[..at];
    if !front.ends_with(' ') || front.split_ascii_whitespace().count() > 2 {
        return None;
    }
    let message = rest[at + "kernel:".len()..].trim();
    Some((stamp, without_kernel_stamp(message)))
}

/// The message without a leading `[ 1234.567890]`.
fn without_kernel_stamp(message: &str) -> &str {
    let inner = message.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match inner {
        Some((stamp, rest)) if stamp.trim().parse::<f64>().is_ok() => rest.trim_start(),
        _ => message,
    }
}

/// The time stamp at the beginning of a line, and what follows it.
fn stamp(line: &str) -> (Option<Stamp>, &str) {
    if let Some((first, rest)) = line.split_once(' ')
        && let Some(seconds) = iso(first)
    {
        return (Some(Stamp::Absolute(seconds)), rest);
    }
    match classic(line) {
        Some((stamp, rest)) => (Some(stamp), rest),
        None => (None, line),
    }
}

/// `Feb  4 09:34:10`.
fn classic(line: &str) -> Option<(Stamp, &str)> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (month, rest) = (line.get(..3)?, line.get(3..)?.strip_prefix(' ')?.trim_start());
    let month = MONTHS.iter().position(|name| *name == month)? as u32 + 1;
    let (day, rest) = rest.split_once(' ')?;
    let day: u32 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let (clock, rest) = rest.split_once(' ')?;
    Some((Stamp::Yearless { month, day, second: clock_seconds(clock)?.0 }, rest))
}

/// Seconds of the day and their fraction in `09:34:10.123`.
fn clock_seconds(clock: &str) -> Option<(u32, f64)> {
    let (clock, fraction) = match clock.find(['.', ',']) {
        Some(at) => (&clock[..at], format!("0.{}", &clock[at + 1..]).parse().ok()?),
        None => (clock, 0.0),
    };
    let mut parts = clock.split(':').map(|part| part.parse::<u32>().ok().filter(|_| part.len() == 2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    (hour < 24 && minute < 60 && second <= 60 && parts.next().is_none())
        .then_some((hour * 3600 + minute * 60 + second, fraction))
}

/// Seconds since 1970 of `2026-02-10T09:34:10.123456+01:00`.
fn iso(text: &str) -> Option<f64> {
    let (date, time) = text.split_once('T')?;
    let mut parts = date.splitn(3, '-');
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    let days = days(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?)?;
    let (clock, zone) = match time.find(['Z', '+', '-']) {
        Some(at) => time.split_at(at),
        None => return None,
    };
    let zone = if zone == "Z" {
        0
    } else {
        let digits: String = zone.get(1..)?.chars().filter(|char| *char != ':').collect();
        let digits: i32 = digits.parse().ok().filter(|_| digits.len() == 4)?;
        let seconds = digits / 100 * 3600 + digits % 100 * 60;
        if zone.starts_with('-') { -seconds } else { seconds }
    };
    let (second, fraction) = clock_seconds(clock)?;
    Some(days as f64 * DAY + f64::from(second) + fraction - f64::from(zone))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_kmsg_lose_their_dictionary_and_escapes() {
        let bytes = b"6,199,102815,-;igb 0000:01:00.0 eth\\x5c0: \\xc3\\xa9 \\x1b[31m\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n";
        let record = record(bytes).unwrap();
        assert_eq!((record.facility, record.stamp_us), (0, 102_815));
        assert_eq!(record.text, "igb 0000:01:00.0 eth\\0: \u{e9} \\x1b[31m");
        let other = super::record(b"30,700,5000000,-,caller=T1;systemd[1]: hello\n").unwrap();
        assert_eq!((other.facility, other.text.as_str()), (3, "systemd[1]: hello"));
        for bad in [&b""[..], b"x", b"6,1;x", b"6,1,z,-;x", b"\xff,1,2,-;x"] {
            assert_eq!(super::record(bad), None);
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

    #[test]
    fn a_year_is_guessed_backwards() {
        let at = |month, day| Stamp::Yearless { month, day, second: 3600 };
        // 2026-01-02T00:00:00Z.
        let now = 1_767_312_000.0;
        assert_eq!(at(1, 1).seconds(now, 0.0), Some(now - DAY + 3600.0));
        assert_eq!(at(12, 31).seconds(now, 0.0), Some(now - 2.0 * DAY + 3600.0));
        // An hour ahead is a clock that is wrong, not last year.
        assert_eq!(at(1, 2).seconds(now, 0.0), Some(now + 3600.0));
        // Local time of Berlin.
        assert_eq!(at(1, 1).seconds(now, 3600.0), Some(now - DAY));
        // Last in 2024.
        assert_eq!(at(2, 29).seconds(now, 0.0), Some(1_709_164_800.0 + 3600.0));
        assert_eq!(at(2, 30).seconds(now, 0.0), None);
        // The night of the year's end, in a zone ahead of universal time.
        let eve = 1_767_225_600.0 - 1800.0;
        assert_eq!(Stamp::Yearless { month: 1, day: 1, second: 1200 }.seconds(eve, 3600.0), Some(eve - 600.0));
        assert_eq!(days(1970, 1, 1), Some(0));
        assert_eq!(days(2000, 3, 1), Some(11_017));
        assert_eq!(year_of(11_016), 2000);
    }

    #[test]
    fn odd_stamps_are_none() {
        for odd in
            ["2026-02-30T00:00:00Z", "2026-02-10T25:00:00Z", "2026-02-10T00:00:00", "2026-02-10T1:2:3Z", "T", "T+"]
        {
            assert_eq!(iso(odd), None, "{odd}");
        }
        assert_eq!(iso("1970-01-01T00:00:00-0100"), Some(3600.0));
        assert!(classic("Feb 32 09:34:10 x").is_none() && classic("Fe\u{e9} 1").is_none());
    }
}
