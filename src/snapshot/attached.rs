//! What an interface hangs on besides PCI, and what only some kinds of interfaces have.

use super::counters::CounterBlock;
use super::section::{row, section};
use super::words::XdpMode;
use crate::reading::{BitsPerSecond, Decibel};

section! {
    /// A USB device with a network interface. Absent for any other.
    Usb {
        /// Vendor and product, for example `0bda:8156`.
        id: String,
        /// Speed of the bus in bit/s: 480 Mb/s, 5 Gb/s, 10 Gb/s ...
        speed: BitsPerSecond,
        /// Version of the standard that the device names, for example `3.20`.
        version: String,
        /// Name that the device gives.
        product: String,
    }
}

section! {
    /// An 802.11 interface. Absent for any other.
    Wireless {
        /// Signal of the access point.
        signal: Decibel,
        /// Rate of the last frame sent.
        tx_bitrate: BitsPerSecond,
        /// Rate of the last frame received.
        rx_bitrate: BitsPerSecond,
        /// Power saving is on.
        power_save: bool,
        /// Channel in MHz.
        frequency: u32,
        /// Name of the radio that it is of, as the kernel log and `iw phy` have it: `phy0`.
        phy: String,
    }
}

section! {
    /// A tunnel. Absent for any other interface.
    Tunnel {
        /// Address of the other end; absent for a tunnel with many.
        remote: String,
        /// Own outer address; absent where the route decides.
        local: String,
        /// UDP port of the other end.
        port: u32,
        /// VXLAN or Geneve network identifier.
        vni: u32,
        /// A program that reads packets from a tun device, for example `tailscaled`.
        program: String,
    }
}

section! {
    /// A bridge. Absent for any other interface.
    Bridge {
        /// Spanning tree protocol is on.
        stp: bool,
        /// VLAN filtering is on.
        vlan_filtering: bool,
        /// Its packets go through netfilter.
        netfilter: bool,
    }
}

section! {
    /// XDP program. Absent where none is attached.
    Xdp {
        /// Where it runs.
        mode: XdpMode,
        /// Name of the program.
        program: String,
    }
}

section! {
    /// What devlink says of the device behind the port.
    Devlink {
        /// Reporters of its health.
        health: Vec<HealthReporter>,
        /// Name of the package or application in its firmware, for example `ICE OS Default Package`.
        firmware_package: String,
    }
}

row! {
    /// A health reporter of devlink.
    HealthReporter {
        /// Its name: `fw`, `tx`, `rx` ...
        name = String,
        ;
        /// `healthy` or `error`.
        state: String,
        /// Errors since the driver was loaded.
        errors: u64,
    }
}

section! {
    /// The RDMA device of a port. Absent where there is none.
    Rdma {
        /// Name, for example `mlx5_0`.
        device: String,
        /// State of its port: `active`, `down` ...
        state: String,
        /// Its hardware counters.
        counters: CounterBlock,
    }
}
