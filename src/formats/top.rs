//! The head of `top`: procps old and new, and BusyBox. The list of processes is passed over.

use super::cursor::{At, Cursor};

/// Shares of the time of a CPU, or of all, in percent. What this version does not print is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shares {
    /// Number of the CPU; none for all together.
    pub cpu: Option<u32>,
    /// Idle.
    pub idle: Option<f64>,
    /// Hardware interrupts.
    pub irq: Option<f64>,
    /// Software interrupts.
    pub softirq: Option<f64>,
    /// Withheld by the hypervisor.
    pub steal: Option<f64>,
    /// Waiting for disks.
    pub iowait: Option<f64>,
    /// Programs.
    pub user: Option<f64>,
    /// Kernel.
    pub system: Option<f64>,
}

/// The head of one refresh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Top {
    /// Seconds since boot.
    pub uptime: Option<At<f64>>,
    /// A line for all CPUs, or one for each.
    pub shares: Vec<At<Shares>>,
    /// CPU share in percent of the busiest `ksoftirqd`, and its CPU.
    pub ksoftirqd: Option<At<(u32, f64)>>,
}

/// True for a line that begins an output.
pub fn begins(text: &str) -> bool {
    text.starts_with("top - ") && super::uptime::printed(text).is_some() || shares(text).is_some()
}

/// `%Cpu(s):  1.0 us,  0.3 sy, ...`, `Cpu0  :  0.0%us, ...`, `CPU:  12% usr   3% sys ...`.
pub fn shares(text: &str) -> Option<Shares> {
    let (name, rest) = text.trim_start().split_once(':')?;
    let name = name.trim_start_matches('%').trim();
    let cpu = match name {
        "Cpu(s)" | "CPU" | "CPU(s)" => None,
        _ => Some(name.strip_prefix("Cpu").or_else(|| name.strip_prefix("CPU"))?.trim().parse().ok()?),
    };
    let mut shares = Shares { cpu, ..Shares::default() };
    let mut known = 0;
    let spaced = rest.replace(['%', ','], " ");
    let mut words = spaced.split_ascii_whitespace();
    while let Some(word) = words.next() {
        let at = word.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(word.len());
        let (number, label) = word.split_at(at);
        let number: f64 = number.parse().ok()?;
        let label = if label.is_empty() { words.next()? } else { label };
        let slot = match label {
            "us" | "usr" => &mut shares.user,
            "sy" | "sys" => &mut shares.system,
            "id" | "idle" => &mut shares.idle,
            "wa" | "io" => &mut shares.iowait,
            "hi" | "irq" => &mut shares.irq,
            "si" | "sirq" => &mut shares.softirq,
            "st" => &mut shares.steal,
            "ni" | "nic" => continue,
            _ => return None,
        };
        *slot = Some(number);
        known += 1;
    }
    (known >= 3).then_some(shares)
}

/// Lines of the head that are not kept.
fn is_mute(text: &str) -> bool {
    let text = text.trim_start();
    [
        "Tasks:",
        "Threads:",
        "Mem:",
        "Mem :",
        "Swap:",
        "KiB Mem",
        "MiB Mem",
        "GiB Mem",
        "KiB Swap",
        "MiB Swap",
        "GiB Swap",
        "Load average:",
    ]
    .iter()
    .any(|begin| text.starts_with(begin))
}

fn is_headings(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace();
    words.next() == Some("PID") && text.contains("COMMAND")
}

/// The line of a process: its share of a CPU and its name.
fn process<'t>(text: &'t str, headings: &[&str]) -> Option<(f64, &'t str)> {
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.first()?.parse::<u32>().ok()?;
    let at = headings.iter().position(|name| *name == "%CPU")?;
    let share = words.get(at)?.trim_end_matches('%').parse().ok()?;
    let command = words.get(headings.iter().position(|name| *name == "COMMAND")?)?;
    Some((share, command))
}

/// Reads one refresh.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Top> {
    let mut top = Top::default();
    let start = cursor.position();
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(line) = cursor.peek_at(blank) else { break };
        let text = line.text;
        if text.trim_start().starts_with("top - ") {
            // The next refresh.
            if cursor.position() > start {
                break;
            }
            top.uptime = super::uptime::printed(text).map(|seconds| At::new(seconds, line.number));
        } else if let Some(shares) = shares(text) {
            top.shares.push(At::new(shares, line.number));
        } else if is_headings(text) {
            for _ in 0..=blank {
                cursor.take();
            }
            processes(cursor, &mut top, text);
            break;
        } else if !is_mute(text) {
            break;
        }
        for _ in 0..=blank {
            cursor.take();
        }
    }
    (cursor.position() > start).then_some(top)
}

fn processes(cursor: &mut Cursor<'_>, top: &mut Top, headings: &str) {
    let headings: Vec<&str> = headings.split_ascii_whitespace().collect();
    while let Some(row) = cursor.take_if(|text| process(text, &headings)) {
        let (share, command) = row.value;
        let cpu = command.trim_matches(['[', ']']).strip_prefix("ksoftirqd/").and_then(|cpu| cpu.parse().ok());
        let busier = top.ksoftirqd.as_ref().is_none_or(|held| held.value.1 < share);
        if let Some(cpu) = cpu.filter(|_| busier) {
            top.ksoftirqd = Some(At::new((cpu, share), row.line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Option<Top>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor), cursor.position())
    }

    #[test]
    fn the_head_and_the_busiest_ksoftirqd() {
        let text = "top - 17:03:41 up 5 days, 18 min,  1 user,  load average: 2.06, 1.79, 1.74\n\
            Tasks:  92 total,   2 running\nCpu(s):  0.0%us,  0.0%sy,  0.0%ni, 35.5%id,  0.0%wa, 10.3%hi,  0.0%si, 54.3%st\n\
            Mem:   3843220k total\nSwap:        0k total\n\n\
            \u{20} PID USER      PR  NI  VIRT  RES  SHR S %CPU %MEM    TIME+  COMMAND\n\
            17511 root      20   0  9952 2376 1116 R  8.0  0.1 210:37.47 systemd-network\n\
            \u{20}   3 root      20   0     0    0    0 S 97.0  0.0  43:45.72 ksoftirqd/0\nend\n";
        let (top, taken) = read(text);
        let top = top.unwrap();
        assert_eq!(taken, 9);
        assert_eq!(top.uptime, Some(At::new(433_080.0, 1)));
        assert_eq!(top.shares[0].value.steal, Some(54.3));
        assert_eq!(top.shares[0].value.irq, Some(10.3));
        assert_eq!(top.ksoftirqd, Some(At::new((0, 97.0), 9)));
    }

    #[test]
    fn shares_of_three_forms() {
        let new = shares("%Cpu3  :  0.0 us,  1.0 sy,  0.0 ni,  2.0 id,  0.0 wa,  0.0 hi, 97.0 si,  0.0 st").unwrap();
        assert_eq!((new.cpu, new.softirq), (Some(3), Some(97.0)));
        let busybox = shares("CPU:  12% usr   3% sys   0% nic  43% idle   0% io   0% irq  42% sirq").unwrap();
        assert_eq!((busybox.cpu, busybox.softirq, busybox.steal), (None, Some(42.0), None));
        for other in
            ["CPU: Intel(R) Xeon(R)", "Cpu(s):", "CPU3: Core temperature/speed normal", "x: 1 us 2 sy 3 id", ""]
        {
            assert_eq!(shares(other), None, "{other}");
        }
    }
}
