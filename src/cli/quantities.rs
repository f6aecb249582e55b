//! Quantities as people type them: `100G`, `gen3x4`, `6MiB`, `10ms`.

/// Splits a number from the unit behind it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..at].parse().ok()?;
    number.is_finite().then_some((number, text[at..].trim()))
}

fn prefix(letter: &str, step: f64) -> Option<f64> {
    let power = match letter {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        _ => return None,
    };
    Some(step.powi(power))
}

/// A rate in bit/s: `100G`, `2.5Gb/s`, `940Mbit/s`, `12.5GB/s`, and `MiB/s` as perftest prints without the i.
pub(super) fn rate(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is no rate such as 100G, 2.5Gb/s, 940Mbit/s or 11600MiB/s");
    let (number, unit) = split(text).ok_or_else(bad)?;
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit: say {number}G or {number}M"));
    }
    let bare = unit.strip_suffix("ps").or_else(|| unit.strip_suffix("/s")).unwrap_or(unit);
    let (letter, each, step) = match bare {
        _ if bare.ends_with("iB") => (&bare[..bare.len() - 2], 8.0, 1024.0),
        _ if bare.ends_with('B') => (&bare[..bare.len() - 1], 8.0, 1000.0),
        _ if bare.ends_with("bit") => (&bare[..bare.len() - 3], 1.0, 1000.0),
        _ if bare.ends_with('b') => (&bare[..bare.len() - 1], 1.0, 1000.0),
        _ => (bare, 1.0, 1000.0),
    };
    let bps = number * each * prefix(letter, step).ok_or_else(bad)?;
    if bps > 0.0 && bps <= 1e15 { Ok(bps) } else { Err(format!("`{text}` is no possible rate")) }
}

/// A size in bytes: `6MiB`, `512k` (binary, as iperf3 and the kernel mean it), `1MB`, `65536`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is no size such as 65536, 512k, 6MiB or 1MB");
    let (number, unit) = split(text).ok_or_else(bad)?;
    let scale = match unit {
        "B" => Some(1.0),
        _ if unit.ends_with("iB") => prefix(&unit[..unit.len() - 2], 1024.0),
        _ if unit.ends_with('B') => prefix(&unit[..unit.len() - 1], 1000.0),
        _ => prefix(unit, 1024.0),
    };
    let bytes = number * scale.ok_or_else(bad)?;
    if (1.0..=1e15).contains(&bytes) { Ok(bytes.round() as u64) } else { Err(format!("`{text}` is no possible size")) }
}

/// A time in seconds: `10ms`, `250us`, `0.08s`.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is no time such as 250us, 10ms or 0.08s");
    let (number, unit) = split(text).ok_or_else(bad)?;
    let scale = match unit {
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "\u{b5}s" => 1e-6,
        "" => return Err(format!("`{text}` has no unit: say {number}ms")),
        _ => return Err(bad()),
    };
    let seconds = number * scale;
    if seconds > 0.0 && seconds <= 3600.0 {
        Ok(seconds)
    } else {
        Err(format!("`{text}` is no possible round-trip time"))
    }
}

/// A share between 0 and 1: `0.19%` or `0.0019`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let bad = || format!("`{text}` is no share such as 0.19% or 0.0019");
    let (number, unit) = split(text).ok_or_else(bad)?;
    let share = match unit {
        "" => number,
        "%" => number / 100.0,
        _ => return Err(bad()),
    };
    if share > 0.0 && share <= 1.0 { Ok(share) } else { Err(bad()) }
}

/// The first two parts of a kernel version: `v5.10`, `6.6.31-generic`.
pub(super) fn kernel(text: &str) -> Result<(u32, u32), String> {
    let mut parts = text.strip_prefix('v').unwrap_or(text).split(['.', '-', '+']);
    let mut next = || parts.next().and_then(|part| part.parse().ok());
    next().zip(next()).ok_or_else(|| format!("`{text}` is no kernel version such as v5.10"))
}

/// Signalling rate (GT/s) and lanes of a PCIe link: `gen3x4`, `Gen4 x16`, `8GT/s x4`, as `lspci` and people write it.
pub(super) fn pcie(text: &str) -> Result<(f64, u32), String> {
    let bad = || format!("`{text}` is no PCIe link such as gen3x4 or 8GT/s-x4");
    let lower = text.to_ascii_lowercase();
    let (front, lanes) = lower.rsplit_once('x').ok_or_else(bad)?;
    let lanes: u32 = lanes.trim().parse().map_err(|_| bad())?;
    if ![1, 2, 4, 8, 12, 16, 32].contains(&lanes) {
        return Err(format!("`{text}`: a PCIe link has 1, 2, 4, 8, 12, 16 or 32 lanes, not {lanes}"));
    }
    let front = front.trim_matches([' ', '-', ',', '.']);
    if let Some(speed) = front.strip_suffix("gt/s").or_else(|| front.strip_suffix("gt")) {
        let speed: f64 = speed.trim().parse().map_err(|_| bad())?;
        return Ok((speed, lanes));
    }
    let number = front.strip_prefix("pcie").unwrap_or(front).trim_matches([' ', '-']);
    let number = number.strip_prefix("gen").unwrap_or(number).trim_matches([' ', '-']);
    let speed = match number.strip_suffix(".0").unwrap_or(number) {
        "1" => 2.5,
        "2" => 5.0,
        "3" => 8.0,
        "4" => 16.0,
        "5" => 32.0,
        "6" => 64.0,
        _ => return Err(format!("`{text}`: the generations of PCIe are gen1 to gen6")),
    };
    Ok((speed, lanes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_and_bytes_are_said() {
        for (text, bps) in [
            ("100G", 1e11),
            ("2.5Gb/s", 2.5e9),
            ("940Mbit/s", 9.4e8),
            ("25gbit", 2.5e10),
            ("10 Gbps", 1e10),
            ("12.5GB/s", 1e11),
            ("1MiB/s", 8.0 * 1_048_576.0),
        ] {
            assert_eq!(rate(text), Ok(bps), "{text}");
        }
        for bad in ["", "100", "fast", "1e9G", "-1G", "0G", "10X", "1.2.3G", "G", "9999999T", "1ö"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
        assert!(rate("100").unwrap_err().contains("100G"), "an ambiguous number is told how to be one");
    }

    /// perftest divides by 0x100000 and prints MB/sec: 11678.83 of them are 97.97 Gb/s, not 93.4.
    #[test]
    fn the_megabytes_of_perftest_are_binary() {
        assert!((rate("11678.83MiB/s").unwrap() - 97.97e9).abs() < 0.01e9);
    }

    #[test]
    fn sizes_times_shares_and_versions() {
        assert_eq!(
            (size("6MiB"), size("512k"), size("1MB"), size("65536")),
            (Ok(6 << 20), Ok(512 << 10), Ok(1_000_000), Ok(65_536))
        );
        assert_eq!((seconds("10ms"), seconds("0.08s")), (Ok(0.01), Ok(0.08)));
        assert!((seconds("250us").unwrap() - 2.5e-4).abs() < 1e-12);
        assert_eq!((share("1%"), share("0.5")), (Ok(0.01), Ok(0.5)));
        assert_eq!((kernel("v5.10"), kernel("6.6.31-generic")), (Ok((5, 10)), Ok((6, 6))));
        for bad in ["", "x", "10", "0ms", "-1ms", "2h"] {
            assert!(seconds(bad).is_err(), "{bad}");
        }
        for bad in ["", "0", "six", "1PB", "-4k"] {
            assert!(size(bad).is_err(), "{bad}");
        }
        assert!(share("0").is_err() && share("101%").is_err() && share("1dB").is_err());
        assert!(kernel("six").is_err() && kernel("6").is_err());
    }

    #[test]
    fn pcie_links_in_their_spellings() {
        for text in ["gen3x4", "Gen3 x4", "3x4", "pcie3.0x4", "8GT/s x4", "8.0GT/s-x4", "PCIe Gen3 x4"] {
            assert_eq!(pcie(text), Ok((8.0, 4)), "{text}");
        }
        assert_eq!(pcie("gen6x16"), Ok((64.0, 16)));
        for bad in ["", "gen3", "gen7x4", "gen3x5", "gen3x", "x4", "gen3x99999999999", "öx4"] {
            assert!(pcie(bad).is_err(), "{bad}");
        }
    }
}
