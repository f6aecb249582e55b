//! `nfsstat`: the counts of the RPC client, and with `-m` the mounts.

use super::cursor::{At, Cursor};
use super::mountstats::{Mount, options};

/// What the RPC client of this host asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Requests.
    pub calls: u64,
    /// Requests sent again.
    pub retrans: u64,
}

/// True for a line that begins an output.
pub fn begins(text: &str) -> bool {
    title(text).is_some()
}

/// True for the titles of the client's own counts, false for other titles: `Server rpc stats:`, `Client nfs v4:`.
fn title(text: &str) -> Option<bool> {
    let rest = text.trim().strip_suffix(':')?;
    let (side, rest) = rest.split_once(' ')?;
    let known = matches!(side, "Client" | "Server")
        && (["rpc stats", "packet stats", "reply cache", "file handle cache"].contains(&rest)
            || rest.starts_with("nfs v")
            || rest.starts_with("nfs_v"));
    known.then_some(side == "Client" && rest == "rpc stats")
}

/// A line of names or of figures; between those of operations stand percentages.
fn is_row(text: &str) -> bool {
    let figure = |word: &str| word.trim_end_matches('%').bytes().all(|byte| byte.is_ascii_digit());
    let name = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut words = text.split_ascii_whitespace().peekable();
    let numbers = words.peek().is_some_and(|word| figure(word));
    words.peek().is_some() && words.all(|word| if numbers { figure(word) } else { name(word) })
}

/// Reads the tables that come next; none where none does.
pub fn parse(cursor: &mut Cursor<'_>) -> Option<Option<At<Client>>> {
    let mut client = None;
    let mut any = false;
    loop {
        let blank = cursor.rest().iter().take_while(|line| line.text.trim().is_empty()).count();
        let Some(own) = cursor.peek_at(blank).and_then(|line| title(line.text)) else { break };
        any = true;
        cursor.skip_blank();
        cursor.take();
        let mut names: Vec<&str> = Vec::new();
        while let Some(line) = cursor.peek().filter(|line| is_row(line.text)) {
            cursor.take();
            let words: Vec<&str> = line.text.split_ascii_whitespace().collect();
            let get = |name: &str| words.get(names.iter().position(|held| *held == name)?)?.parse().ok();
            if let (true, Some(calls), Some(retrans)) = (own, get("calls"), get("retrans")) {
                client = Some(At::new(Client { calls, retrans }, line.number));
            }
            names = words;
        }
    }
    any.then_some(client)
}

/// The two lines of a mount in `nfsstat -m`: `/proj from 192.0.2.60:/export`, then ` Flags: rw,vers=3,...`.
pub fn mount(cursor: &mut Cursor<'_>) -> Option<At<Mount>> {
    let flags = |text: &str| text.trim().strip_prefix("Flags:").map(|list| list.trim().to_owned());
    let list = cursor.peek_at(1).and_then(|line| flags(line.text))?;
    let head = cursor.peek()?;
    let (path, export) = head.text.trim().split_once(" from ")?;
    cursor.take();
    cursor.take();
    let mount = Mount { export: export.into(), path: path.into(), options: options(&list), ..Mount::default() };
    Some(At::new(mount, head.number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn counts_of_the_client_among_all_tables() {
        let text = "Server rpc stats:\ncalls      badcalls   badfmt     badauth    badclnt\n7          0          0          0          0       \n\n\
            Client rpc stats:\ncalls      retrans    authrefrsh\n812044     412        812049\n\n\
            Client nfs v4:\nnull             read             write            commit           open             \n\
            1         0%     204411   25% 102         0% 9         0% 12        0% \nprompt: end\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let client = parse(&mut cursor).unwrap().unwrap();
        assert_eq!((client.value, client.line), (Client { calls: 812_044, retrans: 412 }, 7));
        assert_eq!(cursor.peek().unwrap().text, "prompt: end");
        assert_eq!(parse(&mut cursor), None);
    }

    #[test]
    fn mounts_and_what_is_cut() {
        let lines = lines("/a b from nas:/x\n Flags:\trw,vers=3,proto=udp\n\n/c from nas:/y\n");
        let mut cursor = Cursor::new(&lines);
        let found = mount(&mut cursor).unwrap().value;
        assert_eq!(
            (found.path.as_str(), found.export.as_str(), found.options["proto"].as_str()),
            ("/a b", "nas:/x", "udp")
        );
        cursor.skip_blank();
        assert_eq!(mount(&mut cursor), None);
        let cut = super::super::cursor::lines("Client rpc stats:\ncalls      retrans    authrefrsh\n");
        assert_eq!(parse(&mut Cursor::new(&cut)), Some(None));
        let cut = super::super::cursor::lines("Client rpc stats:\ncalls retrans authrefrsh\n5\n");
        assert_eq!(parse(&mut Cursor::new(&cut)), Some(None));
    }
}
