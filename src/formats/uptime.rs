//! /proc/uptime and the line that `uptime` prints.

/// Seconds since boot.
pub fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
}

/// Seconds since boot of ` 17:03:41 up 5 days, 18 min,  1 user,  load average: ...`.
pub fn printed(text: &str) -> Option<f64> {
    let rest = text.split_once(" up ")?.1;
    if !rest.contains("load average") {
        return None;
    }
    let mut seconds = 0.0;
    for piece in rest.split(',').map(str::trim) {
        if let Some((hours, minutes)) =
            piece.split_once(':').filter(|(hours, _)| hours.bytes().all(|byte| byte.is_ascii_digit()))
        {
            let (hours, minutes): (f64, f64) = (hours.parse().ok()?, minutes.parse().ok()?);
            seconds += hours * 3600.0 + minutes * 60.0;
        } else {
            let (number, unit) = piece.split_once(' ')?;
            let scale = match unit.trim() {
                "min" => 60.0,
                "day" | "days" => 86_400.0,
                "sec" => 1.0,
                // Users, and whatever follows them.
                _ => break,
            };
            seconds += number.parse::<f64>().ok()? * scale;
        }
    }
    (seconds > 0.0).then_some(seconds)
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
    fn printed_in_words() {
        let minutes = |minutes: f64| Some(minutes * 60.0);
        for (text, wanted) in [
            (" 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74", minutes(5.0 * 1440.0 + 18.0)),
            ("top - 17:03:41 up 1 day,  2:05,  3 users,  load average: 0.00, 0.01, 0.05", minutes(1440.0 + 125.0)),
            (" 10:00:00 up 12 min, 0 users, load average: 0, 0, 0", minutes(12.0)),
            ("I look up 5 days", None),
            (" 10:00:00 up what, load average: 0", None),
        ] {
            assert_eq!(printed(text), wanted, "{text}");
        }
    }
}
