//! `netdoctor ceiling`: the calculator and what-if on captures, as a user meets them.

use serde_json::Value as Json;

use crate::support::{Folder, Said, run};

const QNAP: &str = "fixtures/seeds/qnap-ts855x-mtu1500.json";

fn ask(arguments: &str) -> Said {
    let words: Vec<&str> = ["ceiling"].into_iter().chain(arguments.split_whitespace()).collect();
    run(&words)
}

fn json(arguments: &str) -> Json {
    let said = ask(&format!("{arguments} -f json"));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{arguments}");
    serde_json::from_str(&said.out).unwrap()
}

fn gigabit(json: &Json, key: &str) -> f64 {
    json[key].as_f64().unwrap() / 1e9
}

/// The 100 Gb/s card in Gen3 x4: 26.4 to 29.7 with jumbo frames, 25 to 28 without.
#[test]
fn a_narrow_slot() {
    let jumbo = json("--link 100G --pcie gen3x4 --mtu 9000");
    assert_eq!((jumbo["schema"].as_str(), jumbo["binding"].as_str()), (Some("netdoctor.ceiling/1"), Some("pcie")));
    assert!((26.2..26.6).contains(&gigabit(&jumbo, "lo_bps")) && (29.5..29.9).contains(&gigabit(&jumbo, "hi_bps")));
    assert!((27.8..28.4).contains(&gigabit(&jumbo, "typical_bps")));
    let parts = jumbo["parts"].as_array().unwrap();
    assert_eq!(parts.iter().map(|part| part["name"].as_str().unwrap()).collect::<Vec<_>>(), ["link", "pcie"]);
    assert!(parts.iter().all(|part| part["lo_bps"].is_f64() && part["assumed"].is_array()));
    assert!(jumbo["packets_per_second"].as_f64().unwrap() > 390e3);
    let usual = json("--link 100G --pcie gen3x4 --mtu 1500");
    assert!((24.7..25.1).contains(&gigabit(&usual, "lo_bps")) && (28.0..28.6).contains(&gigabit(&usual, "hi_bps")));
    let text = ask("--link 100G --pcie gen3x4 --mtu 1500 --measured 20.3G").out;
    assert!(text.contains("PCIe Gen3 x4 is NOT what limits it"), "{text}");
    assert!(text.contains("not readable without root"), "{text}");
    for reached in ["27.9G", "29.5G"] {
        let text = ask(&format!("--link 100G --pcie gen3x4 --mtu 9000 --measured {reached}")).out;
        assert!(text.contains("changing anything else cannot help"), "{text}");
    }
}

#[test]
fn several_hops_directions_and_sizes() {
    let known = "--link 100G --mps 256 --mrrs 512 --direction rx --mtu 9000 --timestamps on";
    let narrow = json(&format!("{known} --pcie gen4x16 --pcie gen3x4"));
    // 28.34 Gb/s by the worked example of the model.
    assert!((28.33..28.35).contains(&gigabit(&narrow, "hi_bps")), "{narrow}");
    assert_eq!(narrow["confidence"], "high");
    let small = json("--link 100G --pcie gen3x16 --frame 64 --traffic l2 --driver mlx5_core --direction rx --mps 256");
    assert!((82e6..90e6).contains(&small["packets_per_second"].as_f64().unwrap()), "{small}");
    let bidir = json("--link 100G --pcie gen3x8 --direction bidir --mps 256 --mrrs 512 --timestamps on");
    assert!((49.8..50.1).contains(&gigabit(&bidir, "hi_bps")), "{bidir}");
}

#[test]
fn headers_of_every_kind() {
    for (arguments, typical) in [
        ("--link 10G", 9.415),
        ("--link 10G --timestamps off", 9.493),
        ("--link 10G --traffic tcp6", 9.285),
        ("--link 10G --vlans 1", 9.390),
        ("--link 10G --tunnel vxlan", 9.090),
        ("--link 10G --tunnel geneve --options 8", 10.0 * 1390.0 / 1538.0),
        ("--link 10G --tunnel wireguard", 10.0 * 1388.0 / 1538.0),
        ("--link 100G --traffic rocev2 --mtu 4200", 98.04),
        ("--link 10G --traffic udp4", 10.0 * 1472.0 / 1538.0),
    ] {
        let found = gigabit(&json(arguments), "typical_bps");
        assert!((found / typical - 1.0).abs() < 5e-4, "{arguments}: {found} instead of {typical}");
    }
}

#[test]
fn windows_bonds_shapers_and_other_buses() {
    let wan = json("--link 10G --rtt 80ms --rcvbuf 6MiB --kernel v5.15");
    assert_eq!(wan["binding"], "window");
    assert!((0.31..0.32).contains(&gigabit(&wan, "typical_bps")), "{wan}");
    assert_eq!(json("--link 10G --bus usb-5g")["binding"], "usb");
    assert_eq!(json("--link 25G --bus thunderbolt3")["binding"], "thunderbolt");
    assert_eq!(json("--link 10G --shaper 1G")["binding"], "shaper");
    assert_eq!(json("--link 40G --uplink dmi3 --pcie gen3x8")["binding"], "shared");
    let lost = json("--link 1G --rtt 100ms --loss 0.01%");
    assert_eq!(lost["binding"], "link", "loss is never a ceiling");
    assert!((0.0138..0.0143).contains(&(lost["at_this_loss"]["formula_bps"].as_f64().unwrap() / 1e9)));
    let both = json("--link 10G --pcie gen2x4 --ports 2");
    assert_eq!(both["together"]["shared_binds"], true);
    let one_flow = json("--link 10G --bond 2 --flows 1");
    assert!((9.4..9.43).contains(&gigabit(&one_flow, "typical_bps")));
}

/// 3.854 Gb/s of a card whose bus nobody noted: what fits is listed, nothing is chosen.
#[test]
fn an_unknown_parallel_bus_gets_candidates_and_no_verdict() {
    let found = json("--link 10G --bus unknown-pci --mtu 9000 --measured 3.854G");
    assert!(found.get("binding").is_none() && found.get("verdict").is_none() && found.get("typical_bps").is_none());
    let all = found["candidates"].as_array().unwrap();
    let fits: Vec<&str> =
        all.iter().filter(|one| one["fits"] == true).map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(fits, ["pci-x-66", "pci-x-66", "pci-x-133"]);
    let text = ask("--link 10G --bus unknown-pci --mtu 9000 --measured 3.854G").out;
    assert!(text.contains("no verdict") && text.contains("lspci -vv"), "{text}");
}

#[test]
fn questions_that_make_no_sense_are_told_what_would() {
    for (arguments, told) in [
        ("", "give a link"),
        ("--mtu 9000", "give a link"),
        ("--link 100", "100G"),
        ("--link fast", "100G"),
        ("--pcie gen3x5", "lanes"),
        ("--pcie gen9x4", "gen1 to gen6"),
        ("--link 10G --bus usb-7g", "did you mean `usb-5g`"),
        ("--link 10G --uplink dmi9", "dmi"),
        ("--link 10G --mps 256", "--pcie"),
        ("--pcie gen3x4 --mps 300", "256"),
        ("--pcie gen3x4 --ports 2", "--link"),
        ("--bond 2", "--link"),
        ("--link 10G --mtu 60", "68"),
        ("--link 10G --rtt 10ms", "--rcvbuf"),
        ("--link 10G --rcvbuf 6MiB", "--rtt"),
        ("--link 10G --rtt 10", "10ms"),
        ("--link 1G --mtu 100 --tunnel vxlan6 --traffic tcp6", "no room"),
        ("--link 1G --traffic sctp", "tcp4"),
        ("--set eth0.mtu=9000", "--of"),
        ("--of fixtures/seeds/qnap-ts855x-mtu1500.json --link 10G", "--set"),
    ] {
        let said = ask(arguments);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{arguments}");
        assert!(said.err.contains(told), "{arguments}: {}", said.err);
    }
    for capture in ["fixtures/no-such-file.json", "Cargo.toml"] {
        assert_eq!(ask(&format!("--of {capture}")).code, 3, "{capture}");
    }
    let said = ask(&format!("--of {QNAP} --set eth4.mtuu=9000"));
    assert_eq!(said.code, 2);
    assert!(said.err.contains("did you mean `mtu`"), "{}", said.err);
}

#[test]
fn what_if_the_mtu_or_the_slot_were_another() {
    let found = json(&format!("--of {QNAP} --set eth4.mtu=9000"));
    let eth4 = found["interfaces"].as_array().unwrap().iter().find(|one| one["name"] == "eth4").unwrap();
    let typical = |side: &str| eth4[side]["typical_bps"].as_f64().unwrap() / 1e9;
    assert!((26.0..27.0).contains(&typical("before")) && (27.8..28.5).contains(&typical("after")), "{eth4}");
    // Sixteen lanes of Gen4: the link binds, and the finding about the slot is gone.
    let link = "0000:01:00.0-0000:00:1c.0";
    let wide = json(&format!("--of {QNAP} --set {link}.width=16 --set {link}.speed=16"));
    let eth4 = wide["interfaces"].as_array().unwrap().iter().find(|one| one["name"] == "eth4").unwrap();
    assert_eq!((eth4["before"]["binding"].as_str(), eth4["after"]["binding"].as_str()), (Some("pcie"), Some("link")));
    let gone: Vec<&str> = wide["vanish"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert!(gone.contains(&"pcie.path-below-link"), "{gone:?}");
    let text = ask(&format!("--of {QNAP} --set {link}.width=16 --set {link}.speed=16")).out;
    assert!(text.contains("vanish") && text.contains("pcie.path-below-link") && text.contains("then"), "{text}");
    // A copper port that came up at 100 Mb/s and half duplex: something appears.
    let slow = json(&format!("--of {QNAP} --set eth0.link.duplex=half --set eth0.link.speed=100Mbit/s"));
    assert!(!slow["appear"].as_array().unwrap().is_empty(), "{slow}");
    // Without a change: the ceilings alone.
    let text = ask(&format!("--of {QNAP}")).out;
    assert!(text.contains("eth4") && !text.contains("vanish") && !text.contains("then"), "{text}");
}

#[test]
fn an_interface_behind_a_shaper_is_at_its_ceiling() {
    let folder = "fixtures/cases/qdisc-forgotten-tbf";
    let file = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.extension().is_some_and(|ending| ending == "txt")).min().unwrap();
    let said = run(&["analyze", "-f", "json", file.to_str().unwrap()]);
    let report: Json = serde_json::from_str(&said.out).unwrap();
    let eth0 = &report["interfaces"][0];
    assert_eq!(eth0["ceiling"]["binding"], "shaper", "{}", eth0["ceiling"]);
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.contains("that is its ceiling (the tbf shaper at 200 Mb/s"), "{answer}");
    let rules: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert!(rules.contains(&"qdisc.shaper-present") && !rules.contains(&"tcp.below-ceiling"), "{rules:?}");
}

fn analyzed(capture: &str, more: &[&str]) -> Json {
    let words = [&["analyze", "-f", "json", capture], more].concat();
    let said = run(&words);
    serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {}{}", said.out, said.err))
}

fn texts(list: &Json) -> Vec<&str> {
    list.as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Json::as_str).collect())
}

/// Seed 0: 9.27 Gb/s of 9.415 is line rate; 7.35 the other way is 78 % and not the link; 6.87 came before.
#[test]
fn synology_directions_are_judged_apart() {
    let report = analyzed("fixtures/ceilings/synology-10g.txt", &[]);
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.contains("9.27 Gb/s: that is its ceiling (the 10 Gb/s link"), "{answer}");
    assert!(
        answer.contains("(sending) 7.35 Gb/s is 78 % of typical: no ceiling of this interface limits that"),
        "{answer}"
    );
    let steps = report["interfaces"][0]["ceiling"]["waterfall"].as_array().unwrap();
    let step = |label: &str| steps.iter().find(|step| step["label"].as_str().unwrap().starts_with(label));
    // 9.415 - 7.35 = 2.06 Gb/s are left over of what was sent, nothing of what was received.
    let gap = step("unexplained, sending").unwrap();
    assert!((2.05..2.08).contains(&gigabit(gap, "bps")) && (gigabit(gap, "from_bps") - 7.35).abs() < 1e-9, "{gap}");
    assert!(step("unexplained, receiving").is_none());
}

/// Seed 1: the card is one for PCI-X, and nobody noted which bus: candidates, no verdict.
#[test]
fn chelsio_gets_candidates_and_no_verdict() {
    let report = analyzed("fixtures/ceilings/chelsio-2006.txt", &[]);
    let answer = report["answer"].as_str().unwrap();
    assert!(answer.contains("what limits it can't be told") && answer.contains("pci-x-66"), "{answer}");
    assert!(answer.contains("pci-x-133 with reads of 512 B, or the processors"), "{answer}");
    let rules: Vec<&str> =
        report["findings"].as_array().unwrap().iter().map(|one| one["rule"].as_str().unwrap()).collect();
    assert!(!rules.contains(&"tcp.below-ceiling"), "{rules:?}");
    let ceiling = &report["interfaces"][0]["ceiling"];
    assert!(texts(&ceiling["notes"]).iter().any(|note| note.contains("nothing chooses")), "{ceiling}");
    assert!(texts(&ceiling["assumed"]).iter().any(|one| one.contains("PCI-X bus of the card, which was not read")));
}

const SPARK: &str = "fixtures/ceilings/dgx-spark.json";

/// One PCIe domain of a DGX Spark is four lanes of Gen5: 92 to 113 Gb/s by the model, less what 64-byte descriptors take. A port of
/// 200 Gb/s needs both.
#[test]
fn dgx_spark_one_domain_and_both() {
    let report = analyzed(SPARK, &[]);
    let all = report["interfaces"].as_array().unwrap();
    assert_eq!(all.len(), 4);
    for one in all {
        let ceiling = &one["ceiling"];
        assert_eq!(ceiling["binding"], "pcie");
        assert!(
            (88.0..93.0).contains(&gigabit(ceiling, "lo_bps")) && (109.0..114.0).contains(&gigabit(ceiling, "hi_bps"))
        );
        let other = match one["name"].as_str().unwrap() {
            "enp1s0f0np0" => "enP2p1s0f0np0",
            "enp1s0f1np1" => "enP2p1s0f1np1",
            "enP2p1s0f0np0" => "enp1s0f0np0",
            _ => "enp1s0f1np1",
        };
        let notes = texts(&ceiling["notes"]);
        assert!(notes.iter().any(|note| note.contains("two domains") && note.contains(other)), "{notes:?}");
        assert!(ceiling["as_root"].as_str().unwrap().contains("at 256 B"));
    }
    // Both ports of one domain share its four lanes; nothing is shared between the domains.
    let shared: Vec<Vec<&str>> =
        report["shared"].as_array().unwrap().iter().map(|one| texts(&one["interfaces"])).collect();
    let pairs: Vec<&str> = shared.iter().flatten().copied().collect();
    assert_eq!((shared.len(), pairs.len()), (2, 4));
    assert!(shared.iter().all(|pair| pair[0].starts_with("enP2") == pair[1].starts_with("enP2")), "{shared:?}");
    assert!(
        report["shared"].as_array().unwrap().iter().all(|one| one["binds"] == true && gigabit(one, "hi_bps") < 114.0)
    );
}

/// The notebook's 11678.83 MB/s are 97.97 Gb/s; so read they stand at the ceiling of one domain.
#[test]
fn perftest_is_matched_by_its_device_and_read_in_binary() {
    let folder = Folder::new();
    let text = "                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : rocep1s0f0\n \
        Number of qps   : 1\t\tTransport type : IB\n Mtu             : 4096[B]\n Link type       : Ethernet\n\
        ----------------------------------------------------------------------------------\n \
        #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n \
        65536      1868700          0.00               11678.83\t\t   0.186861\n";
    let file = folder.write("write.txt", text);
    let report = analyzed(SPARK, &["--measured", file.as_ref()]);
    let answer = report["answer"].as_str().unwrap();
    // With a payload of 128 bytes the path would end there, with a larger one not: the answer does not choose.
    assert!(answer.starts_with("enp1s0f0np0 reached 98 Gb/s, at the lower end of what PCIe Gen5 x4"), "{answer}");
    let remarks = report["sample"]["remarks"].to_string();
    assert!(remarks.contains("2^20 bytes a second"), "{remarks}");
}

/// What nothing explains stands in text, Markdown and picture alike; what is shared is told in each.
#[test]
fn every_format_shows_the_rest() {
    let capture = "fixtures/ceilings/synology-10g.txt";
    let as_format =
        |format: &str, capture: &str, more: &[&str]| run(&[&["analyze", "-f", format, capture], more].concat()).out;
    let text = as_format("text", capture, &["-v"]);
    let line = text.lines().find(|line| line.contains("unexplained, sending")).unwrap();
    assert!(line.contains("2.06 Gb/s") && line.contains("..."), "{line}");
    assert!(as_format("md", capture, &[]).contains("| unexplained, sending | 2.06 Gb/s |"));
    assert!(as_format("html", capture, &[]).contains("class=\"gap\""));
    for format in ["text", "md", "html"] {
        let report = as_format(format, SPARK, &[]).replace('\n', " ");
        assert!(report.contains("share PCIe Gen5 x4") && report.contains("at 256 B"), "{format}");
    }
}
