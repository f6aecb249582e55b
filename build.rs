//! Turns rules/ and knowledge/ through their typed schemas into compact JSON sections that are embedded: parsing YAML at
//! each start would cost several times the whole scan.
#![allow(clippy::print_stdout, reason = "standard output is how a build script talks to cargo")]

#[allow(dead_code, missing_docs)]
mod rules {
    #[path = "../src/rules/located.rs"]
    pub mod located;
    #[path = "../src/rules/schema.rs"]
    pub mod schema;
}
#[allow(dead_code, missing_docs)]
#[path = "src/knowledge/buses.rs"]
mod buses;
#[allow(dead_code, missing_docs)]
#[path = "src/knowledge/schema.rs"]
mod knowledge;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Serialize;
use serde::de::DeserializeOwned;

fn main() -> Result<(), String> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    for watched in ["build.rs", "rules", "knowledge", "src/rules", "src/knowledge"] {
        println!("cargo:rerun-if-changed={watched}");
    }
    embed_knowledge(&out)?;
    embed_rules(&out)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let options = serde_yaml::options! { strict_booleans: true };
    serde_yaml::from_str_with_options(&text, options).map_err(|error| format!("{}: {error}", path.display()))
}

fn json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn yaml_files(folder: &str) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{folder}: {error}"))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    files.sort();
    Ok(files)
}

fn write_sections(out: &Path, name: &str, text: &str) -> Result<(), String> {
    fs::write(out.join(name), text).map_err(|error| format!("{name}: {error}"))
}

fn embed_knowledge(out: &Path) -> Result<(), String> {
    let canonical: Vec<knowledge::CanonicalCounter> = read(Path::new("knowledge/canonical-counters.yaml"))?;
    let drivers: knowledge::Drivers = read(Path::new("knowledge/drivers.yaml"))?;
    let buses: buses::Buses = read(Path::new("knowledge/buses.yaml"))?;
    let events: Vec<knowledge::LogEventSpec> = read(Path::new("knowledge/log-events.yaml"))?;
    let suspects: knowledge::Suspects = read(Path::new("knowledge/suspects.yaml"))?;
    let counter_names: knowledge::CounterNames = read(Path::new("knowledge/counter-names.yaml"))?;
    let persistence: knowledge::Persistence = read(Path::new("knowledge/persistence.yaml"))?;
    let mut text = String::new();
    let _ = writeln!(text, "pub const SUSPECTS: &str = {:?};", json(&suspects)?);
    let _ = writeln!(text, "pub const COUNTER_NAMES: &str = {:?};", json(&counter_names)?);
    let _ = writeln!(text, "pub const PERSISTENCE: &str = {:?};", json(&persistence)?);
    let _ = writeln!(text, "pub const LOG_EVENTS: &str = {:?};", json(&events)?);
    let _ = writeln!(text, "pub const BUSES: &str = {:?};", json(&buses)?);
    let _ = writeln!(text, "pub const CANONICAL_COUNTERS: &str = {:?};", json(&canonical)?);
    let _ = writeln!(text, "pub const DRIVERS: &str = {:?};", json(&drivers)?);
    let _ = writeln!(text, "pub const COUNTERS: &[(&str, &[&str], &str)] = &[");
    for file in yaml_files("knowledge/counters")? {
        let counters: knowledge::DriverCounters = read(&file)?;
        let _ = writeln!(text, "    ({:?}, &{:?}, {:?}),", counters.driver, counters.aliases, json(&counters)?);
    }
    text.push_str("];\n");
    write_sections(out, "knowledge.rs", &text)
}

fn embed_rules(out: &Path) -> Result<(), String> {
    let mut text = String::from("pub const RULES: &[(&str, &str)] = &[\n");
    for file in yaml_files("rules")? {
        let specs: Vec<rules::schema::RuleSpec> = read(&file)?;
        let _ = writeln!(text, "    ({:?}, {:?}),", file.display().to_string(), json(&specs)?);
    }
    text.push_str("];\n");
    write_sections(out, "rules.rs", &text)
}
