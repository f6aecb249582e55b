//! Bundles: what `collect` packs, that `analyze` finds the same in it, and that a redacted one holds no original.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use netdoctor::bundle::{Bundle, Collected, Manifest, Redactor, Reports};
use netdoctor::report::model::Report;
use netdoctor::report::{html, json, text};
use netdoctor::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::support::{Folder, Said, fixtures, netdoctor, read, report, repository, run, snapshot, trials};

/// Members of a bundle by their path.
fn members(archive: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut members = BTreeMap::new();
    for entry in tar::Archive::new(flate2::read::GzDecoder::new(archive)).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        members.insert(entry.path().unwrap().to_str().unwrap().to_owned(), bytes);
    }
    members
}

/// The member with this name, of the only bundle of an archive.
fn member(members: &BTreeMap<String, Vec<u8>>, name: &str) -> String {
    let path = members.keys().find(|path| path.split_once('/').is_some_and(|(_, rest)| rest == name));
    String::from_utf8(members[path.unwrap_or_else(|| panic!("{name} is not among {:?}", members.keys()))].clone())
        .unwrap()
}

fn reports(report: &Report) -> Reports {
    let one = std::slice::from_ref(report);
    let text = text::render(one, &text::Options { width: 100, colour: false, verbose: true });
    Reports { json: json::render(one), text, html: html::render(one) }
}

fn bundle(snapshot: &Snapshot) -> Bundle {
    let collected = Collected { snapshot: snapshot.clone(), began: 1_000_000_000, ..Collected::default() };
    Bundle::new(&collected, reports(&report(snapshot)))
}

/// What has to be the same however a snapshot reached us.
fn judgement(report: &Value) -> Value {
    let interfaces: Vec<Value> = report["interfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["name"], row["ceiling"], row["drops"], row["verdict"]]))
        .collect();
    json!([report["findings"], report["checks"], interfaces, report["shared"], report["answer"]])
}

fn analyze(path: &str) -> Value {
    let said = run(&["analyze", "-f", "json", "--fail-on", "never", path]);
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{path}");
    serde_json::from_str(&said.out).unwrap()
}

/// A tar archive of these files.
fn tar(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, name, bytes.as_slice()).unwrap();
    }
    archive.into_inner().unwrap()
}

#[test]
fn a_bundle_of_each_fixture_leads_to_the_same_diagnosis() {
    let folder = Folder::new();
    for (name, text) in fixtures() {
        let plain = folder.write(&name, &text);
        let packed = folder.write(&format!("{name}.tar.gz"), bundle(&snapshot(&text)).pack().unwrap());
        assert_eq!(judgement(&analyze(&packed)), judgement(&analyze(&plain)), "{name}");
    }
}

#[test]
fn a_bundle_is_read_however_it_was_packed_again() {
    let folder = Folder::new();
    let text = read("fixtures/seeds/qnap-ts855x-mtu1500.json");
    let wanted = judgement(&analyze("fixtures/seeds/qnap-ts855x-mtu1500.json"));
    let packed = bundle(&snapshot(&text)).pack().unwrap();
    let forward: Vec<(String, Vec<u8>)> = members(&packed).into_iter().collect();
    assert_eq!(forward.len(), 5);
    let backward: Vec<(String, Vec<u8>)> = forward.iter().rev().cloned().collect();
    let mut xz = lzma_rust2::XzWriter::new(Vec::new(), lzma_rust2::XzOptions::with_preset(1)).unwrap();
    xz.write_all(&tar(&forward)).unwrap();
    let deeper: Vec<(String, Vec<u8>)> =
        forward.iter().map(|(name, bytes)| (format!("ticket/4711/{name}"), bytes.clone())).collect();
    for (path, bytes) in [
        ("plain.tar", tar(&forward)),
        ("backward.tar", tar(&backward)),
        ("a.tar.xz", xz.finish().unwrap()),
        ("deeper.tar", tar(&deeper)),
        ("inside.tar", tar(&[("mail.txt".into(), b"see below\n".to_vec()), ("x.tar.gz".into(), packed.clone())])),
    ] {
        let path = folder.write(path, bytes);
        assert_eq!(judgement(&analyze(&path)), wanted, "{path}");
    }
    for (name, bytes) in &forward {
        folder.write(&format!("unpacked/{name}"), bytes);
    }
    assert_eq!(judgement(&analyze(&folder.at("unpacked"))), wanted);
    let below = forward[0].0.split_once('/').unwrap().0;
    assert_eq!(judgement(&analyze(&folder.at(&format!("unpacked/{below}")))), wanted);
}

#[test]
fn bundles_in_one_archive_are_hosts_of_their_own() {
    let folder = Folder::new();
    let mut files = Vec::new();
    for fixture in ["fixtures/seeds/qnap-ts855x-mtu1500.json", "fixtures/hosts/container-host.json"] {
        files.extend(members(&bundle(&snapshot(&read(fixture))).pack().unwrap()));
    }
    let path = folder.write("both.tar", tar(&files));
    let said = run(&["analyze", "-f", "json", "--fail-on", "never", &path]);
    let reports: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let names: Vec<&str> = reports.iter().map(|report| report["host"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["nas1", "node7"]);
    assert!(reports[0]["capture"].as_str().unwrap().ends_with("both.tar/netdoctor-nas1-20010909-014640"));
}

#[test]
fn a_changed_member_is_told_by_its_name_and_the_snapshot_still_read() {
    let folder = Folder::new();
    let packed = bundle(&snapshot(&read("fixtures/seeds/qnap-ts855x-mtu1500.json"))).pack().unwrap();
    for (changed, code, told) in [
        ("snapshot.json", 3, "snapshot.json: not as it was when the bundle was made"),
        ("report.txt", 0, "report.txt: not as it was when the bundle was made"),
        ("manifest.json", 0, "manifest.json: broken"),
    ] {
        let mut files: Vec<(String, Vec<u8>)> = members(&packed).into_iter().collect();
        let file = files.iter_mut().find(|(name, _)| name.ends_with(changed)).unwrap();
        if changed == "manifest.json" {
            file.1.truncate(300);
        } else {
            // A blank at the end changes nothing but the hash.
            file.1.push(b' ');
        }
        let path = folder.write("changed.tar", tar(&files));
        let said = run(&["analyze", "-f", "json", "--fail-on", "never", &path]);
        assert_eq!(said.code, code, "{changed}: {}", said.err);
        assert!(said.err.contains(told), "{changed}: {}", said.err);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        assert_eq!(report["host"]["name"], "nas1", "{changed}");
        // What is left out is told as well.
        files.retain(|(name, _)| !name.ends_with(changed));
        let said = run(&["analyze", &folder.write("less.tar", tar(&files))]);
        match changed {
            "report.txt" => assert!(said.err.contains("report.txt: is missing"), "{}", said.err),
            "snapshot.json" => assert_eq!(said.code, 3, "{}", said.err),
            _ => {}
        }
    }
}

#[test]
fn a_snapshot_of_more_than_16_mib_is_not_cut() {
    let folder = Folder::new();
    let mut host = snapshot(&read("fixtures/hosts/container-host.json"));
    let note = netdoctor::reading::Source::assumed(&"a long note ".repeat(1_500_000));
    let source = host.origins.source(note);
    host.interfaces[1].alias = netdoctor::reading::Reading::Known("uplink".into(), source);
    assert!(host.to_json().len() > 17 << 20);
    let wanted = host.interfaces.len();
    let collected = Collected { snapshot: host, ..Collected::default() };
    let path = folder.write("large.tar.gz", Bundle::new(&collected, Reports::default()).pack().unwrap());
    let report = analyze(&path);
    assert_eq!(report["interfaces"].as_array().unwrap().len(), wanted);
    assert!(report["interfaces"].as_array().unwrap().iter().any(|one| one["alias"] == "uplink"));
}

/// Runs `collect` on this host.
fn collect(folder: &Folder, arguments: &[&str]) -> (Said, BTreeMap<String, Vec<u8>>) {
    let path = folder.at("bundle.tar.gz");
    let said = run(&[&["collect", "--interval", "0", "-o", &path], arguments].concat());
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    let members = members(&std::fs::read(&path).unwrap());
    (said, members)
}

#[test]
fn this_host_in_a_bundle_is_judged_as_it_was_live() {
    let folder = Folder::new();
    let (said, members) = collect(&folder, &[]);
    assert!(said.out.contains("not redacted"), "{}", said.out);
    let live: Value = serde_json::from_str(&member(&members, "report.json")).unwrap();
    assert_eq!(live["sample"]["source"], "live");
    let later = analyze(&folder.at("bundle.tar.gz"));
    assert_eq!(later["sample"]["source"], "bundle");
    assert_eq!(judgement(&later), judgement(&live));
    let manifest: Manifest = serde_json::from_str(&member(&members, "manifest.json")).unwrap();
    assert_eq!(manifest.schema, "netdoctor.bundle/1");
    assert!(!manifest.redacted && manifest.read.iter().any(|asked| asked.source == "RTM_GETLINK"));
    assert!(manifest.stages.iter().any(|stage| stage.name == "ethtool"));
    let listed: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(listed, ["snapshot.json", "report.json", "report.txt", "report.html", "raw/recording.json"]);
    assert_eq!(members.len(), listed.len() + 1);
    // The raw answers are enough to read the host once more.
    let recording = serde_json::from_str(&member(&members, "raw/recording.json")).unwrap();
    let mut kernel = netdoctor::probe::Recorded::new(recording);
    let mut again = netdoctor::probe::collect(&mut kernel, &netdoctor::probe::Options::default(), &mut |_| {});
    again.sort();
    let first = snapshot(&member(&members, "snapshot.json"));
    assert_eq!(again.interfaces, first.interfaces);
    assert_eq!(folder.names(), ["bundle.tar.gz"]);
    let mode = std::fs::metadata(folder.at("bundle.tar.gz")).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "others may not read it");
}

#[test]
fn a_redacted_bundle_of_this_host_holds_no_original() {
    let folder = Folder::new();
    let (said, members) = collect(&folder, &["--redact"]);
    assert!(said.out.contains("checked: the diagnosis is that of the original"), "{}", said.out);
    assert!(said.out.contains("checked: no original value stands in any of 5 files"), "{}", said.out);
    assert!(members.keys().all(|path| !path.contains("/raw/")), "{:?}", members.keys());
    let (_, plain) = collect(&folder, &[]);
    let original = snapshot(&member(&plain, "snapshot.json"));
    let host = original.host.name.known().unwrap();
    for (path, bytes) in &members {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let words: BTreeSet<&str> = text.split(|c: char| !(c.is_ascii_hexdigit() || ":.".contains(c))).collect();
        for interface in &original.interfaces {
            let addresses = interface.addresses.known().into_iter().flatten().map(|one| one.split('/').next().unwrap());
            for address in addresses.chain(interface.address.known().map(String::as_str)) {
                let address: &str = address;
                let stays = address.starts_with("127.") || address == "::1" || address == "00:00:00:00:00:00";
                assert!(stays || !words.contains(address), "{address} in {path}");
            }
        }
    }
    let manifest: Manifest = serde_json::from_str(&member(&members, "manifest.json")).unwrap();
    let named = format!("`{host}`");
    assert!(manifest.remarks.iter().all(|remark| !remark.contains(&named)), "{:?}", manifest.remarks);
    let is_nobody = ["localhost", "localhost.localdomain", "host", "none", "(none)"].contains(&host.as_str());
    assert!(manifest.redacted && (is_nobody || manifest.host.as_ref() != Some(host)), "{:?}", manifest.host);
}

#[test]
fn a_dry_run_tells_what_would_leave_and_writes_nothing() {
    let folder = Folder::new();
    let path = folder.at("x.tar.gz");
    for arguments in [&["-o", path.as_str()][..], &[], &["--redact"]] {
        let said = run(&[&["collect", "--dry-run", "--interval", "0"], arguments].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""));
        for told in ["nothing was written", "snapshot.json", "RTM_GETLINK", "/proc/net/snmp", "not read", "remarks"] {
            assert!(said.out.contains(told), "{told}: {}", said.out);
        }
        assert_eq!(said.out.contains("raw/recording.json"), !arguments.contains(&"--redact"));
    }
    assert_eq!(folder.names(), Vec::<String>::new());
}

#[test]
fn a_command_line_that_makes_no_sense_writes_nothing() {
    let folder = Folder::new();
    let path = folder.at("x.tar.gz");
    for arguments in [
        &["collect"][..],
        &["collect", "-o", &path, "-i", "no-such-port", "--interval", "0"],
        &["collect", "-o", &path, "--netns", "no-such-namespace"],
        &["collect", "-o", &path, "--rules", "no-such-folder"],
    ] {
        let said = run(arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments:?}");
        assert!(!said.err.is_empty());
    }
    assert_eq!(folder.names(), Vec::<String>::new());
    let said = run(&["collect", "--interval", "0", "-o", &folder.at("no/such/folder.tar.gz")]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("can't be written"), "{}", said.err);
}

/// Findings with their mapped subjects, results of rules with their counts, ceilings.
fn counted(report: &Report, new: &dyn Fn(&str) -> String) -> BTreeMap<String, usize> {
    let mut all = BTreeMap::new();
    let mut add = |what: String, count: usize| *all.entry(what).or_insert(0) += count;
    for one in &report.findings {
        add(format!("{} {} {:?} {:?} {:?}", one.rule, new(&one.subject), one.kind, one.severity, one.confidence), 1);
    }
    for one in &report.checks {
        add(format!("{} {:?}", one.rule, one.result), one.subjects.len().max(1));
    }
    for one in &report.interfaces {
        let ceiling = one
            .ceiling
            .as_ref()
            .map(|ceiling| format!("{:.6e} {:.6e} {}", ceiling.lo_bps, ceiling.hi_bps, ceiling.binding));
        add(format!("{} {} {ceiling:?}", new(&one.name), new(&one.namespace)), 1);
    }
    all
}

/// All snapshots of the repository: those of hosts and seeds, and those that recordings and transcripts give.
fn everything() -> Vec<(String, Snapshot)> {
    let mut all: Vec<(String, Snapshot)> = fixtures().into_iter().map(|(name, text)| (name, snapshot(&text))).collect();
    for path in crate::support::files("fixtures/netlink", "json") {
        let recording = serde_json::from_str(&read(&path)).unwrap();
        let options = netdoctor::probe::Options { interval_ms: 200, ..Default::default() };
        let mut snapshot =
            netdoctor::probe::collect(&mut netdoctor::probe::Recorded::new(recording), &options, &mut |_| {});
        snapshot.sort();
        all.push((path.file_name().unwrap().to_string_lossy().into_owned(), snapshot));
    }
    let mut cases: Vec<_> =
        std::fs::read_dir(repository().join("fixtures/cases")).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    for path in trials(cases, 12, 0) {
        let capture = netdoctor::capture::read(&path.join("input.txt"));
        let hosts = capture.map(|capture| capture.hosts).unwrap_or_default();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        all.extend(hosts.into_iter().map(|host| (name.clone(), host.snapshot)));
    }
    all
}

#[test]
fn every_fixture_says_the_same_after_redaction() {
    let all = everything();
    assert!(all.len() > 15, "{}", all.len());
    for (name, original) in all {
        let redactor = Redactor::new(&original, [7; 32]).unwrap();
        let redacted = redactor.snapshot().unwrap_or_else(|error| panic!("{name}: {error}"));
        let (before, after) = (report(&original), report(&redacted));
        assert_eq!(counted(&after, &str::to_owned), counted(&before, &|text| redactor.text(text)), "{name}");
        let reports = reports(&after);
        for (file, text) in [
            ("snapshot.json", redacted.to_json()),
            ("report.json", reports.json),
            ("report.txt", reports.text),
            ("report.html", reports.html),
        ] {
            let leaks = redactor.leaks(file, &text);
            assert!(leaks.is_empty(), "{name}: {leaks:?}");
        }
    }
}

#[test]
fn a_bundle_of_a_hostile_host_stays_in_its_folder() {
    for name in ["../../etc/passwd", "a/b", "\u{1b}[31m", "", ".", "..", "-rf", "nas\n1", &"x".repeat(300)] {
        let mut host = snapshot(&read("fixtures/hosts/container-host.json"));
        host.host.name = netdoctor::reading::Reading::Known(name.to_owned(), netdoctor::reading::SourceId::ASSUMED);
        host.interfaces[1].name = "a;$(reboot) b".into();
        host.interfaces[1].alias =
            netdoctor::reading::Reading::Known("\u{1b}]0;x\u{7}<script>".into(), netdoctor::reading::SourceId::ASSUMED);
        let bundle = bundle(&host);
        let folders: Vec<String> = members(&bundle.pack().unwrap()).into_keys().collect();
        assert_eq!(folders.len(), 5, "{name:?}");
        for path in folders {
            let (folder, rest) = path.split_once('/').unwrap();
            assert!(folder.starts_with("netdoctor-") && !rest.contains('/') && !path.contains(".."), "{path:?}");
            assert!(path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/".contains(&byte)), "{path:?}");
        }
        let redactor = Redactor::new(&host, [9; 32]).unwrap();
        assert!(redactor.snapshot().is_ok(), "{name:?}");
    }
}

#[test]
fn collect_opens_nothing_for_writing_but_its_file() {
    let folder = Folder::new();
    let path = folder.at("x.tar.gz");
    let Some(offences) = crate::strace::offences(&["collect", "--interval", "0", "--redact", "-o", &path]) else {
        return;
    };
    let others: Vec<&String> = offences.iter().filter(|line| !line.contains("x.tar.gz")).collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(offences.len(), 1, "{offences:?}");
}

#[test]
fn secrets_of_files_stay_at_home() {
    let folder = Folder::new();
    let keyfile =
        "[connection]\nid=cafe 7\ninterface-name=eth0\n[wifi-security]\npsk=hush-hush\n[vpn]\ntoken=tell-nobody\n";
    folder.write("root/proc/uptime", "100.00 50.00\n");
    folder.write("root/etc/NetworkManager/system-connections/cafe 7.nmconnection", keyfile);
    folder
        .write("root/etc/systemd/network/wg0.netdev", "[NetDev]\nName=wg0\n[WireGuard]\nPrivateKey=c2VjcmV0LWtleQ==\n");
    folder.write(
        "root/etc/netplan/1.yaml",
        "network:\n  wifis:\n    wlan0:\n      mtu: 1400\n      access-points:\n        x: {password: sesame-open}\n",
    );
    let (said, members) = collect(&folder, &["--root", &folder.at("root")]);
    assert!(said.out.contains("values that look like keys or passwords are left out of"), "{}", said.out);
    assert!(member(&members, "raw/recording.json").contains("[wifi-security]\\npsk=(left out)"));
    for (path, bytes) in &members {
        let text = String::from_utf8_lossy(bytes);
        for secret in ["hush-hush", "tell-nobody", "c2VjcmV0LWtleQ", "sesame-open"] {
            assert!(!text.contains(secret), "{secret} in {path}");
        }
    }
    let mut command = netdoctor(&["collect", "--interval", "0", "--dry-run", "--root", &folder.at("root")]);
    assert!(Said::from(command.output().unwrap()).out.contains("cafe 7.nmconnection"));
}
