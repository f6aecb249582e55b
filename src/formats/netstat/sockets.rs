//! `netstat -ant` and its kin: sockets.

use std::collections::BTreeMap;

use crate::formats::cursor::Cursor;
use crate::formats::ss::Socket;

/// True for a title or a line of headings.
pub fn is_heading(text: &str) -> bool {
    text.starts_with("Active Internet connections")
        || text.starts_with("Active UNIX domain sockets")
        || text.starts_with("Active LOCAL")
        || text.starts_with("Proto ") && (text.contains("Recv-Q") || text.contains("RefCnt"))
}

/// The line of a socket. The state is missing for UDP.
fn row(text: &str, line: u32) -> Option<Socket> {
    let mut words = text.split_ascii_whitespace();
    let protocol = words.next()?;
    if !["tcp", "tcp6", "udp", "udp6", "udplite", "raw", "raw6", "sctp"].contains(&protocol) {
        return (protocol == "unix" && text.contains('[')).then(|| Socket {
            protocol: protocol.into(),
            line,
            ..Socket::default()
        });
    }
    let (recv_q, send_q) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let (local, peer) = (words.next()?.to_owned(), words.next()?.to_owned());
    let state =
        words.next().filter(|word| word.bytes().all(|byte| byte.is_ascii_uppercase() || b"_12".contains(&byte)));
    Some(Socket {
        protocol: protocol.to_owned(),
        state: state.unwrap_or_default().to_owned(),
        recv_q: Some(recv_q),
        send_q: Some(send_q),
        local,
        peer,
        info: BTreeMap::new(),
        line,
    })
}

/// Reads the sockets, with or without the headings.
pub fn parse(cursor: &mut Cursor<'_>) -> Vec<Socket> {
    let mut sockets = Vec::new();
    while let Some(line) = cursor.peek() {
        if !is_heading(line.text) {
            let Some(socket) = row(line.text, line.number) else { break };
            sockets.push(socket);
        }
        cursor.take();
    }
    sockets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn sockets_of_both_families() {
        let text = "Active Internet connections (servers and established)\n\
            Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name\n\
            tcp        5    128 0.0.0.0:22              0.0.0.0:*               LISTEN      1/sshd\n\
            udp        0      0 0.0.0.0:68              0.0.0.0:*                           7/dhclient\n\
            tcp: 5 packets\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let sockets = parse(&mut cursor);
        assert_eq!(sockets.len(), 2);
        assert_eq!((sockets[0].recv_q, sockets[0].state.as_str()), (Some(5), "LISTEN"));
        assert_eq!((sockets[1].state.as_str(), sockets[1].local.as_str()), ("", "0.0.0.0:68"));
        assert_eq!(cursor.peek().unwrap().text, "tcp: 5 packets");
    }
}
