//! Programs that measure throughput: iperf3, iperf 2, netperf, nuttcp, perftest.

use super::super::command::Command;
use super::super::measured::Measured;
use super::{Intake, Tool};
use crate::formats::cursor::Cursor;
use crate::formats::results::{Run, iperf2, iperf3, netperf, nuttcp, perftest};

pub(super) static TOOLS: &[Tool] = &[
    Tool {
        name: "iperf3",
        answers: |command| ["iperf3", "bwctl", "pscheduler"].contains(&command.program.as_str()),
        begins: |cursor| begins(cursor, iperf3::read),
        read: |cursor, intake| read(cursor, intake, iperf3::read),
    },
    Tool {
        name: "iperf",
        answers: |command| ["iperf", "iperf2"].contains(&command.program.as_str()),
        begins: |cursor| begins(cursor, iperf2::read),
        read: |cursor, intake| read(cursor, intake, iperf2::read),
    },
    Tool {
        name: "netperf",
        answers: |command| command.program == "netperf",
        begins: |cursor| begins(cursor, netperf::read),
        read: |cursor, intake| read(cursor, intake, netperf::read),
    },
    Tool {
        name: "nuttcp",
        answers: |command| command.program == "nuttcp",
        begins: |cursor| begins(cursor, nuttcp::read),
        read: |cursor, intake| read(cursor, intake, nuttcp::read),
    },
    Tool {
        name: "perftest",
        answers: |command| PERFTEST.contains(&command.program.as_str()),
        begins: |cursor| begins(cursor, perftest::read),
        read: |cursor, intake| read(cursor, intake, perftest::read),
    },
];

/// Programs of perftest that measure bandwidth.
const PERFTEST: &[&str] = &["ib_write_bw", "ib_read_bw", "ib_send_bw"];

type Reader = fn(&mut Cursor<'_>) -> Option<Vec<Run>>;

/// True where the reader takes the next line. A rule of dashes alone is nobody's.
fn begins(cursor: &Cursor<'_>, reader: Reader) -> bool {
    let Some(line) = cursor.peek() else { return false };
    if line.text.trim().bytes().all(|byte| byte == b'-') || line.text.trim() == "..." {
        return false;
    }
    reader(&mut Cursor::new(cursor.rest())).is_some()
}

/// The value of an option, glued to it or as the next word.
fn option<'c>(command: &'c Command, names: &[&str]) -> Option<&'c str> {
    let mut words = command.arguments.iter();
    while let Some(word) = words.next() {
        if names.contains(&word.as_str()) {
            return words.next().map(String::as_str);
        }
        let glued = names.iter().filter(|name| name.len() == 2).find_map(|name| word.strip_prefix(name));
        if let Some(value) = glued.or_else(|| names.iter().find_map(|name| word.strip_prefix(name)?.strip_prefix('=')))
        {
            return Some(value);
        }
    }
    None
}

/// `512K`, `4M`: the letters are binary, as all of these programs read them.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(['B', 'b']);
    let (number, power) = match text.char_indices().last()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        _ => (text, 0),
    };
    let size: f64 = number.parse().ok()?;
    let size = size * f64::from(1_u32 << power);
    (size.is_finite() && size > 0.0 && size < 1e15).then_some(size as u64)
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>, reader: Reader) {
    let Some(runs) = reader(cursor) else { return };
    for mut run in runs {
        let command = intake.command.filter(|command| command.program.starts_with(run.tool));
        if let Some(command) = command {
            if run.tool == "nuttcp" {
                run.sent = Some(!command.has("-r"));
            }
            if run.rdma.is_some() && !run.both_ways {
                // A client names the other end, behind its options.
                let client = command.arguments.last().is_some_and(|word| word.contains('.') || word.contains(':'));
                run.sent = run.sent.or(client.then_some(run.tool != "ib_read_bw"));
            }
            let asked = if run.tool == "netperf" { None } else { option(command, &["-w", "--window"]) };
            run.window = run.window.or_else(|| asked.and_then(bytes));
        }
        let site = &mut *intake.site;
        let source = site.source(run.line);
        site.measured(Measured {
            source,
            in_container: intake.command.is_some_and(|command| command.in_container),
            no_window: run.window.is_none() && command.is_some() && run.tool.starts_with("iperf"),
            run,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::transcript::one;
    use super::*;

    const ROWS: &str = "Connecting to host 10.0.0.2, port 5201\n\
        [  5] local 10.0.0.1 port 40000 connected to 10.0.0.2 port 5201\n\
        [ ID] Interval           Transfer     Bitrate         Retr\n\
        [  5]   0.00-10.00  sec  10.9 GBytes  9.40 Gbits/sec    7             sender\n\
        [  5]   0.00-10.00  sec  10.9 GBytes  9.39 Gbits/sec                  receiver\n\niperf Done.\n";

    #[test]
    fn results_stand_in_a_transcript() {
        let text = format!(
            "root@a:~# iperf3 -c 10.0.0.2 -w 4M\n{ROWS}root@a:~# ethtool -i eth0\ndriver: ixgbe\nversion: 5.1\nbus-info: 0000:01:00.0\n"
        );
        let (snapshot, understood) = one(&text);
        assert_eq!(understood.left, []);
        let all = snapshot.host.measured.known().unwrap();
        let result = &all[0];
        assert_eq!((all.len(), result.tool.as_str(), result.rate.known().unwrap().0), (1, "iperf3", 9_390_000_000));
        assert_eq!((result.window_option.known().unwrap().0, result.sends.known()), (4 << 20, Some(&true)));
        // The only port of the host that the capture shows.
        assert_eq!(result.interface.known().map(String::as_str), Some("eth0"));
    }

    #[test]
    fn a_container_has_an_interface_of_its_own() {
        let ethtool = "$ ethtool -i eth0\ndriver: ixgbe\nversion: 5.1\nbus-info: 0000:01:00.0\n";
        let (snapshot, _) = one(&format!("{ethtool}$ docker run -it --rm networkstatic/iperf3 -c 10.0.0.2\n{ROWS}"));
        let result = &snapshot.host.measured.known().unwrap()[0];
        assert_eq!((result.interface.known(), result.sends.known()), (None, Some(&true)));
        assert!(result.window_option.is_absent());
    }

    #[test]
    fn an_average_says_that_it_is_one() {
        let rows = "[  4]   0.00-1.00   sec   100 MBytes   800 Mbits/sec    0   822 KBytes\n".repeat(3);
        let (snapshot, _) = one(&format!("$ iperf3 -c 10.0.0.2\nConnecting to host 10.0.0.2, port 5201\n{rows}"));
        let result = &snapshot.host.measured.known().unwrap()[0];
        let source = snapshot.origins.source_of(result.rate.source().unwrap()).to_string();
        assert_eq!(
            source,
            "inferred from the average of the 3 intervals up to -:5: the summary of the test is missing"
        );
        assert!(result.duration.known().is_none());
    }

    #[test]
    fn sizes_of_options() {
        assert_eq!(
            (bytes("512K"), bytes("4M"), bytes("1000"), bytes("x"), bytes("")),
            (Some(524_288), Some(4 << 20), Some(1000), None, None)
        );
    }
}
