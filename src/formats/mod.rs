//! Pure parsers of what tools print and /proc and /sys hold: one file per format, `&str` in, typed rows out, total on
//! any input. Used on live files and on captures alike.

pub mod assignments;
pub mod bonding;
pub mod bridging;
pub mod conntrack;
pub mod cpu_list;
pub mod cpu_mask;
pub mod cpuinfo;
pub mod cursor;
pub mod ethtool;
pub mod json;
pub mod kernel_log;
pub mod lspci;
pub mod meminfo;
pub mod pci_config;
pub mod pci_id;
pub mod pci_link;
pub mod per_cpu;
pub mod proc_net;
pub mod proc_status;
pub mod results;
pub mod shell;
pub mod softnet_stat;
pub mod sysctl;
pub mod tc;
pub mod team;
pub mod uptime;
pub mod vlan;
