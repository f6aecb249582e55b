//! /proc/uptime.

/// Seconds since boot.
pub fn seconds(text: &str) -> Option<f64> {
    let seconds: f64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
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
}
