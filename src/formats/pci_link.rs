//! Link speed and width as sysfs (`8.0 GT/s PCIe`, `8`) and lspci (`8GT/s`, `x8`) write them.

/// Giga-transfers per second. `None` for "Unknown" and for anything that PCIe does not have.
pub fn speed(text: &str) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (figure, unit) = text.split_at(end);
    if !unit.trim_start().starts_with("GT/s") {
        return None;
    }
    let speed: f64 = figure.parse().ok()?;
    (1..=6).filter_map(speed_of).find(|known| *known == speed)
}

/// Lanes. `None` for 0 and for the all-ones values 63 and 255 of a device that does not answer.
pub fn width(text: &str) -> Option<u32> {
    let text = text.trim();
    let lanes: u32 = text.strip_prefix('x').unwrap_or(text).parse().ok()?;
    [1, 2, 4, 8, 12, 16, 32].contains(&lanes).then_some(lanes)
}

/// Giga-transfers per second of a generation, as Link Capabilities and Link Status number them.
pub fn speed_of(generation: u8) -> Option<f64> {
    const SPEEDS: [f64; 6] = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0];
    SPEEDS.get(usize::from(generation.checked_sub(1)?)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_that_mean_nothing_are_none() {
        assert_eq!(speed("8.0 GT/s PCIe\n"), Some(8.0));
        assert_eq!(speed("2.5GT/s"), Some(2.5));
        assert_eq!(speed("5 GT/s"), Some(5.0));
        for bad in ["Unknown", "Unknown speed", "", "8.0", "0 GT/s", "9 GT/s", "1.2.3 GT/s"] {
            assert_eq!(speed(bad), None, "{bad}");
        }
        assert_eq!(width("8\n"), Some(8));
        assert_eq!(width("x16"), Some(16));
        for bad in ["0", "63", "255", "", "x", "-1", "3"] {
            assert_eq!(width(bad), None, "{bad}");
        }
    }
}
