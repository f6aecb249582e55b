//! The log of the kernel: the lines that concern networking.

use std::collections::BTreeSet;

use super::interfaces::Links;
use super::kernel::{Ask, Reply, Request};
use super::plan;
use super::scan::Scan;
use crate::formats::kernel_log::{self, sieve::Sieve};
use crate::reading::{GapKind, Reading, SourceId};
use crate::snapshot::LogLine;

const DEVICE: &str = "/dev/kmsg";
/// Where syslog daemons put lines of the kernel: the first that has any counts.
const FILES: [&str; 3] = ["/var/log/kern.log", "/var/log/syslog", "/var/log/messages"];
/// A binary journal, which is not read here.
const JOURNALS: [&str; 2] = ["/var/log/journal", "/run/log/journal"];
/// Bytes of the device; the ring of a kernel is rarely longer.
const RECORDS: usize = 4 << 20;
/// Bytes from the end of a file.
const TAIL: usize = 2 << 20;
/// Lines that are kept, the newest.
const MOST: usize = 2000;

/// Names of this host: interfaces, drivers of network devices, PCI addresses.
fn names(scan: &Scan<'_>, links: &Links) -> BTreeSet<String> {
    let mut names = scan.out.log_names();
    names.extend(links.devices.iter().map(|device| device.name.clone()).filter(|name| !name.is_empty()));
    names
}

/// The clocks at the moment of reading, in seconds.
#[derive(Clone, Copy)]
struct Clocks {
    kernel: f64,
    day: f64,
    offset: f64,
}

fn clocks(reply: &Reply) -> Option<Clocks> {
    let text = String::from_utf8_lossy(reply.bytes()?);
    let mut figures = text.split_ascii_whitespace().map(|figure| figure.parse::<f64>().ok());
    let clocks = Clocks { kernel: figures.next()??, day: figures.next()??, offset: figures.next()?? };
    [clocks.kernel, clocks.day, clocks.offset].iter().all(|figure| figure.is_finite()).then_some(clocks)
}

/// Seconds from then to now. Clocks of CPUs differ by a little; a stamp further ahead is of no use.
fn age(now: f64, then: f64) -> Option<f64> {
    const SKEW: f64 = 60.0;
    let age = now - then;
    (age.is_finite() && age > -SKEW).then(|| (age.max(0.0) * 1e6).round() / 1e6)
}

/// Lines out of the records of /dev/kmsg. The kernel stamps them with a clock that stands still while the machine
/// sleeps, so their age is taken from that clock and not from the time since boot.
fn from_records(bytes: &[u8], sieve: &Sieve, clocks: Option<Clocks>, source: SourceId) -> Vec<LogLine> {
    let mut lines = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(record) = kernel_log::record(line).filter(|record| record.facility == 0) else { continue };
        if sieve.keeps(&record.text) {
            let stamp = record.stamp_us as f64 / 1e6;
            let age = clocks.and_then(|clocks| age(clocks.kernel, stamp));
            lines.push(LogLine { age, since_boot: Some(stamp), text: record.text, source, about: String::new() });
        }
    }
    lines
}

/// Lines out of a file, and whether there was any line of the kernel in it.
fn from_file(bytes: &[u8], sieve: &Sieve, clocks: Option<Clocks>, source: SourceId) -> (Vec<LogLine>, bool) {
    let mut lines = Vec::new();
    let mut any = false;
    for line in bytes.split(|byte| *byte == b'\n') {
        let line = String::from_utf8_lossy(line);
        let Some((stamp, text)) = kernel_log::syslog(&line) else { continue };
        any = true;
        if sieve.keeps(text) {
            let age = clocks
                .zip(stamp)
                .and_then(|(clocks, stamp)| age(clocks.day, stamp.seconds(clocks.day, clocks.offset)?));
            lines.push(LogLine { age, since_boot: None, text: text.to_owned(), source, about: String::new() });
        }
    }
    (lines, any)
}

/// Reads the log: from the kernel where that is permitted, else from the files of a syslog daemon.
pub(super) fn collect(scan: &mut Scan<'_>, links: &Links) {
    let sieve = Sieve::new(&names(scan, links));
    let records = Request::new(Ask::Records { path: DEVICE.into(), limit: RECORDS });
    let [reply, clock] = scan.batch(&[records, Request::new(Ask::Clock)]);
    let clocks = clocks(&clock);
    if let Some(bytes) = reply.bytes() {
        let source = scan.file(DEVICE);
        let lines = from_records(bytes, &sieve, clocks, source);
        scan.out.host.log = newest(lines, source);
        return;
    }
    let mut refusal = None;
    for path in FILES {
        let [file] = scan.batch(&[Request::new(Ask::Tail { path: path.into(), limit: TAIL })]);
        match &file {
            Reply::Bytes(blob) => {
                let source = scan.file(path);
                let (lines, any) = from_file(&blob.0, &sieve, clocks, source);
                if any {
                    scan.out.host.log = newest(lines, source);
                    return;
                }
            }
            Reply::Error { errno: libc::ENOENT, .. } => {}
            other => refusal = refusal.or(Some(other.clone())),
        }
    }
    scan.out.host.log = Reading::Unknown(gap(scan, &reply, refusal.as_ref()));
}

fn newest(mut lines: Vec<LogLine>, source: SourceId) -> Reading<Vec<LogLine>> {
    lines.drain(..lines.len().saturating_sub(MOST));
    Reading::Known(lines, source)
}

/// Why there is no log.
fn gap(scan: &mut Scan<'_>, device: &Reply, file: Option<&Reply>) -> crate::reading::GapId {
    let forbidden = |reply: &&Reply| matches!(reply, Reply::Error { errno: libc::EPERM | libc::EACCES, .. });
    if let Some(refusal) = Some(device).filter(forbidden).or(file.filter(forbidden)) {
        return scan.refusal(refusal, &plan::LOG, "");
    }
    let [first, second] = scan.batch(&JOURNALS.map(Request::exists));
    if first.bytes().or(second.bytes()).is_some() {
        let detail = "the log is in a binary journal";
        return scan.gap(GapKind::NotCollected, detail, &plan::JOURNAL, "");
    }
    scan.refusal(file.unwrap_or(device), &plan::LOG, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sieve(names: &[&str]) -> Sieve {
        Sieve::new(&names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn ages_are_counted_on_the_kernels_own_clock() {
        // The machine slept: 500 s by this clock, far more since boot.
        let clocks = clocks(&Reply::Bytes("500.0 1770712450.0 3600".into())).unwrap();
        let bytes = b"6,1,100000000,-;eth0: up\n SUBSYSTEM=net\n6,2,200000000,-;sda: x\n30,3,300000000,-;eth0 said a daemon\n6,4,500000100,-;eth0: down\n4,5,900000000,-;eth0: later\n";
        let lines = from_records(bytes, &sieve(&["eth0"]), Some(clocks), SourceId::ASSUMED);
        let seen: Vec<(Option<f64>, &str)> = lines.iter().map(|line| (line.age, line.text.as_str())).collect();
        assert_eq!(seen, [(Some(400.0), "eth0: up"), (Some(0.0), "eth0: down"), (None, "eth0: later")]);
        let lines = from_records(bytes, &sieve(&["eth0"]), None, SourceId::ASSUMED);
        assert!(lines.iter().all(|line| line.age.is_none()));
    }

    #[test]
    fn files_have_stamps_of_both_forms() {
        let clocks = clocks(&Reply::Bytes("500.0 1770712450.0 3600".into()));
        let text = b"ernel: cut at the beginning of eth0\n\
            Feb 10 09:34:00 box kernel: [  12.3] eth0: classic\n\
            Feb 10 09:34:05 box dhclient[7]: eth0: no line of the kernel\n\
            2026-02-10T08:34:09+00:00 box kernel: eth0: iso\n\
            odd box kernel: eth0: none\n";
        let (lines, any) = from_file(text, &sieve(&["eth0"]), clocks, SourceId::ASSUMED);
        assert!(any);
        let seen: Vec<(Option<f64>, &str)> = lines.iter().map(|line| (line.age, line.text.as_str())).collect();
        assert_eq!(seen, [(Some(10.0), "eth0: classic"), (Some(1.0), "eth0: iso"), (None, "eth0: none")]);
    }

    #[test]
    #[ignore = "measures: run by hand"]
    fn speed() {
        let names: Vec<String> = (0..1000).map(|at| format!("veth{at:x}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let sieve = sieve(&names);
        let line = "Feb  4 09:34:10 compute4 kernel: [    0.308798] ACPI: PCI Interrupt Link [LNKA] (IRQs 5 *10 11)\n\
                    Feb 10 00:00:01 compute4 systemd[1]: logrotate.service: Succeeded.\n\
                    Feb  4 09:34:10 compute4 kernel: [    7.1] veth12: link becomes ready\n";
        let text = line.repeat(TAIL / line.len());
        let started = std::time::Instant::now();
        let (lines, _) = from_file(text.as_bytes(), &sieve, None, SourceId::ASSUMED);
        let took =
            format!("{:?} for {} lines of which {} stay\n", started.elapsed(), text.lines().count(), lines.len());
        std::fs::write("/tmp/probe-log.txt", took).unwrap();
    }

    #[test]
    fn the_newest_lines_are_kept() {
        let line = |at: usize| LogLine {
            age: None,
            since_boot: None,
            text: at.to_string(),
            source: SourceId::ASSUMED,
            about: String::new(),
        };
        let kept = newest((0..MOST + 5).map(line).collect(), SourceId::ASSUMED);
        assert_eq!((kept.known().unwrap().len(), kept.known().unwrap()[0].text.as_str()), (MOST, "5"));
    }
}
