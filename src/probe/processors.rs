//! CPUs: what they are, what holds them back, and what each of them does.

use std::collections::BTreeMap;

use super::kernel::{Reply, Request, zero_ended};
use super::plan;
use super::scan::Scan;
use super::statistics;
use crate::formats::{cpu_list, cpuinfo, proc_stat, softirqs};
use crate::reading::{Bytes, GapKind, Reading};
use crate::snapshot::{Counter, CounterBlock, Cpu};

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";
const SUPPLIES: &str = "/sys/class/power_supply";
const TIMES: &str = "/proc/stat";
const SOFTIRQS: &str = "/proc/softirqs";
/// The most CPUs that are read one by one.
const MOST: usize = 4096;

/// Who made the CPUs, out of /proc/cpuinfo.
pub(super) fn identity(scan: &mut Scan<'_>, reply: &Reply) {
    const FILE: &str = "/proc/cpuinfo";
    let (vendor, model) = match scan.text_of(reply, FILE, &plan::TOPOLOGY, "") {
        Err(gap) => (Reading::Unknown(gap), Reading::Unknown(gap)),
        Ok((text, source)) => {
            let found = cpuinfo::identity(&text);
            let untold = "/proc/cpuinfo does not tell";
            (
                scan.or_command(found.vendor, source, untold, &plan::TOPOLOGY),
                scan.or_command(found.model, source, untold, &plan::TOPOLOGY),
            )
        }
    };
    let processors = &mut scan.out.host.processors;
    (processors.vendor, processors.model) = (vendor, model);
}

/// What stays as it is.
pub(super) fn collect(scan: &mut Scan<'_>) {
    cache(scan);
    clock(scan);
    idle(scan);
    power(scan);
}

/// The names in a directory; none where it could not be listed.
fn list(reply: &Reply) -> Vec<String> {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    reply.bytes().map(|names| zero_ended(names).map(text).collect()).unwrap_or_default()
}

fn text(reply: &Reply) -> Option<String> {
    Some(String::from_utf8_lossy(reply.bytes()?).trim().to_owned())
}

fn is_missing(reply: &Reply) -> bool {
    matches!(reply, Reply::Error { errno: libc::ENOENT | libc::ENOTDIR, .. })
}

/// Reads a file of each of these directories.
fn each(scan: &mut Scan<'_>, directories: &[String], name: &str) -> Vec<Reply> {
    let requests: Vec<Request> = directories.iter().map(|path| Request::read(format!("{path}/{name}"))).collect();
    scan.kernel.call(&requests)
}

/// The cache of the highest level. Its size is written in kibibytes: `32768K`.
fn cache(scan: &mut Scan<'_>) {
    let folder = format!("{CPUS}/cpu0/cache");
    let [reply] = scan.batch(&[Request::list(folder.as_str())]);
    let directories: Vec<String> =
        list(&reply).iter().filter(|name| name.starts_with("index")).map(|name| format!("{folder}/{name}")).collect();
    let (levels, sizes) = (each(scan, &directories, "level"), each(scan, &directories, "size"));
    let row = |((path, level), size): ((&String, &Reply), &Reply)| {
        let level: u32 = text(level)?.parse().ok()?;
        let size: u64 = text(size)?.strip_suffix('K')?.parse().ok()?;
        Some((level, size.checked_mul(1024)?, path.clone()))
    };
    let last = directories.iter().zip(&levels).zip(&sizes).filter_map(row).max_by_key(|(level, ..)| *level);
    // One that could not be read may be the last.
    let unread = levels.iter().chain(&sizes).find(|reply| reply.bytes().is_none()).cloned();
    scan.out.host.processors.llc = match last.filter(|_| unread.is_none()) {
        Some((_, size, path)) => Reading::Known(Bytes(size), scan.file(format!("{path}/size"))),
        None => Reading::Unknown(scan.gap(GapKind::Failed, format!("{folder} names no cache"), &plan::TOPOLOGY, "")),
    };
}

/// The value that all files have.
fn common(scan: &mut Scan<'_>, replies: &[Reply], path: &str) -> Reading<String> {
    let mut values: Vec<String> = replies.iter().filter_map(text).collect();
    values.sort();
    values.dedup();
    let refused = replies.iter().find(|reply| reply.bytes().is_none() && !is_missing(reply));
    match (values.as_slice(), refused) {
        ([one], None) => Reading::Known(one.clone(), scan.file(path)),
        ([], None) => Reading::Absent(scan.file(path)),
        (_, Some(refused)) => {
            let refused = refused.clone();
            Reading::Unknown(scan.refusal(&refused, &plan::CLOCK, ""))
        }
        _ => Reading::Unknown(scan.gap(
            GapKind::Derived,
            format!("CPUs differ: {}", values.join(", ")),
            &plan::CLOCK,
            "",
        )),
    }
}

fn clock(scan: &mut Scan<'_>) {
    let folder = format!("{CPUS}/cpufreq");
    let [reply] = scan.batch(&[Request::list(folder.as_str())]);
    let policies: Vec<String> = list(&reply)
        .iter()
        .filter(|name| name.starts_with("policy"))
        .take(MOST)
        .map(|name| format!("{folder}/{name}"))
        .collect();
    let mut readings: [Reading<String>; 3] = Default::default();
    if reply.bytes().is_none() && !is_missing(&reply) {
        let gap = scan.refusal(&reply, &plan::CLOCK, "");
        readings = readings.map(|_| Reading::Unknown(gap));
    } else {
        let names = ["scaling_driver", "scaling_governor", "energy_performance_preference"];
        for (reading, name) in readings.iter_mut().zip(names) {
            let replies = each(scan, &policies, name);
            *reading = common(scan, &replies, &format!("{folder}/policy*/{name}"));
        }
    }
    let processors = &mut scan.out.host.processors;
    [processors.frequency_driver, processors.governor, processors.energy_preference] = readings;
}

/// The deepest idle state of the first CPU that is not switched off.
fn idle(scan: &mut Scan<'_>) {
    let folder = format!("{CPUS}/cpu0/cpuidle");
    let [reply] = scan.batch(&[Request::list(folder.as_str())]);
    let states: Vec<String> =
        list(&reply).iter().filter(|name| name.starts_with("state")).map(|name| format!("{folder}/{name}")).collect();
    let (latencies, disabled) = (each(scan, &states, "latency"), each(scan, &states, "disable"));
    let row = |(latency, disabled): (&Reply, &Reply)| {
        let latency: u32 = text(latency)?.parse().ok()?;
        (text(disabled)? == "0").then_some(latency)
    };
    let deepest = latencies.iter().zip(&disabled).filter_map(row).max();
    let unread = latencies.iter().chain(&disabled).find(|reply| reply.bytes().is_none()).cloned();
    scan.out.host.processors.deepest_idle_latency = match (deepest, unread) {
        (_, Some(refused)) => Reading::Unknown(scan.refusal(&refused, &plan::CLOCK, "")),
        (Some(latency), None) => Reading::Known(latency, scan.file(folder)),
        (None, None) if reply.bytes().is_some() || is_missing(&reply) => Reading::Absent(scan.file(folder)),
        (None, None) => Reading::Unknown(scan.refusal(&reply, &plan::CLOCK, "")),
    };
}

/// On battery where one feeds the system and nothing else does. Batteries of mice and the like feed only those.
fn power(scan: &mut Scan<'_>) {
    let [reply] = scan.batch(&[Request::list(SUPPLIES)]);
    if reply.bytes().is_none() {
        scan.out.host.processors.on_battery = Reading::Unknown(scan.refusal(&reply, &plan::POWER, ""));
        return;
    }
    let supplies: Vec<String> = list(&reply).iter().map(|name| format!("{SUPPLIES}/{name}")).collect();
    let mut unread = None;
    let [kinds, scopes, online, statuses] = ["type", "scope", "online", "status"].map(|name| {
        let replies = each(scan, &supplies, name);
        let refused = replies.iter().find(|reply| reply.bytes().is_none() && !is_missing(reply));
        unread = unread.take().or_else(|| refused.cloned());
        replies.iter().map(text).collect::<Vec<_>>()
    });
    if let Some(unread) = unread {
        scan.out.host.processors.on_battery = Reading::Unknown(scan.refusal(&unread, &plan::POWER, ""));
        return;
    }
    let mut fed = false;
    let mut drained = false;
    for at in 0..supplies.len() {
        let is = |texts: &[Option<String>], wanted: &str| texts[at].as_deref() == Some(wanted);
        if is(&scopes, "Device") {
            continue;
        }
        let battery = is(&kinds, "Battery");
        fed |= !battery && is(&online, "1");
        drained |= battery && is(&statuses, "Discharging");
    }
    scan.out.host.processors.on_battery = Reading::Known(drained && !fed, scan.file(SUPPLIES));
}

/// The domain type of the devices that have interfaces, where they all have the same.
pub(super) fn iommu(scan: &mut Scan<'_>) {
    const GROUPS: &str = "/sys/kernel/iommu_groups";
    let [reply] = scan.batch(&[Request::list(GROUPS)]);
    let groups = list(&reply);
    if groups.is_empty() {
        scan.out.host.processors.iommu = match &reply {
            Reply::Bytes(_) => Reading::Absent(scan.file(GROUPS)),
            missing if is_missing(missing) => Reading::Absent(scan.file(GROUPS)),
            refused => Reading::Unknown(scan.refusal(refused, &plan::IOMMU, "")),
        };
        return;
    }
    let devices: Vec<String> =
        scan.out.devices.iter().map(|device| format!("/sys/bus/pci/devices/{}/iommu_group", device.address)).collect();
    let replies = each(scan, &devices, "type");
    let mut kinds: Vec<String> = replies.iter().filter_map(text).collect();
    kinds.sort();
    kinds.dedup();
    scan.out.host.processors.iommu = match kinds.as_slice() {
        [one] => Reading::Known(one.clone(), scan.file("/sys/bus/pci/devices/*/iommu_group/type")),
        [] => Reading::Unknown(scan.gap(GapKind::Failed, "no network device tells its domain", &plan::IOMMU, "")),
        _ => Reading::Unknown(scan.gap(
            GapKind::Derived,
            format!("devices differ: {}", kinds.join(", ")),
            &plan::IOMMU,
            "",
        )),
    };
}

/// The node of each CPU.
fn nodes(scan: &mut Scan<'_>) -> (BTreeMap<u32, u32>, Reading<u32>) {
    let [reply] = scan.batch(&[Request::list(NODES)]);
    let numbers: Vec<u32> =
        list(&reply).iter().filter_map(|name| name.strip_prefix("node")?.parse().ok()).take(MOST).collect();
    if is_missing(&reply) {
        let source = scan.inferred("the kernel keeps no list of NUMA nodes");
        return (BTreeMap::new(), Reading::Known(1, source));
    }
    if numbers.is_empty() {
        return (BTreeMap::new(), Reading::Unknown(scan.refusal(&reply, &plan::TOPOLOGY, "")));
    }
    let directories: Vec<String> = numbers.iter().map(|number| format!("{NODES}/node{number}")).collect();
    let replies = each(scan, &directories, "cpulist");
    let members = |(number, reply): (&u32, &Reply)| {
        let members = cpu_list::members(&text(reply)?)?;
        Some(members.into_iter().map(|cpu| (cpu, *number)).collect::<Vec<_>>())
    };
    let map = numbers.iter().zip(&replies).filter_map(members).flatten().collect();
    (map, Reading::Known(numbers.len() as u32, scan.file(NODES)))
}

/// What is kept for the second sample.
#[derive(Default)]
pub(super) struct Sample {
    at: u64,
    throttles: bool,
}

/// Counters of one moment by CPU.
struct Moment {
    times: BTreeMap<u32, Vec<(&'static str, u64)>>,
    softirqs: BTreeMap<u32, [(&'static str, u64); 2]>,
    throttled: BTreeMap<u32, Vec<(&'static str, u64)>>,
    replies: [Reply; 2],
}

const THROTTLES: [&str; 2] = ["core_throttle_count", "package_throttle_count"];

fn moment(scan: &mut Scan<'_>, throttles: bool) -> Moment {
    let replies = scan.batch(&[Request::read(TIMES).most(1 << 20), Request::read(SOFTIRQS).most(4 << 20)]);
    let read =
        |reply: &Reply| reply.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
    let times: BTreeMap<u32, Vec<(&'static str, u64)>> =
        proc_stat::cpus(&read(&replies[0])).take(MOST).map(|(cpu, row)| (cpu, row.named().collect())).collect();
    let softirqs = softirqs::network(&read(&replies[1])).into_iter().collect();
    let mut throttled: BTreeMap<u32, Vec<(&'static str, u64)>> = BTreeMap::new();
    if throttles {
        let directories: Vec<String> = times.keys().map(|cpu| format!("{CPUS}/cpu{cpu}/thermal_throttle")).collect();
        for name in THROTTLES {
            let replies = each(scan, &directories, name);
            for (cpu, reply) in times.keys().zip(&replies) {
                if let Some(count) = text(reply).and_then(|count| count.parse().ok()) {
                    throttled.entry(*cpu).or_default().push((name, count));
                }
            }
        }
    }
    Moment { times, softirqs, throttled, replies }
}

/// The first sample of each online CPU.
pub(super) fn first(scan: &mut Scan<'_>) -> Sample {
    let (node_of, count) = nodes(scan);
    scan.out.host.processors.numa_nodes = count.clone();
    let [throttle] = scan.batch(&[Request::exists(format!("{CPUS}/cpu0/thermal_throttle/{}", THROTTLES[0]))]);
    let throttles = throttle.bytes().is_some();
    let now = moment(scan, throttles);
    let at = scan.kernel.now_ms();
    if now.times.is_empty() {
        let [times, _] = &now.replies;
        scan.out.host.cpu_list = Reading::Unknown(scan.refusal(times, &plan::CPU_TIMES, ""));
        return Sample::default();
    }
    let online: Vec<u32> = now.times.keys().copied().collect();
    let cores = cores(scan, &online);
    let times = scan.file(TIMES);
    let softirqs = scan.file(SOFTIRQS);
    let nodes = scan.file(NODES);
    let throttled = scan.file(format!("{CPUS}/cpu*/thermal_throttle"));
    let untold = |scan: &mut Scan<'_>, cpu: u32| {
        Reading::Unknown(scan.gap(GapKind::Failed, format!("no word on cpu{cpu}"), &plan::TOPOLOGY, ""))
    };
    let mut rows = Vec::new();
    for (cpu, ticks) in &now.times {
        rows.push(Cpu {
            number: *cpu,
            node: match (node_of.get(cpu), &count) {
                (Some(node), _) => Reading::Known(*node, nodes),
                (None, Reading::Known(1, source)) if node_of.is_empty() => Reading::Absent(*source),
                (None, Reading::Unknown(gap)) => Reading::Unknown(*gap),
                _ => untold(scan, *cpu),
            },
            core: match cores.get(cpu) {
                Some(core) => Reading::Known(*core, scan.file(format!("{CPUS}/cpu*/topology/thread_siblings_list"))),
                None => untold(scan, *cpu),
            },
            times: Reading::Known(statistics::block("proc_stat", times, ticks.iter().copied()), times),
            softirqs: match (now.softirqs.get(cpu), &now.replies[1]) {
                (None, refused @ (Reply::Error { .. } | Reply::TimedOut | Reply::Skipped { .. })) => {
                    Reading::Unknown(scan.refusal(refused, &plan::CPU_TIMES, ""))
                }
                (rows, _) => {
                    let block = rows.map(|rows| statistics::block("softirqs", softirqs, rows.iter().copied()));
                    scan.or_command(block, softirqs, SOFTIRQS, &plan::CPU_TIMES)
                }
            },
            throttled: match &throttle {
                Reply::Bytes(_) => {
                    let rows = now.throttled.get(cpu);
                    let block = rows.map(|rows| statistics::block("thermal_throttle", throttled, rows.iter().copied()));
                    scan.or_command(block, throttled, "thermal_throttle", &plan::CPU_TIMES)
                }
                missing if is_missing(missing) => Reading::Absent(throttled),
                refused => Reading::Unknown(scan.refusal(refused, &plan::CPU_TIMES, "")),
            },
            ..Cpu::default()
        });
    }
    scan.out.host.cpu_list = Reading::Known(rows, times);
    Sample { at, throttles }
}

/// The first CPU of the core of each CPU.
fn cores(scan: &mut Scan<'_>, online: &[u32]) -> BTreeMap<u32, u32> {
    let directories: Vec<String> = online.iter().map(|cpu| format!("{CPUS}/cpu{cpu}/topology")).collect();
    let replies = each(scan, &directories, "thread_siblings_list");
    let first = |(cpu, reply): (&u32, &Reply)| Some((*cpu, cpu_list::members(&text(reply)?)?.into_iter().min()?));
    online.iter().zip(&replies).filter_map(first).collect()
}

/// The second sample.
pub(super) fn again(scan: &mut Scan<'_>, sample: &Sample) {
    if scan.out.host.cpu_list.known().is_none() {
        return;
    }
    let now = moment(scan, sample.throttles);
    let after = scan.kernel.now_ms().saturating_sub(sample.at);
    let Reading::Known(rows, _) = &mut scan.out.host.cpu_list else { return };
    let append = |block: &mut Reading<CounterBlock>, rows: Option<&[(&'static str, u64)]>| {
        if let (Reading::Known(block, _), Some(rows)) = (block, rows) {
            block.append(after, rows.iter().copied());
        }
    };
    for row in rows {
        append(&mut row.times, now.times.get(&row.number).map(Vec::as_slice));
        append(&mut row.softirqs, now.softirqs.get(&row.number).map(<[_; 2]>::as_slice));
        append(&mut row.throttled, now.throttled.get(&row.number).map(Vec::as_slice));
    }
}

/// Gives each CPU its part of the counters of softnet, which were read for the whole host.
pub(super) fn softnet(scan: &mut Scan<'_>) {
    let Reading::Known(mut rows, source) = scan.out.host.cpu_list.clone() else { return };
    let blocks = scan.out.host.counters.known();
    let all = blocks.and_then(|blocks| blocks.iter().find(|block| block.group == "softnet_stat")).cloned();
    for row in &mut rows {
        let part = all.as_ref().map(|all| of_cpu(all, row.number)).filter(|part| !part.counters.is_empty());
        let from = part.as_ref().map_or(source, |part| part.source);
        row.softnet = scan.or_command(part, from, "no line of this CPU", &plan::SOFTNET);
    }
    scan.out.host.cpu_list = Reading::Known(rows, source);
}

/// The counters of one CPU in a block that has `cpu3.dropped`, as `dropped`.
fn of_cpu(all: &CounterBlock, cpu: u32) -> CounterBlock {
    let mine = |counter: &Counter| {
        let name = counter.name.strip_prefix("cpu")?.strip_prefix(&cpu.to_string())?.strip_prefix('.')?;
        Some(Counter { name: name.to_owned(), values: counter.values.clone() })
    };
    CounterBlock {
        group: all.group.clone(),
        source: all.source,
        partial: all.partial,
        at_ms: all.at_ms.clone(),
        counters: all.counters.iter().filter_map(mine).collect(),
    }
}
