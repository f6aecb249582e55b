//! /proc/PID/status.

/// What is needed of /proc/PID/status; `None` where the line is missing or odd.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcStatus {
    /// Name of the program, at most 15 bytes.
    pub name: Option<String>,
    /// Parent process.
    pub parent: Option<u32>,
    /// Effective capabilities.
    pub effective: Option<u64>,
}

/// Capability bit of network configuration (CAP_NET_ADMIN).
pub const CAP_NET_ADMIN: u64 = 1 << 12;
/// Capability bit of system administration (CAP_SYS_ADMIN), which the kernel asks of readers of PCI configuration.
pub const CAP_SYS_ADMIN: u64 = 1 << 21;

/// Reads /proc/PID/status.
pub fn parse(text: &str) -> ProcStatus {
    let mut status = ProcStatus::default();
    for line in text.lines() {
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match key {
            "Name" => status.name = Some(value.to_owned()),
            "PPid" => status.parent = value.parse().ok(),
            "CapEff" => status.effective = u64::from_str_radix(value, 16).ok(),
            _ => {}
        }
    }
    status
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_capabilities_are_read() {
        let status = parse("Name:\tcat\nPPid:\t22170\nCapInh:\t0000000000000000\nCapEff:\t000001fffeffffff\n");
        assert_eq!(status.name.as_deref(), Some("cat"));
        assert_eq!(status.parent, Some(22170));
        assert!(status.effective.unwrap() & CAP_NET_ADMIN != 0);
        assert_eq!(parse("PPid: x\nCapEff: zz"), ProcStatus::default());
    }
}
