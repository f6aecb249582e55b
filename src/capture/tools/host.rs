//! Facts of the host: `uname`, `hostname`, `uptime`, os-release, `free`, `nproc`, `lscpu`, `hostnamectl`.

use std::collections::BTreeMap;

use super::super::command::Command;
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor, pair};
use crate::formats::uname::{self, Uname};
use crate::formats::{assignments, cpu_list, free, lscpu, uptime};
use crate::reading::{Bytes, Reading, Version};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "uname",
        answers: |command| command.program == "uname",
        begins: |cursor| {
            cursor
                .peek()
                .and_then(|line| uname::parse(line.text))
                .is_some_and(|found| found.system == "Linux" && (found.machine.is_some() || found.cpus.is_some()))
        },
        read: read_uname,
    },
    Tool {
        name: "hostname",
        answers: |command| {
            command.program == "hostname" && command.arguments.iter().all(|word| word == "-f" || word == "-s")
        },
        begins: |_| false,
        read: |cursor, intake| {
            let name = cursor.take_if(|text| is_host_name(text.trim()).then(|| text.trim().to_owned()));
            if let Some(name) = name {
                intake.site.put_host(|host| &mut host.name, name);
            }
        },
    },
    Tool {
        name: "hostnamectl",
        answers: |command| command.program == "hostnamectl",
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.trim_start().starts_with("Static hostname: ")),
        read: read_hostnamectl,
    },
    Tool {
        name: "uptime",
        answers: |command| command.program == "uptime" || command.program == "w",
        begins: |cursor| {
            cursor.peek().is_some_and(|line| {
                let text = line.text;
                text.contains("load average: ") && !text.starts_with("top - ") && uptime::printed(text).is_some()
            })
        },
        read: |cursor, intake| {
            let seconds = cursor.take_if(uptime::printed);
            super::proc::put_uptime(intake, seconds);
        },
    },
    Tool {
        name: "os-release",
        answers: |command| command.program == "lsb_release" || command.files().iter().any(|path| is_release_file(path)),
        begins: |cursor| {
            cursor
                .peek()
                .is_some_and(|line| line.text.starts_with("PRETTY_NAME=\"") || line.text.starts_with("NAME=\""))
        },
        read: read_release,
    },
    Tool {
        name: "free",
        answers: |command| command.program == "free",
        begins: |cursor| cursor.peek().is_some_and(|line| free::is_heading(line.text)),
        read: read_free,
    },
    Tool {
        name: "nproc",
        answers: |command| command.program == "nproc" || command.has("_NPROCESSORS_ONLN"),
        begins: |_| false,
        read: |cursor, intake| {
            if let Some(count) = cursor.take_if(|text| text.trim().parse().ok().filter(|count| *count > 0)) {
                intake.site.put_host(|host| &mut host.cpus, count);
            }
        },
    },
    Tool {
        name: "lscpu",
        answers: |command| command.program == "lscpu",
        begins: |cursor| {
            lscpu::begins(cursor)
                || cursor.peek().is_some_and(|line| lscpu::is_table(line.text) || lscpu::is_parsable(line.text))
        },
        read: read_lscpu,
    },
    Tool {
        name: "date",
        answers: |command| command.program == "date",
        begins: |_| false,
        read: |cursor, _| {
            let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
            cursor
                .take_if(|text| (text.len() < 64 && text.matches(':').count() >= 2 && digits(text) >= 6).then_some(()));
        },
    },
];

fn is_host_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    !text.is_empty() && text.len() <= 253 && text.bytes().all(plain)
}

fn is_release_file(path: &str) -> bool {
    path.starts_with("/etc/")
        && (path.ends_with("-release") || path.ends_with("*release") || path.ends_with("*-release*"))
        || path.starts_with("/usr/lib/os-release")
        || path == "/etc/debian_version"
        || path == "/etc/issue"
}

/// What `uname` and its kin tell; a kernel that is not Linux says nothing to us.
pub(super) fn put_uname(intake: &mut Intake<'_>, found: &At<Uname>) {
    let (line, found) = (found.line, &found.value);
    let site = &mut *intake.site;
    if let Some(node) = &found.node {
        site.put_host(|host| &mut host.name, At::new(node.clone(), line));
    }
    if found.system != "Linux" {
        return;
    }
    put_release(intake, found.release.as_deref(), line);
    let site = &mut *intake.site;
    if let Some(machine) = &found.machine {
        site.put_host(|host| &mut host.architecture, At::new(machine.clone(), line));
    }
    if let Some(cpus) = found.cpus {
        site.put_host(|host| &mut host.cpus, At::new(cpus, line));
    }
}

fn put_release(intake: &mut Intake<'_>, text: Option<&str>, line: u32) {
    if let Some(version) = text.and_then(|text| text.parse::<Version>().ok()) {
        intake.site.put_host(|host| &mut host.kernel, At::new(version, line));
    }
}

fn read_uname(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    if let Some(found) = cursor.take_if(uname::parse) {
        return put_uname(intake, &found);
    }
    let Some(command) = intake.command else { return };
    // Options pick words: -r the release, -m the machine, -n the name of the host.
    let kernel = command.has_flag('r') || command.has("--kernel-release");
    let machine = command.has_flag('m') || command.has_flag('p') || command.has_flag('i');
    let picked = cursor.take_if(|text| {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let release = words.iter().find(|word| kernel && word.parse::<Version>().is_ok());
        let machine = words.iter().find(|word| machine && uname::is_machine(word));
        (words.len() <= 8 && (release.is_some() || machine.is_some() || text == "Linux"))
            .then(|| (release.map(|word| (*word).to_owned()), machine.map(|word| (*word).to_owned())))
    });
    if let Some(At { value: (release, machine), line }) = picked {
        put_release(intake, release.as_deref(), line);
        if let Some(machine) = machine {
            intake.site.put_host(|host| &mut host.architecture, At::new(machine, line));
        }
    }
}

/// Keys of hostnamectl.
const HOSTNAMECTL: [&str; 24] = [
    "Static hostname",
    "Transient hostname",
    "Pretty hostname",
    "Icon name",
    "Chassis",
    "Deployment",
    "Location",
    "Machine ID",
    "Boot ID",
    "Virtualization",
    "Operating System",
    "CPE OS Name",
    "OS Support End",
    "OS Support Remaining",
    "Kernel",
    "Architecture",
    "Hardware Vendor",
    "Hardware Model",
    "Hardware Serial",
    "Firmware Version",
    "Firmware Date",
    "Firmware Age",
    "Support End",
    "Product UUID",
];

/// A row whose key is one of these.
fn named<'t>(text: &'t str, keys: &[&str]) -> Option<(&'t str, &'t str)> {
    pair(text).filter(|(key, _)| keys.contains(key))
}

fn read_hostnamectl(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    const CONTAINERS: [&str; 6] = ["docker", "podman", "lxc", "lxc-libvirt", "systemd-nspawn", "openvz"];
    while let Some(row) = cursor.take_if(|text| named(text, &HOSTNAMECTL)) {
        let ((key, value), line) = (row.value, row.line);
        let text = || At::new(value.to_owned(), line);
        let site = &mut *intake.site;
        match key {
            "Static hostname" if value != "n/a" && value != "(unset)" => site.put_host(|host| &mut host.name, text()),
            "Operating System" => site.put_host(|host| &mut host.os, text()),
            "Kernel" => put_release(intake, value.strip_prefix("Linux "), line),
            "Architecture" => {
                site.put_host(|host| &mut host.architecture, text().map(|word| word.replace("x86-64", "x86_64")));
            }
            "Hardware Vendor" => site.put_host(|host| &mut host.vendor, text()),
            "Hardware Model" => site.put_host(|host| &mut host.product, text()),
            "Virtualization" if CONTAINERS.contains(&value) => {
                site.put_host(|host| &mut host.is_container, At::new(true, line));
            }
            "Virtualization" => site.put_host(|host| &mut host.is_guest, At::new(true, line)),
            _ => {}
        }
    }
}

fn read_release(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let row = |text: &str| {
        let (key, _) = text.split_once('=')?;
        let plain = !key.is_empty()
            && key.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
        plain.then(|| assignments::parse(text).pop()).flatten()
    };
    let start = cursor.position();
    while let Some(found) = cursor.take_if(row) {
        let (key, value) = (found.value.key, At::new(found.value.value, found.line));
        let site = &mut *intake.site;
        match key.as_str() {
            "PRETTY_NAME" | "DISTRIB_DESCRIPTION" => site.put_host(|host| &mut host.os, value),
            "ID" => site.put_host(|host| &mut host.platform, value),
            _ => {}
        }
    }
    if cursor.position() > start {
        return;
    }
    // lsb_release -a
    let keys = ["Distributor ID", "Description", "Release", "Codename", "LSB Version"];
    while let Some(found) = cursor.take_if(|text| named(text, &keys)) {
        if found.value.0 == "Description" {
            intake.site.put_host(|host| &mut host.os, At::new(found.value.1.to_owned(), found.line));
        }
    }
    if cursor.position() > start || intake.command.is_none_or(is_lsb) {
        cursor.take_if(|text| (text == "No LSB modules are available.").then_some(()));
        return;
    }
    // Files that hold one line, such as /etc/redhat-release.
    let one = |text: &str| {
        let names = text.starts_with(|char: char| char.is_ascii_uppercase())
            && text.contains(|char: char| char.is_ascii_digit());
        (names && text.len() < 100 && text.contains(' ') && !text.contains(':'))
            .then(|| text.trim_end_matches(" \\n \\l").trim().to_owned())
    };
    if let Some(found) = cursor.take_if(one) {
        intake.site.put_host(|host| &mut host.os, found);
    }
}

fn is_lsb(command: &Command) -> bool {
    command.program == "lsb_release"
}

fn read_free(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let unit = intake.command.map(|command| match () {
        () if command.has_flag('b') => 1,
        () if command.has_flag('m') => 1 << 20,
        () if command.has_flag('g') => 1 << 30,
        () => 1024,
    });
    if let Some(Some(total)) = free::parse(cursor, unit) {
        intake.site.put_host(|host| &mut host.memory, total.map(Bytes));
    }
}

fn read_lscpu(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut rows = lscpu::table(cursor);
    rows.extend(lscpu::parsable(cursor));
    rows.retain(|row| row.value.online);
    put_cpus(intake, &rows);
    let Some(found) = lscpu::parse(cursor) else { return };
    let site = &mut *intake.site;
    if let Some(machine) = found.architecture {
        site.put_host(|host| &mut host.architecture, machine);
    }
    let online = found.online.and_then(|at| Some(At::new(cpu_list::count(&at.value)?, at.line)));
    if let Some(cpus) = online.or(found.cpus) {
        site.put_host(|host| &mut host.cpus, cpus);
    }
    if let Some(guest) = found.guest {
        site.put_host(|host| &mut host.is_guest, guest);
    }
    if let Some(vendor) = found.vendor {
        site.put_host(|host| &mut host.processors.vendor, vendor);
    }
    if let Some(model) = found.model {
        site.put_host(|host| &mut host.processors.model, model);
    }
    if let Some(nodes) = found.nodes {
        site.put_host(|host| &mut host.processors.numa_nodes, nodes);
    }
    if let Some(cache) = found.cache {
        site.put_host(|host| &mut host.processors.llc, cache.map(|(_, bytes)| Bytes(bytes)));
    }
    for (node, list) in found.node_cpus {
        for number in cpu_list::members(&list.value).unwrap_or_default() {
            let source = intake.site.source(list.line);
            super::cpu::row(intake, number, list.line, |cpu| cpu.node = Reading::Known(node, source));
        }
    }
}

/// The CPUs of a list of all that are on line.
fn put_cpus(intake: &mut Intake<'_>, rows: &[At<lscpu::CpuRow>]) {
    let Some(first) = rows.first() else { return };
    // Threads of a core have its number.
    let mut lowest: BTreeMap<u32, u32> = BTreeMap::new();
    for row in rows {
        if let Some(core) = row.value.core {
            let held = lowest.entry(core).or_insert(row.value.cpu);
            *held = (*held).min(row.value.cpu);
        }
    }
    let whole = !intake.is_filtered();
    for At { value, line } in rows {
        let source = intake.site.source(*line);
        super::cpu::row(intake, value.cpu, *line, |cpu| {
            if let Some(node) = value.node {
                cpu.node = Reading::Known(node, source);
            }
            if let Some(core) = value.core.and_then(|core| lowest.get(&core)).filter(|_| whole) {
                cpu.core = Reading::Known(*core, source);
            }
        });
    }
    if whole {
        let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
        intake.site.put_host(|host| &mut host.cpus, At::new(count, first.line));
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn lists_of_cpus_name_cores_and_nodes() {
        let table = "$ lscpu -e\nCPU NODE SOCKET CORE L1d:L1i:L2:L3 ONLINE\n  0    0      0    0 0:0:0:0          yes\n\
            \u{20} 1    0      0    1 1:1:1:0          yes\n  2    1      1    1 1:1:1:0          yes\n  3    1      1    0 0:0:0:0          no\n";
        let parsable = "$ lscpu -p\n# The following is the parsable format, which can be fed to other\n# programs.\n\
            # CPU,Core,Socket,Node,,L1d,L1i,L2,L3\n0,0,0,0,,0,0,0,0\n1,1,0,0,,1,1,1,0\n2,1,1,1,,1,1,1,0\n";
        for text in [table, parsable] {
            let (snapshot, understood) = one(text);
            assert_eq!(understood.left, []);
            assert_eq!(snapshot.host.cpus.known(), Some(&3));
            let cpus = snapshot.host.cpu_list.known().unwrap();
            let seen: Vec<_> = cpus.iter().map(|cpu| (cpu.core.known().copied(), cpu.node.known().copied())).collect();
            assert_eq!(seen, [(Some(0), Some(0)), (Some(1), Some(0)), (Some(1), Some(1))]);
        }
        let (snapshot, _) = one(&parsable.replace("lscpu -p", "lscpu -p | head -5"));
        assert!(snapshot.host.cpus.is_unasked());
    }

    #[test]
    fn the_host_is_described_by_many_tools() {
        let text = "$ uname -a\nLinux nas 6.1.0-57-amd64 #1 SMP x86_64 GNU/Linux\n$ uptime\n 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74\n\
            $ cat /etc/os-release\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n$ free -m\n               total        used        free\nMem:           24151         500       20000\n\
            $ nproc\n8\n$ lscpu\nArchitecture:        x86_64\nCPU(s):              8\nOn-line CPU(s) list: 0-7\nHypervisor vendor:   KVM\nNUMA node(s):        1\nNUMA node0 CPU(s):   0-7\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let host = &snapshot.host;
        assert_eq!(host.name.known().unwrap(), "nas");
        assert_eq!(host.kernel.known().unwrap().parts, [6, 1, 0]);
        assert_eq!(
            (host.platform.known().unwrap().as_str(), host.architecture.known().unwrap().as_str()),
            ("debian", "x86_64")
        );
        assert_eq!((host.cpus.known(), host.memory.known().unwrap().0), (Some(&8), 24_151 << 20));
        assert_eq!((host.is_guest.known(), host.uptime.known().unwrap().0), (Some(&true), 433_080.0));
        assert_eq!(host.cpu_list.known().unwrap()[7].node.known(), Some(&0));
        assert_eq!(host.processors.numa_nodes.known(), Some(&1));
    }

    #[test]
    fn another_kernel_is_none_of_ours() {
        let (snapshot, _) = one("$ uname -a\nFreeBSD fw 12.2-STABLE FreeBSD 12.2-STABLE amd64\n");
        assert!(snapshot.host.kernel.is_unasked() && snapshot.host.name.known().is_some());
        let (snapshot, _) = one("$ uname -rm\n5.15.137 aarch64\n");
        assert_eq!(snapshot.host.kernel.known().unwrap().text, "5.15.137");
        assert_eq!(snapshot.host.architecture.known().unwrap(), "aarch64");
    }
}
