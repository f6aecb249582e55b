//! /proc/uptime, and how `uptime`, `w` and `top` print it.

/// Seconds since boot out of /proc/uptime.
pub fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Seconds since boot, to the minute, out of `17:03:41 up 5 days, 18 min,  1 user,  load average: ...` or
/// `up 3 weeks, 1 day, 5 hours`.
pub fn printed(text: &str) -> Option<f64> {
    let (_, rest) = text.split_once("up ")?;
    let mut total = None;
    for piece in rest.split(',').map(str::trim) {
        let Some(seconds) = part(piece) else { break };
        total = Some(total.unwrap_or(0.0) + seconds);
    }
    total
}

/// `5 days`, `18 min`, `3:04`.
fn part(text: &str) -> Option<f64> {
    if let Some((hours, minutes)) = text.split_once(':') {
        let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
        return (minutes < 60).then(|| f64::from(hours) * 3600.0 + f64::from(minutes) * 60.0);
    }
    let mut words = text.split_ascii_whitespace();
    let number: u32 = words.next()?.parse().ok()?;
    let unit = match words.next()?.trim_end_matches('s') {
        "year" => 365.0 * 86_400.0,
        "week" => 7.0 * 86_400.0,
        "day" => 86_400.0,
        "hour" | "hr" => 3600.0,
        "min" | "minute" => 60.0,
        "sec" | "second" => 1.0,
        _ => return None,
    };
    words.next().is_none().then(|| f64::from(number) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_figure_counts() {
        assert_eq!(seconds("912.34 1800.01\n"), Some(912.34));
        for bad in ["", "x", "-1 2", "inf", "NaN"] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }

    #[test]
    fn printed_times_are_added_up() {
        for (text, wanted) in [
            (" 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74", 5 * 86_400 + 18 * 60),
            ("top - 16:20:04 up 30 days,  3:04,  2 users,  load average: 0.00", 30 * 86_400 + 3 * 3600 + 4 * 60),
            ("up 3 weeks, 1 day, 5 hours, 2 minutes", 22 * 86_400 + 5 * 3600 + 120),
            (" 11:00:00 up 55 min, load average: 0.00", 55 * 60),
            ("12:00  up 12 days, 22 hrs, 3 users", 12 * 86_400 + 22 * 3600),
        ] {
            assert_eq!(printed(text), Some(f64::from(wanted)), "{text}");
        }
        for bad in ["", "set up the link", "up and running", "up 1:75, x"] {
            assert_eq!(printed(bad), None, "{bad}");
        }
    }
}
