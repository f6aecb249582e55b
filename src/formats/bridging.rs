//! `brctl show`, and the rows of `bridge link`, `bridge vlan` and `bridge fdb`.

use super::cursor::{At, Cursor};

/// A bridge of `brctl show`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bridge {
    /// Its name.
    pub name: String,
    /// `8000.001122334455`.
    pub id: String,
    /// Spanning tree is on.
    pub stp: bool,
    /// Its ports.
    pub ports: Vec<At<String>>,
    /// Line.
    pub line: u32,
}

/// True for the head of the table.
pub fn begins(text: &str) -> bool {
    let text = text.trim();
    text.starts_with("bridge name") && text.contains("bridge id") && text.contains("interfaces")
}

fn is_id(word: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.split_once('.')
        .is_some_and(|(priority, address)| priority.len() == 4 && address.len() == 12 && hex(priority) && hex(address))
}

/// Reads `brctl show`; none where its head does not come next.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Vec<Bridge>> {
    cursor.take_if(|text| begins(text).then_some(()))?;
    let mut bridges: Vec<Bridge> = Vec::new();
    while let Some(line) = cursor.peek() {
        let words: Vec<&str> = line.text.split_ascii_whitespace().collect();
        match (words.as_slice(), bridges.last_mut()) {
            ([name, id, stp, ports @ ..], _) if is_id(id) => bridges.push(Bridge {
                name: (*name).to_owned(),
                id: (*id).to_owned(),
                stp: *stp == "yes",
                ports: ports.iter().map(|port| At::new((*port).to_owned(), line.number)).collect(),
                line: line.number,
            }),
            // Further ports stand alone in the last column.
            ([port], Some(bridge)) if line.text.starts_with([' ', '\t']) => {
                bridge.ports.push(At::new((*port).to_owned(), line.number));
            }
            ([_, rest @ ..], _) if rest.join(" ").starts_with("can't get info") => {}
            _ => break,
        }
        cursor.take();
    }
    Some(bridges)
}

/// A port of `bridge link`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// Its name.
    pub name: String,
    /// Bridge that it belongs to.
    pub master: String,
    /// `forwarding`, `blocking`, `disabled` ...
    pub state: String,
}

/// Reads a row of `bridge link`: `2: eth0: <...> mtu 1500 master br0 state forwarding priority 32 cost 2`. Old versions put
/// the state of the interface before the flags.
pub fn port(text: &str) -> Option<Port> {
    let (index, rest) = text.split_once(": ")?;
    index.trim().parse::<u32>().ok()?;
    let name = rest.split([':', '@', ' ']).next()?;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let behind = |name: &str| words.iter().rposition(|word| *word == name).and_then(|at| words.get(at + 1)).copied();
    let (master, state) = (behind("master")?, behind("state")?);
    behind("priority")?;
    Some(Port { name: name.to_owned(), master: master.to_owned(), state: state.to_owned() })
}

/// True for a row that only `bridge vlan` or `bridge fdb` prints.
pub fn is_other_row(text: &str) -> bool {
    let text = text.trim();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let is_address = |word: &str| word.len() == 17 && word.bytes().filter(|byte| *byte == b':').count() == 5;
    let numbers =
        |word: &str| word.split('-').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    match words.as_slice() {
        ["port", "vlan" | "vlan-id", ..] => true,
        [address, "dev", ..] => is_address(address),
        // `eth0  1 PVID Egress Untagged`, or a further VLAN of the same port.
        [_, id, ..] if numbers(id) => text.contains("PVID") || words.len() == 2,
        [id, rest @ ..] => numbers(id) && rest.iter().all(|word| matches!(*word, "PVID" | "Egress" | "Untagged")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn ports_stand_below_each_other() {
        let text = "bridge name\tbridge id\t\tSTP enabled\tinterfaces\nbr0\t\t8000.02000000000a\tno\t\teth0\n\t\t\t\t\t\t\teth1\n\
                    a-very-long-name\t8000.02000000000b\tyes\t\n\nroot@a:~#\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let bridges = parse(&mut cursor).unwrap();
        assert_eq!(bridges[0].ports, [At::new("eth0".to_owned(), 2), At::new("eth1".to_owned(), 3)]);
        assert_eq!((bridges[1].name.as_str(), bridges[1].stp, bridges[1].ports.len()), ("a-very-long-name", true, 0));
        assert_eq!(cursor.position(), 4);
        assert_eq!(parse(&mut cursor), None);
    }

    #[test]
    fn rows_of_bridge() {
        let found = port("2: vb@va: <BROADCAST,UP> mtu 1500 master br0 state forwarding priority 32 cost 2").unwrap();
        assert_eq!((found.name.as_str(), found.master.as_str(), found.state.as_str()), ("vb", "br0", "forwarding"));
        let found =
            port("7: eth0 state UP : <BROADCAST,UP> mtu 1500 master br0 state blocking priority 32 cost 4").unwrap();
        assert_eq!((found.name.as_str(), found.state.as_str()), ("eth0", "blocking"));
        assert_eq!(port("2: eth0: <BROADCAST,UP> mtu 1500 qdisc mq master br0 state UP mode DEFAULT"), None);
        assert!(
            is_other_row("33:33:00:00:00:01 dev eth0 self permanent") && is_other_row("eth0\t 1 PVID Egress Untagged")
        );
        assert!(
            is_other_row("port\tvlan ids")
                && is_other_row("\t 10")
                && !is_other_row("eth0: up")
                && !is_other_row("a b c")
        );
    }
}
