//! Pure parsers of what tools print and /proc and /sys hold: one file per format, `&str` in, typed rows out, total on
//! any input. Used on live files and on captures alike.

pub mod assignments;
pub mod configured;
pub mod cpu_list;
pub mod cpuinfo;
pub mod cursor;
pub mod ethtool;
pub mod firmware;
pub mod glob;
pub mod interrupts;
pub mod iperf3;
pub mod kernel_log;
pub mod meminfo;
pub mod mountstats;
pub mod pci_link;
pub mod pid_stat;
pub mod proc_net;
pub mod proc_net_stat;
pub mod proc_rpc;
pub mod proc_stat;
pub mod proc_status;
pub mod shell;
pub mod sockstat;
pub mod softirqs;
pub mod softnet_stat;
pub mod sysctl;
pub mod uptime;
