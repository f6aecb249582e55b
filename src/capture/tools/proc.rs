//! Files of /proc: counters of interfaces, protocols, the receive softirq and sockets, and facts of the host.

use std::collections::{BTreeMap, BTreeSet};

use super::super::command::Command;
use super::super::site::sample_leaf;
use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::{
    conntrack, cpuinfo, meminfo, proc_net, proc_net_dev, proc_net_udp, proc_stat, sockstat, softnet_stat, uname, uptime,
};
use crate::reading::{Bytes, Reading, Seconds};
use crate::snapshot::UdpSocket;

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "/proc/net/dev",
        answers: |command| prints(command, "/proc/net/dev"),
        begins: |cursor| cursor.peek().is_some_and(|line| proc_net_dev::is_heading(line.text)),
        read: devices,
    },
    Tool {
        name: "/proc/net/snmp",
        answers: |command| prints(command, "/proc/net/snmp") || prints(command, "/proc/net/netstat"),
        begins: begins_pairs,
        read: pairs,
    },
    Tool {
        name: "/proc/net/snmp6",
        answers: |command| prints(command, "/proc/net/snmp6"),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.starts_with("Ip6InReceives ")),
        read: lines_of_snmp6,
    },
    Tool {
        name: "/proc/net/xfrm_stat",
        answers: |command| prints(command, "/proc/net/xfrm_stat"),
        begins: |cursor| cursor.peek().is_some_and(|line| xfrm_row(line.text).is_some()),
        read: lines_of_xfrm,
    },
    Tool {
        name: "/proc/net/udp",
        answers: |command| prints(command, "/proc/net/udp") || prints(command, "/proc/net/udp6"),
        begins: |cursor| cursor.peek().is_some_and(|line| proc_net_udp::is_heading(line.text)),
        read: datagrams,
    },
    Tool {
        name: "/proc/net/softnet_stat",
        answers: |command| prints(command, "/proc/net/softnet_stat"),
        begins: |cursor| cursor.peek().is_some_and(|line| softnet_row(line.text).is_some_and(|row| row.len() >= 9)),
        read: softnet,
    },
    Tool {
        name: "/proc/net/sockstat",
        answers: |command| prints(command, "/proc/net/sockstat") || prints(command, "/proc/net/sockstat6"),
        begins: |cursor| cursor.peek().is_some_and(|line| sockstat::row(line.text).is_some()),
        read: sockets,
    },
    Tool {
        name: "/proc/stat",
        answers: |command| prints(command, "/proc/stat"),
        begins: |cursor| {
            let row = |ahead| cursor.peek_at(ahead).and_then(|line| proc_stat::row(line.text));
            row(0).is_some_and(|row| row.cpu.is_none()) && row(1).is_some_and(|row| row.cpu.is_some())
        },
        read: times,
    },
    Tool {
        name: "conntrack",
        answers: |command| command.program == "conntrack" || prints(command, "/proc/net/stat/nf_conntrack"),
        begins: |cursor| cursor.peek().is_some_and(|line| conntrack::begins(line.text)),
        read: tracking,
    },
    Tool {
        name: "/proc/meminfo",
        answers: |command| prints(command, "/proc/meminfo"),
        begins: |cursor| cursor.peek().is_some_and(|line| meminfo::total(line.text).is_some()),
        read: memory,
    },
    Tool {
        name: "/proc/cpuinfo",
        answers: |command| prints(command, "/proc/cpuinfo"),
        begins: |cursor| {
            let begins = |ahead, key: &str| cursor.peek_at(ahead).is_some_and(|line| line.text.starts_with(key));
            begins(0, "processor\t: ") && (begins(1, "vendor_id\t: ") || begins(1, "BogoMIPS\t: "))
        },
        read: processors,
    },
    Tool {
        name: "/proc/uptime",
        answers: |command| prints(command, "/proc/uptime"),
        begins: |_| false,
        read: |cursor, intake| {
            let seconds = cursor.take_if(uptime::seconds);
            put_uptime(intake, seconds);
        },
    },
    Tool {
        name: "/proc/version",
        answers: |command| prints(command, "/proc/version"),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.starts_with("Linux version ")),
        read: |cursor, intake| {
            if let Some(found) = cursor.take_if(uname::parse) {
                super::host::put_uname(intake, &found);
            }
        },
    },
    Tool {
        name: "/proc/loadavg",
        answers: |command| prints(command, "/proc/loadavg"),
        begins: |_| false,
        read: |cursor, _| {
            cursor.take_if(|text| (text.split_ascii_whitespace().count() == 5 && text.contains('/')).then_some(()));
        },
    },
];

fn prints(command: &Command, path: &str) -> bool {
    command.files().contains(&path)
}

pub(super) fn put_uptime(intake: &mut Intake<'_>, seconds: Option<At<f64>>) {
    if let Some(seconds) = seconds {
        intake.site.put_host(|host| &mut host.uptime, seconds.map(Seconds));
    }
}

fn devices(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    for row in proc_net_dev::parse(cursor) {
        if is_interface_name(&row.value.name) {
            let rows = proc_net_dev::COLUMNS.iter().map(|name| (*name).to_owned()).zip(row.value.counters).collect();
            intake.site.counters(&row.value.name, "proc_net_dev", row.line, rows, false);
        }
    }
}

/// Counters of protocols, of which those with `Ext` in their name are in a file of their own.
pub(super) fn put_protocols(intake: &mut Intake<'_>, line: u32, rows: Vec<(String, u64)>, partial: bool) {
    let (extended, plain): (Vec<_>, Vec<_>) = rows
        .into_iter()
        .partition(|(name, _)| name.split('.').next().is_some_and(|protocol| protocol.ends_with("Ext")));
    for (group, rows) in [("snmp", plain), ("netstat", extended)] {
        if !rows.is_empty() {
            intake.site.host_counters(group, line, rows, partial);
        }
    }
}

const PROTOCOLS: [&str; 9] = ["Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite", "TcpExt", "IpExt", "MPTcpExt"];

/// Protocol of a line of /proc/net/snmp, and true where it holds names.
fn half(text: &str) -> Option<(&str, bool)> {
    let (protocol, rest) = text.split_once(": ")?;
    let known = PROTOCOLS.contains(&protocol);
    let mut words = rest.split_ascii_whitespace();
    let numbers = words.clone().all(|word| word.parse::<i128>().is_ok());
    let names = words.all(|word| word.starts_with(|char: char| char.is_ascii_uppercase()));
    (known && !rest.trim().is_empty() && (numbers || names)).then_some((protocol, !numbers))
}

fn begins_pairs(cursor: &Cursor<'_>) -> bool {
    let line = |ahead| cursor.peek_at(ahead).and_then(|line| half(line.text));
    matches!((line(0), line(1)), (Some((first, true)), Some((second, false))) if first == second)
}

fn pairs(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut text = String::new();
    let mut met: Vec<String> = Vec::new();
    let line = cursor.peek().map_or(0, |line| line.number);
    while let Some(next) = cursor.peek() {
        let Some((protocol, names)) = half(next.text) else { break };
        // A protocol that comes again begins the next sample.
        if names && met.iter().any(|held| held == protocol) {
            break;
        }
        if names {
            met.push(protocol.to_owned());
        }
        text.push_str(next.text);
        text.push('\n');
        cursor.take();
    }
    let partial = intake.is_filtered();
    put_protocols(intake, line, proc_net::pairs(&text), partial);
}

fn lines_of_snmp6(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let of_ipv6 = |text: &str| ["Ip6", "Icmp6", "Udp6", "UdpLite6"].iter().any(|begin| text.starts_with(begin));
    rows_of(cursor, intake, "snmp6", |text| of_ipv6(text).then(|| proc_net::lines(text).pop()).flatten());
}

/// `XfrmInNoStates          412`
fn xfrm_row(text: &str) -> Option<(String, u64)> {
    text.starts_with("Xfrm").then(|| proc_net::lines(text).pop()).flatten()
}

fn lines_of_xfrm(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    rows_of(cursor, intake, "xfrm_stat", xfrm_row);
}

/// Counters of the host, one on each line; the first name again begins the next sample.
fn rows_of(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>, group: &str, row: impl Fn(&str) -> Option<(String, u64)>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut rows: Vec<(String, u64)> = Vec::new();
    while let Some(next) = cursor.peek() {
        let Some(row) = row(next.text).filter(|row| rows.first().is_none_or(|first| first.0 != row.0)) else { break };
        rows.push(row);
        cursor.take();
    }
    let partial = intake.is_filtered();
    if !rows.is_empty() {
        intake.site.host_counters(group, line, rows, partial);
    }
}

/// Most UDP sockets that are kept.
const MOST_SOCKETS: usize = 4096;

/// The table of UDP sockets. It takes the place of what was known of the same addresses.
fn datagrams(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let rows = proc_net_udp::parse(cursor);
    let Some(first) = rows.first().map(|row| row.line).filter(|_| intake.site.namespace.is_empty()) else { return };
    let mut sockets = intake.site.snapshot.host.udp_sockets.known().cloned().unwrap_or_default();
    sockets.retain(|held| !rows.iter().any(|row| row.value.local == held.local));
    for At { value, line } in rows {
        let source = intake.site.source(line);
        let drops = value.drops.map_or_else(Reading::default, |drops| Reading::Known(drops, source));
        if sockets.len() < MOST_SOCKETS {
            sockets.push(UdpSocket {
                local: value.local,
                receive_queue: Reading::Known(Bytes(value.waiting), source),
                drops,
                ..UdpSocket::default()
            });
        }
    }
    let source = intake.site.source(first);
    intake.site.snapshot.host.udp_sockets = Reading::Known(sockets, source);
}

/// The columns of a line, each of eight digits.
fn softnet_row(text: &str) -> Option<Vec<u32>> {
    let column = |word: &str| (word.len() == 8).then(|| u32::from_str_radix(word, 16).ok()).flatten();
    let row: Option<Vec<u32>> = text.split_ascii_whitespace().map(column).collect();
    row.filter(|row| row.len() >= 3)
}

fn softnet(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut text = String::new();
    let mut first: Option<Vec<u32>> = None;
    while let Some(row) = cursor.peek().and_then(|next| softnet_row(next.text)) {
        // The number of the first CPU again begins the next sample.
        let cpu = |row: &Vec<u32>| row.get(softnet_stat::CPU).copied();
        if first.as_ref().is_some_and(|first| cpu(first).is_some() && cpu(first) == cpu(&row)) {
            break;
        }
        text.push_str(cursor.take().map_or("", |line| line.text));
        text.push('\n');
        first.get_or_insert(row);
    }
    // Kernels before 5.10 do not say which CPU a line is of: lines from the first one on are those of CPU 0, 1 ... as long as
    // none is off line.
    let picked = intake.command.is_some_and(|command| {
        command.program != "cat"
            || command.filters.iter().any(|filter| filter.first().is_some_and(|name| name != "head"))
    });
    let count = u32::try_from(text.lines().count()).unwrap_or(0);
    let all: Vec<u32> = (0..count).collect();
    let known = intake.site.snapshot.host.cpus.known().is_none_or(|cpus| *cpus == count);
    let online = (!picked && known).then_some(all.as_slice());
    let Some(rows) = softnet_stat::parse(&text, online) else { return };
    per_cpu(intake, &rows, line);
    let partial = intake.is_filtered();
    intake.site.host_counters("softnet_stat", line, rows, partial);
}

/// The counters of each CPU by itself.
fn per_cpu(intake: &mut Intake<'_>, rows: &[(String, u64)], line: u32) {
    let mut cpus: BTreeMap<u32, Vec<(String, u64)>> = BTreeMap::new();
    for (name, value) in rows {
        let Some((cpu, counter)) = name.strip_prefix("cpu").and_then(|rest| rest.split_once('.')) else { continue };
        if let Ok(cpu) = cpu.parse() {
            cpus.entry(cpu).or_default().push((counter.to_owned(), *value));
        }
    }
    for (number, rows) in cpus {
        let source = intake.site.source(line);
        super::cpu::row(intake, number, line, |cpu| sample_leaf(&mut cpu.softnet, "softnet_stat", source, rows, false));
    }
}

fn sockets(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(row) = cursor.take_if(sockstat::row) {
        for (name, value) in row.value.figures {
            put_gauge(intake, &format!("{}.{name}", row.value.protocol), value, row.line);
        }
    }
}

/// Most gauges that are kept.
const MOST_GAUGES: usize = 256;

/// Sets a gauge of the protocols by its name in /proc/net/sockstat: `TCP.orphan`.
pub(super) fn put_gauge(intake: &mut Intake<'_>, name: &str, value: u64, line: u32) {
    if !intake.site.namespace.is_empty() {
        return;
    }
    let mut gauges = intake.site.snapshot.host.sockstat.known().cloned().unwrap_or_default();
    if gauges.len() >= MOST_GAUGES {
        return;
    }
    gauges.insert(name.to_owned(), value);
    intake.site.put_host(|host| &mut host.sockstat, At::new(gauges, line));
}

/// Times of the CPUs; the group has the total and what a hypervisor withheld, for all and for each CPU.
fn times(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut rows: Vec<(String, u64)> = Vec::new();
    let mut met: BTreeSet<Option<u32>> = BTreeSet::new();
    while let Some(next) = cursor.peek() {
        let Some(row) = proc_stat::row(next.text) else {
            if !proc_stat::is_other(next.text) || met.is_empty() {
                break;
            }
            cursor.take();
            continue;
        };
        // A CPU that comes again begins the next sample.
        if !met.insert(row.cpu) {
            break;
        }
        cursor.take();
        let name = |name: &str| row.cpu.map_or_else(|| name.to_owned(), |cpu| format!("cpu{cpu}.{name}"));
        rows.push((name("total"), row.total()));
        rows.extend(row.named().filter(|(column, _)| *column == "steal").map(|(column, ticks)| (name(column), ticks)));
        if let Some(cpu) = row.cpu {
            let source = intake.site.source(next.number);
            let ticks = row.named().map(|(column, ticks)| (column.to_owned(), ticks)).collect();
            super::cpu::row(intake, cpu, next.number, |cpu| {
                sample_leaf(&mut cpu.times, "proc_stat", source, ticks, false);
            });
        }
    }
    if !rows.is_empty() {
        let partial = intake.is_filtered();
        intake.site.host_counters("proc_stat", line, rows, partial);
    }
}

fn tracking(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(mut found) = conntrack::parse(cursor) else { return };
    // Each network namespace counts for itself, and the snapshot has one host.
    if !intake.site.namespace.is_empty() {
        return;
    }
    if let Some(entries) = found.counters.remove("entries") {
        intake.site.put_host(|host| &mut host.conntrack.count, At::new(entries, found.line));
    }
    let partial = intake.is_filtered();
    let rows = found.counters.into_iter().collect();
    intake.site.host_counters("nf_conntrack_stat", found.line, rows, partial);
}

fn memory(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let row = |text: &str| {
        let (key, rest) = text.split_once(':')?;
        let mut words = rest.split_ascii_whitespace();
        let number = words.next().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        let unit = words.next().is_none_or(|unit| unit == "kB");
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_()".contains(&byte));
        (number && unit && plain).then(|| meminfo::total(text))
    };
    while let Some(row) = cursor.take_if(row) {
        if let Some(total) = row.value {
            intake.site.put_host(|host| &mut host.memory, At::new(Bytes(total), row.line));
        }
    }
}

fn processors(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let mut text = String::new();
    loop {
        let blank = usize::from(cursor.peek().is_some_and(|line| line.text.trim().is_empty()));
        let Some(next) = cursor.peek_at(blank).filter(|line| is_processor_row(line.text)) else { break };
        for _ in 0..=blank {
            cursor.take();
        }
        text.push_str(next.text);
        text.push('\n');
    }
    let found = cpuinfo::parse(&text);
    if found.processors > 0 && !intake.is_filtered() {
        intake.site.put_host(|host| &mut host.cpus, At::new(found.processors, line));
    }
    let site = &mut *intake.site;
    let text_of = |keys: &[&str]| {
        keys.iter().find_map(|key| cpuinfo::first(&text, key)).map(|value| At::new(value.to_owned(), line))
    };
    if let Some(vendor) = text_of(&["vendor_id"]) {
        site.put_host(|host| &mut host.processors.vendor, vendor);
    }
    if let Some(model) = text_of(&["model name"]) {
        site.put_host(|host| &mut host.processors.model, model);
    }
    if let Some(guest) = found.hypervisor {
        intake.site.put_host(|host| &mut host.is_guest, At::new(guest, line));
    }
}

/// `model name : ...`: a tab or a space stands before the colon.
fn is_processor_row(text: &str) -> bool {
    text.split_once(':').is_some_and(|(key, _)| {
        let plain = |char: char| char.is_ascii_alphanumeric() || " \t_()".contains(char);
        (key.ends_with([' ', '\t']) || key == "power management")
            && key.len() <= 32
            && !key.trim().is_empty()
            && key.chars().all(plain)
    })
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::snapshot::{CounterBlock, Snapshot};

    fn block<'s>(snapshot: &'s Snapshot, group: &str) -> &'s CounterBlock {
        snapshot.host.counters.known().unwrap().iter().find(|block| block.group == group).unwrap()
    }

    fn total(snapshot: &Snapshot, group: &str, name: &str) -> Option<u64> {
        block(snapshot, group).get(name).and_then(crate::snapshot::Counter::total)
    }

    #[test]
    fn protocols_find_their_groups_whoever_prints_them() {
        for text in [
            "$ cat /proc/net/snmp /proc/net/netstat\nTcp: RtoMin RetransSegs\nTcp: 200 54\nTcpExt: ListenOverflows\nTcpExt: 9\n",
            "$ nstat -az\n#kernel\nTcpRetransSegs 54 0.0\nTcpExtListenOverflows 9 0.0\n",
            "$ netstat -s\nTcp:\n    54 segments retransmitted\nTcpExt:\n    9 times the listen queue of a socket overflowed\n",
        ] {
            let (snapshot, understood) = one(text);
            assert_eq!(total(&snapshot, "snmp", "Tcp.RetransSegs"), Some(54), "{text}");
            assert_eq!(total(&snapshot, "netstat", "TcpExt.ListenOverflows"), Some(9), "{text}");
            assert_eq!(understood.left, []);
        }
        // Without -a these are increments.
        let (snapshot, understood) = one("$ nstat\n#kernel\nTcpRetransSegs 54 0.0\n");
        assert!(snapshot.host.counters.is_unasked() && understood.left.is_empty());
    }

    #[test]
    fn the_counters_of_a_container_are_not_those_of_the_host() {
        let pod = "$ kubectl exec p -- nstat -az TcpRetransSegs\nTcpRetransSegs 5 0.0\n";
        let own = "$ nstat -az TcpRetransSegs\nTcpRetransSegs 700 0.0\n";
        assert_eq!(total(&one(pod).0, "snmp", "Tcp.RetransSegs"), Some(5));
        for text in [format!("{pod}{own}"), format!("{own}{pod}")] {
            let (snapshot, _) = one(&text);
            assert_eq!(block(&snapshot, "snmp").get("Tcp.RetransSegs").unwrap().values, [Some(700)]);
        }
    }

    #[test]
    fn softnet_counts_for_each_cpu() {
        let row = |first: &str, cpu: &str| format!("{first} 00000001 00000002{} {cpu}\n", " 00000000".repeat(9));
        let text =
            format!("$ cat /proc/net/softnet_stat\n{}{}", row("00000010", "00000000"), row("00000020", "00000003"));
        let (snapshot, understood) = one(&text);
        assert_eq!(total(&snapshot, "softnet_stat", "processed"), Some(0x30));
        assert_eq!(total(&snapshot, "softnet_stat", "cpu3.dropped"), Some(1));
        let cpus = snapshot.host.cpu_list.known().unwrap();
        assert_eq!((cpus.len(), cpus[1].number, understood.left.len()), (2, 3, 0));
        assert_eq!(cpus[1].softnet.known().unwrap().get("processed").unwrap().total(), Some(0x20));
        // An old kernel names no CPU, and a line that a filter picked could be of any.
        let old = "00000010 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n";
        let (snapshot, _) = one(&format!("$ cat /proc/net/softnet_stat\n{old}{old}"));
        assert_eq!(total(&snapshot, "softnet_stat", "cpu1.processed"), Some(0x10));
        let (snapshot, _) = one(&format!("$ grep 10 /proc/net/softnet_stat\n{old}"));
        assert_eq!(total(&snapshot, "softnet_stat", "cpu0.processed"), None);
    }

    #[test]
    fn times_and_connection_tracking() {
        let text = "$ cat /proc/stat\ncpu  10 0 20 60 0 0 4 6 0 0\ncpu0 10 0 20 60 0 0 4 6 0 0\nintr 5 0\nctxt 7\n\
            $ conntrack -S\ncpu=0 found=0 insert_failed=2 drop=1\ncpu=1 found=0 insert_failed=5 drop=0\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        assert_eq!(
            (total(&snapshot, "proc_stat", "total"), total(&snapshot, "proc_stat", "cpu0.steal")),
            (Some(100), Some(6))
        );
        assert_eq!(total(&snapshot, "nf_conntrack_stat", "insert_failed"), Some(7));
        let cpu = &snapshot.host.cpu_list.known().unwrap()[0];
        assert_eq!(cpu.times.known().unwrap().get("softirq").unwrap().total(), Some(4));
    }

    #[test]
    fn tables_of_one_name_on_each_line() {
        let text = "$ cat /proc/net/xfrm_stat\nXfrmInError             \t0\nXfrmInNoStates          \t412\n\
            $ grep NoStates /proc/net/xfrm_stat\nXfrmInNoStates          \t415\n\
            $ cat /proc/net/udp\n  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops             \n\
            \u{20} 264: 00000000:0807 00000000:0000 07 00000000:00034100 00:00000000 00000000     0        0 20417 2 0000000000000000 8120447     \n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let block = block(&snapshot, "xfrm_stat");
        assert_eq!(block.get("XfrmInNoStates").unwrap().values, [Some(412), Some(415)]);
        assert!(block.partial);
        let [socket] = snapshot.host.udp_sockets.known().unwrap().as_slice() else { panic!("one socket") };
        assert_eq!((socket.local.as_str(), socket.drops.known()), ("0.0.0.0:2055", Some(&8_120_447)));
        // 0x34100
        assert_eq!(socket.receive_queue.known().unwrap().0, 213_248);
    }

    #[test]
    fn files_of_the_host() {
        let text = "$ cat /proc/net/dev\nInter-|   Receive                                                |  Transmit\n \
            face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  \
            eth0: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n$ cat /proc/net/sockstat\nsockets: used 383\nTCP: inuse 91 orphan 4 tw 76 alloc 151 mem 7\n\
            $ grep MemTotal /proc/meminfo\nMemTotal:       24731184 kB\n$ cat /proc/cpuinfo\nprocessor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: X\nflags\t\t: fpu hypervisor\n\n\
            processor\t: 1\nvendor_id\t: GenuineIntel\n$ cat /proc/uptime\n912.34 1800.01\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let host = &snapshot.host;
        assert_eq!(snapshot.interface("eth0").unwrap().counters[0].get("tx_dropped").unwrap().total(), Some(12));
        assert_eq!(host.sockstat.known().unwrap().get("TCP.orphan"), Some(&4));
        assert_eq!((host.memory.known().unwrap().0, host.cpus.known()), (25_324_732_416, Some(&2)));
        assert_eq!((host.is_guest.known(), host.processors.model.known().unwrap().as_str()), (Some(&true), "X"));
        assert_eq!(host.uptime.known().unwrap().0, 912.34);
    }
}
