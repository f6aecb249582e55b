//! Schema of `knowledge/buses.yaml`: the constants of buses and protocols, each with its source.
//!
//! Sizes are bytes and shares are plain ratios unless a field says otherwise.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

macro_rules! schema {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $kind:ty,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $kind,)+
        }
    )+};
}

schema! {
    /// The whole file.
    Buses {
        /// Frames on the wire and the headers inside them.
        ethernet: Ethernet,
        /// PCI Express: link rates, packet costs, descriptor traffic.
        pcie: Pcie,
        /// Parallel PCI and PCI-X.
        pci: Pci,
        /// USB adapters.
        usb: Usb,
        /// PCIe tunnelled through Thunderbolt, by controller generation.
        thunderbolt: BTreeMap<String, TunnelRate>,
        /// Shapers and policers.
        traffic_control: TrafficControl,
        /// Windows and loss of a single TCP flow.
        tcp: Tcp,
        /// Where a measured result stands against a ceiling.
        verdict: Verdict,
    }

    /// One number and where it comes from.
    Figure {
        /// The number, in the unit of the field that holds it.
        value: f64,
        /// Document, specification, or how it was measured.
        source: String,
    }

    /// One whole number and where it comes from.
    Count {
        /// The number, in the unit of the field that holds it.
        value: u32,
        /// Document, specification, or how it was measured.
        source: String,
    }

    /// A short list of whole numbers and where it comes from.
    Counts {
        /// The numbers, ascending.
        value: Vec<u32>,
        /// Document, specification, or how it was measured.
        source: String,
    }

    /// A kernel version from which something holds.
    Since {
        /// Major and minor version.
        value: (u32, u32),
        /// The commit that changed it.
        source: String,
    }

    /// What share of the formula's figure is reached: at worst, usually, at best.
    Factors {
        /// Lowest share.
        lo: f64,
        /// Usual share.
        typical: f64,
        /// Highest share.
        hi: f64,
        /// What the shares were fitted on.
        source: String,
    }

    /// Ethernet framing and the protocols inside it.
    Ethernet {
        /// Preamble and start delimiter.
        preamble: Count,
        /// Addresses and type.
        header: Count,
        /// One 802.1Q tag.
        vlan_tag: Count,
        /// Frame check sequence.
        fcs: Count,
        /// Inter-frame gap.
        gap: Count,
        /// Shortest frame including the check sequence.
        minimum_frame: Count,
        /// IPv4 header.
        ipv4_header: Count,
        /// IPv6 header.
        ipv6_header: Count,
        /// TCP header without options.
        tcp_header: Count,
        /// TCP timestamp option with padding.
        tcp_timestamps: Count,
        /// UDP header.
        udp_header: Count,
        /// All RoCEv2 bytes inside the Ethernet payload that are not data.
        rdma_headers: Count,
        /// Payload sizes an RDMA path can have.
        rdma_mtus: Counts,
        /// Bytes that a tunnel takes from the underlay MTU, by tunnel name.
        tunnels: BTreeMap<String, Count>,
        /// Shares for a full-duplex link.
        range: Factors,
        /// Shares for a half-duplex link.
        half_duplex: Factors,
    }

    /// PCI Express.
    Pcie {
        /// Link rates, slowest first.
        generations: Vec<Generation>,
        /// Widest link the specification knows, in lanes.
        max_width: Count,
        /// Descriptors per fetch and packets per doorbell.
        descriptor_batch: Count,
        /// Payload of a receive doorbell.
        rx_doorbell: Count,
        /// Payload of a transmit doorbell.
        tx_doorbell: Count,
        /// Maximum read request size where it cannot be read.
        usual_mrrs: Count,
        /// Maximum payload sizes where it cannot be read.
        plausible_mps: PlausibleMps,
        /// Shares for network adapters.
        nic: Factors,
        /// Shares for DMA engines.
        dma: Factors,
        /// Lowest share shown where the formula is an upper bound only.
        upper_bound_lo: Figure,
        /// Packet rate above which the formula is an upper bound only, packets/s.
        trusted_packets_per_second: Figure,
        /// Profile of drivers that are not listed.
        default_profile: String,
        /// Descriptor traffic by profile name.
        profiles: BTreeMap<String, Profile>,
        /// Profile that replaces another when receive completions are compressed.
        compressed: BTreeMap<String, String>,
        /// Profile name by kernel driver.
        drivers: BTreeMap<String, String>,
        /// Chipset uplinks that Linux does not show as a PCIe link.
        uplinks: BTreeMap<String, Uplink>,
        /// Where root ports of a chipset are.
        chipset_ports: ChipsetPorts,
        /// Machines that reach each port by two PCIe paths.
        two_domains: TwoDomains,
    }

    /// Root ports that belong to a chipset, and so share its uplink with what else hangs there.
    ChipsetPorts {
        /// Vendor of the processor, as /proc/cpuinfo names it.
        vendor: String,
        /// Device numbers on bus 0.
        devices: Vec<u8>,
        /// Where it stands.
        source: String,
    }

    /// Machines whose network ports are reached by two PCIe paths in two domains.
    TwoDomains {
        /// Parts of the product name in the firmware tables.
        products: Vec<String>,
        /// Where it stands.
        source: String,
    }

    /// One PCIe generation.
    Generation {
        /// Name as people say it.
        name: String,
        /// Signalling rate per lane, GT/s.
        gigatransfers: f64,
        /// Bits (or bytes) that carry packets ...
        encoded: u32,
        /// ... out of this many on the wire.
        on_wire: u32,
        /// Framing, sequence number and link CRC of each packet.
        tlp_framing: u32,
        /// Header of a completion, or of a request below 4 GiB.
        header_3dw: u32,
        /// Header of a request with a 64-bit address.
        header_4dw: u32,
        /// Share of the link that clock compensation takes.
        skip_share: f64,
        /// Acknowledgement and credit bytes that each packet causes in the opposite direction.
        dllp_per_tlp: u32,
        /// The kernel's own integer figure per lane, Mbit/s.
        kernel_mbps_per_lane: u32,
        /// Whether published measurements support the formula for this generation.
        validated: bool,
        /// Where the figures come from.
        source: String,
    }

    /// Maximum payload sizes to consider when the register is not readable.
    PlausibleMps {
        /// Slow or single-lane links.
        small: Counts,
        /// Gen3 and later on x86.
        server: Counts,
        /// Platform not known.
        unknown: Counts,
    }

    /// Descriptor traffic of an adapter family, all figures per packet.
    Profile {
        /// Receive descriptor that the adapter reads.
        rx_descriptor: u32,
        /// Transmit descriptor that the adapter reads.
        tx_descriptor: u32,
        /// Receive completion bytes that the adapter writes.
        rx_completion: f64,
        /// PCIe writes that carry them.
        rx_completion_writes: f64,
        /// Transmit completion bytes that the adapter writes.
        tx_completion: f64,
        /// PCIe writes that carry them.
        tx_completion_writes: f64,
        /// Data sheet, header file, or assumption.
        source: String,
    }

    /// A chipset uplink.
    Uplink {
        /// Signalling rate per lane, GT/s.
        gigatransfers: f64,
        /// Lanes.
        width: u32,
        /// Where the figure comes from.
        source: String,
    }

    /// Parallel PCI and PCI-X.
    Pci {
        /// Shares of the burst formula for PCI-X.
        pcix: Factors,
        /// Shares of the gross rate for conventional PCI.
        conventional: Factors,
        /// Clocks that each burst costs beside its data.
        burst_clocks: Count,
        /// Time the host takes to answer a read, nanoseconds.
        read_delay_nanoseconds: Figure,
        /// Read sizes to consider when the command register is not readable.
        read_sizes: Counts,
        /// Largest write burst.
        write_burst: Count,
        /// Descriptor size.
        descriptor: Count,
        /// Kernel drivers whose cards all sit on parallel buses.
        drivers: PciDrivers,
        /// Buses by name.
        buses: BTreeMap<String, PciBus>,
    }

    /// Kernel drivers of cards for parallel PCI and PCI-X alone.
    PciDrivers {
        /// Their names.
        names: Vec<String>,
        /// Where it stands.
        source: String,
    }

    /// One parallel bus.
    PciBus {
        /// Data width, bit.
        bits: u32,
        /// Clock, MHz.
        megahertz: f64,
        /// PCI-X bursts (true) or conventional PCI (false).
        burst_protocol: bool,
        /// Specification.
        source: String,
    }

    /// USB adapters.
    Usb {
        /// Largest bulk packet.
        packet_payload: Count,
        /// Bytes around each bulk packet.
        packet_overhead: Count,
        /// Bytes an adapter adds to each frame.
        frame_header: Count,
        /// Shares of the formula for USB 3.
        range: Factors,
        /// Shares of the signalling rate for USB 2.
        usb2: Factors,
        /// Buses by name.
        buses: BTreeMap<String, UsbBus>,
    }

    /// One USB signalling rate.
    UsbBus {
        /// Signalling rate, bit/s.
        signalling_bps: f64,
        /// Bits that carry data ...
        encoded: u32,
        /// ... out of this many on the wire.
        on_wire: u32,
        /// USB 3 packets (true) or USB 2 (false).
        packet_protocol: bool,
        /// Specification.
        source: String,
    }

    /// PCIe payload rate through a tunnel.
    TunnelRate {
        /// Lowest, bit/s.
        lo_bps: f64,
        /// Usual, bit/s.
        typical_bps: f64,
        /// Highest, bit/s.
        hi_bps: f64,
        /// What it was fitted on.
        source: String,
    }

    /// Shapers and policers of the kernel's traffic control.
    TrafficControl {
        /// Shares of a shaper's rate that packets get.
        shaper: Factors,
        /// Shares of a policer's rate that TCP gets.
        policer: Factors,
    }

    /// Windows and loss of one TCP flow.
    Tcp {
        /// Default of tcp_adv_win_scale where the kernel still uses it.
        receive_share_scaled: Figure,
        /// First kernel that ignores tcp_adv_win_scale.
        receive_share_since: Since,
        /// Share of the receive buffer that becomes window on such a kernel.
        receive_share: Factors,
        /// Usual share with a jumbo MTU.
        receive_share_jumbo: Figure,
        /// MTU from which the jumbo share is used.
        jumbo_mtu: Count,
        /// First kernel whose explicit receive buffers get the full share.
        explicit_share_fixed: Since,
        /// Lowest share of an explicit receive buffer before that.
        explicit_share_lo: Figure,
        /// Share of the window that is in flight.
        fill: Factors,
        /// Share of the send buffer that is in flight.
        send_share: Factors,
        /// Constant of the loss formula.
        loss_constant: Figure,
        /// How far real flows depart from the loss formula.
        loss_spread: Factors,
    }

    /// Thresholds for a measured result.
    Verdict {
        /// Share of typical from which a part probably binds.
        close: Figure,
        /// Share of typical below which a result within the range may be bound by something else, where an input was assumed.
        near: Figure,
        /// Share of hi above which the model or an input is wrong.
        wrong: Figure,
        /// Link over bus from which the bus is called tight.
        tight: Figure,
        /// Streams a comparable test has.
        streams: Count,
        /// Seconds a comparable test lasts.
        seconds: Count,
        /// Rate from which a program with one thread may be what binds, bit/s.
        one_thread_bps: Figure,
    }
}
