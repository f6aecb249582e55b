//! The sample reports in every format, and what must hold for any text in them.

use proptest::prelude::*;
use serde_json::Value;

use super::model::Report;
use super::{escape, html, json, markdown, text};

const SAMPLES: [(&str, &str); 5] = [
    ("qnap-limit", include_str!("../../fixtures/reports/qnap-limit.json")),
    ("qnap-measured", include_str!("../../fixtures/reports/qnap-measured.json")),
    ("healthy-server", include_str!("../../fixtures/reports/healthy-server.json")),
    ("hostile-host", include_str!("../../fixtures/reports/hostile-host.json")),
    ("empty-host", include_str!("../../fixtures/reports/empty-host.json")),
];

fn samples() -> Vec<(&'static str, Report)> {
    SAMPLES.iter().map(|(name, text)| (*name, serde_json::from_str(text).expect(name))).collect()
}

fn all_formats(reports: &[Report]) -> Vec<(String, String)> {
    let mut out = vec![
        ("json".to_owned(), json::render(reports)),
        ("md".to_owned(), markdown::render(reports)),
        ("html".to_owned(), html::render(reports)),
    ];
    for width in [10, 40, 80, 200] {
        for verbose in [false, true] {
            let options = text::Options { width, colour: false, verbose };
            let name = format!("text-{width}{}", if verbose { "-v" } else { "" });
            out.push((name, text::render(reports, &options)));
        }
    }
    out
}

#[test]
fn samples_in_every_format() {
    for (name, report) in samples() {
        for (format, text) in all_formats(&[report]) {
            let seen = match format.as_str() {
                // Of no use to the eye, or told by the others.
                "json" => name == "hostile-host",
                "text-10" | "text-10-v" | "text-40-v" => false,
                _ => true,
            };
            if seen {
                insta::assert_snapshot!(format!("{name}.{format}"), text);
            }
        }
    }
    let (_, report) = samples().swap_remove(1);
    let coloured = text::render(&[report], &text::Options { width: 80, colour: true, verbose: false });
    insta::assert_snapshot!("qnap-measured.colour", coloured.replace('\x1b', "ESC"));
}

#[test]
fn several_hosts_in_one_report() {
    let reports: Vec<Report> = samples().into_iter().map(|(_, report)| report).collect();
    for (format, text) in all_formats(&reports) {
        for host in ["nas1", "web7"] {
            assert!(text.contains(host), "{format}");
        }
    }
    well_formed(&html::render(&reports));
}

#[test]
fn json_reads_back() {
    for (name, report) in samples() {
        assert_eq!(
            serde_json::from_str::<Report>(&json::render(std::slice::from_ref(&report))).unwrap(),
            report,
            "{name}"
        );
    }
}

#[test]
fn colour_changes_nothing_but_the_colour() {
    for (name, report) in samples() {
        let plain = text::Options { width: 80, colour: false, verbose: true };
        let coloured = text::render(std::slice::from_ref(&report), &text::Options { colour: true, ..plain });
        assert!(coloured.contains("\x1b["), "{name}");
        assert_eq!(without_own_colours(&coloured), text::render(&[report], &plain), "{name}");
    }
}

#[test]
fn only_commands_and_long_words_exceed_the_width() {
    for (name, report) in samples() {
        for width in [60, 80, 120] {
            let options = text::Options { width, colour: false, verbose: false };
            for line in text::render(std::slice::from_ref(&report), &options).lines() {
                let alone = line.trim_start().split("  ").count() <= 2;
                assert!(
                    super::table::columns(line) <= width || alone || name == "hostile-host",
                    "{name} {width}: {line}"
                );
            }
        }
    }
}

#[test]
fn a_table_cell_is_never_broken() {
    let (_, report) = samples().swap_remove(1);
    for width in [20, 40, 60, 80] {
        let text = text::render(std::slice::from_ref(&report), &text::Options { width, ..text::Options::default() });
        for cell in ["25-28 Gb/s", "Gen3 x4", "20.3 Gb/s", "+33 120"] {
            assert!(text.lines().any(|line| line.contains(cell)), "{width} {cell}\n{text}");
        }
    }
}

#[test]
fn a_hostile_host_forges_nothing() {
    let (_, report) = samples().swap_remove(3);
    let html = html::render(std::slice::from_ref(&report));
    for tag in ["<script", "<img", "<b>bold", "</details><script"] {
        assert!(!html.contains(tag), "{tag}");
    }
    let text = text::render(std::slice::from_ref(&report), &text::Options::default());
    assert_eq!(text.lines().filter(|line| line.starts_with("FIX NOW")).count(), 1);
    assert!(!text.lines().any(|line| line.starts_with("LIMIT") || line.starts_with("rm ")));
    assert!(text.contains(r"ip link set dev '|<b>' alias 'x\x1b[2Jy\nrm -rf /'"), "{text}");
    let markdown = markdown::render(&[report]);
    assert!(
        !markdown.contains("<img")
            && !markdown.contains("<b>bold")
            && !markdown.lines().any(|line| line.starts_with("# heading"))
    );
}

/// Removes our own colour codes, nothing else.
fn without_own_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\x1b[") {
        out.push_str(&rest[..at]);
        let code = &rest[at + 2..];
        let end = code.find(|c: char| !c.is_ascii_digit() && c != ';').expect("a whole code");
        assert!(code[end..].starts_with('m'), "{code:.20}");
        rest = &code[end + 1..];
    }
    out + rest
}

/// A small check that tags balance; void elements and the doctype aside.
fn well_formed(html: &str) {
    const VOID: [&str; 4] = ["meta", "br", "!doctype", "hr"];
    let mut open: Vec<String> = Vec::new();
    let body = html.split_once("<style>").zip(html.split_once("</style>"));
    let ((head, _), (_, tail)) = body.expect("a style");
    let page = format!("{head}{tail}");
    for piece in page.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a closed tag");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes of <{tag}>");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or_default().to_lowercase();
        if VOID.contains(&name.as_str()) || tag.ends_with('/') {
            continue;
        }
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "near <{piece:.60}");
        } else {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<String>::new());
}

#[test]
fn html_is_well_formed() {
    for (_, report) in samples() {
        well_formed(&html::render(&[report]));
    }
    well_formed(&html::render(&[]));
    well_formed(&html::render(&[Report::default()]));
}

/// Puts texts in the place of strings, all or some of them.
fn replace_strings(value: &mut Value, texts: &[String], next: &mut usize) {
    match value {
        Value::String(text) => {
            *next += 1;
            // Words that steer the layout stay now and then, so that all sections are reached.
            if !next.is_multiple_of(3) || text.contains(' ') {
                text.clone_from(&texts[*next % texts.len()]);
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|item| replace_strings(item, texts, next)),
        Value::Object(map) => map.values_mut().for_each(|item| replace_strings(item, texts, next)),
        _ => {}
    }
}

fn nasty() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        "[\\x00-\\x1f\\x7f-\\xa0]{0,4}",
        "[<>&\"'`|*_#\\\\\\[\\]() \n-]{0,12}",
        prop::sample::select(vec![
            "\u{202e}",
            "\u{2028}",
            "\u{feff}",
            "\u{e0041}",
            "</style>",
            "{{ x }}",
            "{% if %}",
            "\x1b[2J"
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_text_reaches_the_terminal_raw(texts in prop::collection::vec(nasty(), 1..7), which in 0..5usize, skip in 0..3usize) {
        let mut value: Value = serde_json::from_str(SAMPLES[which].1).unwrap();
        replace_strings(&mut value, &texts, &mut skip.clone());
        let report: Report = serde_json::from_value(value).unwrap();
        let reports = [report];
        for (format, text) in all_formats(&reports) {
            let bad = text.chars().find(|c| escape::is_hidden(*c) && *c != '\n');
            prop_assert!(bad.is_none(), "{format}: {bad:?}");
        }
        let options = text::Options { width: 80, colour: true, verbose: true };
        let plain = without_own_colours(&text::render(&reports, &options));
        prop_assert_eq!(&plain, &text::render(&reports, &text::Options { colour: false, ..options }));
        let page = html::render(&reports);
        well_formed(&page);
        prop_assert_eq!(&page, &html::render(&reports));
        prop_assert_eq!(&serde_json::from_str::<Report>(&json::render(&reports)).unwrap(), &reports[0]);
    }

    #[test]
    fn markdown_code_has_no_way_out(text in nasty()) {
        let code = escape::markdown_code(&text);
        let fence = code.len() - code.trim_start_matches('`').len();
        let inside = &code[fence..code.len() - fence];
        prop_assert!(!inside.split(|c| c != '`').any(|run| run.len() >= fence));
    }
}

#[test]
fn findings_that_explain_each_other_in_a_ring_are_all_shown() {
    let finding = |rule: &str, under: &str| super::model::Finding {
        rule: rule.into(),
        title: format!("title of {rule}"),
        kind: "fault".into(),
        severity: "warning".into(),
        under: Some(under.into()),
        ..Default::default()
    };
    let findings =
        vec![finding("a", "b"), finding("b", "a"), finding("c", "a"), finding("d", "gone"), finding("e", "e")];
    let report = Report { findings, ..Report::default() };
    let text = text::render(&[report], &text::Options { width: 80, colour: false, verbose: true });
    for rule in ["a", "b", "c", "d", "e"] {
        assert!(text.contains(&format!("title of {rule}")), "{rule}\n{text}");
    }
}
