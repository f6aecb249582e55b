//! The program as a user meets it: exit codes, messages, files, pipes, colours, the commands about rules.

use std::io::Read as _;
use std::process::Stdio;

use crate::support::{Folder, Said, netdoctor, read, run, run_with_input};

const LIMITED: &str = "fixtures/seeds/qnap-ts855x-mtu1500.json";
const HEALTHY: &str = "fixtures/hosts/container-host.json";

/// A rule of a test: everything that a rule needs, and these lines.
fn rule(id: &str, lines: &str) -> String {
    let indented = lines.lines().map(str::trim).fold(String::new(), |text, line| text + "  " + line + "\n");
    format!(
        "- id: {id}\n  title: Test of {id}\n{indented}  confidence: high\n  why: because {{{{ iface.name }}}}\n  impact: none\n  \
         recommend: []\n  sources: [{{from: the test, checked: known}}]\n"
    )
}

fn alarm(id: &str, kind: &str, severity: &str) -> String {
    rule(id, &format!("kind: {kind}\nseverity: {severity}\nscope: interface\nwhen: iface.link.up and iface.mtu > 0B"))
}

fn analyze(arguments: &[&str]) -> Said {
    run(&[&["analyze"], arguments].concat())
}

#[test]
fn the_exit_code_goes_by_faults_and_risks_alone() {
    let folder = Folder::new();
    for (kind, severity, fail_on, code) in [
        ("fault", "critical", "critical", 1),
        ("fault", "warning", "critical", 0),
        ("fault", "warning", "warning", 1),
        ("risk", "warning", "warning", 1),
        ("risk", "info", "info", 1),
        ("risk", "critical", "never", 0),
        ("limit", "advice", "info", 0),
        ("hygiene", "advice", "info", 0),
    ] {
        let dir = folder.at(&format!("{kind}-{severity}-{fail_on}"));
        folder.write(&format!("{kind}-{severity}-{fail_on}/a.yaml"), alarm("test.alarm", kind, severity));
        let said = analyze(&["--rules", &dir, "--fail-on", fail_on, HEALTHY]);
        assert_eq!((said.code, said.err.as_str()), (code, ""), "{kind} {severity} {fail_on}");
    }
    // Without --fail-on the line is drawn at critical.
    let dir = folder.at("fault-warning-critical");
    assert_eq!(analyze(&["--rules", &dir, HEALTHY]).code, 0);
    assert_eq!(analyze(&["--rules", &folder.at("fault-critical-critical"), HEALTHY]).code, 1);
    assert_eq!(analyze(&[LIMITED, "--fail-on", "info"]).code, 0, "a limit is no failure");
}

#[test]
fn a_command_line_that_makes_no_sense_is_2() {
    for arguments in [
        &["frobnicate"][..],
        &[],
        &["analyze"],
        &["scan", "--interval", "soon"],
        &["analyze", "-f", "pdf", HEALTHY],
        &["analyze", "--fail-on", "loud", HEALTHY],
        &["scan", "--interval", "0", "-i", "no-such-port"],
        &["facts", "show", "-s", "eth99", HEALTHY],
        &["rules", "show", "pcie.path-below-lnk"],
        &["rules", "trace", "nothing.like-it", "--from", HEALTHY],
        &["rules", "trace", "pcie.path-below-link", "eth99", "--from", HEALTHY],
    ] {
        let said = run(arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments:?}: {}", said.err);
        assert!(!said.err.is_empty(), "{arguments:?}");
    }
}

#[test]
fn an_input_that_says_nothing_is_3_and_tells_what_would() {
    let folder = Folder::new();
    let missing = folder.at("missing.json");
    let bare = folder.at("bare");
    std::fs::create_dir(&bare).unwrap();
    for (path, told) in [
        (missing.as_str(), "can't be read"),
        (bare.as_str(), "nothing was recognised"),
        (&folder.write("empty", ""), "is empty"),
        (&folder.write("blank", " \n\t\n"), "is empty"),
        (&folder.write("prose", "my network is slow\n"), "nothing was recognised"),
        (&folder.write("list.json", "[1, 2, 3]"), "nothing was recognised"),
        (&folder.write("other.json", r#"{"schema": "somebody.else/1"}"#), "somebody.else/1"),
        (&folder.write("bare.json", "{}"), "nothing was recognised"),
        (&folder.write("typo.json", "{\"schema\": \"netdoctor.snapshot/1\",\n \"interfcaes\": []}"), "line 2"),
        (&folder.write("bytes", [0xff_u8, 0xfe, 0, 1, 2]), "nothing was recognised"),
    ] {
        for command in [&["analyze"][..], &["facts", "show"], &["rules", "trace", "pcie.path-below-link", "--from"]] {
            let said = run(&[command, &[path]].concat());
            assert_eq!((said.code, said.out.as_str()), (3, ""), "{path}: {}", said.err);
            assert!(said.err.contains(path) && said.err.contains(told), "{path}: {}", said.err);
            // What is no snapshot at all is answered with what would be one.
            let unrecognised = ["is empty", "nothing was recognised", "somebody.else/1"].contains(&told);
            assert_eq!(said.err.contains("what would be recognised"), unrecognised, "{}", said.err);
        }
    }
    let said = run_with_input(&["analyze", "-"], b"");
    assert_eq!(said.code, 3);
    assert!(said.err.contains("- is empty"), "{}", said.err);
}

#[test]
fn one_bad_input_does_not_cost_the_others() {
    let folder = Folder::new();
    let said = analyze(&["-f", "json", HEALTHY, &folder.at("missing.json"), LIMITED]);
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("missing.json"));
    let reports: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(reports.as_array().unwrap().len(), 2);
}

#[test]
fn standard_input_is_an_input() {
    let text = std::fs::read(crate::support::repository().join(HEALTHY)).unwrap();
    let piped = run_with_input(&["analyze", "-"], &text);
    assert_eq!(piped.code, 0, "{}", piped.err);
    assert_eq!(piped.out, analyze(&[HEALTHY]).out);
}

#[test]
fn several_formats_go_to_several_files() {
    let folder = Folder::new();
    let (a, b) = (folder.at("a.md"), folder.at("b.html"));
    let said = analyze(&["-f", "md", "-o", &a, "-f", "html", "-o", &b, LIMITED]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "", ""));
    assert_eq!(folder.names(), ["a.md", "b.html"]);
    let (a, b) = (std::fs::read_to_string(a).unwrap(), std::fs::read_to_string(b).unwrap());
    assert_eq!(a, analyze(&["-f", "md", LIMITED]).out);
    assert_eq!(b, analyze(&["-f", "html", LIMITED]).out);
    assert!(b.starts_with("<!DOCTYPE html>") || b.starts_with("<!doctype html>"), "{b:.80}");
}

#[test]
fn the_ending_of_a_file_names_its_format() {
    let folder = Folder::new();
    for (name, format) in [("a.json", "json"), ("a.md", "md"), ("a.htm", "html"), ("a.txt", "text")] {
        let path = folder.at(name);
        let said = analyze(&["-o", &path, LIMITED]);
        assert_eq!((said.code, said.out.as_str()), (0, ""), "{name}: {}", said.err);
        assert_eq!(std::fs::read_to_string(path).unwrap(), analyze(&["-f", format, LIMITED]).out, "{name}");
    }
    let said = analyze(&["-o", &folder.at("report.pdf"), LIMITED]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("names no format") && said.err.contains("-f text, md, html or json"), "{}", said.err);
    assert!(!folder.names().contains(&"report.pdf".to_owned()));
    // A file that can't be written is told, and the report goes to no other place.
    let said = analyze(&["-f", "md", "-o", &folder.at("no/such/folder.md"), LIMITED]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("can't be written"), "{}", said.err);
}

#[test]
fn a_reader_that_has_gone_is_no_error() {
    for arguments in [&["facts", "list"][..], &["analyze", "-f", "html", HEALTHY], &["rules", "list"], &["--help"]] {
        let mut child = netdoctor(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), err.as_ref()), (Some(0), ""), "{arguments:?}");
    }
    // Also when it has read some of it: more than a pipe holds is left.
    let mut child =
        netdoctor(&["facts", "show", "--all", HEALTHY]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut some = [0; 1000];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut some).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[test]
fn colours_are_for_whoever_wants_them() {
    let coloured = |set: &[(&str, &str)]| {
        let mut command = netdoctor(&["analyze", LIMITED]);
        command.envs(set.iter().copied());
        let said = Said::from(command.output().unwrap());
        said.out.contains('\x1b')
    };
    assert!(!coloured(&[]), "a pipe is no terminal");
    assert!(coloured(&[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[("NO_COLOR", "1")]));
    // A file never has colours.
    let folder = Folder::new();
    let path = folder.at("a.txt");
    netdoctor(&["analyze", "-o", &path, LIMITED]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(!std::fs::read_to_string(path).unwrap().contains('\x1b'));
}

#[test]
fn the_width_is_that_of_columns_where_there_is_no_terminal() {
    let at = |columns: &str| Said::from(netdoctor(&["analyze", LIMITED]).env("COLUMNS", columns).output().unwrap()).out;
    let lines = |columns| at(columns).lines().count();
    assert!(lines("60") > lines("200"));
    assert_eq!(at("not a number"), analyze(&[LIMITED]).out);
}

const COMMANDS: [&[&str]; 16] = [
    &[],
    &["scan"],
    &["watch"],
    &["ceiling"],
    &["collect"],
    &["analyze"],
    &["rules"],
    &["rules", "list"],
    &["rules", "show"],
    &["rules", "check"],
    &["rules", "test"],
    &["rules", "trace"],
    &["rules", "coverage"],
    &["facts"],
    &["facts", "list"],
    &["facts", "show"],
];

#[test]
fn every_command_explains_itself() {
    for command in COMMANDS {
        for flag in ["--help", "-h"] {
            let said = run(&[command, &[flag]].concat());
            assert_eq!((said.code, said.err.as_str()), (0, ""), "{command:?}");
            let usage = [&["Usage: netdoctor"], command].concat().join(" ");
            assert!(said.out.contains(&usage), "{command:?}: {}", said.out);
        }
    }
    // The list above is whole: what clap offers below each command is in it.
    for parent in [&[][..], &["rules"], &["facts"]] {
        let help = run(&[parent, &["--help"]].concat()).out;
        let section = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
        let names = section.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next());
        for name in names.filter(|name| *name != "help") {
            let full: Vec<&str> = parent.iter().copied().chain([name]).collect();
            assert!(COMMANDS.contains(&full.as_slice()), "{full:?} is not tested");
        }
    }
    let version = run(&["--version"]);
    assert_eq!((version.code, version.out), (0, format!("netdoctor {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn a_broken_rule_costs_that_rule_alone() {
    let folder = Folder::new();
    let broken = rule("test.broken", "kind: risk\nseverity: warning\nscope: interface\nwhen: iface.mtuu < 9000B");
    folder.write("rules/mixed.yaml", format!("{broken}{}", alarm("test.sound", "risk", "warning")));
    let said = analyze(&["--rules", &folder.at("rules"), "-f", "json", HEALTHY]);
    assert_eq!(said.code, 0, "{}", said.err);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let rules: std::collections::BTreeSet<&str> =
        report["checks"].as_array().unwrap().iter().filter_map(|check| check["rule"].as_str()).collect();
    assert!(rules.contains("pcie.path-below-link") && rules.contains("test.sound"), "{rules:?}");
    assert!(!rules.contains("test.broken"));
    // File, line and column of the word, the line itself with a caret below it, and the nearest name. The condition is on the
    // sixth line of the file; behind two blanks, `when: ` and `iface.` the wrong word begins in column 15.
    assert!(said.err.contains("mixed.yaml:6:15"), "{}", said.err);
    assert!(said.err.contains("when: iface.mtuu < 9000B") && said.err.contains('^'), "{}", said.err);
    assert!(said.err.contains("did you mean `iface.mtu`?"), "{}", said.err);
    let lines: Vec<&str> = said.err.lines().collect();
    let shown = lines.iter().position(|line| line.contains("when: iface.mtuu")).unwrap();
    assert_eq!(lines[shown + 1].find('^'), lines[shown].find("mtuu"), "{}", said.err);

    let checked = run(&["rules", "check", &folder.at("rules")]);
    assert_eq!(checked.code, 1);
    assert!(checked.out.starts_with("1 rule checked, 1 problem"), "{}", checked.out);
}

#[test]
fn what_is_wrong_with_a_rule_file_is_told() {
    let folder = Folder::new();
    for (name, text, told) in [
        ("stray key", alarm("test.a", "risk", "info").replace("impact:", "impcat:"), "impcat"),
        ("bad kind", alarm("test.a", "trouble", "info"), "trouble"),
        ("bad id", alarm("Test", "risk", "info"), "area.what-is-wrong"),
        ("loud limit", alarm("test.a", "limit", "critical"), "never above advice"),
        ("type", rule("test.a", "kind: risk\nseverity: info\nscope: interface\nwhen: iface.mtu"), "here belongs a"),
        ("unit", rule("test.a", "kind: risk\nseverity: info\nscope: interface\nwhen: iface.mtu < 3s"), "test.yaml:6:"),
        ("syntax", rule("test.a", "kind: risk\nseverity: info\nscope: interface\nwhen: iface.mtu <"), "test.yaml:6:"),
        ("template", alarm("test.a", "risk", "info").replace("iface.name", "iface.nmae"), "did you mean"),
        ("twice", alarm("test.a", "risk", "info").repeat(2), "stands twice"),
        ("no list", "rules: many\n".into(), "test.yaml"),
        ("no YAML", "- id: [\n".into(), "test.yaml"),
    ] {
        let dir = folder.at(name);
        folder.write(&format!("{name}/test.yaml"), text);
        let said = run(&["rules", "check", &dir]);
        assert_eq!(said.code, 1, "{name}: {}", said.out);
        assert!(said.err.contains(told), "{name}: {}", said.err);
        // The same file costs a report nothing but its rule.
        let said = analyze(&["--rules", &dir, HEALTHY]);
        assert_eq!(said.code, 0, "{name}");
        assert!(said.err.contains(told), "{name}: {}", said.err);
    }
    let said = analyze(&["--rules", &folder.at("no such folder"), HEALTHY]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("no such folder"), "{}", said.err);
}

#[test]
fn a_users_rule_replaces_the_built_in_one_of_its_id() {
    let folder = Folder::new();
    let own = rule("pcie.path-below-link", "kind: hygiene\nseverity: info\nscope: interface\nwhen: iface.link.up");
    folder.write("rules/own.yaml", &own);
    let said = analyze(&["--rules", &folder.at("rules"), "-f", "json", LIMITED]);
    let report: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let finding = &report["findings"][0];
    assert_eq!(
        (finding["kind"].as_str(), finding["title"].as_str()),
        (Some("hygiene"), Some("Test of pcie.path-below-link"))
    );
    let built_in = run(&["rules", "list"]).out.lines().count();
    let listed = run(&["rules", "list", "--rules", &folder.at("rules")]).out.lines().count();
    assert_eq!(listed, built_in, "one id, one rule");
    // The folders of the configuration work the same way, the one on the command line wins.
    folder.write("config/netdoctor/rules.d/x.yaml", own.replace("Test of", "Configured"));
    let mut command = netdoctor(&["rules", "show", "pcie.path-below-link"]);
    let shown = Said::from(command.env("XDG_CONFIG_HOME", folder.at("config")).output().unwrap());
    assert!(shown.out.contains("Configured pcie.path-below-link"), "{}", shown.out);
    let mut command = netdoctor(&["rules", "show", "pcie.path-below-link", "--rules", &folder.at("rules")]);
    let shown = Said::from(command.env("XDG_CONFIG_HOME", folder.at("config")).output().unwrap());
    assert!(shown.out.contains("Test of pcie.path-below-link"), "{}", shown.out);
}

#[test]
fn rules_are_listed_shown_and_checked() {
    let list = run(&["rules", "list"]);
    assert_eq!(list.code, 0);
    let line = list.out.lines().find(|line| line.starts_with("pcie.path-below-link ")).unwrap();
    assert!(line.contains("limit") && line.contains("advice") && line.contains("pci_device"), "{line}");
    let page = run(&["rules", "show", "pcie.path-below-link"]).out;
    for part in ["path < ports", "Applies where", "Fires when", "When it may be wrong", "Sources", "rules/pcie.yaml:3"]
    {
        assert!(page.contains(part), "{part}: {page}");
    }
    for arguments in
        [&["rules", "show", "pcie.path-below-lnk"][..], &["rules", "trace", "pcie.path-below-lnk", "--from", LIMITED]]
    {
        let said = run(arguments);
        assert_eq!(said.code, 2);
        assert!(said.err.contains("did you mean `pcie.path-below-link`?"), "{}", said.err);
    }
    let check = run(&["rules", "check"]);
    assert_eq!((check.code, check.err.as_str()), (0, ""));
    assert_eq!(run(&["rules", "check", "rules"]).out, check.out, "both routes");
    assert_eq!(run(&["rules", "check", "no-such-folder"]).code, 1);
}

#[test]
fn a_trace_shows_terms_values_and_sources() {
    // The card may be named by its address, in both spellings, or by one of its ports.
    let traced: Vec<Said> = ["0000:01:00.0", "01:00.0", "eth4"]
        .iter()
        .map(|subject| run(&["rules", "trace", "pcie.path-below-link", subject, "--from", LIMITED]))
        .collect();
    assert_eq!((traced[0].code, traced[0].err.as_str()), (0, ""));
    assert!(traced.iter().all(|said| said.out == traced[0].out));
    let out = &traced[0].out;
    assert!(out.starts_with("pcie.path-below-link of 0000:01:00.0: fires\n"), "{out}");
    for part in ["requires", "let path", "let ports", "when", "path < ports = yes", "assumed: seed 3, line 2"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    // Without a subject all of them; a rule that nothing can be asked of says so.
    let all = run(&["rules", "trace", "pcie.path-below-link", "--from", LIMITED]).out;
    assert!(all.contains("0000:01:00.1: not applicable"), "{all}");
    let folder = Folder::new();
    let bare = folder.write("bare.json", r#"{"schema": "netdoctor.snapshot/1"}"#);
    let none = run(&["rules", "trace", "pcie.path-below-link", "--from", &bare]);
    assert_eq!(none.out, "pcie.path-below-link: this host has nothing that the rule is asked of\n");
}

#[test]
fn rule_tests_pass_fail_and_miss_mutants() {
    let folder = Folder::new();
    folder.write(
        "r/a.yaml",
        rule("test.small", "kind: risk\nseverity: warning\nscope: interface\nwhen: iface.mtu < 9000B"),
    );
    let cases = |fires: &str| {
        format!(
            "- rule: test.small\n  given: {{interfaces: [{{name: eth0}}]}}\n  cases:\n  \
             - {{name: below, set: [{fires}], expect: fires, severity: warning}}\n  \
             - {{name: at, set: [eth0.mtu=9000], expect: passes}}\n  \
             - {{name: unread, expect: unknown, missing: [iface.mtu]}}\n"
        )
    };
    folder.write("r/tests/a.yaml", cases("eth0.mtu=8999"));
    let said = run(&["rules", "test", &folder.at("r")]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    assert!(said.out.starts_with("1 rule, 3 cases, 0 failed\n"), "{}", said.out);
    assert!(said.out.contains(" mutants, 0 survived and were reviewed, 0 survived"), "{}", said.out);
    // A case far from the threshold lets the mutants of the threshold live, and each is told.
    folder.write("r/tests/a.yaml", cases("eth0.mtu=100"));
    let said = run(&["rules", "test", &folder.at("r")]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("test.small: no case notices the mutant"), "{}", said.err);
    assert_eq!(run(&["rules", "test", "--no-mutants", &folder.at("r")]).code, 0);
    // A case that comes out otherwise.
    folder.write("r/tests/a.yaml", cases("eth0.mtu=9001"));
    let said = run(&["rules", "test", "--no-mutants", &folder.at("r")]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("\"below\": expected fires, got passes"), "{}", said.err);
    // No tests at all.
    folder.write("bare/a.yaml", alarm("test.a", "risk", "info"));
    assert_eq!(run(&["rules", "test", &folder.at("bare")]).code, 3);
}

#[test]
fn coverage_names_what_made_a_rule_fire() {
    let all = run(&["rules", "list"]).out.lines().count();
    let said = run(&["rules", "coverage", "fixtures/seeds"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    assert!(
        said.out.contains("pcie.path-below-link: ")
            && said.out.contains(&format!("1 of {all} rules fire from 3 captures")),
        "{}",
        said.out
    );
    assert!(said.out.contains("qnap-ts855x-mtu1500.json"), "{}", said.out);
    let said = run(&["rules", "coverage", HEALTHY]);
    assert!(
        said.out.contains("(unproven)") && said.out.contains(&format!("0 of {all} rules fire from 1 captures")),
        "{}",
        said.out
    );
    let said = run(&["rules", "coverage", "no-such-file"]);
    assert!(said.err.contains("no-such-file"), "{}", said.err);
    assert_eq!(said.code, 3, "an input that can't be read");
}

#[test]
fn watch_writes_a_line_for_each_interval_and_ends_after_the_last() {
    let said = run(&["watch", "-n", "2", "--interval", "100ms", "-i", "lo"]);
    assert_eq!((said.code, said.err.as_str()), (0, ""));
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", said.out);
    for line in lines {
        let (time, text) = line.split_once("  ").unwrap();
        assert!(time.len() == 9 && time.ends_with('Z') && !text.is_empty(), "{line}");
    }
    let said = run(&["watch", "-n", "1", "-i", "nope"]);
    assert_eq!((said.code, said.out.as_str()), (2, ""));
    assert!(said.err.contains("there is no interface `nope`"), "{}", said.err);
}

#[test]
fn what_the_user_named_and_is_not_there_is_a_fault_of_the_command_line() {
    let capture = "fixtures/seeds/qnap-ts855x-mtu1500.json";
    let said = run(&["analyze", capture, "--measured", "nope=README.md"]);
    assert_eq!(said.code, 2, "{}", said.err);
    let said = run(&["scan", "--root", "/nonexistent"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("there is no such folder"), "{}", said.err);
}

#[test]
fn what_is_read_is_not_written_over_and_one_place_takes_one_form() {
    let folder = Folder::new();
    let seed = read("fixtures/seeds/qnap-ts855x-mtu1500.json");
    let input = folder.write("in.json", seed.clone());
    let refused = |arguments: &[&str], why: &str| {
        let said = run(arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(why), "{arguments:?}: {}", said.err);
    };
    refused(&["analyze", &input, "-o", &input], "would write over it");
    let out = folder.at("out.x");
    refused(&["analyze", &input, "-f", "text", "-f", "json", "-o", &out, "-o", &out], "two outputs for one file");
    refused(&["analyze", &input, "-f", "text", "-f", "json"], "several formats for standard output");
    refused(&["scan", "--root", "/etc"], "holds neither proc nor sys");
    assert_eq!(folder.names(), ["in.json"]);
    assert_eq!(read(&input), seed);
}

#[test]
fn a_full_disk_behind_standard_output_is_told_as_one() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_netdoctor"));
    let said = command.args(["rules", "list"]).stdout(full).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    let told = String::from_utf8_lossy(&said.stderr);
    assert!(told.contains("standard output: can't be written"), "{told}");
}
