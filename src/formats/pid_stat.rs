//! /proc/PID/stat.

/// What is needed of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PidStat {
    /// Its name, at most 15 bytes of a program, more of some kernel threads.
    pub name: String,
    /// Process that it was started by.
    pub parent: u32,
    /// Ticks of CPU time, of the user and of the kernel together.
    pub ticks: u64,
    /// When it was started, in ticks since boot: with its number it tells a process from a later one.
    pub started: u64,
}

/// Reads the file. The name may hold anything, also brackets and blanks.
pub fn parse(text: &str) -> Option<PidStat> {
    let (head, tail) = text.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = tail.split_ascii_whitespace().collect();
    // The first field behind the name is number 3 of proc_pid_stat(5).
    let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
    Some(PidStat {
        name: name.to_owned(),
        parent: u32::try_from(number(4)?).ok()?,
        ticks: number(14)?.checked_add(number(15)?)?,
        started: number(22)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_hold_brackets_and_blanks() {
        let text = "17 (a) (b c) S 2 0 0 0 -1 69238848 0 0 0 0 5 1234 0 0 20 0 1 0 4711 0 0\n";
        let stat = parse(text).unwrap();
        assert_eq!((stat.name.as_str(), stat.parent, stat.ticks, stat.started), ("a) (b c", 2, 1239, 4711));
    }

    #[test]
    fn a_cut_line_is_none() {
        for bad in ["", "17", "17 (x", "17 (x) S 2 0 0", "17 (x) S -1 0 0 0 -1 0 0 0 0 0 5 1 0 0 20 0 1 0 4711", ")("] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
