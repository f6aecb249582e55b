//! /proc/cpuinfo.

/// What is needed of /proc/cpuinfo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuInfo {
    /// Processors listed.
    pub processors: u32,
    /// The x86 `hypervisor` flag; `None` where no flags are listed, as on other machines.
    pub hypervisor: Option<bool>,
}

/// Reads /proc/cpuinfo.
pub fn parse(text: &str) -> CpuInfo {
    let mut info = CpuInfo::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        match key.trim() {
            "processor" => info.processors += 1,
            "flags" if info.hypervisor.is_none() => {
                info.hypervisor = Some(value.split_ascii_whitespace().any(|flag| flag == "hypervisor"));
            }
            _ => {}
        }
    }
    info
}

/// The first value of a key such as `model name`.
pub fn first<'t>(text: &'t str, key: &str) -> Option<&'t str> {
    let row = |line: &'t str| line.split_once(':').filter(|(name, _)| name.trim() == key);
    text.lines().find_map(row).map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hypervisor_flag_needs_a_flags_line() {
        let x86 = "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n\nprocessor\t: 1\nflags\t\t: fpu\n";
        assert_eq!(parse(x86), CpuInfo { processors: 2, hypervisor: Some(true) });
        assert_eq!(parse("processor\t: 0\nflags\t\t: fpu nohypervisor\n").hypervisor, Some(false));
        assert_eq!(parse("processor\t: 0\nFeatures\t: fp asimd\n").hypervisor, None);
        assert_eq!(parse(""), CpuInfo::default());
    }

    #[test]
    fn the_first_cpu_speaks_for_all() {
        let text = "processor\t: 0\nmodel name\t: Xeon: E5\nmodel name\t: other\nbugs\t\t:\n";
        assert_eq!(first(text, "model name"), Some("Xeon: E5"));
        assert_eq!((first(text, "bugs"), first(text, "model")), (None, None));
    }
}
