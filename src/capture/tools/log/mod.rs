//! Logs: of the kernel in all its forms, and of daemons as far as they tell of the network.

mod facts;

use super::super::command::Command;
use super::super::log::Entry;
use super::super::site::{Refusal, not_permitted, refusal};
use super::{Intake, Tool};
use crate::formats::cursor::{Cursor, Line};
use crate::formats::kernel_log::printed::{Printed, When, printed};
use crate::formats::kernel_log::sieve::tells_of_network;
use crate::formats::kernel_log::{Stamp, stamp};

pub(super) static TOOLS: &[Tool] = &[
    Tool { name: "dmesg", answers: is_kernel_log, begins, read },
    Tool { name: "date", answers: |command| command.program == "date", begins: |_| false, read: date },
    Tool { name: "journalctl", answers: is_daemon_log, begins: |_| false, read: daemon },
];

/// Files of /var/log that a syslog daemon writes.
fn is_log_file(path: &str) -> bool {
    let name = path.strip_prefix("/var/log/").or_else(|| path.strip_prefix("/var/adm/")).unwrap_or("");
    ["messages", "syslog", "kern", "dmesg", "boot", "everything", "system"].iter().any(|start| name.starts_with(start))
}

fn is_kernel_log(command: &Command) -> bool {
    match command.program.as_str() {
        "dmesg" | "logread" => true,
        "journalctl" => !names_unit(command),
        _ => {
            let files = command.files();
            !files.is_empty() && files.iter().all(|file| is_log_file(file))
        }
    }
}

fn names_unit(command: &Command) -> bool {
    command.arguments.iter().any(|word| word == "-u" || word.starts_with("--unit") || word == "-t")
}

fn is_daemon_log(command: &Command) -> bool {
    let asks_for_logs = || command.arguments.first().is_some_and(|word| word == "logs");
    match command.program.as_str() {
        "journalctl" => names_unit(command),
        "docker" | "podman" | "kubectl" | "nerdctl" | "crictl" => asks_for_logs(),
        _ => false,
    }
}

/// Lines that only the journal or its reader puts between those of the log.
fn is_marker(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("-- ") && text.ends_with(" --")
        || text.starts_with("-- Logs begin at")
        || text.starts_with("-- Journal begins at")
        || text.starts_with("Hint: You are currently not seeing messages")
        || matches!(text, "..." | "\u{2026}" | "[...]" | "[\u{2026}]" | "(...)" | "<snip>" | "[snip]")
}

fn begins(cursor: &Cursor<'_>) -> bool {
    let Some(line) = cursor.peek() else { return false };
    printed(line.text).is_some_and(|found| found.when.is_some() || line.text.trim_start().starts_with("kernel: "))
}

/// True where the output of another tool begins.
fn another_begins(cursor: &Cursor<'_>) -> bool {
    super::all().any(|tool| tool.name != "dmesg" && (tool.begins)(cursor))
}

/// How far ahead the next stamped line may be for the lines before it to belong to the log.
const LOOK_AHEAD: usize = 40;

/// True where a line of the log follows before anything that is none.
fn log_goes_on(cursor: &Cursor<'_>) -> bool {
    let ahead = cursor.rest().iter().take(LOOK_AHEAD).take_while(|line| !line.text.trim().is_empty());
    ahead.skip(1).any(|line| printed(line.text).is_some())
}

/// A line of the log and what it was printed with.
struct Record<'t> {
    printed: Printed<'t>,
    line: u32,
    /// Length of the last printed line of it.
    width: usize,
}

impl Record<'_> {
    /// True where a mailer or a terminal may have broken the line in two.
    fn may_go_on(&self) -> bool {
        self.width >= 60 && !self.printed.text.ends_with(['.', ':', '!', ';'])
    }

    /// True where the message itself cannot end here.
    fn is_cut_off(&self) -> bool {
        let text = &*self.printed.text;
        let opened = text.rfind('(').is_some_and(|at| !text[at..].contains(')'));
        opened || text.ends_with(',') || [" by", " at", " with", " link"].iter().any(|end| text.ends_with(end))
    }

    /// Adds the second half of a broken line.
    fn go_on(&mut self, line: Line<'_>) {
        let text = self.printed.text.to_mut();
        // A terminal breaks anywhere, a mailer between words.
        if self.width != 80 {
            text.push(' ');
        }
        text.push_str(line.text.trim());
        self.width = line.text.len();
    }
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let asked = intake.command.filter(|command| is_kernel_log(command));
    if let (Some(command), Some(line)) = (asked, cursor.peek())
        && printed(line.text).is_none()
        && let Some(refusal) = refusal(line.text)
    {
        cursor.take();
        if refusal == Refusal::NotPermitted {
            let gap = not_permitted(command, &intake.site.file, line.number);
            intake.site.put_host_gap(|host| &mut host.log, gap);
        }
        return;
    }
    let records = collect(cursor, asked.is_some());
    if records.is_empty() {
        return;
    }
    let site = &mut *intake.site;
    site.log.read = site.log.read.or(records.first().map(|record| record.line).map(|line| site.source(line)));
    facts::hear(site, &records);
    let entries = dated(&records);
    let mut kept = Vec::with_capacity(entries.len());
    for ((boot, clock, age), record) in entries.into_iter().zip(&records) {
        if record.printed.of_kernel || tells_of_network(&record.printed.text) {
            let source = site.source(record.line);
            let since_boot = record.printed.boot;
            kept.push(Entry { boot, since_boot, clock, age, text: record.printed.text.to_string(), source });
        }
    }
    let snapshot = &site.snapshot;
    site.log.add(kept, || snapshot.log_names());
}

/// Takes the lines of a log. Lines without a stamp are its own where a command that prints logs was typed and none bears a
/// stamp, and else between those that do.
fn collect<'a>(cursor: &mut Cursor<'a>, asked: bool) -> Vec<Record<'a>> {
    let mut records: Vec<Record<'a>> = Vec::new();
    let mut stamped = false;
    let bare = asked && cursor.is_at_start();
    while let Some(line) = cursor.peek() {
        let width = line.text.len();
        if line.text.trim().is_empty() {
            let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
            if cursor.peek_at(blank).is_none_or(|next| printed(next.text).is_none()) {
                break;
            }
            cursor.skip_blank();
        } else if let Some(found) = printed(line.text) {
            stamped |= found.when.is_some();
            records.push(Record { printed: found, line: line.number, width });
            cursor.take();
        } else if is_marker(line.text) && (asked || !records.is_empty()) {
            cursor.take();
        } else if another_begins(cursor) {
            break;
        } else if stamped {
            let indented = line.text.starts_with([' ', '\t']);
            let last = records.last_mut().filter(|record| !indented && record.may_go_on());
            let goes_on = log_goes_on(cursor);
            match last {
                Some(record) if goes_on || record.is_cut_off() => record.go_on(line),
                // The further lines of a message of several.
                _ if goes_on || asked && indented => {}
                _ => break,
            }
            cursor.take();
        } else if bare {
            let printed = Printed { when: None, boot: None, of_kernel: true, text: line.text.trim().into() };
            records.push(Record { printed, line: line.number, width: 0 });
            cursor.take();
        } else {
            break;
        }
    }
    records
}

type Dated = (Option<f64>, Option<Stamp>, Option<f64>);

/// The stamps of lines, and their ages relative to the newest of them.
fn dated(records: &[Record<'_>]) -> Vec<Dated> {
    let mut years = Years::default();
    // Seconds by the clock that the line before bears.
    let mut before: Option<f64> = None;
    let moments: Vec<(Option<f64>, Option<f64>)> = records
        .iter()
        .map(|record| {
            let (boot, wall) = match record.printed.when {
                Some(When::Boot(seconds)) => (Some(seconds), None),
                Some(When::Clock(stamp)) => (None, years.seconds(stamp)),
                Some(When::After(seconds)) => (None, before.map(|before| before + seconds)),
                None => (None, None),
            };
            before = wall.or(before);
            (boot, wall)
        })
        .collect();
    let newest =
        |pick: fn(&(Option<f64>, Option<f64>)) -> Option<f64>| moments.iter().filter_map(pick).reduce(f64::max);
    let (last_boot, last_wall) = (newest(|moment| moment.0), newest(|moment| moment.1));
    let one = |(record, (boot, wall)): (&Record<'_>, &(Option<f64>, Option<f64>))| {
        let age = last_boot.zip(*boot).or(last_wall.zip(*wall)).map(|(last, then)| (last - then).max(0.0));
        let clock = match record.printed.when {
            Some(When::Clock(stamp)) => Some(stamp),
            _ => None,
        };
        (*boot, clock, age.map(|age| (age * 1e6).round() / 1e6))
    };
    records.iter().zip(&moments).map(one).collect()
}

/// Gives stamps without a year a year: lines stand in the order of time.
#[derive(Default)]
struct Years {
    /// Years after the first line.
    later: u32,
    last: f64,
}

impl Years {
    fn seconds(&mut self, stamp: Stamp) -> Option<f64> {
        const DAY: f64 = 86_400.0;
        // The last day of 2000, a year that has all days.
        const LAST: f64 = 978_220_800.0;
        if !matches!(stamp, Stamp::Yearless { .. }) {
            return stamp.seconds(0.0, 0.0);
        }
        let in_year = stamp.seconds(LAST - 1.0, 0.0)?;
        if in_year + 180.0 * DAY < self.last {
            self.later += 1;
        }
        self.last = in_year;
        Some(in_year + f64::from(self.later) * 365.25 * DAY)
    }
}

/// `date`: what the clock showed while the capture was taken.
fn date(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let Some(found) = cursor.take_if(|text| {
        let half = [(" AM ", 0.0), (" PM ", 43_200.0)].into_iter().find(|(half, _)| text.contains(half));
        let plain = half.map_or_else(|| text.to_owned(), |(half, _)| text.replacen(half, " ", 1));
        let (stamp, rest) = stamp::ctime(&plain)?;
        let seconds = stamp.seconds(0.0, 0.0)?;
        let noon = (seconds % 86_400.0) >= 43_200.0;
        let later = half.map_or(0.0, |(_, later)| if noon { later - 43_200.0 } else { later });
        rest.trim().is_empty().then_some(seconds + later)
    }) else {
        return;
    };
    intake.site.log.now = Some(found.value);
}

/// Lines of a daemon's log: what tells of the network is kept.
fn daemon(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let mut kept = Vec::new();
    while let Some(line) = cursor.peek() {
        if line.text.trim().is_empty() || another_begins(cursor) && printed(line.text).is_none() {
            break;
        }
        cursor.take();
        let text = match printed(line.text) {
            Some(found) => found.text.into_owned(),
            None => message_of_json(line.text).unwrap_or_else(|| line.text.trim().to_owned()),
        };
        if tells_of_network(&text) {
            let source = intake.site.source(line.number);
            intake.site.log.read.get_or_insert(source);
            kept.push(Entry { boot: None, since_boot: None, clock: None, age: None, text, source });
        }
    }
    let snapshot = &intake.site.snapshot;
    intake.site.log.add(kept, || snapshot.log_names());
}

/// The message in a line such as `{"level":"info","msg":"..."}`.
fn message_of_json(text: &str) -> Option<String> {
    let fields: serde_json::Value = serde_json::from_str(text.trim()).ok()?;
    ["msg", "message", "log"].iter().find_map(|name| Some(fields.get(name)?.as_str()?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;
    use crate::reading::{GapKind, Seconds};
    use crate::snapshot::{Bus, Duplex, PcieRole, Snapshot};

    fn log(snapshot: &Snapshot) -> Vec<(Option<f64>, &str)> {
        let lines = snapshot.host.log.known().unwrap();
        lines.iter().map(|line| (line.age, line.text.as_str())).collect()
    }

    #[test]
    fn ages_count_back_from_the_newest_line() {
        let text = "$ dmesg | grep igc\n[  100.000000] igc 0000:07:00.0 enp7s0: NIC Link is Down\n\
                    [  103.500000] igc 0000:07:00.0 enp7s0: NIC Link is Up 2500 Mbps Full Duplex, Flow Control: RX/TX\n\
                    [  110.000000] EXT4-fs (sda1): mounted\n";
        let (snapshot, understood) = one(text);
        assert_eq!((understood.lines, understood.read), (4, 4));
        let lines = log(&snapshot);
        assert_eq!(lines.iter().map(|line| line.0).collect::<Vec<_>>(), [Some(10.0), Some(6.5)]);
        assert_eq!(lines[0].1, "igc 0000:07:00.0 enp7s0: NIC Link is Down");
        let port = snapshot.interface("enp7s0").unwrap();
        assert_eq!(port.link.speed.known().unwrap().0, 2_500_000_000);
        assert_eq!((port.link.up.known(), port.link.duplex.known()), (Some(&true), Some(&Duplex::Full)));
        assert_eq!((port.pause.rx.known(), port.pause.tx.known()), (Some(&true), Some(&true)));
        assert_eq!(port.driver.name.known().unwrap(), "igc");
        assert_eq!(snapshot.devices[0].address.to_string(), "0000:07:00.0");
        assert_eq!(snapshot.devices[0].interfaces.known().unwrap(), &["enp7s0"]);
        assert_eq!(snapshot.devices[0].class.known(), Some(&0x0200));
    }

    #[test]
    fn the_clock_outranks_the_newest_line() {
        let text = "# date\nTue Apr  9 11:15:00 CST 2024\n# logread\n\
                    Tue Apr  9 11:05:00 2024 kern.warn kernel: [  9.5] br-lan: received packet on eth2 with own address as source address\n\
                    Tue Apr  9 11:06:00 2024 daemon.notice netifd: Network device 'eth2' link is down\n";
        let (snapshot, understood) = one(text);
        assert_eq!((understood.lines, understood.read), (5, 5));
        assert_eq!(
            log(&snapshot),
            [(Some(600.0), "br-lan: received packet on eth2 with own address as source address")]
        );
        // What happened at boot is as old as the machine is up, whatever came last in a filtered log.
        let text = "# uptime\n 17:03:41 up 1 day, 18 min,  1 user,  load average: 2.06, 1.79, 1.74\n# dmesg | grep igc\n\
                    [  100.000000] igc 0000:07:00.0 enp7s0: NIC Link is Down\n";
        let (snapshot, _) = one(text);
        assert_eq!(log(&snapshot)[0].0, Some(86_400.0 + 18.0 * 60.0 - 100.0));
        assert_eq!(snapshot.host.uptime.known(), Some(&Seconds(87_480.0)));
    }

    #[test]
    fn human_stamps_add_up() {
        let text = "$ dmesg -H\n[Mar23 13:30] macb 1f00100000.ethernet eth0: Link is Down\n\
                    [ +38.912436] macb 1f00100000.ethernet eth0: Link is Up - 1Gbps/Full - flow control off\n\
                    [Mar23 13:32] macb 1f00100000.ethernet eth0: Link is Down\n";
        let (snapshot, _) = one(text);
        let ages: Vec<_> = log(&snapshot).into_iter().map(|line| line.0.unwrap()).collect();
        assert_eq!(ages, [120.0, 81.087_564, 0.0]);
        let port = snapshot.interface("eth0").unwrap();
        // The excerpt ends with a fall: nothing is said of now.
        assert_eq!((port.link.up.known(), port.link.speed.known().unwrap().0), (None, 1_000_000_000));
        assert!(port.device.is_absent() && port.bus.known() == Some(&Bus::Platform));
    }

    #[test]
    fn a_year_ends_within_a_log() {
        let text = "$ cat /var/log/messages\nDec 31 23:59:50 h kernel: eth0: link down\nJan  1 00:00:10 h kernel: eth0: link up, 100Mbps, full-duplex, lpa 0x45E1\n";
        let (snapshot, _) = one(text);
        let ages: Vec<_> = log(&snapshot).into_iter().map(|line| line.0.unwrap()).collect();
        // 2001 has 365 days, of which the middle of four years is 365.25.
        assert!((ages[0] - 20.0).abs() <= 86_400.0 && ages[1] == 0.0, "{ages:?}");
        assert_eq!(snapshot.interface("eth0").unwrap().link.speed.known().unwrap().0, 100_000_000);
    }

    #[test]
    fn lines_without_a_stamp() {
        let text = "$ journalctl -k\nkernel: e1000e 0000:00:1f.6 eth0: Detected Hardware Unit Hang:\n  TDH                  <6d>\n\
                    buffer_info[next_to_clean]:\nMAC Status             <40080083>\n$ dmesg\n\
                    pcieport 0000:00:1d.0: AER: Corrected error received: 0000:07:00.0\nalx 0000:07:00.0: AER:    [ 6] BadTLP\n\nI think that the slot is bad.\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left.iter().map(|left| left.line).collect::<Vec<_>>(), [10]);
        assert_eq!(log(&snapshot).len(), 3);
        assert!(log(&snapshot).iter().all(|line| line.0.is_none()));
    }

    #[test]
    fn broken_lines_are_mended_between_stamped_ones() {
        let text = "[    8.596300] ixgbe 0000:01:00.0: enabling device (0000 -> 0002)\n\
                    [    9.070303] ixgbe 0000:01:00.0: 4.000 Gb/s available PCIe bandwidth, limited by\n\
                    5.0 GT/s PCIe x1 link at 0000:00:1c.0 (capable of 32.000 Gb/s with 5.0 GT/s PCIe x8 link)\n\
                    [    9.286609] ixgbe 0000:01:00.0 eth0: renamed from eth7\nafter all that\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left.len(), 1);
        let device = &snapshot.devices[0];
        let link = &device.pcie.links.known().unwrap()[0];
        assert_eq!((link.speed.known().unwrap().0, link.width.known()), (5.0, Some(&1)));
        assert_eq!(link.upper.known().unwrap().to_string(), "0000:00:1c.0");
        assert_eq!(link.role.known(), Some(&PcieRole::RootPort));
        // Bus 01 below bus 00: nothing fits between.
        assert_eq!((link.lower_speed_max.known().unwrap().0, link.lower_width_max.known()), (5.0, Some(&8)));
        assert_eq!((link.upper_width_max.known(), device.driver.known().map(String::as_str)), (None, Some("ixgbe")));
    }

    #[test]
    fn functions_that_are_no_network_cards_make_no_device() {
        let text = "# dmesg\n[    2.112660] pci 0000:03:00.0: 16.000 Gb/s available PCIe bandwidth, limited by 5.0 GT/s PCIe x4 link at \
                    0000:00:1c.4 (capable of 63.008 Gb/s with 8.0 GT/s PCIe x8 link)\n\
                    [    2.113522] pci 0000:03:00.1: [1002:aab0] type 00 class 0x040300\n\
                    [    2.114000] pci 0000:04:00.0: [8086:1572] type 00 class 0x020000 PCIe Endpoint\n\
                    [    2.114100] pci 0000:00:1d.0: PCI bridge to [bus 04]\n";
        let (snapshot, _) = one(text);
        let found: Vec<String> = snapshot.devices.iter().map(|device| device.address.to_string()).collect();
        assert_eq!(found, ["0000:04:00.0"]);
        assert_eq!(snapshot.devices[0].id.known().unwrap(), "8086:1572");
        let links = snapshot.devices[0].pcie.links.known().unwrap();
        assert_eq!(links[0].upper.known().unwrap().to_string(), "0000:00:1d.0");
        assert!(links[0].speed.known().is_none());
    }

    #[test]
    fn a_clock_names_the_interface_of_a_function() {
        let text = "$ dmesg\nkernel: ixgbe 0000:5e:00.0: failed to initialize because an unsupported SFP+ module type was detected.\n\
                    kernel: ixgbe 0000:5e:00.0: removed PHC on eth6\n";
        let (snapshot, _) = one(text);
        assert_eq!(snapshot.interface("eth6").unwrap().device.known().unwrap().to_string(), "0000:5e:00.0");
        assert_eq!(log(&snapshot).len(), 2);
    }

    #[test]
    fn two_outputs_tell_an_event_once() {
        let line = "[  100.000000] igc 0000:07:00.0 enp7s0: NIC Link is Down\n";
        let (snapshot, _) =
            one(&format!("$ dmesg\n{line}$ dmesg\n{line}[  200.000000] igc 0000:07:00.0 enp7s0: NIC Link is Down\n"));
        assert_eq!(log(&snapshot).into_iter().map(|line| line.0).collect::<Vec<_>>(), [Some(100.0), Some(0.0)]);
    }

    #[test]
    fn a_refused_log_is_a_gap() {
        let (snapshot, _) = one(
            "$ dmesg\ndmesg: read kernel buffer failed: Operation not permitted\n$ ethtool -g eth0\nRing parameters for eth0:\n",
        );
        let gap = snapshot.origins.gap_of(snapshot.host.log.gap().unwrap());
        assert_eq!((gap.why, gap.command.as_str()), (GapKind::NotPermitted, "sudo dmesg"));
    }

    #[test]
    fn daemons_tell_what_the_kernel_does_not() {
        let text = "$ docker logs caddy\n{\"level\":\"info\",\"msg\":\"failed to sufficiently increase receive buffer size (was: 1024 kiB)\"}\nserving\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.read, 3);
        assert_eq!(log(&snapshot), [(None, "failed to sufficiently increase receive buffer size (was: 1024 kiB)")]);
    }
}
