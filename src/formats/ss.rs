//! `ss`: a line for each socket, with `-i` and `-m` what the kernel knows of it on the line or lines below, and the counts
//! of `ss -s`.

use std::collections::BTreeMap;

use super::cursor::Cursor;

/// A socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Socket {
    /// `tcp`, `udp`, `u_str` ...; empty where that column is not printed.
    pub protocol: String,
    /// `ESTAB`, `LISTEN` ...; empty where that column is not printed, as with `ss state established`.
    pub state: String,
    /// Bytes that the program has not read; of a listener the connections that wait to be accepted.
    pub recv_q: Option<u64>,
    /// Bytes that the peer has not confirmed; of a listener the most connections that may wait.
    pub send_q: Option<u64>,
    /// Our address and port.
    pub local: String,
    /// The peer's address and port.
    pub peer: String,
    /// What follows: `timer`, `users`, `skmem` and the words of `-i` by their names; those without a value have none.
    pub info: BTreeMap<String, String>,
    /// Where it stands.
    pub line: u32,
}

impl Socket {
    /// A figure of `skmem:(r0,rb131072,...,d0)`: `rb`, `tb`, `d` (drops) ...
    pub fn memory(&self, key: &str) -> Option<u64> {
        let inner = self.info.get("skmem")?.strip_prefix('(')?.strip_suffix(')')?;
        inner.split(',').find_map(|part| {
            let at = part.find(|char: char| char.is_ascii_digit())?;
            let (name, value) = part.split_at(at);
            (name == key).then(|| value.parse().ok())?
        })
    }
}

const STATES: [&str; 13] = [
    "ESTAB",
    "SYN-SENT",
    "SYN-RECV",
    "FIN-WAIT-1",
    "FIN-WAIT-2",
    "TIME-WAIT",
    "UNCONN",
    "CLOSE-WAIT",
    "LAST-ACK",
    "LISTEN",
    "CLOSING",
    "NEW-SYN-RECV",
    "CLOSED",
];
const PROTOCOLS: [&str; 16] = [
    "tcp", "udp", "raw", "sctp", "dccp", "mptcp", "u_str", "u_dgr", "u_seq", "nl", "p_raw", "p_dgr", "v_str", "v_dgr",
    "icmp6", "xdp",
];
/// Words of `-i` whose value follows after a space.
const SPACED: [&str; 4] = ["send", "pacing_rate", "delivery_rate", "max_pacing_rate"];

/// True for the line of headings.
pub fn is_heading(text: &str) -> bool {
    let text = text.trim_start();
    ["State ", "Netid ", "Recv-Q "].iter().any(|begin| text.starts_with(begin))
        && text.contains("Recv-Q")
        && text.contains("Local Address")
        && !text.contains("Foreign")
}

/// The line of a socket.
fn socket(text: &str, line: u32) -> Option<Socket> {
    // What is known of a socket stands below it, behind a tab or spaces.
    if text.starts_with([' ', '\t']) {
        return None;
    }
    let mut socket = Socket { line, ..Socket::default() };
    let mut words = text.split_ascii_whitespace().peekable();
    if let Some(protocol) = words.next_if(|word| PROTOCOLS.contains(word)) {
        protocol.clone_into(&mut socket.protocol);
    }
    if let Some(state) = words.next_if(|word| STATES.contains(word)) {
        state.clone_into(&mut socket.state);
    }
    let named = !socket.protocol.is_empty() || !socket.state.is_empty();
    socket.recv_q = words.peek().and_then(|word| word.parse().ok());
    if socket.recv_q.is_some() {
        words.next();
        socket.send_q = Some(words.next()?.parse().ok()?);
        socket.local = address(&mut words)?;
        socket.peer = address(&mut words)?;
        let plain = |address: &str| address.contains(':') || address.starts_with(['*', '@', '/']);
        if !named && !(plain(&socket.local) && plain(&socket.peer)) {
            return None;
        }
    } else if !named || !text.contains(":(") {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    facts(&mut socket.info, &rest.join(" "));
    Some(socket)
}

/// An address and its port, which a wide column parts from it: `*:80`, `192.0.2.1%eth0:68`, `/run/x.sock 12345`.
fn address<'t>(words: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>) -> Option<String> {
    let first = words.next()?;
    let parted = !first.contains(':') || first.ends_with(':');
    match words.next_if(|next| parted && next.bytes().all(|byte| byte.is_ascii_digit() || byte == b'*')) {
        Some(port) => Some(format!("{first}{}{port}", if first.ends_with(':') { "" } else { ":" })),
        None => Some(first.to_owned()),
    }
}

/// Splits what is known of a socket into names and values.
fn facts(info: &mut BTreeMap<String, String>, text: &str) -> usize {
    let mut count = 0;
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        if SPACED.contains(&word) {
            if let Some(value) = words.next() {
                info.insert(word.to_owned(), value.to_owned());
                count += 1;
            }
            continue;
        }
        match word.split_once(':') {
            Some((name, value)) if is_name(name) => {
                let mut value = value.to_owned();
                // Names of programs may hold spaces.
                while value.starts_with('(') && !value.ends_with(')') {
                    let Some(next) = words.next() else { break };
                    value.push(' ');
                    value.push_str(next);
                }
                info.insert(name.to_owned(), value);
                count += 1;
            }
            _ if is_name(word) => {
                info.insert(word.to_owned(), String::new());
            }
            _ => {}
        }
    }
    count
}

fn is_name(word: &str) -> bool {
    word.starts_with(|char: char| char.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// True for a line that begins the output of `ss`, although nobody says so.
pub fn begins(text: &str) -> bool {
    is_heading(text)
}

/// Reads the sockets, with or without the headings.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Socket> {
    let mut sockets: Vec<Socket> = Vec::new();
    while let Some(line) = cursor.peek() {
        if is_heading(line.text) {
        } else if let Some(socket) = socket(line.text, line.number) {
            sockets.push(socket);
        } else if !line.text.starts_with([' ', '\t'])
            || sockets.last_mut().is_none_or(|last| facts(&mut last.info, line.text) == 0)
        {
            break;
        }
        cursor.take();
    }
    sockets
}

/// The counts of `ss -s`: of TCP sockets by state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// `estab`, `closed`, `orphaned`, `synrecv`, `timewait` and their counts.
    pub tcp: BTreeMap<String, u64>,
}

/// Reads the output of `ss -s`.
pub fn summary(cursor: &mut Cursor<'_>) -> Option<Summary> {
    let total = |text: &str| {
        let rest = text.strip_prefix("Total: ")?;
        rest.starts_with(|char: char| char.is_ascii_digit()).then_some(())
    };
    let begun = cursor.take_if(total).is_some();
    let tcp = cursor.take_if(|text| {
        let (_, inner) = text.strip_prefix("TCP:")?.split_once('(')?;
        let inner = inner.split_once(')')?.0;
        let count = |part: &str| {
            let (name, count) = part.trim().split_once(' ')?;
            // Old versions print time-wait sockets of two kinds.
            Some((name.to_owned(), count.split('/').next()?.parse().ok()?))
        };
        inner.split(',').map(count).collect::<Option<BTreeMap<String, u64>>>()
    });
    if !begun && tcp.is_none() {
        return None;
    }
    let blank = cursor.peek().is_some_and(|line| line.text.trim().is_empty());
    let table = cursor.peek_at(usize::from(blank)).is_some_and(|line| line.text.starts_with("Transport Total"));
    if table {
        cursor.skip_blank();
        cursor.take();
        let row = |text: &str| {
            let mut words = text.split_ascii_whitespace();
            let known = ["*", "RAW", "UDP", "TCP", "INET", "FRAG"].contains(&words.next()?);
            (known && words.all(|word| word == "-" || word.parse::<u64>().is_ok())).then_some(())
        };
        while cursor.take_if(row).is_some() {}
    }
    Some(Summary { tcp: tcp.map(|at| at.value).unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    fn read(text: &str) -> (Vec<Socket>, usize) {
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        (parse(&mut cursor), cursor.position())
    }

    #[test]
    fn what_the_kernel_knows_stands_below() {
        let text = "State    Recv-Q Send-Q Local Address:Port  Peer Address:PortProcess\n\
            ESTAB    0      3899264 192.0.2.2:22       198.51.100.9:50000 users:((\"my server\",pid=1,fd=3)) timer:(on,200ms,0)\n\
            \t cubic wscale:7,7 rto:204 rtt:0.1/0.05 mss:1448 pmtu:1500 cwnd:10 retrans:0/12 send 1.2Gbps rwnd_limited:10ms(1.2%) app_limited\n\
            \t skmem:(r0,rb131072,t0,tb87040,f0,w0,o0,bl0,d7)\n\
            LISTEN     129    128                *:80                             *:*\nend\n";
        let (sockets, taken) = read(text);
        assert_eq!((sockets.len(), taken), (2, 5));
        let first = &sockets[0];
        assert_eq!((first.state.as_str(), first.recv_q, first.send_q), ("ESTAB", Some(0), Some(3_899_264)));
        assert_eq!((first.local.as_str(), first.peer.as_str()), ("192.0.2.2:22", "198.51.100.9:50000"));
        let get = |key: &str| first.info.get(key).map(String::as_str);
        assert_eq!(get("retrans"), Some("0/12"));
        assert_eq!(get("send"), Some("1.2Gbps"));
        assert_eq!(get("rwnd_limited"), Some("10ms(1.2%)"));
        assert_eq!((get("cubic"), get("app_limited")), (Some(""), Some("")));
        assert_eq!(get("users"), Some("((\"my server\",pid=1,fd=3))"));
        assert_eq!((first.memory("rb"), first.memory("d"), first.memory("x")), (Some(131_072), Some(7), None));
        assert_eq!((sockets[1].recv_q, sockets[1].local.as_str()), (Some(129), "*:80"));
    }

    #[test]
    fn columns_may_be_missing_and_ports_stand_apart() {
        let (sockets, _) = read(
            "tcp   LISTEN 0      2   0.0.0.0:3389  0.0.0.0:*\n0 0 192.0.2.2:22 192.0.2.3:50000\n\
            u_str ESTAB 0      0   /run/systemd/journal/stdout 12345  * 12346\nudp UNCONN 0 0 127.0.0.1: 323  *: *\n",
        );
        assert_eq!(sockets.len(), 4);
        assert_eq!((sockets[0].protocol.as_str(), sockets[0].peer.as_str()), ("tcp", "0.0.0.0:*"));
        assert_eq!(sockets[1].local, "192.0.2.2:22");
        assert_eq!(sockets[2].local, "/run/systemd/journal/stdout:12345");
        assert_eq!((sockets[3].local.as_str(), sockets[3].peer.as_str()), ("127.0.0.1:323", "*:*"));
        for other in ["0 0 192.0.2.2 words", "5 apples and pears", "LISTEN to me", "", "  cubic rtt:5"] {
            assert_eq!(read(other).1, 0, "{other}");
        }
    }

    #[test]
    fn the_summary_counts_tcp() {
        let text = "Total: 21\nTCP:   5 (estab 1, closed 2, orphaned 3, synrecv 0, timewait 4/0), ports 0\n\n\
                    Transport Total     IP        IPv6\n*\t  0         -         -\nRAW\t  0         0         0        \nend";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let found = summary(&mut cursor).unwrap();
        assert_eq!((found.tcp["orphaned"], found.tcp["timewait"]), (3, 4));
        assert_eq!(cursor.peek().unwrap().text, "end");
        assert_eq!(summary(&mut cursor), None);
    }
}
