//! Answers of one line: clock and power saving of the CPUs, virtualisation, IOMMU, services, throttling.

use std::collections::BTreeSet;

use super::super::command::Command;
use super::super::site::sample_leaf;
use super::{Intake, Tool, is_interface_name};
use crate::formats::cursor::{At, Cursor};
use crate::reading::Reading;
use crate::snapshot::Host;

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "/sys/devices/system/cpu",
        answers: |command| all_files(command, clock_leaf),
        begins: |_| false,
        read: clock,
    },
    Tool {
        name: "/sys/kernel/iommu_groups",
        answers: |command| all_files(command, |path| is_iommu(path).then_some(())),
        begins: |_| false,
        read: iommu,
    },
    Tool {
        name: "thermal_throttle",
        answers: |command| all_files(command, |path| throttle(path).map(drop)),
        begins: |_| false,
        read: throttles,
    },
    Tool {
        name: "cpu.stat",
        answers: |command| all_files(command, |path| path.ends_with("/cpu.stat").then_some(())),
        begins: |_| false,
        read: group,
    },
    Tool {
        name: "cpupower",
        answers: |command| command.program == "cpupower" && command.has("frequency-info"),
        begins: |_| false,
        read: cpupower,
    },
    Tool {
        name: "cpupower idle-info",
        answers: |command| command.program == "cpupower" && command.has("idle-info"),
        begins: |cursor| cursor.peek().is_some_and(|line| line.text.starts_with("CPUidle driver: ")),
        read: idle_states,
    },
    Tool {
        name: "dcb",
        answers: |command| command.program == "dcb" && command.has("pfc"),
        begins: |_| false,
        read: priorities,
    },
    Tool {
        name: "systemd-detect-virt",
        answers: |command| command.program == "systemd-detect-virt",
        begins: |_| false,
        read: detect,
    },
    Tool {
        name: "systemctl",
        answers: |command| command.program == "systemctl" && command.has("is-active"),
        begins: |_| false,
        read: services,
    },
];

/// True where a command prints files of one kind and no others.
fn all_files<T>(command: &Command, kind: impl Fn(&str) -> Option<T>) -> bool {
    let files = command.files();
    !files.is_empty() && files.iter().all(|file| kind(file).is_some())
}

/// The value of a line `path:value`, or of a line that is a value alone.
fn value(text: &str) -> Option<&str> {
    let value = match text.rsplit_once(':').filter(|_| text.starts_with('/')) {
        Some((_, value)) => value,
        None => text,
    };
    let value = value.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (!value.is_empty() && value.len() <= 40 && value.bytes().all(plain)).then_some(value)
}

/// The one value of all lines that come next, and the first of them; none where they differ.
fn agreed(cursor: &mut Cursor<'_>, counted: bool) -> Option<At<String>> {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let mut first = None;
    loop {
        // `sort | uniq -c` prints how often before each.
        let row = |text: &str| {
            let text = text.trim();
            let text = match text.split_once(' ').filter(|_| counted) {
                Some((count, rest)) if count.parse::<u64>().is_ok() => rest,
                _ => text,
            };
            value(text).map(str::to_owned)
        };
        let Some(found) = cursor.take_if(row) else { break };
        first.get_or_insert(found.line);
        seen.insert(found.value);
    }
    let only = seen.pop_first().filter(|_| seen.is_empty())?;
    Some(At::new(only, first?))
}

fn counts(intake: &Intake<'_>) -> bool {
    let of_uniq = |filter: &Vec<String>| filter.first().is_some_and(|name| name == "uniq");
    intake.command.is_some_and(|command| command.filters.iter().any(of_uniq))
}

type Leaf = fn(&mut Host) -> &mut Reading<String>;

fn clock_leaf(path: &str) -> Option<Leaf> {
    let rest = path.strip_prefix("/sys/devices/system/cpu/")?;
    let leaf: Leaf = match rest.rsplit('/').next()? {
        "scaling_governor" => |host| &mut host.processors.governor,
        "scaling_driver" => |host| &mut host.processors.frequency_driver,
        "energy_performance_preference" => |host| &mut host.processors.energy_preference,
        _ => return None,
    };
    rest.contains("cpufreq").then_some(leaf)
}

fn clock(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let leaves: Vec<Leaf> =
        intake.command.map(Command::files).unwrap_or_default().iter().filter_map(|path| clock_leaf(path)).collect();
    let counted = counts(intake);
    let Some(found) = agreed(cursor, counted) else { return };
    // Of several kinds of files the values can't be told apart.
    let kinds: BTreeSet<&str> = intake
        .command
        .map(Command::files)
        .unwrap_or_default()
        .iter()
        .filter_map(|path| path.rsplit('/').next())
        .collect();
    if let (Some(leaf), 1) = (leaves.first(), kinds.len()) {
        intake.site.put_host(leaf, found);
    }
}

fn is_iommu(path: &str) -> bool {
    path.starts_with("/sys/kernel/iommu_groups/") && path.ends_with("/type")
        || path.starts_with("/sys/bus/pci/devices/") && path.ends_with("/iommu_group/type")
        || path.starts_with("/sys/class/net/") && path.ends_with("/iommu_group/type")
}

fn iommu(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let counted = counts(intake);
    let found = agreed(cursor, counted);
    if let Some(found) = found.filter(|found| ["DMA", "DMA-FQ", "identity"].contains(&found.value.as_str())) {
        intake.site.put_host(|host| &mut host.processors.iommu, found);
    }
}

/// CPU and counter of a file: `/sys/devices/system/cpu/cpu3/thermal_throttle/core_throttle_count`.
fn throttle(path: &str) -> Option<(Option<u32>, &str)> {
    let (cpu, name) = path.strip_prefix("/sys/devices/system/cpu/")?.split_once("/thermal_throttle/")?;
    Some((cpu.strip_prefix("cpu")?.parse().ok(), name))
}

fn throttles(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let command = intake.command.cloned();
    let files = command.as_ref().map(Command::files).unwrap_or_default();
    let mut next = files.into_iter();
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let (path, value) = match text.rsplit_once(':').filter(|_| text.starts_with('/')) {
            Some((path, value)) => (Some(path), value),
            None => (next.next(), text),
        };
        let Ok(count) = value.trim().parse::<u64>() else { break };
        cursor.take();
        if let Some((Some(cpu), name)) = path.and_then(throttle) {
            let source = intake.site.source(line.number);
            let rows = vec![(name.to_owned(), count)];
            super::cpu::row(intake, cpu, line.number, |cpu| {
                sample_leaf(&mut cpu.throttled, "thermal_throttle", source, rows, true);
            });
        }
    }
}

/// The file `cpu.stat` of a control group.
fn group(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let line = cursor.peek().map_or(0, |line| line.number);
    let row = |text: &str| {
        let mut words = text.split_ascii_whitespace();
        let (key, value) = (words.next()?, words.next()?.parse::<u64>().ok()?);
        let plain = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.');
        (plain && words.next().is_none()).then(|| (key.to_owned(), value))
    };
    let mut rows: Vec<(String, u64)> = Vec::new();
    while let Some(found) = cursor.take_if(|text| row(text).filter(|(key, _)| rows.iter().all(|(held, _)| held != key)))
    {
        rows.push(found.value);
    }
    if rows.iter().any(|(key, _)| key == "nr_periods" || key == "nr_throttled") {
        let partial = intake.is_filtered();
        intake.site.host_counters("cgroup_cpu", line, rows, partial);
    }
}

/// `driver: intel_cpufreq`, `The governor "schedutil" may decide which speed to use`.
fn cpupower(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let begun = text.starts_with("analyzing CPU") || line.text.starts_with([' ', '\t']);
        if text.is_empty() || !begun {
            break;
        }
        cursor.take();
        if let Some(driver) = text.strip_prefix("driver: ") {
            intake
                .site
                .put_host(|host| &mut host.processors.frequency_driver, At::new(driver.trim().to_owned(), line.number));
        } else if let Some((governor, _)) = text.split_once("governor \"").and_then(|(_, rest)| rest.split_once('"')) {
            intake.site.put_host(|host| &mut host.processors.governor, At::new(governor.to_owned(), line.number));
        }
    }
}

/// `cpupower idle-info`: the states of a CPU, each with its latency and how often it was used. A state that is switched off says
/// so behind its name.
fn idle_states(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    const KEYS: [&str; 9] = [
        "CPUidle driver",
        "CPUidle governor",
        "analyzing CPU",
        "Number of idle states",
        "Available idle states",
        "Flags/Description",
        "Latency",
        "Usage",
        "Duration",
    ];
    let state = |text: &str| text.ends_with(':') && text.len() <= 40 && !text.contains('/');
    let mut latency: Option<u32> = None;
    let mut off = false;
    let mut deepest: Option<At<u32>> = None;
    while let Some(line) = cursor.peek() {
        let text = line.text.trim();
        let known =
            text.is_empty() && intake.command.is_some() || KEYS.iter().any(|key| text.starts_with(key)) || state(text);
        if !known {
            break;
        }
        cursor.take();
        if state(text) {
            (latency, off) = (None, text.contains("DISABLED"));
        } else if let Some(value) = text.strip_prefix("Latency: ") {
            latency = value.trim().parse().ok();
        } else if let (Some(value), Some(latency)) = (text.strip_prefix("Usage: "), latency) {
            let used = value.trim().parse::<u64>().is_ok_and(|count| count > 0);
            if used && !off && deepest.as_ref().is_none_or(|deepest| deepest.value < latency) {
                deepest = Some(At::new(latency, line.number));
            }
        }
    }
    if let Some(deepest) = deepest {
        intake.site.put_host(|host| &mut host.processors.deepest_idle_latency, deepest);
    }
}

/// `dcb pfc show dev eth0`: `pfc-cap 8 macsec-bypass off delay 0`, `prio-pfc 0:off 1:off 2:off 3:on ...`.
fn priorities(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let named = intake.command.and_then(|command| {
        let mut words = command.arguments.iter().skip_while(|word| *word != "dev");
        words.next()?;
        words.next().filter(|name| is_interface_name(name)).cloned()
    });
    let Some(name) = named else { return };
    while let Some(line) = cursor.peek() {
        let mut words = line.text.split_ascii_whitespace();
        match words.next() {
            Some("pfc-cap") => {
                let count = words.next().and_then(|word| word.parse().ok()).map(|count| At::new(count, line.number));
                intake.site.put_some(&name, |i| &mut i.pfc.priorities, count);
            }
            Some("prio-pfc") => {
                let mask = words.try_fold(0_u32, |mask, word| {
                    let (priority, state) = word.split_once(':')?;
                    let priority: u32 = priority.parse().ok().filter(|priority| *priority < 8)?;
                    Some(mask | u32::from(state == "on") << priority)
                });
                let mask = mask.map(|mask| At::new(mask, line.number));
                intake.site.put_some(&name, |i| &mut i.pfc.enabled_mask, mask);
            }
            Some(word) if word.starts_with("prio-") => {}
            _ => return,
        }
        cursor.take();
    }
}

/// Words of systemd-detect-virt for containers; all others but `none` are of virtual machines.
const CONTAINERS: [&str; 11] = [
    "openvz",
    "lxc",
    "lxc-libvirt",
    "systemd-nspawn",
    "docker",
    "podman",
    "rkt",
    "wsl",
    "proot",
    "pouch",
    "container-other",
];

fn detect(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = cursor.take_if(|text| value(text).map(str::to_owned)) else { return };
    let only =
        |letter: char, word: &str| intake.command.is_some_and(|command| command.has_flag(letter) || command.has(word));
    let (vm, container) = (only('v', "--vm"), only('c', "--container"));
    let word = found.value.as_str();
    let site = &mut *intake.site;
    match word {
        "none" => {
            if !container {
                site.put_host(|host| &mut host.is_guest, At::new(false, found.line));
            }
            if !vm {
                site.put_host(|host| &mut host.is_container, At::new(false, found.line));
            }
        }
        _ if CONTAINERS.contains(&word) => site.put_host(|host| &mut host.is_container, At::new(true, found.line)),
        _ => site.put_host(|host| &mut host.is_guest, At::new(true, found.line)),
    }
}

/// A line for each service that was asked for.
fn services(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let words = intake.command.map(|command| command.arguments.clone()).unwrap_or_default();
    let asked = words.iter().filter(|word| !word.starts_with('-') && *word != "is-active");
    for name in asked {
        let state = |text: &str| {
            let states = ["active", "inactive", "failed", "unknown", "activating", "deactivating"];
            states.contains(&text.trim()).then(|| text.trim() == "active")
        };
        let Some(found) = cursor.take_if(state) else { break };
        if name.trim_end_matches(".service") == "irqbalance" {
            intake.site.put_host(|host| &mut host.irqbalance.running, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;
    use crate::snapshot::Host;

    fn host(text: &str) -> Host {
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, [], "{text}");
        snapshot.host
    }

    #[test]
    fn the_clock_where_all_cpus_agree() {
        let governor = |text: &str| host(text).processors.governor.known().cloned();
        let file = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
        assert_eq!(governor(&format!("$ cat {file}\npowersave\npowersave\n")).as_deref(), Some("powersave"));
        assert_eq!(governor(&format!("$ cat {file}\npowersave\nperformance\n")), None);
        assert_eq!(
            governor(&format!("$ cat {file} | sort | uniq -c\n     64 powersave\n")).as_deref(),
            Some("powersave")
        );
        let grep = format!("$ grep . {file}\n{0}:powersave\n{0}:powersave\n", file.replace('*', "0"));
        assert_eq!(governor(&grep).as_deref(), Some("powersave"));
        let tool = "$ cpupower frequency-info\nanalyzing CPU 0:\n  driver: acpi-cpufreq\n  current policy: frequency should be within 1.20 GHz and 3 GHz.\n\
            \u{20}                 The governor \"powersave\" may decide which speed to use\n";
        let found = host(tool).processors;
        assert_eq!(
            (found.governor.known().unwrap().as_str(), found.frequency_driver.known().unwrap().as_str()),
            ("powersave", "acpi-cpufreq")
        );
    }

    #[test]
    fn guests_containers_and_services() {
        let seen = |text: &str| {
            let host = host(text);
            (host.is_guest.known().copied(), host.is_container.known().copied())
        };
        assert_eq!(seen("$ systemd-detect-virt\nnone\n"), (Some(false), Some(false)));
        assert_eq!(seen("$ systemd-detect-virt --vm\nnone\n"), (Some(false), None));
        assert_eq!(seen("$ systemd-detect-virt\nkvm\n"), (Some(true), None));
        assert_eq!(seen("$ systemd-detect-virt\nlxc\n"), (None, Some(true)));
        let running = |text: &str| host(text).irqbalance.running.known().copied();
        assert_eq!(running("$ systemctl is-active tuned irqbalance\nactive\ninactive\n"), Some(false));
        assert_eq!(running("$ systemctl is-active irqbalance.service\nactive\n"), Some(true));
    }

    #[test]
    fn idle_states_count_where_they_are_used() {
        let latency = |text: &str| one(text).0.host.processors.deepest_idle_latency.known().copied();
        let text = "# cpupower idle-info\nCPUidle driver: intel_idle\nCPUidle governor: menu\nanalyzing CPU 0:\n\n\
            Number of idle states: 3\nAvailable idle states: POLL C1 C6\nPOLL:\nFlags/Description: CPUIDLE CORE POLL IDLE\n\
            Latency: 0\nUsage: 8\nDuration: 2\nC1:\nFlags/Description: MWAIT 0x00\nLatency: 2\nUsage: 9\nDuration: 8\n\
            C6:\nFlags/Description: MWAIT 0x20\nLatency: 133\nUsage: 11\nDuration: 9\n";
        assert_eq!(latency(text), Some(133));
        assert_eq!(latency(&text.replace("Usage: 11", "Usage: 0")), Some(2));
        assert_eq!(latency(&text.replace("C6:", "C6 (DISABLED) :")), Some(2));
        assert_eq!(one(text).1.left, []);
    }

    #[test]
    fn priorities_are_bits() {
        let text = "# dcb pfc show dev eth3\npfc-cap 8 macsec-bypass off delay 0\nprio-pfc 0:on 1:off 2:off 3:on 4:off 5:off 6:off 7:off\n";
        let (snapshot, understood) = one(text);
        let pfc = &snapshot.interface("eth3").unwrap().pfc;
        assert_eq!((pfc.enabled_mask.known(), pfc.priorities.known()), (Some(&9), Some(&8)));
        assert_eq!(understood.left, []);
        assert!(one(&text.replace("3:on", "9:on")).0.interface("eth3").unwrap().pfc.enabled_mask.is_unasked());
    }

    #[test]
    fn what_holds_a_cpu_back() {
        let stat = "$ cat /sys/fs/cgroup/system.slice/cpu.stat\nusage_usec 100\nuser_usec 60\nnr_periods 500\nnr_throttled 250\nthrottled_usec 9000\n";
        let found = host(stat);
        let block = &found.counters.known().unwrap()[0];
        assert_eq!((block.group.as_str(), block.get("nr_throttled").unwrap().total()), ("cgroup_cpu", Some(250)));
        let path = |cpu: u32| format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/core_throttle_count");
        let found = host(&format!(
            "$ grep . /sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count\n{}:0\n{}:7\n",
            path(0),
            path(1)
        ));
        let cpus = found.cpu_list.known().unwrap();
        assert_eq!(cpus[1].throttled.known().unwrap().get("core_throttle_count").unwrap().total(), Some(7));
        let found = host("$ cat /sys/kernel/iommu_groups/*/type | sort | uniq -c\n     31 DMA\n");
        assert_eq!(found.processors.iommu.known().unwrap(), "DMA");
    }
}
