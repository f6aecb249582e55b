//! Lines that were counted instead of shown: `arp -an | wc -l`, `wc -l < /proc/net/nf_conntrack`, `conntrack -C`.

use super::super::command::Command;
use super::{Intake, Tool};
use crate::formats::cursor::{At, Cursor};

pub(super) static TOOLS: &[Tool] =
    &[Tool { name: "wc -l", answers: |command| counts(command), begins: |_| false, read }];

fn counts(command: &Command) -> bool {
    let counter = |words: &[String]| match words.split_first() {
        Some((name, rest)) => match name.as_str() {
            "wc" => rest.iter().any(|word| word == "-l"),
            "grep" | "egrep" | "fgrep" => rest.iter().any(|word| word == "-c"),
            _ => false,
        },
        None => false,
    };
    let words = std::iter::once(&command.program).chain(&command.arguments).cloned().collect::<Vec<_>>();
    let own = command.filters.is_empty() && counter(&words);
    own || command.filters.last().is_some_and(|filter| counter(filter))
        || command.program == "conntrack" && (command.has("-C") || command.has("--count"))
}

/// What a number is of.
enum Counted {
    Connections,
    NeighboursV4,
    NeighboursV6,
    Other,
}

fn counted(command: &Command) -> Counted {
    // Another filter in front of the counter picks lines.
    let all = command.filters.len() <= 1 && !command.filters.iter().flatten().any(|word| word == "-c");
    if !all {
        return Counted::Other;
    }
    let table = |path: &str| matches!(path, "/proc/net/nf_conntrack" | "/proc/net/ip_conntrack");
    let files = command.files();
    match command.program.as_str() {
        "cat" if files.len() == 1 && table(files[0]) => Counted::Connections,
        "wc" if command.last_operand().is_some_and(table) => Counted::Connections,
        "conntrack" if command.has("-C") || command.arguments == ["-L"] => Counted::Connections,
        "arp" if command.arguments == ["-an"] => Counted::NeighboursV4,
        "ip" if command.has("-4") && command.last_operand().is_some_and(|word| word.starts_with("neigh")) => {
            Counted::NeighboursV4
        }
        "ip" if command.has("-6") && command.last_operand().is_some_and(|word| word.starts_with("neigh")) => {
            Counted::NeighboursV6
        }
        _ => Counted::Other,
    }
}

fn read(cursor: &mut Cursor<'_>, intake: &mut Intake<'_>) {
    let number = cursor.take_if(|text| {
        let mut words = text.split_ascii_whitespace();
        let number: u64 = words.next()?.parse().ok()?;
        // `wc -l FILE` prints the name behind the number.
        words.nth(1).is_none().then_some(number)
    });
    let (Some(number), Some(command)) = (number, intake.command) else { return };
    if !intake.site.namespace.is_empty() {
        return;
    }
    let small = || At::new(u32::try_from(number.value).unwrap_or(u32::MAX), number.line);
    match counted(command) {
        Counted::Connections => intake.site.put_host(|host| &mut host.conntrack.count, number),
        Counted::NeighboursV4 => intake.site.put_host(|host| &mut host.neighbours.v4, small()),
        Counted::NeighboursV6 => intake.site.put_host(|host| &mut host.neighbours.v6, small()),
        Counted::Other => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::capture::transcript::one;

    #[test]
    fn counted_lines_are_entries() {
        let text = "# cat /proc/net/ip_conntrack | wc -l\n544\n# cat /proc/sys/net/ipv4/netfilter/ip_conntrack_max\n300000\n$ arp -an | wc -l\n1335\n";
        let (snapshot, understood) = one(text);
        assert_eq!(understood.left, []);
        let host = &snapshot.host;
        assert_eq!((host.conntrack.count.known(), host.conntrack.max.known()), (Some(&544), Some(&300_000)));
        assert_eq!(host.neighbours.v4.known(), Some(&1335));
        let (snapshot, _) = one("# cat /proc/net/nf_conntrack | grep udp | wc -l\n5\n");
        assert!(snapshot.host.conntrack.count.is_unasked());
    }
}
