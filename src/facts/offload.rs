//! Offload features under the short names that `ethtool -k` is asked for.

use super::entry::{Access, Entry, Put};
use super::unit::Unit;
use crate::lang::{Type, Value};
use crate::reading::Reading;
use crate::snapshot::{Feature, Interface};

/// Short name, and the kernel's names for it; where there are several, the first that is on or could be, else the first that
/// the driver has.
const FEATURES: &[(&str, &[&str])] = &[
    ("gro", &["rx-gro"]),
    ("gro_hw", &["rx-gro-hw"]),
    ("gro_list", &["rx-gro-list"]),
    ("udp_gro_fwd", &["rx-udp-gro-forwarding"]),
    ("lro", &["rx-lro"]),
    ("gso", &["tx-generic-segmentation"]),
    ("tso", &["tx-tcp-segmentation"]),
    ("udp_segmentation", &["tx-udp-segmentation"]),
    ("udp_tnl_gso", &["tx-udp_tnl-segmentation"]),
    ("sg", &["tx-scatter-gather"]),
    ("rx_csum", &["rx-checksum"]),
    ("tx_csum", &["tx-checksum-ip-generic", "tx-checksum-ipv4", "tx-checksum-ipv6"]),
    ("rxvlan", &["rx-vlan-hw-parse"]),
    ("txvlan", &["tx-vlan-hw-insert"]),
    ("rxhash", &["rx-hashing"]),
    ("ntuple", &["rx-ntuple-filter"]),
    ("hw_tc", &["hw-tc-offload"]),
];

/// What of a feature is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    /// In use.
    Active,
    /// Not fixed by the driver.
    Changeable,
    /// Not in use although it could be.
    Off,
}

/// A view of one feature.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offload {
    names: &'static [&'static str],
    view: View,
}

impl Offload {
    fn name(self, interface: &Interface) -> Option<&'static str> {
        let features = interface.features.known()?;
        let held = || self.names.iter().copied().filter(|name| features.contains_key(*name));
        // tg3, bnx2x and qede have the generic check sum fixed at off, and that of IPv4 instead.
        held().find(|name| features[*name].active || features[*name].changeable).or_else(|| held().next())
    }

    /// The reading; absent where the kernel knows no such feature of this interface.
    pub(super) fn get(self, interface: &Interface) -> Reading<Value> {
        match &interface.features {
            Reading::Known(features, source) => match self.name(interface).map(|name| features[name]) {
                Some(Feature { active, changeable }) => {
                    let flag = match self.view {
                        View::Active => active,
                        View::Changeable => changeable,
                        View::Off => !active && changeable,
                    };
                    Reading::Known(Value::Bool(flag), *source)
                }
                None => Reading::Absent(*source),
            },
            Reading::Absent(source) => Reading::Absent(*source),
            Reading::Unknown(gap) => Reading::Unknown(*gap),
        }
    }

    /// Writes it; a feature that is set off is changeable.
    pub(super) fn set(self, interface: &mut Interface, put: &Put) -> Result<(), String> {
        let name = self.name(interface).unwrap_or(self.names[0]);
        let mut features = interface.features.known().cloned().unwrap_or_default();
        let source = match put {
            Put::Known(Value::Bool(flag), source) => {
                let feature = features.entry(name.into()).or_insert(Feature { active: true, changeable: true });
                match self.view {
                    View::Active => feature.active = *flag,
                    View::Changeable => feature.changeable = *flag,
                    View::Off => *feature = Feature { active: !flag, changeable: true },
                }
                *source
            }
            Put::Known(other, _) => return Err(format!("{other:?} is neither true nor false")),
            Put::Absent(source) => {
                features.remove(name);
                *source
            }
            Put::Unknown(gap) => {
                interface.features = Reading::Unknown(*gap);
                return Ok(());
            }
        };
        interface.features = Reading::Known(features, interface.features.source().unwrap_or(source));
        Ok(())
    }
}

/// Facts `iface.offload.*`.
pub(super) fn entries() -> Vec<Entry> {
    let views = [
        (View::Active, "active", "in use"),
        (View::Changeable, "changeable", "not fixed by the driver"),
        (View::Off, "off", "off although it could be on"),
    ];
    let mut entries = Vec::new();
    for (short, names) in FEATURES {
        for (view, word, doc) in views {
            entries.push(Entry {
                path: format!("offload.{short}.{word}"),
                kind: Type::Bool,
                unit: Unit::Plain,
                doc: format!("{}: {doc}", names[0]),
                command: "ethtool -k {if}",
                access: Access::Offload(Offload { names, view }),
            });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::SourceId;

    #[test]
    fn a_check_sum_that_the_driver_has_in_another_form() {
        let fixed = Feature { active: false, changeable: false };
        let off = Feature { active: false, changeable: true };
        let names = FEATURES.iter().find(|(short, _)| *short == "tx_csum").unwrap().1;
        let seen = |view, rows: &[(&str, Feature)]| {
            let features = rows.iter().map(|(name, feature)| ((*name).to_owned(), *feature)).collect();
            let interface = Interface { features: Reading::Known(features, SourceId::ASSUMED), ..Interface::default() };
            Offload { names, view }.get(&interface).known().cloned()
        };
        let both = [("tx-checksum-ip-generic", fixed), ("tx-checksum-ipv4", off)];
        assert_eq!(seen(View::Off, &both), Some(Value::Bool(true)));
        let none = [("tx-checksum-ip-generic", fixed), ("tx-checksum-ipv4", fixed)];
        assert_eq!(seen(View::Off, &none), Some(Value::Bool(false)));
        assert_eq!(seen(View::Off, &[]), None);
    }
}
