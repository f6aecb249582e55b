//! Figures as a person reads them. Every format prints floats through this file, so equal figures look equal.

/// Narrow no-break space between groups of digits; the text format prints it as a plain space.
pub const THIN: char = '\u{202f}';

const RATES: [(f64, &str, &str); 5] =
    [(1e12, "Tb/s", "T"), (1e9, "Gb/s", "G"), (1e6, "Mb/s", "M"), (1e3, "kb/s", "k"), (1.0, "b/s", "")];

/// A rate in bit/s with at most 3 significant digits: "2.35 Gb/s".
pub fn rate(bps: f64) -> String {
    rate_of(bps, 3)
}

/// A link speed as tables write it: "100G", "2.5G", "10M".
pub fn link_speed(bps: f64) -> String {
    if !bps.is_finite() {
        return "?".into();
    }
    let (scale, _, letter) = scale_of(bps, 3);
    format!("{}{letter}", significant(bps / scale, 3))
}

/// A range of rates in bit/s: "25-28 Gb/s". Three significant digits where the ends lie within 5 %, else two, and
/// two for low confidence. Ends that differ by less than 1 % are one figure: the typical one.
pub fn rate_range(lo: f64, typical: f64, hi: f64, low_confidence: bool) -> String {
    let spread = if hi > 0.0 { (hi - lo) / hi } else { 0.0 };
    let digits = if low_confidence || spread > 0.05 { 2 } else { 3 };
    if !(lo.is_finite() && hi.is_finite()) || spread < 0.01 {
        return rate_of(typical, digits);
    }
    let (scale, unit, _) = scale_of(hi, digits);
    let (low, high) = (significant(lo / scale, digits), significant(hi / scale, digits));
    if low == high { rate_of(typical, digits) } else { format!("{low}-{high} {unit}") }
}

fn rate_of(bps: f64, digits: i32) -> String {
    if !bps.is_finite() {
        return "unknown".into();
    }
    let (scale, unit, _) = scale_of(bps, digits);
    format!("{} {unit}", significant(bps / scale, digits))
}

fn scale_of(bps: f64, digits: i32) -> (f64, &'static str, &'static str) {
    let rounded = round(bps, digits).abs();
    RATES.into_iter().find(|(scale, ..)| rounded >= *scale).unwrap_or(RATES[4])
}

fn round(value: f64, digits: i32) -> f64 {
    significant(value, digits).parse().unwrap_or(value)
}

/// A float with at most that many significant digits and no trailing zeros: 2.3456 at 3 is "2.35", 12345 is "12300".
pub fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { "?".into() };
    }
    let magnitude = value.abs().log10().floor().clamp(-300.0, 300.0) as i32;
    let decimals = digits - 1 - magnitude;
    if decimals <= 0 {
        let step = 10f64.powi(-decimals);
        return format!("{:.0}", (value / step).round() * step);
    }
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A count with its digits grouped by [`THIN`] from 10 000 on: "33 857", "1500".
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::with_capacity(digits.len() * 2);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(THIN);
        }
        out.push(c);
    }
    out
}

/// A count and its noun: "1 check", "2 checks".
pub fn plural(n: usize, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", count(n as u64))
}

/// A share of one as people compare it: "0.19 %", and below a hundredth of a per cent "1 in 40 000 000".
pub fn share(ratio: f64) -> String {
    if ratio >= 1e-4 || ratio <= 0.0 || !ratio.is_finite() {
        return format!("{} %", significant(ratio * 100.0, 3));
    }
    let one_in: f64 = round(1.0 / ratio, 2);
    format!("1 in {}", count(one_in as u64))
}

/// A duration: "0.5 s", "3 s", "1 min 30 s", "2 h 5 min", "31 d 4 h".
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 60.0 {
        return format!("{} s", significant(seconds, 3));
    }
    let whole = seconds.round() as u64;
    let (big, big_unit, small, small_unit) = match whole {
        0..3600 => (whole / 60, "min", whole % 60, "s"),
        3600..86400 => (whole / 3600, "h", whole % 3600 / 60, "min"),
        _ => (whole / 86400, "d", whole % 86400 / 3600, "h"),
    };
    if small == 0 {
        format!("{} {big_unit}", count(big))
    } else {
        format!("{} {big_unit} {small} {small_unit}", count(big))
    }
}

/// A size in bytes in binary units: "1500 B", "64 KiB", "6.25 MiB".
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 10_000 && !n.is_multiple_of(1024) || n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(value, if value >= 1000.0 { 4 } else { 3 }), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_digits() {
        for (bps, text) in [
            (2.345e9, "2.35 Gb/s"),
            (1e11, "100 Gb/s"),
            (1e10, "10 Gb/s"),
            (9.414e9, "9.41 Gb/s"),
            (9.4e8, "940 Mb/s"),
            (9.9999e8, "1 Gb/s"),
            (4e11, "400 Gb/s"),
            (1.6e12, "1.6 Tb/s"),
            (64_000.0, "64 kb/s"),
            (3.0, "3 b/s"),
            (0.0, "0 b/s"),
            (f64::NAN, "unknown"),
        ] {
            assert_eq!(rate(bps), text);
        }
        assert_eq!(link_speed(2.5e9), "2.5G");
        assert_eq!(link_speed(1e7), "10M");
    }

    #[test]
    fn ranges_have_the_digits_they_deserve() {
        assert_eq!(rate_range(2.49e10, 2.67e10, 2.83e10, false), "25-28 Gb/s");
        assert_eq!(rate_range(2.32e10, 2.34e10, 2.35e10, false), "23.2-23.5 Gb/s");
        assert_eq!(rate_range(2.32e10, 2.34e10, 2.35e10, true), "23-24 Gb/s");
        assert_eq!(rate_range(2.34e9, 2.353e9, 2.36e9, false), "2.35 Gb/s");
        assert_eq!(rate_range(9e8, 1e9, 1.2e9, true), "0.9-1.2 Gb/s");
        assert_eq!(rate_range(0.0, 0.0, 0.0, false), "0 b/s");
    }

    #[test]
    fn counts_are_grouped_from_five_digits() {
        assert_eq!(count(1500), "1500");
        assert_eq!(count(33_857), "33\u{202f}857");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(plural(1, "check"), "1 check");
    }

    #[test]
    fn small_shares_are_one_in_many() {
        for (ratio, text) in [
            (0.0019, "0.19 %"),
            (0.0001, "0.01 %"),
            (2.5e-8, "1 in 40\u{202f}000\u{202f}000"),
            (0.0, "0 %"),
            (f64::NAN, "? %"),
        ] {
            assert_eq!(share(ratio), text, "{ratio}");
        }
    }

    #[test]
    fn durations_and_sizes() {
        assert_eq!(duration(3.0), "3 s");
        assert_eq!(duration(0.5), "0.5 s");
        assert_eq!(duration(90.0), "1 min 30 s");
        assert_eq!(duration(2_692_800.0), "31 d 4 h");
        assert_eq!(bytes(1500), "1500 B");
        assert_eq!(bytes(65536), "64 KiB");
        assert_eq!(bytes(6_553_600), "6.25 MiB");
        assert_eq!(bytes(u64::MAX), "16 EiB");
    }
}
