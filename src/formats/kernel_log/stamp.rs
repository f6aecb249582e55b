//! When a line of a log was written: the stamps of the kernel, of syslog daemons, of the journal and of BusyBox.

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
    /// Seconds since 1970 in the local time of the host: a stamp with a year and without a zone.
    Local(f64),
}

impl Stamp {
    /// Seconds since 1970. A stamp without a year is of the last year that does not put it more than a day ahead of
    /// `now`; `offset` is what local time is ahead of universal time. `None` for a day that no recent year has.
    pub fn seconds(self, now: f64, offset: f64) -> Option<f64> {
        let (month, day, second) = match self {
            Self::Absolute(seconds) => return Some(seconds),
            Self::Local(seconds) => return Some(seconds - offset),
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

/// The time stamp at the beginning of a line, and what follows it.
pub(super) fn stamp(line: &str) -> (Option<Stamp>, &str) {
    let Some((first, rest)) = line.split_once(' ') else { return (None, line) };
    if let Some(seconds) = iso(first) {
        return (Some(Stamp::Absolute(seconds)), rest);
    }
    if let Some(seconds) = unix(first) {
        return (Some(Stamp::Absolute(seconds)), rest);
    }
    let forms: [fn(&str) -> Option<(Stamp, &str)>; 4] = [classic, ctime, spaced, with_weekday];
    match forms.iter().find_map(|form| form(line)) {
        Some((stamp, rest)) => (Some(stamp), rest),
        None => (None, line),
    }
}

/// `Fri 2021-12-31 12:41:02 CET`, as `journalctl -o short-full` prints it.
fn with_weekday(line: &str) -> Option<(Stamp, &str)> {
    spaced(word(line).filter(|(day, _)| is_weekday(day))?.1)
}

/// Seconds since 1970 as `journalctl -o short-unix` prints them.
fn unix(text: &str) -> Option<f64> {
    let (whole, fraction) = text.split_once('.')?;
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (whole.len() == 10 && fraction.len() == 6 && digits(whole) && digits(fraction)).then(|| text.parse().ok())?
}

fn is_weekday(word: &str) -> bool {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&word)
}

/// 1 to 12.
fn month(name: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    MONTHS.iter().position(|month| *month == name).map(|at| at as u32 + 1)
}

/// The next word and what follows it, without the spaces between.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    let end = text.find(' ').unwrap_or(text.len());
    (end > 0).then(|| (&text[..end], text[end..].trim_start_matches(' ')))
}

/// `Feb  4 09:34:10`.
fn classic(line: &str) -> Option<(Stamp, &str)> {
    let (name, rest) = word(line)?;
    let month = month(name)?;
    let (day, rest) = word(rest)?;
    let day: u32 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    let (clock, rest) = word(rest)?;
    Some((Stamp::Yearless { month, day, second: clock_seconds(clock)?.0 }, rest))
}

/// `Fri Dec 31 12:41:02 2021`, as `dmesg -T` and BusyBox print it; `date` puts a zone before the year.
pub fn ctime(line: &str) -> Option<(Stamp, &str)> {
    let (_, rest) = word(line).filter(|(day, _)| is_weekday(day))?;
    let (name, rest) = word(rest)?;
    let (day, rest) = word(rest)?;
    let (clock, rest) = word(rest)?;
    let (mut year, mut rest) = word(rest)?;
    if year.len() <= 5 && year.bytes().all(|byte| byte.is_ascii_uppercase()) {
        (year, rest) = word(rest)?;
    }
    let days = days(year.parse().ok()?, month(name)?, day.parse().ok()?)?;
    let (second, fraction) = clock_seconds(clock)?;
    Some((Stamp::Local(days as f64 * DAY + f64::from(second) + fraction), rest))
}

/// `Mar23 13:30` and `Mar 3 13:30`: minutes of `dmesg -H`.
pub(super) fn minute(text: &str) -> Option<Stamp> {
    let (name, rest) = (text.get(..3)?, text.get(3..)?);
    let (day, rest) = word(rest)?;
    let (hour, minute) = rest.split_once(':')?;
    let (hour, minute): (u32, u32) = (hour.parse().ok()?, minute.trim_end().parse().ok()?);
    let day: u32 = day.parse().ok().filter(|day| (1..=31).contains(day))?;
    (hour < 24 && minute < 60).then_some(Stamp::Yearless {
        month: month(name)?,
        day,
        second: hour * 3600 + minute * 60,
    })
}

/// `2026-02-10 09:34:10`, perhaps with a zone behind it.
fn spaced(line: &str) -> Option<(Stamp, &str)> {
    let (date, rest) = word(line).filter(|(date, _)| date.len() == 10)?;
    let (clock, rest) = word(rest)?;
    if let Some((zone, after)) = word(rest)
        && zone.starts_with(['+', '-'])
        && let Some(seconds) = iso(&format!("{date}T{clock}{zone}"))
    {
        return Some((Stamp::Absolute(seconds), after));
    }
    let local = iso(&format!("{date}T{clock}Z"))?;
    let rest = match word(rest) {
        // The name of a zone, as `journalctl -o short-full` prints it.
        Some((zone, after)) if zone.len() <= 5 && zone.bytes().all(|byte| byte.is_ascii_uppercase()) => after,
        _ => rest,
    };
    Some((Stamp::Local(local), rest))
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

    #[test]
    fn stamps_with_a_year_and_without_a_zone() {
        // 2021-12-31T12:41:02Z is 1640954462.
        let local = Some(Stamp::Local(1_640_954_462.0));
        for text in [
            "Fri Dec 31 12:41:02 2021 kern.info kernel: x",
            "Fri Dec 31 12:41:02 CET 2021 kern.info kernel: x",
            "2021-12-31 12:41:02 kern.info kernel: x",
            "Fri 2021-12-31 12:41:02 CET kern.info kernel: x",
        ] {
            assert_eq!(stamp(text), (local, "kern.info kernel: x"), "{text}");
        }
        assert_eq!(stamp("2021-12-31 13:41:02 +01:00 <4> x"), (Some(Stamp::Absolute(1_640_954_462.0)), "<4> x"));
        assert_eq!(stamp("1640954462.250000 host kernel: x").0, Some(Stamp::Absolute(1_640_954_462.25)));
        assert_eq!(stamp("Feb 04 09:34:10.123456 host x").0, Some(Stamp::Yearless { month: 2, day: 4, second: 34450 }));
        assert_eq!(local.and_then(|stamp| stamp.seconds(0.0, 3600.0)), Some(1_640_950_862.0));
        for odd in ["Foo Dec 31 12:41:02 2021 x", "Fri Dec 32 12:41:02 2021 x", "Fri Dec 31 12:41:02", "2021-12-31 x y"]
        {
            assert_eq!(stamp(odd), (None, odd));
        }
        assert_eq!(minute("Mar23 13:30"), Some(Stamp::Yearless { month: 3, day: 23, second: 48_600 }));
        assert_eq!(minute("Mar 3 13:30"), Some(Stamp::Yearless { month: 3, day: 3, second: 48_600 }));
        assert_eq!((minute("Mar23 24:30"), minute("+1.0"), minute("")), (None, None, None));
    }
}
