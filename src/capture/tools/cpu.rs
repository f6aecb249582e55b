//! Where the processors spend their time: `top`, `mpstat`, `sar`, `vmstat`.

use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::formats::sysstat::{self, Table};
use crate::formats::{top, uname, vmstat};
use crate::reading::{BitsPerSecond, Reading};
use crate::snapshot::{Cpu, Host, Thread};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "top",
        answers: |command| command.program == "top",
        begins: |cursor| cursor.peek().is_some_and(|line| top::begins(line.text)),
        read: read_top,
    },
    Tool {
        name: "sysstat",
        answers: |command| ["mpstat", "sar", "iostat", "pidstat"].contains(&command.program.as_str()),
        begins: |cursor| cursor.peek().is_some_and(|line| sysstat::headings(line.text).is_some()),
        read: read_sysstat,
    },
    Tool {
        name: "vmstat",
        answers: |command| command.program == "vmstat",
        begins: |cursor| cursor.peek().is_some_and(|line| vmstat::begins(line.text)),
        read: read_vmstat,
    },
];

/// Most CPUs that a capture may name.
const MOST: u32 = 1 << 16;

/// Changes what is known of a CPU of the host, which is made where it is new.
pub(super) fn row(intake: &mut Intake<'_>, number: u32, line: u32, change: impl FnOnce(&mut Cpu)) {
    if number >= MOST {
        return;
    }
    let source = intake.site.source(line);
    let list = &mut intake.site.snapshot.host.cpu_list;
    if list.known().is_none() {
        *list = Reading::Known(Vec::new(), source);
    }
    let Reading::Known(cpus, _) = list else { return };
    let at = cpus.binary_search_by_key(&number, |cpu| cpu.number).unwrap_or_else(|at| {
        cpus.insert(at, Cpu { number, ..Cpu::default() });
        at
    });
    change(&mut cpus[at]);
}

/// A share out of percent.
fn share(percent: Option<f64>) -> Option<f64> {
    percent.filter(|percent| (0.0..=100.0).contains(percent)).map(|percent| percent / 100.0)
}

/// Sets shares in percent of all CPUs together.
fn shares_of_all(intake: &mut Intake<'_>, line: u32, [softirq, steal, idle]: [Option<f64>; 3]) {
    let site = &mut *intake.site;
    let leaves: [fn(&mut Host) -> &mut Reading<f64>; 3] =
        [|host| &mut host.processors.softirq, |host| &mut host.processors.steal, |host| &mut host.processors.idle];
    for (leaf, percent) in leaves.into_iter().zip([softirq, steal, idle]) {
        if let Some(share) = share(percent) {
            site.put_host(leaf, At::new(share, line));
        }
    }
}

/// Sets shares in percent of a CPU.
fn shares(intake: &mut Intake<'_>, number: u32, line: u32, [softirq, steal, idle]: [Option<f64>; 3]) {
    let source = intake.site.source(line);
    row(intake, number, line, |cpu| {
        for (leaf, percent) in [(&mut cpu.softirq, softirq), (&mut cpu.steal, steal), (&mut cpu.idle, idle)] {
            if let Some(share) = share(percent) {
                *leaf = Reading::Known(share, source);
            }
        }
    });
}

fn read_top(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let first = cursor.position();
    let Some(found) = top::parse(cursor) else { return };
    super::proc::put_uptime(intake, found.uptime);
    if let Some(At { value: (cpu, percent), line }) = found.ksoftirqd {
        thread(intake, format!("ksoftirqd/{cpu}"), percent / 100.0, line);
    }
    // The first picture of `top -b` is about the time since boot.
    let since_boot = first == 0 && intake.command.is_some_and(|command| command.has_flag('b'));
    for At { value, line } in found.shares.into_iter().filter(|_| !since_boot) {
        let idle = value.idle.map(|idle| idle + value.iowait.unwrap_or(0.0));
        let found = [value.softirq, value.steal, idle];
        match value.cpu {
            Some(number) => shares(intake, number, line, found),
            None => shares_of_all(intake, line, found),
        }
    }
}

/// Sets the load of a kernel thread.
fn thread(intake: &mut Intake<'_>, name: String, load: f64, line: u32) {
    let source = intake.site.source(line);
    let mut threads = intake.site.snapshot.host.threads.known().cloned().unwrap_or_default();
    threads.retain(|thread| thread.name != name);
    threads.push(Thread { name, load: Reading::Known(load, source), ..Thread::default() });
    intake.site.put_host(|host| &mut host.threads, At::new(threads, line));
}

fn read_sysstat(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(banner) = cursor.take_if(uname::parse) {
        super::host::put_uname(intake, &banner);
    }
    for table in sysstat::parse(cursor) {
        put_table(intake, &table);
    }
}

/// Shares of each CPU. Without an interval the one set of rows is about the time since boot; the averages at the end
/// prove that there was one.
fn put_table(intake: &mut Intake<'_>, table: &Table) {
    if table.headings.first().is_some_and(|heading| heading == "IFACE") {
        return put_rates(intake, table);
    }
    if table.headings.first().is_none_or(|heading| heading != "CPU") {
        return;
    }
    for At { value, line } in table.rows.iter().filter(|row| row.value.average) {
        let get = |heading: &str| table.number(value, heading);
        let idle = get("%idle").map(|idle| idle + get("%iowait").unwrap_or(0.0));
        let found = [get("%soft"), get("%steal"), idle];
        match table.subject(value) {
            Some("all") => shares_of_all(intake, *line, found),
            Some(number) => {
                if let Ok(number) = number.parse() {
                    shares(intake, number, *line, found);
                }
            }
            None => {}
        }
    }
}

/// The mean of the intervals; the first row is about the time since boot.
fn read_vmstat(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(table) = vmstat::parse(cursor) else { return };
    let Some((last, rows)) = table.rows.get(1..).and_then(|rows| Some((rows.last()?, rows))) else { return };
    let mean = |heading: &str| {
        let at = table.headings.iter().position(|name| name == heading)?;
        let sum: u64 = rows.iter().map(|row| row.value.get(at).copied()).sum::<Option<u64>>()?;
        Some(sum as f64 / rows.len() as f64)
    };
    let idle = mean("id").map(|idle| idle + mean("wa").unwrap_or(0.0));
    shares_of_all(intake, last.line, [None, mean("st"), idle]);
}

/// Rates of interfaces, where somebody watched: what sysstat keeps in its files is of the past.
fn put_rates(intake: &mut Intake<'_>, table: &Table) {
    for At { value, line } in table.watched() {
        let Some(name) = table.subject(value).filter(|name| is_interface_name(name)) else { continue };
        // Thousands of bytes are 1024 bytes here.
        let rate = |heading: &str| {
            let kilobytes = table.number(value, heading).filter(|rate| (0.0..1e12).contains(rate));
            kilobytes.map(|rate| At::new(BitsPerSecond((rate * 8192.0).round() as u64), *line))
        };
        let (rx, tx) = (rate("rxkB/s"), rate("txkB/s"));
        intake.site.put_some(name, |i| &mut i.rates.rx, rx);
        intake.site.put_some(name, |i| &mut i.rates.tx, tx);
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn shares_of_cpus() {
        let head = "11:00:01 PM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n";
        let row = |time: &str, cpu: &str, soft: &str| {
            format!("{time}  {cpu}    1.00    0.00    0.00    4.00    0.00   {soft}    2.00    0.00    0.00    3.00\n")
        };
        let now = format!(
            "$ mpstat -P ALL\nLinux 5.4.0-42-generic (nas) \t01/01/20 \t_x86_64_\t(8 CPU)\n\n{head}{}",
            row("11:00:02 PM", "0", "90.00")
        );
        let (snapshot, understood) = one(&now);
        // Without an interval this is the mean since boot.
        assert!(snapshot.host.cpu_list.is_unasked() && understood.left.is_empty());
        assert_eq!(snapshot.host.cpus.known(), Some(&8));
        let (snapshot, _) =
            one(&format!("{now}{}{}", head.replace("11:00:01 PM", "Average:   "), row("Average:   ", "0", "80.00")));
        let cpu = &snapshot.host.cpu_list.known().unwrap()[0];
        assert_eq!((cpu.softirq.known(), cpu.steal.known(), cpu.idle.known()), (Some(&0.8), Some(&0.02), Some(&0.07)));
    }

    #[test]
    fn shares_of_all_cpus() {
        let shares = |text: &str| {
            let host = one(text).0.host;
            let of = |leaf: &crate::reading::Reading<f64>| leaf.known().map(|share| (share * 1000.0).round() / 1000.0);
            [of(&host.processors.softirq), of(&host.processors.steal), of(&host.processors.idle)]
        };
        let old = "top - 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74\nTasks:  92 total\n\
            Cpu(s):  0.0%us,  0.0%sy,  0.0%ni, 35.5%id,  0.5%wa, 9.8%hi,  0.1%si, 54.3%st\n";
        assert_eq!(shares(&format!("$ top\n{old}")), [Some(0.001), Some(0.543), Some(0.36)]);
        assert_eq!(shares(&format!("$ top -b -n 1\n{old}")), [None; 3], "since boot");
        let sar = "$ sar -u 1 2\nLinux 5.4.0 (vm) \t01/01/20 \t_x86_64_\t(2 CPU)\n\n\
            11:00:01        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
            11:00:02        all      1.00      0.00      2.00      0.00     30.00     67.00\n\n\
            Average:        CPU     %user     %nice   %system   %iowait    %steal     %idle\n\
            Average:        all      1.00      0.00      2.00      1.00     20.00     76.00\n";
        assert_eq!(shares(sar), [None, Some(0.2), Some(0.77)]);
        let vmstat = "$ vmstat 1 3\nprocs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n \
            r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n \
            1  0      0 2000000  10000 500000    0    0     1     2   50   60  1  2 96  0  1\n \
            1  0      0 2000000  10000 500000    0    0     1     2   50   60  1  2 57  0 40\n \
            1  0      0 2000000  10000 500000    0    0     1     2   50   60  1  2 76  1 20\n";
        assert_eq!(shares(vmstat), [None, Some(0.3), Some(0.67)]);
    }

    #[test]
    fn rates_of_interfaces() {
        let text = "$ sar -n DEV 5 1 | grep -E 'IFACE|ens2f0'\n\
            10:12:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n\
            10:12:06       ens2f0 251022.40  61204.20 1000.50      2.00      0.00      0.00      0.00     15.66\n\
            Average:        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s   %ifutil\n\
            Average:       ens2f0 251022.40  61204.20 1000.00      4.00      0.00      0.00      0.00     15.66\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let rates = &snapshot.interface("ens2f0").unwrap().rates;
        // 1000 * 1024 bytes * 8
        assert_eq!((rates.rx.known().unwrap().0, rates.tx.known().unwrap().0), (8_192_000, 32_768));
        // What was kept every ten minutes is of the past.
        let (snapshot, _) = one(&text.replace("10:12:06", "10:22:01"));
        assert!(snapshot.interfaces.iter().all(|interface| interface.rates.is_unasked()));
    }

    #[test]
    fn top_names_the_busy_thread() {
        let text = "top - 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74\n\
            %Cpu0  :  0.0 us,  1.0 sy,  0.0 ni,  2.0 id,  0.0 wa,  0.0 hi, 97.0 si,  0.0 st\n\n\
            \u{20} PID USER      PR  NI  VIRT  RES  SHR S %CPU %MEM    TIME+  COMMAND\n    3 root      20   0     0    0    0 R 96.0  0.0  43:45.72 ksoftirqd/0\n";
        let (snapshot, _) = one(&format!("$ top\n{text}"));
        assert_eq!(snapshot.host.cpu_list.known().unwrap()[0].softirq.known(), Some(&0.97));
        assert_eq!(snapshot.host.threads.known().unwrap()[0].load.known(), Some(&0.96));
        let (snapshot, _) = one(&format!("$ top -b -n 1\n{text}"));
        assert!(snapshot.host.cpu_list.is_unasked() && snapshot.host.uptime.known().is_some());
    }
}
