//! Settings of the network that files keep for the next boot.

use super::section::row;

row! {
    /// A setting in a file.
    ConfiguredSetting {
        /// Who reads the file: `sysctl`, `systemd-link`, `systemd-networkd`, `NetworkManager`, `netplan`, `ifupdown`, `ifcfg`,
        /// `udev`, `tuned`, `modprobe`, `systemd-unit`, `script`.
        manager = String,
        /// The file.
        file = String,
        /// From 1.
        line = u32,
        /// Section or match that it stands below; empty for the whole host.
        scope = String,
        /// Key as the file spells it; of sysctl with dots.
        key = String,
        /// Value as the file spells it.
        value = String,
        ;
        /// True where no other file overrides it at boot.
        wins: bool,
    }
}
