//! Pure parsers of what tools print and /proc and /sys hold: one file per format, `&str` in, typed rows out, total on
//! any input. Used on live files and on captures alike.

pub mod assignments;
pub mod cpu_list;
pub mod cpu_mask;
pub mod cpuinfo;
pub mod cursor;
pub mod ethtool;
pub mod free;
pub mod ifconfig;
pub mod ip;
pub mod iperf3;
pub mod json;
pub mod kernel_log;
pub mod lscpu;
pub mod meminfo;
pub mod netstat;
pub mod nstat;
pub mod pci_link;
pub mod ping;
pub mod proc_net;
pub mod proc_net_dev;
pub mod proc_status;
pub mod shell;
pub mod sockstat;
pub mod softnet_stat;
pub mod ss;
pub mod sysctl;
pub mod sysstat;
pub mod top;
pub mod trace;
pub mod uname;
pub mod uptime;
pub mod vmstat;
