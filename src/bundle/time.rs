//! The time of day in figures, in UTC.

/// Year, month, day, hour, minute and second of a time in seconds since 1970.
fn parts(seconds: u64) -> (u64, u64, u64, u64, u64, u64) {
    // Days since 1 March of year 0, so that a leap day ends its year; an era has 400 years.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (month, day) = (if month < 10 { month + 3 } else { month - 9 }, of_year - (153 * month + 2) / 5 + 1);
    let year = era * 400 + year + u64::from(month <= 2);
    (year, month, day, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}

/// `2026-12-01T15:30:00Z`.
pub(super) fn stamp(seconds: u64) -> String {
    let (year, month, day, hour, minute, second) = parts(seconds);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// `20261201-153000`, for names of files.
pub(super) fn short(seconds: u64) -> String {
    let (year, month, day, hour, minute, second) = parts(seconds);
    format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_become_dates() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_796_138_999, "2026-12-01T15:29:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(stamp(seconds), wanted);
        }
        assert_eq!(short(951_782_399), "20000228-235959");
    }
}
