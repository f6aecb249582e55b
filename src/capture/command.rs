//! What was typed at a prompt, as far as it says what the output is: program, arguments, filters, wrappers.

use std::collections::BTreeMap;

use crate::formats::cursor::front;

/// One simple command of a typed line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// Line of the input that it was typed on, from 1.
    pub line: u32,
    /// Base name of the program: `ethtool`.
    pub program: String,
    /// Its arguments, without quotes.
    pub arguments: Vec<String>,
    /// Commands that its output went through (`grep`, `head` ...): what they left out proves nothing.
    pub filters: Vec<Vec<String>>,
    /// Network namespace that it ran in.
    pub namespace: Option<String>,
    /// True where it ran in a container, whose interfaces are not those of the host.
    pub in_container: bool,
    /// Name of that container, pod or machine, where it was given.
    pub container: Option<String>,
    /// Host that it ran on by ssh.
    pub host: Option<String>,
}

/// Most repetitions of a loop that are followed.
const MOST_TURNS: usize = 256;
/// Most commands of one typed line.
const MOST_COMMANDS: usize = 1024;
/// Most steps through lists and loops of one typed line.
const MOST_STEPS: usize = 4096;
/// Most variables that are remembered, and the longest word that comes of them.
const MOST_VARIABLES: usize = 64;
const LONGEST_WORD: usize = 4096;

impl Command {
    /// True where one of the arguments is this word.
    pub fn has(&self, word: &str) -> bool {
        self.arguments.iter().any(|argument| argument == word)
    }

    /// True where a short option holds this letter (`-tin` holds `i`).
    pub fn has_flag(&self, letter: char) -> bool {
        self.arguments.iter().any(|argument| {
            argument.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter))
        })
    }

    /// The last argument that is no option.
    pub fn last_operand(&self) -> Option<&str> {
        self.arguments.iter().rev().map(String::as_str).find(|argument| !argument.starts_with('-'))
    }

    /// The files that it prints, for `cat`, `grep` and their kin.
    pub fn files(&self) -> Vec<&str> {
        let skip = match self.program.as_str() {
            "cat" | "head" | "tail" | "less" | "more" | "zcat" | "nl" | "sort" | "tac" | "column" => 0,
            "grep" | "egrep" | "fgrep" | "zgrep" | "awk" | "sed" | "rg" => 1,
            _ => return Vec::new(),
        };
        let operands = self.arguments.iter().map(String::as_str).filter(|argument| !argument.starts_with('-'));
        operands.skip(skip).collect()
    }

    /// The one file that it prints.
    pub fn file(&self) -> Option<&str> {
        match self.files().as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// True where lines of the output may be missing: by a filter, or because the program itself is one.
    pub fn is_filtered(&self) -> bool {
        let picks = ["grep", "egrep", "fgrep", "zgrep", "rg", "head", "tail", "awk", "sed"];
        !self.filters.is_empty() || picks.contains(&self.program.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `;`, `&&`, `||`, `&` or a line end.
    End,
    Pipe,
    /// `<`, `>`, `>>`, `2>`: the next word is a file.
    Redirect,
}

/// Splits a typed line as a POSIX shell does; a quote that is not closed ends with the line.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let token = match char {
            '\'' => {
                let word = word.get_or_insert_with(String::new);
                word.extend(chars.by_ref().take_while(|next| *next != '\''));
                continue;
            }
            '"' => {
                let word = word.get_or_insert_with(String::new);
                while let Some(next) = chars.next() {
                    match next {
                        '"' => break,
                        '\\' => word.extend(chars.next()),
                        other => word.push(other),
                    }
                }
                continue;
            }
            '\\' => {
                word.get_or_insert_with(String::new).extend(chars.next());
                continue;
            }
            '#' if word.is_none() => break,
            space if space.is_whitespace() => None,
            ';' | '\n' => Some(Token::End),
            '&' => {
                if chars.peek() == Some(&'&') {
                    chars.next();
                }
                Some(Token::End)
            }
            '|' => {
                let either = chars.peek() == Some(&'|');
                if either {
                    chars.next();
                }
                Some(if either { Token::End } else { Token::Pipe })
            }
            '>' | '<' => {
                // A file descriptor before it is no word of the command.
                word = word.filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
                if chars.peek() == Some(&'>') {
                    chars.next();
                }
                if chars.peek() == Some(&'&') {
                    chars.next();
                    while chars.peek().is_some_and(|next| next.is_ascii_digit() || *next == '-') {
                        chars.next();
                    }
                    None
                } else {
                    Some(Token::Redirect)
                }
            }
            other => {
                word.get_or_insert_with(String::new).push(dash(other));
                continue;
            }
        };
        tokens.extend(word.take().map(Token::Word));
        tokens.extend(token);
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

/// Editors turn the dashes of an option into typographic ones: `–show-fec`, `—show-fec`.
fn dash(char: char) -> char {
    match char {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        other => other,
    }
}

/// Long options that lost a dash to an editor: `-show-fec` was `--show-fec`.
fn mend_option(word: String) -> String {
    let bare = word.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.contains('-') && rest.len() > 4);
    match bare {
        Some(_) => format!("-{word}"),
        None => word,
    }
}

/// The simple commands of a typed line in their order, with loops unrolled and variables put in where both are plain.
pub(super) fn parse(text: &str, line: u32) -> Vec<Command> {
    let mut reader = Reader { line, variables: BTreeMap::new(), commands: Vec::new(), steps: 0 };
    reader.list(&tokens(text), 0);
    reader.commands
}

struct Reader {
    line: u32,
    variables: BTreeMap<String, String>,
    commands: Vec<Command>,
    steps: usize,
}

impl Reader {
    fn list(&mut self, tokens: &[Token], depth: usize) {
        let mut rest = tokens;
        while !rest.is_empty() && self.commands.len() < MOST_COMMANDS && self.steps < MOST_STEPS {
            self.steps += 1;
            let word = match &rest[0] {
                Token::Word(word) => word.as_str(),
                _ => "",
            };
            if word == "for" && depth < 3 {
                rest = self.turns(rest, depth);
                continue;
            }
            if ["do", "done", "then", "fi", "else", "while", "until", "if", "{", "}", "time", "watch"].contains(&word) {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|token| *token == Token::End).unwrap_or(rest.len());
            self.pipeline(&rest[..end]);
            rest = &rest[(end + 1).min(rest.len())..];
        }
    }

    /// `for NAME in WORDS; do LIST; done`; returns what follows it.
    fn turns<'t>(&mut self, tokens: &'t [Token], depth: usize) -> &'t [Token] {
        let is = |token: &Token, wanted: &str| matches!(token, Token::Word(word) if word == wanted);
        let mut level = 0_usize;
        let close = tokens.iter().position(|token| {
            level += usize::from(is(token, "do"));
            let closes = is(token, "done");
            level = level.saturating_sub(usize::from(closes));
            closes && level == 0
        });
        let close = close.unwrap_or(tokens.len());
        let Some(open) = tokens[..close].iter().position(|token| is(token, "do")) else { return &tokens[1..] };
        let (head, body) = (&tokens[..open], &tokens[open + 1..close]);
        let name = match head.get(1) {
            Some(Token::Word(name)) => name.clone(),
            _ => String::new(),
        };
        let words = head.iter().skip(3).filter_map(|token| match token {
            Token::Word(word) => Some(word.clone()),
            _ => None,
        });
        let words: Vec<String> = words.flat_map(|word| braces(&word)).take(MOST_TURNS).collect();
        let literal = words.iter().all(|word| !word.contains(['$', '`', '*', '(']));
        let turns = if literal { words } else { vec![format!("${name}")] };
        for word in turns {
            self.variables.insert(name.clone(), word);
            self.list(body, depth + 1);
        }
        self.variables.remove(&name);
        &tokens[(close + 1).min(tokens.len())..]
    }

    fn pipeline(&mut self, tokens: &[Token]) {
        let mut stages = tokens.split(|token| *token == Token::Pipe).map(|stage| self.words(stage));
        let Some(first) = stages.next() else { return };
        let filters: Vec<Vec<String>> = stages.filter(|stage| !stage.is_empty()).collect();
        let filters = filters
            .into_iter()
            .filter(|stage| !["less", "more", "cat", "tee", "sort", "column"].contains(&stage[0].as_str()))
            .collect();
        let mut first = first;
        while let Some((name, value)) = first.first().and_then(|word| assignment(word)) {
            if self.variables.len() < MOST_VARIABLES {
                self.variables.insert(name, value);
            }
            first.remove(0);
        }
        let mut command = Command { line: self.line, filters, ..Command::default() };
        unwrap(&mut command, first);
        if !command.program.is_empty() {
            self.commands.push(command);
        }
    }

    fn words(&self, tokens: &[Token]) -> Vec<String> {
        let mut words = Vec::new();
        let mut is_file = false;
        for token in tokens {
            match token {
                Token::Redirect => is_file = true,
                Token::Word(_) if is_file => is_file = false,
                // Paths with a list in braces stand for several: `/sys/class/net/eth0/{mtu,speed}`.
                Token::Word(word) if word.starts_with('/') && word.contains('{') => {
                    words.extend(braces(&self.expand(word)));
                }
                Token::Word(word) => words.push(mend_option(self.expand(word))),
                _ => {}
            }
        }
        words
    }

    fn expand(&self, word: &str) -> String {
        let mut word = word.to_owned();
        let values = self.variables.iter().rev();
        for (name, value) in values.map(|(name, value)| (name, front(value, LONGEST_WORD))) {
            if word.contains('$') && word.len() < LONGEST_WORD {
                word = word.replace(&format!("${{{name}}}"), value).replace(&format!("${name}"), value);
            }
        }
        front(&word, LONGEST_WORD).to_owned()
    }
}

/// `{1..10}` and `{a,b}` as a whole word.
fn braces(word: &str) -> Vec<String> {
    let Some((front, rest)) = word.split_once('{') else { return vec![word.to_owned()] };
    let Some((inner, back)) = rest.split_once('}') else { return vec![word.to_owned()] };
    let with = |middle: &str| format!("{front}{middle}{back}");
    if let Some((from, to)) = inner.split_once("..")
        && let (Ok(from), Ok(to)) = (from.parse::<u32>(), to.parse::<u32>())
        && from <= to
    {
        return (from..=to).take(MOST_TURNS).map(|number| with(&number.to_string())).collect();
    }
    inner.split(',').map(with).collect()
}

fn assignment(word: &str) -> Option<(String, String)> {
    let (name, value) = word.split_once('=')?;
    let plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|char: char| char.is_ascii_digit());
    plain.then(|| (name.to_owned(), value.to_owned()))
}

/// Takes wrappers off the front of a command: `sudo`, `ssh`, `docker exec`, `kubectl exec`, `ip netns exec` ...
fn unwrap(command: &mut Command, mut words: Vec<String>) {
    for _ in 0..8 {
        let Some(first) = words.first() else { return };
        let name = first.rsplit('/').next().unwrap_or_default().to_owned();
        let after = match name.as_str() {
            "sudo" | "doas" | "nice" | "time" | "nohup" | "stdbuf" | "command" | "exec" | "env" | "ionice"
            | "unbuffer" | "busybox" => options(&words, 1, &["-u", "-g", "-n", "-c", "-p"]),
            "timeout" => options(&words, 1, &["-s", "-k"]) + 1,
            "taskset" | "chrt" => options(&words, 1, &[]) + usize::from(!words.iter().any(|word| word == "-c")),
            "numactl" => {
                let after = options(&words, 1, &[]);
                if after >= words.len() {
                    break;
                }
                after
            }
            "watch" => options(&words, 1, &["-n"]),
            "ssh" => {
                let at = options(&words, 1, &["-p", "-i", "-l", "-o", "-J"]);
                command.host = words.get(at).map(|host| host.rsplit('@').next().unwrap_or_default().to_owned());
                at + 1
            }
            "nsenter" => {
                command.in_container = true;
                options(&words, 1, &["-t", "--target"])
            }
            "docker" | "podman" | "nerdctl" | "lxc-attach" | "kubectl" | "oc" | "crictl" | "lxc" | "incus" | "pct"
            | "machinectl" => {
                let Some((at, container)) = contained(&words) else { break };
                command.in_container = true;
                command.container = container;
                at
            }
            "sshpass" => options(&words, 1, &["-p", "-f"]),
            "ip" => {
                let Some(at) = words.iter().position(|word| word == "exec").filter(|at| *at <= 3) else { break };
                if !words[..at].iter().any(|word| word == "netns" || word == "net") {
                    break;
                }
                command.namespace = words.get(at + 1).cloned();
                at + 2
            }
            _ => break,
        };
        if after >= words.len() {
            // Nothing behind the wrapper: the wrapper is the command.
            break;
        }
        words.drain(..after);
        // A whole command in one quoted word, as `ssh host "ethtool eth0"` or `sh -c "..."`.
        if words.len() == 1 && words[0].contains(' ') {
            words = words[0].split_ascii_whitespace().map(str::to_owned).collect();
        }
    }
    let Some(first) = words.first() else { return };
    let is_shell = ["sh", "bash", "ash"].contains(&first.as_str());
    if is_shell
        && words.get(1).is_some_and(|word| word == "-c" || word == "-lc")
        && let Some(inner) = words.get(2)
    {
        let inner = inner.split_ascii_whitespace().map(str::to_owned).collect();
        return unwrap(command, inner);
    }
    first.rsplit('/').next().unwrap_or_default().clone_into(&mut command.program);
    command.arguments = words.split_off(1);
}

/// Index of the first word that is neither an option nor the value of one of `valued`.
fn options(words: &[String], from: usize, valued: &[&str]) -> usize {
    let mut at = from;
    while let Some(word) = words.get(at) {
        let is_option = word.starts_with('-') || assignment(word).is_some();
        if !is_option {
            break;
        }
        at += if valued.contains(&word.as_str()) { 2 } else { 1 };
    }
    at
}

/// Where the command inside `docker exec`, `docker run`, `kubectl exec`, `pct exec`, `machinectl shell` begins, and the name of
/// the container. The image of `docker run` counts as the program where it is named after it (`networkstatic/iperf3`).
fn contained(words: &[String]) -> Option<(usize, Option<String>)> {
    let verb = words.iter().position(|word| ["exec", "run", "shell"].contains(&word.as_str()));
    let valued =
        ["-n", "-c", "--name", "--network", "--net", "-v", "-e", "-p", "-w", "-u", "--entrypoint", "--namespace"];
    let at = options(words, verb.map_or(1, |verb| verb + 1), &valued);
    let name = words.get(at).filter(|word| *word != "--").cloned();
    if let Some(dashes) = words.iter().position(|word| word == "--") {
        return Some((dashes + 1, name));
    }
    let verb = verb?;
    if words[verb] != "run" {
        return Some((at + 1, name));
    }
    let image = words.get(at)?.rsplit('/').next()?.split(':').next()?;
    let names_its_program = ["iperf3", "iperf", "netperf"].contains(&image);
    Some((if names_its_program { at } else { at + 1 }, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Command {
        let mut commands = parse(text, 1);
        assert_eq!(commands.len(), 1, "{text}: {commands:?}");
        commands.remove(0)
    }

    fn typed(text: &str) -> Vec<String> {
        let words = |command: Command| [vec![command.program], command.arguments].concat().join(" ");
        parse(text, 1).into_iter().map(words).collect()
    }

    #[test]
    fn wrappers_come_off() {
        for (text, wanted) in [
            ("sudo ethtool -g eth0", "ethtool -g eth0"),
            ("/usr/sbin/ethtool eth0", "ethtool eth0"),
            ("sudo -u root LC_ALL=C ip -s link", "ip -s link"),
            ("docker exec -it web1 ethtool eth0", "ethtool eth0"),
            ("kubectl exec -it pod1 -- conntrack -S", "conntrack -S"),
            ("docker run -it --rm networkstatic/iperf3 -c 10.0.0.1", "iperf3 -c 10.0.0.1"),
            ("docker run --rm --net host alpine ip a", "ip a"),
            ("ssh root@nas 'ethtool -S eth1'", "ethtool -S eth1"),
            ("ip netns exec blue ip link", "ip link"),
            ("timeout 5 cat /proc/net/softnet_stat", "cat /proc/net/softnet_stat"),
            ("bash -c 'sysctl -a'", "sysctl -a"),
            ("ethtool \u{2013}show-fec eth0", "ethtool --show-fec eth0"),
            ("ethtool \u{2014}show-fec eth0", "ethtool --show-fec eth0"),
        ] {
            assert_eq!(typed(text), [wanted], "{text}");
        }
        assert_eq!(one("ip netns exec blue ip link").namespace.as_deref(), Some("blue"));
        assert_eq!(one("ssh root@nas uptime").host.as_deref(), Some("nas"));
        assert_eq!(one("docker exec web1 ip a").container.as_deref(), Some("web1"));
        for text in [
            "pct exec 101 -- ip a",
            "lxc exec web -- ip a",
            "machinectl shell web ip a",
            "kubectl exec -it web -- ip a",
        ] {
            let command = one(text);
            assert!(
                command.in_container && command.program == "ip" && command.container.is_some(),
                "{text}: {command:?}"
            );
        }
        assert_eq!(one("sshpass -p x ssh nas ip a").host.as_deref(), Some("nas"));
        assert_eq!(typed("docker logs caddy"), ["docker logs caddy"]);
        assert_eq!(typed("numactl -H"), ["numactl -H"]);
    }

    #[test]
    fn lists_loops_and_variables_unroll() {
        assert_eq!(
            typed("x=\"eth0\"; echo \"$x\"; ifconfig $x; ethtool -S ${x}"),
            ["echo eth0", "ifconfig eth0", "ethtool -S eth0"]
        );
        assert_eq!(
            typed("for i in eth0 eth1; do ethtool -g $i; done; uptime"),
            ["ethtool -g eth0", "ethtool -g eth1", "uptime"]
        );
        assert_eq!(typed("for i in {1..3}; do ip -s link; sleep 1; done").len(), 6);
        assert_eq!(typed("for i in $(ls /sys/class/net); do ethtool $i; done"), ["ethtool $i"]);
        assert_eq!(typed("for i in {1..4000000000}; do x; done").len(), 256);
    }

    #[test]
    fn filters_are_remembered() {
        let command = one("ethtool -S eth0 2>/dev/null | grep -v ': 0' | head > x");
        assert_eq!((command.program.as_str(), command.filters.len()), ("ethtool", 2));
        assert_eq!(command.filters[0], ["grep", "-v", ": 0"]);
        assert!(command.is_filtered());
        assert!(!one("dmesg | less").is_filtered());
        assert_eq!(one("grep eth /proc/interrupts").file(), Some("/proc/interrupts"));
        assert_eq!(one("cat a b").files(), ["a", "b"]);
        assert_eq!(one("cat /sys/x/{mtu,speed}").files(), ["/sys/x/mtu", "/sys/x/speed"]);
        assert!(one("ss -tin").has_flag('i'));
        assert_eq!(one("ethtool -l eth0").last_operand(), Some("eth0"));
    }

    #[test]
    fn what_grows_is_bounded() {
        let doubling: String = (1..40).map(|n| format!("a{n}=$a{0}$a{0}; ", n - 1)).collect();
        let commands = parse(&format!("a0=xxxxxxxx; {doubling} echo $a39"), 1);
        assert!(commands[0].arguments.iter().all(|word| word.len() <= LONGEST_WORD));
        let nested = "for i in {1..256}; do for j in {1..256}; do for k in {1..256}; do x=1; done; done; done";
        assert_eq!(parse(nested, 1), []);
    }

    #[test]
    fn odd_lines_are_no_trouble() {
        for text in
            ["", "'", "\"a", "|", ";;", "for", "for x", "for x in", "sudo", "ip netns exec", "\\", "a > ", "docker run"]
        {
            parse(text, 1);
        }
        assert_eq!(typed("sudo"), ["sudo"]);
    }
}
