//! PCI functions of class network and the links between them and the root complex.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::counters::CounterBlock;
use super::section::section;
use super::words::PcieRole;
use crate::reading::{Bytes, Gigatransfers, Reading};

/// Address of a PCI function, for example `0000:01:00.0`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PciAddress {
    /// Domain (segment); more than 16 bits on some virtual machines.
    pub domain: u32,
    /// Bus.
    pub bus: u8,
    /// Device, 0 to 31.
    pub device: u8,
    /// Function, 0 to 7.
    pub function: u8,
}

impl PciAddress {
    /// The PCI function that a netdev belongs to, out of the resolved path of its device. A USB or Thunderbolt adapter lies
    /// below the PCI function of its controller, which is not its own.
    pub fn of_path(path: &str) -> Option<Self> {
        let mut found = None;
        for part in path.split('/') {
            if let Ok(address) = part.parse::<Self>() {
                found = Some(address);
            } else if found.is_some() && !part.starts_with("virtio") && !part.starts_with("pci") && !is_auxiliary(part)
            {
                return None;
            }
        }
        found
    }
}

/// Names of the auxiliary bus: driver, kind and number, such as `mlx5_core.sf.4`.
fn is_auxiliary(part: &str) -> bool {
    let mut pieces = part.split('.');
    let (Some(driver), Some(_), Some(number), None) = (pieces.next(), pieces.next(), pieces.next(), pieces.next())
    else {
        return false;
    };
    driver.starts_with(|c: char| c.is_ascii_alphabetic())
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
}

impl FromStr for PciAddress {
    type Err = String;

    /// Reads `0000:01:00.0` and, as `lspci` prints it without -D, `01:00.0`.
    fn from_str(text: &str) -> Result<Self, String> {
        let parse = || {
            let (front, function) = text.rsplit_once('.')?;
            let mut parts = front.rsplit(':');
            let (device, bus, domain) = (parts.next()?, parts.next()?, parts.next().unwrap_or("0"));
            let hex = |part: &str, digits: usize| {
                let plain = !part.is_empty() && part.len() <= digits && part.bytes().all(|b| b.is_ascii_hexdigit());
                plain.then(|| u32::from_str_radix(part, 16).ok()).flatten()
            };
            let address = Self {
                domain: hex(domain, 8)?,
                bus: u8::try_from(hex(bus, 2)?).ok()?,
                device: u8::try_from(hex(device, 2)?).ok().filter(|device| *device < 32)?,
                function: u8::try_from(hex(function, 1)?).ok().filter(|function| *function < 8)?,
            };
            parts.next().is_none().then_some(address)
        };
        parse().ok_or_else(|| format!("`{text}` is no PCI address such as 0000:01:00.0"))
    }
}

impl fmt::Display for PciAddress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:04x}:{:02x}:{:02x}.{:x}", self.domain, self.bus, self.device, self.function)
    }
}

impl Serialize for PciAddress {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PciAddress {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

section! {
    /// What the PCIe capability of a function says, apart from its links.
    Pcie {
        /// Maximum payload size in use (DevCtl MaxPayload).
        mps: Bytes,
        /// Largest payload size that the function supports (DevCap MaxPayload).
        mps_supported: Bytes,
        /// Maximum read request size in use (DevCtl MaxReadReq).
        mrrs: Bytes,
        /// Active state power management states that are enabled: `l0s`, `l1`, `l1.1`, `l1.2`; empty is off.
        aspm: Vec<String>,
        /// True where relaxed ordering is enabled (DevCtl RlxdOrd).
        relaxed_ordering: bool,
        /// True where the function sits on a bus that a hypervisor emulates: its link speed means nothing.
        virtual_root: bool,
        /// The links from the function up to the root port, nearest first. Absent for a function that is not PCIe.
        links: Vec<PcieLink>,
    }
}

/// One PCIe link, named by its two ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PcieLink {
    /// The end that faces the device.
    pub lower: PciAddress,
    /// The end that faces the root: the slot's port. Unknown where only the device itself could be read.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub upper: Reading<PciAddress>,
    /// What the upper end is.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub role: Reading<PcieRole>,
    /// Name of the physical slot of the upper end, as /sys/bus/pci/slots or the firmware tables give it.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub slot: Reading<String>,
    /// Current speed of one lane.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub speed: Reading<Gigatransfers>,
    /// Current number of lanes.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub width: Reading<u32>,
    /// Highest speed of the lower end.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub lower_speed_max: Reading<Gigatransfers>,
    /// Lanes of the lower end.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub lower_width_max: Reading<u32>,
    /// Highest speed of the upper end.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub upper_speed_max: Reading<Gigatransfers>,
    /// Lanes of the upper end.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub upper_width_max: Reading<u32>,
    /// True for a link inside a Thunderbolt or USB4 tunnel: its nominal figures mean nothing.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub tunnelled: Reading<bool>,
    /// Other functions below the upper end, apart from those of the same card.
    #[serde(default, skip_serializing_if = "Reading::is_unasked")]
    pub siblings: Reading<Vec<PciAddress>>,
}

/// A PCI function of class network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PciDevice {
    /// Its address.
    pub address: PciAddress,
    /// Base class and subclass, for example 0x0200 for an Ethernet controller.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub class: Reading<u16>,
    /// Vendor, device, subsystem vendor and subsystem device, for example `14e4:1750 14e4:2100`.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub id: Reading<String>,
    /// Name out of the PCI id list.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub name: Reading<String>,
    /// Driver that is bound to it; absent where there is none.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub driver: Reading<String>,
    /// Names of its network interfaces, in this namespace; empty where it has none.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub interfaces: Reading<Vec<String>>,
    /// NUMA node; absent where the firmware gives none (-1).
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub numa_node: Reading<u32>,
    /// The physical function that a virtual function belongs to; absent for a physical function.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub physical_function: Reading<PciAddress>,
    /// Type of its IOMMU domain: `DMA`, `DMA-FQ`, `identity`; absent without one.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub iommu: Reading<String>,
    /// Power state: `D0`, `D3hot` ...
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub power_state: Reading<String>,
    /// Driver that an administrator bound it to by name (`vfio-pci` ...); absent where there is none.
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub driver_override: Reading<String>,
    /// Errors by Advanced Error Reporting: group `aer` with `correctable.RxErr` ... `fatal.TLP` ...
    #[serde(skip_serializing_if = "Reading::is_unasked")]
    pub aer: Reading<CounterBlock>,
    /// PCIe capability and links.
    #[serde(skip_serializing_if = "Pcie::is_unasked")]
    pub pcie: Pcie,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_both_spellings_and_nothing_else() {
        let full: PciAddress = "0000:01:1f.7".parse().unwrap();
        assert_eq!(full, "01:1f.7".parse().unwrap());
        assert_eq!(full.to_string(), "0000:01:1f.7");
        assert_eq!("10000:01:00.0".parse::<PciAddress>().unwrap().domain, 0x10000);
        for bad in
            ["", "01:00", "1:2:3:4.0", "0000:01:20.0", "0000:01:00.8", "0000:+1:00.0", "zz:00.0", "0000:01:00.0.0"]
        {
            assert!(bad.parse::<PciAddress>().is_err(), "{bad}");
        }
    }
}
