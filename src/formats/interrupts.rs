//! /proc/interrupts: a column for each online CPU, a line for each interrupt.

/// An interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Its number as the first column has it, or a word such as `NMI`.
    pub number: String,
    /// How often each CPU served it, in the order of [`Interrupts::cpus`]; fewer where the line was cut.
    pub counts: Vec<u64>,
    /// Names of its actions: who asked for it; empty while nobody does.
    pub actions: Vec<String>,
}

/// The file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interrupts {
    /// Numbers of the CPUs that have a column.
    pub cpus: Vec<u32>,
    /// The interrupts that were wanted, in the order of the file.
    pub rows: Vec<Row>,
}

/// Reads the lines that `wanted` says yes to, by their number and by what stands behind the counts. `None` without a line of
/// columns.
///
/// The blanks at the end of a line must be there: they tell a line without action from one with.
pub fn parse(text: &str, mut wanted: impl FnMut(&str, &str) -> bool) -> Option<Interrupts> {
    let mut lines = text.lines();
    let head = lines.next()?;
    let cpus: Vec<u32> =
        head.split_ascii_whitespace().map(|word| word.strip_prefix("CPU")?.parse().ok()).collect::<Option<_>>()?;
    if cpus.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    for line in lines {
        let Some((number, rest)) = line.split_once(':') else { continue };
        let number = number.trim_ascii();
        let (figures, words) = rest.split_at(end_of_counts(rest, cpus.len()));
        if wanted(number, words) {
            rows.push(Row {
                number: number.to_owned(),
                counts: figures.split_ascii_whitespace().map_while(|figure| figure.parse().ok()).collect(),
                actions: actions(words),
            });
        }
    }
    Some(Interrupts { cpus, rows })
}

/// Where the figures end, of which there are at most `most`.
fn end_of_counts(text: &str, most: usize) -> usize {
    let mut end = 0;
    for _ in 0..most {
        let rest = &text[end..];
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let digits = rest[blanks..].bytes().take_while(u8::is_ascii_digit).count();
        // A word that only begins with digits is no figure.
        let ends = rest.as_bytes().get(blanks + digits).is_none_or(u8::is_ascii_whitespace);
        if digits == 0 || !ends {
            break;
        }
        end += blanks + digits;
    }
    end
}

/// The kernel parts the actions by two blanks from the controller and by commas from each other.
fn actions(words: &str) -> Vec<String> {
    let Some((_, names)) = words.rsplit_once("  ") else { return Vec::new() };
    names.split(", ").map(str::trim_ascii).filter(|name| !name.is_empty()).map(ToOwned::to_owned).collect()
}

/// True where an action is that of an interface: its name stands in it as a word of its own, as `eth1` does in
/// `i40e-eth1-TxRx-0` but not in `eth10-TxRx-0`.
pub fn is_of(action: &str, interface: &str) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = action.as_bytes();
    !interface.is_empty()
        && action
            .match_indices(interface)
            .any(|(at, _)| !(at > 0 && letter(bytes.get(at - 1))) && !letter(bytes.get(at + interface.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "           CPU0       CPU2       \n \
        24:          1          0  IO-APIC   5-edge      ACPI:Ged\n \
        38:          0       6135 PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0\n \
        45:          7          9     GICv2  65 Level     ehci_hcd:usb1, eth0\n \
        46:          0          0   PCI-MSI 524288-edge    \n\
        NMI:         3          4   Non-maskable interrupts\n\
        ERR:         5\n";

    #[test]
    fn counts_stand_below_their_cpus_and_actions_behind_the_controller() {
        let all = parse(FILE, |_, _| true).unwrap();
        assert_eq!(all.cpus, [0, 2]);
        let seen: Vec<(&str, &[u64], Vec<&str>)> = all
            .rows
            .iter()
            .map(|row| (row.number.as_str(), &row.counts[..], row.actions.iter().map(String::as_str).collect()))
            .collect();
        assert_eq!(seen[0], ("24", &[1, 0][..], vec!["ACPI:Ged"]));
        assert_eq!(seen[1], ("38", &[0, 6135][..], vec!["virtio2-input.0"]));
        assert_eq!(seen[2], ("45", &[7, 9][..], vec!["ehci_hcd:usb1", "eth0"]));
        assert_eq!(seen[3], ("46", &[0, 0][..], vec![]));
        assert_eq!(seen[5], ("ERR", &[5][..], vec![]));
        let some = parse(FILE, |number, words| number == "38" || words.contains("eth0")).unwrap();
        assert_eq!(some.rows.iter().map(|row| row.number.as_str()).collect::<Vec<_>>(), ["38", "45"]);
    }

    #[test]
    fn what_is_no_such_file_is_none() {
        for bad in ["", "\n", "24: 1 0 x\n", "CPU0 CPUx\n"] {
            assert_eq!(parse(bad, |_, _| true), None, "{bad}");
        }
        assert!(parse("CPU0\n no colon\n: \n", |_, _| true).unwrap().rows.iter().all(|row| row.counts.is_empty()));
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        for (action, interface, is) in [
            ("eth1", "eth1", true),
            ("eth1-TxRx-0", "eth1", true),
            ("eth10-TxRx-0", "eth1", false),
            ("i40e-eth1-TxRx-0", "eth1", true),
            ("veth1", "eth1", false),
            ("mlx5_comp0@pci:0000:01:00.0", "eth1", false),
            ("eth10 and eth1", "eth1", true),
            ("eth0", "", false),
        ] {
            assert_eq!(is_of(action, interface), is, "{action} {interface}");
        }
    }
}
