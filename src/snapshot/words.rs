//! Closed vocabularies, spelled as the kernel's tools spell them.

use serde::{Deserialize, Serialize};

/// A value out of a closed list of words.
pub trait Word: Sized + Copy + 'static {
    /// What the list is called in documentation.
    const NAME: &'static str;
    /// The words.
    const WORDS: &'static [&'static str];
    /// The word of this value.
    fn word(self) -> &'static str;
    /// The value of this word.
    fn from_word(word: &str) -> Option<Self>;
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident ($label:literal) { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$variant_doc])* #[serde(rename = $word)] $variant,)* }

        impl Word for $name {
            const NAME: &'static str = $label;
            const WORDS: &'static [&'static str] = &[$($word),*];

            fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            fn from_word(word: &str) -> Option<Self> {
                match word { $($word => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

words! {
    /// What an interface is to the kernel: ARPHRD type and link kind in one word.
    InterfaceKind ("interface kind") {
        /// An Ethernet device without a link kind: hardware, or hardware as a hypervisor shows it.
        Ethernet = "ethernet",
        /// The loopback device.
        Loopback = "loopback",
        /// An 802.11 device.
        Wifi = "wifi",
        /// An IP-over-InfiniBand device.
        Infiniband = "infiniband",
        /// One end of a veth pair.
        Veth = "veth",
        /// One end of a netkit pair.
        Netkit = "netkit",
        /// A Linux bridge.
        Bridge = "bridge",
        /// A bonding device.
        Bond = "bond",
        /// A team device.
        Team = "team",
        /// An 802.1Q or 802.1ad VLAN.
        Vlan = "vlan",
        /// A VXLAN tunnel.
        Vxlan = "vxlan",
        /// A Geneve tunnel.
        Geneve = "geneve",
        /// A GRE tunnel in any of its forms.
        Gre = "gre",
        /// IPIP, SIT or another IP-in-IP tunnel.
        Ipip = "ipip",
        /// A WireGuard tunnel.
        Wireguard = "wireguard",
        /// An IPsec interface.
        Xfrm = "xfrm",
        /// A tun or tap device.
        Tun = "tun",
        /// A macvlan device.
        Macvlan = "macvlan",
        /// A macvtap device.
        Macvtap = "macvtap",
        /// An ipvlan device.
        Ipvlan = "ipvlan",
        /// A dummy device.
        Dummy = "dummy",
        /// An intermediate functional block device.
        Ifb = "ifb",
        /// A virtual routing table.
        Vrf = "vrf",
        /// A MACsec device.
        Macsec = "macsec",
        /// An Open vSwitch internal port or datapath.
        Openvswitch = "openvswitch",
        /// A simulated device of the kernel's tests.
        Netdevsim = "netdevsim",
        /// Anything else.
        Other = "other",
    }
}

impl InterfaceKind {
    /// The kind for the kernel's name of a link kind (`IFLA_INFO_KIND`).
    pub fn of_link_kind(kind: &str) -> Self {
        match kind {
            "veth" => Self::Veth,
            "netkit" => Self::Netkit,
            "bridge" => Self::Bridge,
            "bond" => Self::Bond,
            "team" => Self::Team,
            "vlan" => Self::Vlan,
            "vxlan" => Self::Vxlan,
            "geneve" => Self::Geneve,
            "gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ip6erspan" => Self::Gre,
            "ipip" | "sit" | "ip6tnl" | "vti" | "vti6" => Self::Ipip,
            "wireguard" => Self::Wireguard,
            "xfrm" => Self::Xfrm,
            "tun" => Self::Tun,
            "macvlan" => Self::Macvlan,
            "macvtap" => Self::Macvtap,
            "ipvlan" | "ipvtap" => Self::Ipvlan,
            "dummy" => Self::Dummy,
            "ifb" => Self::Ifb,
            "vrf" => Self::Vrf,
            "macsec" => Self::Macsec,
            "openvswitch" => Self::Openvswitch,
            "netdevsim" => Self::Netdevsim,
            "ipoib" => Self::Infiniband,
            "wlan" => Self::Wifi,
            "dsa" => Self::Ethernet,
            _ => Self::Other,
        }
    }
}

words! {
    /// RFC 2863 operational state as rtnetlink reports it.
    OperState ("operational state") {
        /// The driver does not say.
        Unknown = "unknown",
        /// The device is gone.
        NotPresent = "notpresent",
        /// No carrier, or administratively down.
        Down = "down",
        /// The layer below is down.
        LowerLayerDown = "lowerlayerdown",
        /// In a test mode.
        Testing = "testing",
        /// Waiting for an event such as 802.1X.
        Dormant = "dormant",
        /// Passes packets.
        Up = "up",
    }
}

words! {
    /// Duplex mode.
    Duplex ("duplex") {
        /// One direction at a time.
        Half = "half",
        /// Both directions.
        Full = "full",
    }
}

words! {
    /// The connector as ethtool's `Port` reports it.
    PortType ("port type") {
        /// Twisted pair.
        Tp = "tp",
        /// Attachment unit interface.
        Aui = "aui",
        /// Media independent interface.
        Mii = "mii",
        /// Optical fibre.
        Fibre = "fibre",
        /// Coaxial cable.
        Bnc = "bnc",
        /// Direct attach copper.
        Dac = "dac",
        /// No connector: a backplane, or an empty cage.
        None = "none",
        /// Anything else.
        Other = "other",
    }
}

words! {
    /// What a bridge on the way up to the root complex is.
    PcieRole ("PCIe port role") {
        /// A port of the root complex.
        RootPort = "root_port",
        /// The port of a switch that faces the root.
        SwitchUpstream = "switch_upstream",
        /// A port of a switch that faces the devices.
        SwitchDownstream = "switch_downstream",
        /// A bridge from PCIe to conventional PCI.
        PciBridge = "pci_bridge",
        /// A bridge whose role could not be read.
        Bridge = "bridge",
    }
}

words! {
    /// Where an XDP program runs.
    XdpMode ("XDP mode") {
        /// In the driver.
        Native = "native",
        /// In the stack, after the kernel made a packet of it.
        Generic = "generic",
        /// In the NIC.
        Offload = "offload",
    }
}

words! {
    /// The bus that an interface hangs on.
    Bus ("bus") {
        /// PCI or PCIe.
        Pci = "pci",
        /// USB.
        Usb = "usb",
        /// A paravirtual bus: virtio, VMBus, Xen.
        Virtual = "virtual",
        /// A part of the chip itself.
        Platform = "platform",
        /// None: made by software.
        None = "none",
        /// Anything else, such as FireWire or PCMCIA.
        Other = "other",
    }
}

words! {
    /// Where a snapshot comes from.
    SampleSource ("source of the snapshot") {
        /// This host, now.
        Live = "live",
        /// A support bundle of netdoctor, or a fixture in its form.
        Bundle = "bundle",
        /// A sosreport.
        Sosreport = "sosreport",
        /// A supportconfig.
        Supportconfig = "supportconfig",
        /// Text pasted from a terminal.
        Transcript = "transcript",
        /// A folder of command outputs.
        Directory = "directory",
    }
}
