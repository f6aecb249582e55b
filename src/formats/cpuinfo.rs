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

/// Who made the CPUs and what they are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// `GenuineIntel`, `AuthenticAMD`, `ARM` ...
    pub vendor: Option<String>,
    /// Model name; machines other than x86 often list none.
    pub model: Option<String>,
}

/// Implementers of ARM CPUs by their numbers, as the main identification register (MIDR_EL1) holds and lscpu(1) names them.
const IMPLEMENTERS: [(&str, &str); 14] = [
    ("0x41", "ARM"),
    ("0x42", "Broadcom"),
    ("0x43", "Cavium"),
    ("0x46", "FUJITSU"),
    ("0x48", "HiSilicon"),
    ("0x4e", "NVIDIA"),
    ("0x50", "APM"),
    ("0x51", "Qualcomm"),
    ("0x53", "Samsung"),
    ("0x56", "Marvell"),
    ("0x61", "Apple"),
    ("0x69", "Intel"),
    ("0x6d", "Microsoft"),
    ("0xc0", "Ampere"),
];

/// The identity of the first processor.
pub fn identity(text: &str) -> Identity {
    let mut identity = Identity::default();
    let mut processors = 0;
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = || Some(value.trim().to_owned()).filter(|value| !value.is_empty());
        match key.trim() {
            "processor" => processors += 1,
            "vendor_id" if identity.vendor.is_none() => identity.vendor = value(),
            "CPU implementer" if identity.vendor.is_none() => {
                let number = value();
                let named = IMPLEMENTERS.iter().find(|(code, _)| Some(*code) == number.as_deref());
                identity.vendor = named.map(|(_, name)| (*name).to_owned());
            }
            "model name" | "cpu" if identity.model.is_none() => identity.model = value(),
            _ => {}
        }
        if processors > 1 {
            break;
        }
    }
    identity
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

    #[test]
    fn the_first_processor_tells_who_made_them() {
        let x86 = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9354P\n\nprocessor\t: 1\n\
                   vendor_id\t: other\n";
        let made =
            |vendor: &str, model: Option<&str>| Identity { vendor: Some(vendor.into()), model: model.map(Into::into) };
        assert_eq!(identity(x86), made("AuthenticAMD", Some("AMD EPYC 9354P")));
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0xc0\nCPU part\t: 0xac3\n";
        assert_eq!(identity(arm), made("Ampere", None));
        assert_eq!(identity("processor : 0\nCPU implementer : 0xff\nvendor_id :\n"), Identity::default());
        assert_eq!(identity("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n").vendor, None);
    }
}
