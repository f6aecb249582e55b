//! Inputs that are damaged at random: whatever they hold, an answer or an error comes back, and no panic. A few rounds each
//! time; NETDOCTOR_FUZZ_SECONDS gives each target that long, NETDOCTOR_FUZZ_SEED another course (a number). A failure names
//! the seed that repeats it in its first round.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use netdoctor::bundle::{Bundle, Collected, Reports};
use netdoctor::capture;
use netdoctor::probe::{Blob, Options, Recorded, Recording, Reply, collect};
use netdoctor::rules::{RuleSet, parse_file};
use netdoctor::snapshot::Snapshot;

use crate::support::{files, read, repository, snapshot};

/// Rounds of a target where no time is given.
const ROUNDS: u64 = 24;

/// Random numbers that a seed repeats (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`; 0 where that is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn of<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    /// A part of something of this length, mostly a short one.
    fn span(&mut self, length: usize) -> std::ops::Range<usize> {
        let begin = self.below(length);
        let most = if self.below(4) == 0 { length } else { 12 };
        begin..(begin + self.below(most)).min(length)
    }
}

/// What breaks readers: ends of ranges, marks, controls, what is no UTF-8.
const ODD: [&[u8]; 24] = [
    b"\0",
    b"\n",
    b"\r\n",
    b"\t",
    b" ",
    b":",
    b"=",
    b"-1",
    b"0",
    b"18446744073709551616",
    b"4294967295",
    b"1e400",
    b"NaN",
    b"\xff\xfe",
    b"\xc3",
    b"\x1b[31m",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"%",
    b"/",
    "\u{2013}\u{1f600}".as_bytes(),
];

/// Damages bytes in a few places.
fn damage(random: &mut Random, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..=random.below(6) {
        let span = random.span(bytes.len());
        match random.below(8) {
            0 => drop(bytes.drain(span)),
            1 => {
                let copy = bytes[span.clone()].to_vec();
                bytes.splice(span.end..span.end, copy);
            }
            2 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            3 => {
                let odd = *random.of(&ODD);
                bytes.splice(span, odd.iter().copied());
            }
            4 => bytes.truncate(span.end),
            5 if !others.is_empty() => {
                let other = random.of(others);
                let piece = other[random.span(other.len())].to_vec();
                bytes.splice(span, piece);
            }
            6 => bytes[span].fill(0xff),
            _ => {
                for byte in &mut bytes[span] {
                    *byte = random.next() as u8;
                }
            }
        }
        bytes.truncate(1 << 20);
    }
}

/// Runs a target round by round.
fn fuzz(target: &str, mut round: impl FnMut(&mut Random)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seed = number("NETDOCTOR_FUZZ_SEED").unwrap_or(1);
    let end = number("NETDOCTOR_FUZZ_SECONDS").map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut rounds = 0;
    loop {
        let goes_on = end.map_or(rounds < ROUNDS, |end| Instant::now() < end);
        if !goes_on {
            return;
        }
        let own = seed.wrapping_add(rounds);
        let started = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(|| round(&mut Random(own.wrapping_mul(0x0100_0000_01b3)))));
        assert!(result.is_ok(), "{target}: NETDOCTOR_FUZZ_SEED={own} repeats it");
        // With room for a machine that is busy.
        assert!(started.elapsed() < Duration::from_secs(60), "{target}: NETDOCTOR_FUZZ_SEED={own} takes too long");
        rounds += 1;
    }
}

/// Transcripts of the repository.
fn transcripts() -> Vec<Vec<u8>> {
    let entries = std::fs::read_dir(repository().join("fixtures/cases")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path().join("input.txt")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Reads an input; what is made of it can be written and read again.
fn analyze(bytes: &[u8]) {
    let Ok(capture) = capture::read_stream(Box::new(bytes), "input") else { return };
    for host in capture.hosts {
        let text = host.snapshot.to_json();
        assert!(Snapshot::from_json(&text).is_ok(), "a snapshot that can't be read back");
    }
}

/// Reads inputs that are damaged by pieces of each other.
fn damaged(target: &str, all: &[Vec<u8>]) {
    fuzz(target, |random| {
        let mut bytes = random.of(all).clone();
        damage(random, &mut bytes, all);
        analyze(&bytes);
    });
}

#[test]
fn damaged_transcripts() {
    let all = transcripts();
    damaged("transcript", &all);
}

#[test]
fn damaged_archives() {
    let host = snapshot(&read("fixtures/seeds/qnap-ts855x-mtu1500.json"));
    let collected = Collected { snapshot: host, ..Collected::default() };
    let packed = Bundle::new(&collected, Reports::default()).pack().unwrap();
    let mut plain = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut plain).unwrap();
    let mut tree = tar::Builder::new(Vec::new());
    for (at, text) in transcripts().iter().take(20).enumerate() {
        let names =
            ["sos_commands/networking/ip_-d_address", "proc/net/dev", "etc/sysctl.conf", "ethtool_eth0", "dmesg.txt"];
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        tree.append_data(&mut header, format!("host{}/{}", at / 5, names[at % 5]), text.as_slice()).unwrap();
    }
    let all = vec![packed, plain, tree.into_inner().unwrap()];
    damaged("archive", &all);
}

#[test]
fn damaged_replies_of_the_kernel() {
    let all: Vec<Recording> =
        files("fixtures/netlink", "json").iter().map(|path| serde_json::from_str(&read(path)).unwrap()).collect();
    fuzz("replies", |random| {
        let mut recording = random.of(&all).clone();
        let pieces: Vec<Vec<u8>> =
            recording.exchanges.iter().filter_map(|one| one.reply.bytes()).map(<[u8]>::to_vec).collect();
        for _ in 0..=random.below(40) {
            let at = random.below(recording.exchanges.len());
            let reply = &mut recording.exchanges[at].reply;
            match reply {
                Reply::Bytes(Blob(bytes)) if random.below(8) > 0 => damage(random, bytes, &pieces),
                _ => *reply = Reply::errno(*random.of(&[1, 2, 13, 19, 22, 95, 105])),
            }
        }
        let interval_ms = random.below(2) as u64 * 1000;
        let options = Options { interval_ms, ..Options::default() };
        let found = collect(&mut Recorded::new(recording), &options, &mut |_| {});
        assert!(Snapshot::from_json(&found.to_json()).is_ok(), "a snapshot that can't be read back");
    });
}

#[test]
fn damaged_expressions() {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for path in files("rules", "yaml") {
        let text = read(path);
        all.extend(text.split("\n- id:").skip(1).map(|rule| format!("- id:{rule}\n").into_bytes()));
    }
    fuzz("expression", |random| {
        let mut bytes = random.of(&all).clone();
        damage(random, &mut bytes, &all);
        let (specs, _) = parse_file("damaged.yaml", &String::from_utf8_lossy(&bytes));
        RuleSet::compile(specs);
    });
}

/// Each command that the transcripts show, over lines that belong to others.
#[test]
fn commands_over_what_they_never_print() {
    let all = transcripts();
    let lines: Vec<&[u8]> = all.iter().flat_map(|text| text.split(|byte| *byte == b'\n')).collect();
    let is_command = |line: &&[u8]| line.starts_with(b"$ ") || line.starts_with(b"# ");
    let commands: Vec<&[u8]> = lines.iter().copied().filter(is_command).collect();
    fuzz("parsers", |random| {
        let mut bytes = Vec::new();
        for _ in 0..=random.below(12) {
            let command: &&[u8] = random.of(&commands);
            bytes.extend_from_slice(command);
            bytes.push(b'\n');
            for _ in 0..random.below(4) {
                let begin = random.below(lines.len());
                let count = random.below(30);
                for line in lines.iter().skip(begin).take(count) {
                    let mut line = line.to_vec();
                    if random.below(6) == 0 {
                        damage(random, &mut line, &all);
                    }
                    bytes.extend_from_slice(&line);
                    bytes.push(b'\n');
                }
            }
        }
        analyze(&bytes);
    });
}
