//! Expected values are worked by hand from the specifications and published measurements, not taken from the output.

mod bus;
mod combine;
mod ethernet;
mod measured;
mod pcie;
mod properties;
mod question;
mod shaper;
mod tcp;
mod verdict;

use crate::knowledge::buses::Buses;

pub(super) fn buses() -> Buses {
    serde_yaml::from_str(include_str!("../../../knowledge/buses.yaml")).unwrap()
}

#[track_caller]
pub(super) fn near(actual: f64, expected: f64, tolerance: f64) {
    let error = (actual / expected - 1.0).abs();
    assert!(error <= tolerance, "{actual:.5e} is not {expected:.5e}: off by {:.2} %", error * 100.0);
}

#[test]
fn every_figure_names_its_source_and_every_name_resolves() {
    let b = buses();
    let value = serde_json::to_value(&b).unwrap();
    let mut empty = Vec::new();
    walk(&value, "", &mut empty);
    assert!(empty.is_empty(), "no source: {empty:?}");
    assert!(b.pcie.drivers.values().all(|p| b.pcie.profiles.contains_key(p)));
    assert!(b.pcie.profiles.contains_key(&b.pcie.default_profile));
    assert!(b.pcie.compressed.iter().all(|(k, v)| b.pcie.profiles.contains_key(k) && b.pcie.profiles.contains_key(v)));
}

fn walk(value: &serde_json::Value, path: &str, empty: &mut Vec<String>) {
    if let Some(map) = value.as_object() {
        if map.get("source").is_some_and(|s| s.as_str().is_none_or(|s| s.len() < 5)) {
            empty.push(path.to_owned());
        }
        if map.contains_key("value") && !map.contains_key("source") {
            empty.push(path.to_owned());
        }
        for (key, inner) in map {
            walk(inner, &format!("{path}.{key}"), empty);
        }
    }
}

#[test]
fn unknown_keys_are_refused() {
    let text = include_str!("../../../knowledge/buses.yaml").replacen(
        "  preamble:",
        "  preambel: {value: 1, source: x}\n  preamble:",
        1,
    );
    assert!(serde_yaml::from_str::<Buses>(&text).is_err());
}
