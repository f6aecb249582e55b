//! Documents that mean harm: no panic, no raw control byte, no word of the host that a shell would obey.

use std::collections::BTreeSet;
use std::process::Command;

use netdoctor::facts::Facts;
use netdoctor::knowledge::Knowledge;
use netdoctor::report::escape::{is_hidden, visible};
use netdoctor::report::model::Report;
use netdoctor::rules::RuleSet;
use netdoctor::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::support::{Folder, formats, report, report_by, rules, run, snapshot};

/// Names as the kernel takes them (15 bytes, neither `/` nor white space), and some that only a forged document holds.
fn names() -> Vec<String> {
    let mut names: Vec<String> = [
        "a;$(id>x)",
        "|<b>",
        "-rf",
        "`id>x`",
        "it's",
        "\"q\"",
        "a'b\"c`d",
        "<.$(id>x)>",
        "<iface.mtu>",
        "{bdf};id>x",
        "{if};id>x",
        "{{iface.mtu}}",
        "{%if%}",
        "&&id>x",
        "*",
        "~root",
        "$HOME",
        "=ls",
        "#x",
        "!!",
        "a\\",
        "\x1b[2J\x1b[31m",
        "\u{9b}31m",
        "\u{202e}txt.exe",
        "a\u{200b}b",
        "a\nb",
        "\n$(id>x)",
        "a\rb",
        "a b\tc",
        "<script>",
        "](http://x)",
        "%s%n",
        "é漢字",
        "..",
        "",
    ]
    .map(str::to_owned)
    .into();
    names.push("long;$(id>x)".repeat(420));
    names
}

/// A card whose ports have these names, are up and of unknown speed, so that the report asks for each of them by name.
fn document() -> String {
    let names = names();
    let interfaces: Vec<Value> = names
        .iter()
        .map(|name| {
            json!({"name": name, "kind": ["ethernet", "assumed"], "device": ["0000:01:00.0", "assumed"],
                "alias": ["\u{1b}[31mred\u{7}\u{202e}\n$(id>x)", "assumed"], "mtu": [1500, "assumed"],
                "driver": {"name": ["mlx5_core", "assumed"], "firmware": ["<img src=x>\u{1b}]0;t\u{7}", "assumed"]},
                "link": {"up": [true, "assumed"], "speed": {"unknown": {"why": "failed", "detail": "\u{1b}[2J"}}},
                "stack": {"master": [name, "assumed"], "members": [[name], "assumed"]}})
        })
        .collect();
    json!({"schema": "netdoctor.snapshot/1",
        "sample": {"source": "live", "seconds": 0, "remarks": ["\u{1b}[2J gone"], "needs_root": ["\u{1b}[2J"]},
        "host": {"platform": ["qnap_qts", "assumed"], "name": ["\u{1b}]0;x\u{7}h<b>", "assumed"], "kernel": ["6.6\u{1b}[2J", "assumed"],
            "os": ["$(id>x)\n# FIX NOW", "assumed"], "product": ["|x|", "assumed"]},
        "interfaces": interfaces,
        "devices": [{"address": "0000:01:00.0", "class": [512, "assumed"], "name": ["card\u{1b}[2J", "assumed"],
            "interfaces": [names, "assumed"], "pcie": {"virtual_root": [false, "assumed"],
                "links": [[{"lower": "0000:01:00.0", "upper": ["0000:00:01.0", "assumed"],
                    "slot": ["\u{1b}[5m;$(id>x)", "assumed"], "speed": [8, "assumed"], "width": [4, "assumed"]}], "assumed"]}}],
        "conflicts": [{"subject": "\u{1b}[2J", "fact": "iface.mtu", "used": "\u{1b}1", "used_source": "assumed: \u{1b}[2J",
            "other": "\n2", "other_source": "/\u{1b}"}]})
    .to_string()
}

/// A rule that puts the host's words into commands, known and unknown ones.
fn wordy_rules() -> RuleSet {
    rules(
        r#"
- id: test.words
  title: Names in commands
  kind: risk
  severity: warning
  scope: interface
  when: iface.link.up
  confidence: high
  why: "{{ iface.name }} is called {{ iface.alias }}, driver {{ iface.firmware }}, {{ host.os }}"
  impact: "{{ iface.ring.rx }} and {{ iface.name }}"
  evidence: [iface.alias, iface.firmware]
  recommend:
    - do: Set {{ iface.name }}
      commands:
        - ip link set dev {{ iface.name }} alias {{ iface.alias }}
        - ethtool -G {{ iface.name }} rx {{ iface.ring.rx_max }} tx {{ iface.ring.tx_max }}
      persist: none
      interrupts: queue
      risk: some for {{ iface.name }}
      verify: "ip link show shows {{ iface.name }}"
      undo: ["ethtool -G {{ iface.name }} rx {{ iface.ring.rx }}"]
    - do: Keep what is set on {{ iface.name }}
      commands: ["ethtool --set-eee {{ iface.name }} eee off", "ls $(hostname {{ iface.name }} | nproc {{ iface.name }}) {{ iface.name }}"]
      persist: eee
      interrupts: none
      verify: "ethtool --show-eee {{ iface.name }}"
  sources: [{from: the test, checked: known}]
"#,
    )
}

fn reports() -> Vec<Report> {
    let snapshot = snapshot(&document());
    vec![report(&snapshot), report_by(&wordy_rules(), &snapshot)]
}

/// The first character that a terminal would obey; line ends are the formats' own.
fn raw(text: &str) -> Option<char> {
    text.chars().find(|c| is_hidden(*c) && *c != '\n')
}

#[test]
fn no_format_lets_a_control_byte_through() {
    for report in reports() {
        for (format, text) in formats(&report) {
            assert_eq!(raw(&text), None, "{format}");
        }
        // The document is shown, not dropped.
        assert_eq!(report.interfaces.len(), names().len());
    }
}

#[test]
fn no_format_lets_a_tag_through() {
    for report in reports() {
        for (format, text) in formats(&report).into_iter().filter(|(format, _)| format == "html" || format == "md") {
            for tag in ["<script>", "<img", "|<b>", "h<b>"] {
                assert!(!outside_code(&format, &text).contains(tag), "{format}: {tag}");
            }
        }
    }
}

/// In Markdown a tag inside code is text: what stands outside of blocks and spans.
fn outside_code(format: &str, text: &str) -> String {
    if format != "md" {
        return text.to_owned();
    }
    let mut fence: Option<&str> = None;
    let mut out = String::new();
    for line in text.lines() {
        let trimmed = line.trim_start();
        let ticks = &trimmed[..trimmed.len() - trimmed.trim_start_matches('`').len()];
        match fence {
            Some(open) if trimmed.trim_end() == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && !trimmed[ticks.len()..].contains('`') => fence = Some(ticks),
            None => out += &(outside_spans(line) + "\n"),
        }
    }
    out
}

/// A span ends at a run of as many backticks as it began with; a backslash takes the meaning of one outside of a span.
fn outside_spans(line: &str) -> String {
    let run = |text: &str| text.len() - text.trim_start_matches('`').len();
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let taken: String = rest.chars().take(2).collect();
            out += &taken;
            rest = &rest[taken.len()..];
            continue;
        }
        let opening = run(rest);
        if opening == 0 {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let body = &rest[opening..];
        let mut at = 0;
        let closed = loop {
            let Some(next) = body[at..].find('`') else { break None };
            let length = run(&body[at + next..]);
            at += next + length;
            if length == opening {
                break Some(at);
            }
        };
        if let Some(end) = closed {
            rest = &body[end..];
        } else {
            out += &rest[..opening];
            rest = body;
        }
    }
    out
}

/// Every command line of a report.
fn commands(report: &Report) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = report.next_command.iter().cloned().collect();
    all.extend(report.not_seen.iter().map(|one| one.command.clone()));
    all.extend(report.checks.iter().flat_map(|check| &check.missing).map(|missing| missing.command.clone()));
    for step in report.findings.iter().flat_map(|finding| &finding.recommend) {
        all.extend(step.commands.iter().chain(&step.undo).cloned());
        // Lines of a boot script are for a shell as well.
        let keep = step.keep.iter().flat_map(|keep| keep.lines.iter().chain(&keep.commands));
        all.extend(keep.cloned());
    }
    all.remove("");
    all
}

/// Programs that our commands name. In their place stands one that prints its arguments; anything else that a command line
/// starts is an error.
const PROGRAMS: &[&str] = &[
    "ip",
    "ethtool",
    "lspci",
    "cat",
    "grep",
    "ls",
    "sudo",
    "sysctl",
    "tc",
    "mpstat",
    "ss",
    "nstat",
    "ping",
    "iperf3",
    "netdoctor",
    "boltctl",
    "hostname",
    "uname",
    "nproc",
    "systemd-detect-virt",
    "bridge",
    "conntrack",
    "cpupower",
    "curl",
    "dcb",
    "devlink",
    "dmesg",
    "find",
    "iw",
    "lsmod",
    "lsusb",
    "networkctl",
    "nfsstat",
    "numactl",
    "ovs-appctl",
    "ovs-dpctl",
    "ovs-vsctl",
    "perf",
    "rdma",
    "rm",
    "systemctl",
    "tcpdump",
    "tee",
    "top",
    "wc",
    "hostnamectl",
    "id",
    "lscpu",
    "ps",
];

/// A folder with the stand-ins.
fn stand_ins() -> Folder {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    for program in PROGRAMS {
        let path = folder.write(program, "#!/bin/sh\nprintf '%s\\0' \"$@\"\n");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

/// Words that a shell passes to the programs of a command line; what else it said.
fn words(command: &str, path: &Folder, folder: &Folder) -> Result<Vec<String>, String> {
    let shell = |arguments: &[&str]| {
        let mut shell = Command::new("/bin/sh");
        shell.args(arguments).current_dir(folder.path()).env_clear().env("PATH", path.path()).env("HOME", "/home");
        let output = shell.output().unwrap();
        let fine = output.status.success() && output.stderr.is_empty();
        if fine { Ok(output.stdout) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    };
    shell(&["-n", "-c", command])?;
    let said = String::from_utf8(shell(&["-c", command])?).unwrap();
    Ok(said.split_terminator('\0').map(str::to_owned).collect())
}

#[test]
fn a_shell_takes_every_name_literally() {
    let (path, folder) = (stand_ins(), Folder::new());
    let mut passed: BTreeSet<String> = BTreeSet::new();
    let mut tried = 0;
    for report in reports() {
        for command in commands(&report) {
            passed.extend(words(&command, &path, &folder).unwrap_or_else(|error| panic!("{command:?}: {error}")));
            tried += 1;
        }
    }
    assert!(tried > 3 * names().len(), "only {tried} command lines");
    assert_eq!(folder.names(), Vec::<String>::new(), "a name was executed");
    let alias = "\u{1b}[31mred\u{7}\u{202e}\n$(id>x)".to_owned();
    for name in names().into_iter().chain([alias]) {
        let shown = visible(&name).into_owned();
        if shown == name && !name.contains('\u{fffd}') && !name.starts_with('-') {
            assert!(passed.contains(&name), "{name:?} never arrived as one word");
        } else {
            // Copied from a report it would be another name, or an option.
            assert!(!passed.contains(&name) && !passed.contains(&shown), "{name:?} can't be typed as it is shown");
        }
    }
}

#[test]
fn the_stand_ins_notice_what_a_shell_would_obey() {
    let (path, folder) = (stand_ins(), Folder::new());
    for command in [
        "ip link show $(reboot)",
        "ip link show a; touch y",
        "ip link show `reboot`",
        "ip link show a|reboot b",
        "ip a'",
    ] {
        assert!(words(command, &path, &folder).is_err(), "{command}");
    }
    assert_eq!(folder.names(), Vec::<String>::new());
    let words = words("ip link show 'a;$(id>x)'; ethtool b", &path, &folder);
    assert_eq!(words.unwrap(), ["link", "show", "a;$(id>x)", "b"]);
}

#[test]
fn every_command_survives_the_document() {
    let folder = Folder::new();
    let path = folder.write("hostile.json", document());
    let rules = folder.at("rules");
    // Rules of a user may hold control bytes as well: in YAML an escape is allowed in quotes.
    folder.write("rules/a.yaml", "- id: \"test.\\e[2J\"\n  title: \"\\e[31m\"\n  kind: risk\n  \"\\e]0;x\\a\": 1\n");
    for arguments in [
        &["analyze", &path][..],
        &["analyze", "-v", &path],
        &["analyze", "-f", "json", &path],
        &["analyze", "-f", "md", &path],
        &["analyze", "-f", "html", &path],
        &["analyze", "--rules", &rules, &path],
        &["facts", "show", "--all", &path],
        &["facts", "show", "-f", "json", &path],
        &["facts", "show", "-s", "\x1b[2J\x1b[31m", &path],
        &["facts", "show", "-s", "\x1b[5m no such port", &path],
        &["rules", "trace", "pcie.path-below-link", "--from", &path],
        &["rules", "trace", "pcie.path-below-link", "\x1b[5m", "--from", &path],
        &["rules", "show", "\x1b[5m"],
        &["rules", "check", &rules],
        &["rules", "coverage", &path],
    ] {
        let said = run(arguments);
        assert!((0..=3).contains(&said.code), "{arguments:?}: {} {:.300}", said.code, said.err);
        assert_eq!(raw(&said.out), None, "{arguments:?}");
        assert_eq!(raw(&said.err), None, "{arguments:?}: {:?}", said.err);
    }
}

#[test]
fn forged_documents_are_refused_without_a_panic() {
    let folder = Folder::new();
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    let with = |field: &str| format!(r#"{{"schema": "netdoctor.snapshot/1", {field}}}"#);
    let leaf = |value: &str| with(&format!(r#""interfaces": [{{"name": "e", "mtu": {value}}}]"#));
    let counted = |row: &str| {
        let block = format!(r#"{{"group": "g", "source": "assumed", "at_ms": [0], "counters": [{row}]}}"#);
        with(&format!(r#""interfaces": [{{"name": "e", "counters": [{block}]}}]"#))
    };
    for (number, text) in [
        deep("[", "]"),
        deep(r#"{"a":"#, "}"),
        with(&format!(r#""host": {}"#, deep("[", "]"))),
        with(r#""interfaces": 7"#),
        with(r#""interfaces": [7]"#),
        with(r#""interfaces": {"name": "e"}"#),
        with(r#""host": "x""#),
        with("\"\x1b[2J\": 1"),
        with(r#""\u001b[2J": 1"#),
        with(r#""devices": [{"address": "zz:00.0\u001b[2J"}]"#),
        leaf("[1e400, 0]"),
        leaf("[-1, 0]"),
        leaf("[1.5, 0]"),
        leaf("[18446744073709551616, 0]"),
        leaf(r#"["NaN", 0]"#),
        leaf("[NaN, 0]"),
        leaf("[1500, 99999999]"),
        leaf("[1500, -1]"),
        leaf(r#"[1500, "\u001b[2J"]"#),
        leaf("[]"),
        leaf("[1500]"),
        leaf("{}"),
        leaf("null"),
        leaf(r#"{"unknown": 4294967296}"#),
        counted(r#"["c", 18446744073709551616]"#),
        counted(r#"["c", -1]"#),
        counted(r#"["c", "NaN", 1.5]"#),
        "{\"schema\": \"netdoctor.snapshot/1\"".into(),
        "{\"schema\": 1}".into(),
        "\u{feff}{}".into(),
        "\0".repeat(4096),
    ]
    .iter()
    .enumerate()
    {
        let path = folder.write(&format!("{number}.json"), text);
        let said = run(&["analyze", &path]);
        assert_eq!((said.code, said.out.as_str()), (3, ""), "{text:.100}: {:.300}", said.err);
        assert_eq!(raw(&said.err), None, "{text:.100}: {:?}", said.err);
        assert!(said.err.len() < 4000, "{text:.100}: a message of {} bytes", said.err.len());
    }
}

#[test]
fn extreme_but_lawful_documents_give_a_report() {
    let huge = u64::MAX;
    let counters = json!([
        ["rx_packets", huge, huge],
        ["rx_packets", 1, 0],
        ["", 0],
        [],
        ["x", null, null],
        ["rx_bytes", huge, 0]
    ]);
    let block =
        |at: Value| json!({"group": "rtnl_link_stats64", "source": "assumed", "at_ms": at, "counters": counters});
    for (what, document) in [
        ("nothing", json!({})),
        ("empty lists", json!({"interfaces": [], "devices": [], "conflicts": []})),
        ("no name", json!({"interfaces": [{}, {}, {"name": ""}], "devices": [{}, {}]})),
        (
            "twins",
            json!({"interfaces": [{"name": "e"}, {"name": "e"}], "devices": [{"address": "01:00.0"}, {"address": "01:00.0"}]}),
        ),
        (
            "counters",
            json!({"interfaces": [{"name": "e", "counters": [block(json!([0, 1])), block(json!([])), block(json!([5, 0, huge]))]}]}),
        ),
        (
            "figures",
            json!({"sample": {"seconds": -1e308}, "host": {"uptime": [-1e308, "assumed"], "memory": [huge, "assumed"]},
                "interfaces": [{"name": "e", "driver": {"name": ["mlx5_core", "assumed"]}, "mtu": [huge, "assumed"], "vlan_tags": [u32::MAX, "assumed"],
                    "device": ["01:00.0", "assumed"], "link": {"up": [true, "assumed"], "speed": [huge, "assumed"], "lanes": [0, "assumed"]}}],
                "devices": [{"address": "01:00.0", "class": [u16::MAX, "assumed"], "pcie": {"mps": [huge, "assumed"], "mrrs": [0, "assumed"],
                    "virtual_root": [false, "assumed"], "links": [[
                        {"lower": "01:00.0", "speed": [1e308, "assumed"], "width": [u32::MAX, "assumed"]},
                        {"lower": "01:00.0", "speed": [-8.0, "assumed"], "width": [0, "assumed"]}], "assumed"]}}]}),
        ),
        (
            "zeros",
            json!({"interfaces": [{"name": "e", "driver": {"name": ["mlx5_core", "assumed"]}, "mtu": [0, "assumed"], "device": ["01:00.0", "assumed"],
                    "link": {"up": [true, "assumed"], "speed": [0, "assumed"]}}],
                "devices": [{"address": "01:00.0", "class": [512, "assumed"], "pcie": {"virtual_root": [false, "assumed"],
                    "links": [[], "assumed"]}}]}),
        ),
        (
            "a ring of names",
            json!({"interfaces": [{"name": "a", "stack": {"parent": ["b", "assumed"], "master": ["a", "assumed"], "members": [["a", "b", "b"], "assumed"]}},
                {"name": "b", "stack": {"parent": ["a", "assumed"], "peer": ["b", "assumed"]}}]}),
        ),
    ] {
        let mut document = document;
        document["schema"] = "netdoctor.snapshot/1".into();
        let snapshot = Snapshot::from_json(&document.to_string()).unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = report(&snapshot);
        for (format, text) in formats(&report) {
            assert_eq!(raw(&text), None, "{what}, {format}");
            for word in ["NaN", "inf "] {
                assert!(!text.contains(word), "{what}, {format}: a figure that is none");
            }
        }
        let facts = Facts::new(&snapshot, Knowledge::embedded());
        assert_eq!(facts.snapshot().interfaces.len(), report.interfaces.len(), "{what}");
    }
}
