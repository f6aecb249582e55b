//! `/proc/interrupts` and `/proc/softirqs`: a row of counts for each source, a column for each CPU.

use super::cursor::Cursor;

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PerCpu {
    /// Numbers of the CPUs in the order of the columns, of which those that are offline are missing. Without the head of the
    /// table the columns are counted from 0.
    pub cpus: Vec<u32>,
    /// True where the head of the table was there.
    pub has_head: bool,
    /// The rows.
    pub rows: Vec<Row>,
    /// Line of the head, or of the first row.
    pub line: u32,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// `24`, `NMI`, `NET_RX` ...
    pub name: String,
    /// Counts; fewer than CPUs for rows such as `ERR`.
    pub counts: Vec<u64>,
    /// What stands behind them: chip, number at the chip, names.
    pub tail: String,
    /// Line.
    pub line: u32,
}

impl Row {
    /// Names of the devices that the interrupt is of; several share it.
    pub fn devices(&self) -> Vec<&str> {
        let words: Vec<&str> = self.tail.split_ascii_whitespace().collect();
        // From the end: names are parted by commas, and chip and kind of trigger stand before them.
        let mut names = Vec::new();
        for (at, word) in words.iter().enumerate().rev() {
            let is_last = names.is_empty();
            if at == 0 || !is_last && !word.ends_with(',') {
                break;
            }
            let trigger = ["edge", "level", "fasteoi", "Edge", "Level"];
            if is_last && trigger.iter().any(|kind| word.ends_with(kind)) {
                break;
            }
            names.push(word.trim_end_matches(','));
        }
        names.reverse();
        names
    }
}

/// Most CPUs of a table.
const MOST: usize = 16_384;

fn head(text: &str) -> Option<Vec<u32>> {
    let cpus: Option<Vec<u32>> =
        text.split_ascii_whitespace().take(MOST).map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    cpus.filter(|cpus| !cpus.is_empty())
}

fn row(text: &str, cpus: usize, line: u32) -> Option<Row> {
    let (name, rest) = text.trim().split_once(':')?;
    let plain =
        !name.is_empty() && name.len() <= 12 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut counts = Vec::new();
    let mut rest = rest.trim_start();
    while counts.len() < cpus {
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let Some(count) = rest[..end].parse().ok().filter(|_| end > 0) else { break };
        counts.push(count);
        rest = rest[end..].trim_start();
    }
    (plain && !counts.is_empty()).then(|| Row { name: name.to_owned(), counts, tail: rest.trim().to_owned(), line })
}

/// True where such a table begins: its head, and a row below it.
pub fn begins(cursor: &Cursor<'_>) -> bool {
    let head = cursor.peek().and_then(|line| head(line.text));
    head.is_some_and(|cpus| cursor.peek_at(1).is_some_and(|line| row(line.text, cpus.len(), 0).is_some()))
}

/// Reads a table; none where neither head nor row comes next. Where the head is missing, as `grep` leaves it out, the caller
/// must know that it is one.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<PerCpu> {
    let first = cursor.peek()?;
    let mut table = PerCpu { line: first.number, ..PerCpu::default() };
    if let Some(cpus) = head(first.text) {
        table.cpus = cpus;
        table.has_head = true;
        cursor.take();
    }
    let most = if table.has_head { table.cpus.len() } else { MOST };
    while let Some(line) = cursor.peek() {
        let Some(row) = row(line.text, most, line.number) else { break };
        table.rows.push(row);
        cursor.take();
    }
    if !table.has_head {
        let columns = table.rows.iter().map(|row| row.counts.len()).max()?;
        table.cpus = (0..columns as u32).collect();
    }
    Some(table)
}

/// What a vector of a network interface is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector<'t> {
    /// Interface.
    pub interface: &'t str,
    /// It serves a queue; the others tell of the link and the like.
    pub is_queue: bool,
}

/// Reads the name of a vector: `eth0-TxRx-0`, `i40e-ens1f0-TxRx-3`, `eth0-rx-1`, `eth0-0`, `eth0`.
pub fn vector(name: &str) -> Option<Vector<'_>> {
    let drivers = ["i40e-", "ice-", "iavf-", "i40evf-", "fm10k-", "mlx4-", "hns3-"];
    let name = drivers.iter().find_map(|driver| name.strip_prefix(driver)).unwrap_or(name);
    if name.contains(['@', ':', '[']) || name.is_empty() {
        return None;
    }
    let Some((interface, rest)) = name.split_once('-') else {
        return Some(Vector { interface: name, is_queue: false });
    };
    let lower = rest.to_ascii_lowercase();
    let words = ["txrx", "rxtx", "tx", "rx", "fp", "q", "queue", "ch", "ntfy", "combined"];
    let head = lower.trim_start_matches('-');
    let starts = words.iter().any(|word| {
        head.strip_prefix(word).is_some_and(|rest| {
            rest.is_empty() || rest.starts_with(|char: char| char.is_ascii_digit() || char == '-' || char == '.')
        })
    });
    let number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
    Some(Vector { interface, is_queue: starts || number })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn interrupts_of_old_and_new_kernels() {
        let text = "           CPU0       CPU2\n  8:          1          0  IR-IO-APIC-edge      rtc0\n  7:         34          0  IR-IO-APIC-edge    \n\
                    125: 0 4289304 IR-PCI-MSI 1048576-edge net0\n 18:          0          5   IO-APIC-fasteoi   ehci_hcd:usb1, eth1\n\
                    \u{20}16:  3 4 IO-APIC 16-fasteoi\nNMI:       7474       5501   Non-maskable interrupts\nERR:          0\n$ x\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        assert!(begins(&cursor));
        let table = parse(&mut cursor).unwrap();
        assert_eq!((table.cpus.as_slice(), table.rows.len(), cursor.position()), (&[0, 2][..], 7, 8));
        let devices: Vec<_> = table.rows.iter().map(Row::devices).collect();
        assert_eq!(devices[0], ["rtc0"]);
        assert!(devices[1].is_empty() && devices[4].is_empty());
        assert_eq!((devices[2].as_slice(), table.rows[2].counts.as_slice()), (&["net0"][..], &[0, 4_289_304][..]));
        assert_eq!(devices[3], ["ehci_hcd:usb1", "eth1"]);
        assert_eq!(table.rows[6].counts, [0]);
    }

    #[test]
    fn grep_leaves_the_head_out() {
        let text = " 26:          1          0          0   PCI-MSI-edge      eth0\n 27:  292512958          0          0   PCI-MSI-edge      eth0-TxRx-0\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        assert!(!begins(&cursor));
        let table = parse(&mut cursor).unwrap();
        assert_eq!(
            (table.cpus.as_slice(), table.has_head, table.rows[1].counts[0]),
            (&[0, 1, 2][..], false, 292_512_958)
        );
        assert_eq!(parse(&mut cursor), None);
    }

    #[test]
    fn names_of_vectors() {
        for (name, wanted) in [
            ("eth0-TxRx-0", Some(("eth0", true))),
            ("i40e-ens1f0-TxRx-3", Some(("ens1f0", true))),
            ("eth1-tx-0-rx-3", Some(("eth1", true))),
            ("eth0-0", Some(("eth0", true))),
            ("ena0-Tx-Rx-0", Some(("ena0", true))),
            ("eth0-fp-2", Some(("eth0", true))),
            ("eth0", Some(("eth0", false))),
            ("eth0-event-8", Some(("eth0", false))),
            ("i40e-0000:01:00.0:misc", None),
            ("mlx5_comp0@pci:0000:03:00.0", None),
            ("ahci[0000:00:17.0]", None),
        ] {
            assert_eq!(vector(name).map(|found| (found.interface, found.is_queue)), wanted, "{name}");
        }
    }
}
