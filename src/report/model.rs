//! The report: everything that the formats show, and the JSON contract `netdoctor.report/1`. Fields may be added;
//! none is renamed or dropped without a new schema number. What is not known is left out, never 0.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Schema of the report.
pub const SCHEMA: &str = "netdoctor.report/1";

/// One host's report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: String,
    /// Name and version of the program.
    pub generator: String,
    /// The answer in one sentence (two at most).
    pub answer: String,
    /// File that the readings come from; none for the live host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capture: Option<String>,
    /// How the readings were taken.
    pub sample: Sample,
    /// The host.
    pub host: HostLine,
    /// The way to the other end that was asked about, in sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub way: Vec<String>,
    /// How much of a capture was understood; captures only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub understood: Option<Understood>,
    /// One row per interface, physical ones first, in natural order.
    pub interfaces: Vec<InterfaceRow>,
    /// Ceilings that several interfaces share.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shared: Vec<SharedCeiling>,
    /// Findings in rank order; roots first among equals, each followed by what is folded below it.
    pub findings: Vec<Finding>,
    /// Packets that the host as a whole lost, by place: what belongs to no single interface, and the sum of their queueing
    /// disciplines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_drops: Vec<DropRow>,
    /// Counters of loss of the whole host. Those with a place are what the row of that place adds up.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_counters: Vec<HostCounter>,
    /// The symptom that exclusions and open questions are about; none where nothing measured is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symptom: Option<Symptom>,
    /// What was excluded as a cause, and by which count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_the_cause: Vec<Excluded>,
    /// Causes of the symptom that could not be decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_decided: Vec<NotDecided>,
    /// What could not be seen, each with the command that would supply it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_seen: Vec<NotSeen>,
    /// Result of each rule; equal rule, result and missing facts stand once.
    pub checks: Vec<Check>,
    /// Readings that contradict each other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<ConflictLine>,
    /// The one command that would decide most of what is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_command: Option<String>,
}

/// How and when the readings were taken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sample {
    /// Seconds between the two samples; 0 where there is one only.
    pub seconds: f64,
    /// True where too little traffic passed in the sample to judge loss by it. Unknown without a second sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<bool>,
    /// `live`, `bundle`, `sosreport`, `supportconfig`, `transcript` or `directory`.
    pub source: String,
    /// How good the sample was, in one sentence (line 2 of the text report).
    pub quality: String,
    /// Probes that were cut short or skipped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// What the privileges of root would add.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs_root: Vec<String>,
}

/// The host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostLine {
    /// Host name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kernel release.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// Operating system as its release file names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
    /// Platform word, for example `synology_dsm` or `debian`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// Product name of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// True where root's privileges were in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub privileged: Option<bool>,
}

/// How much of a capture was understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Understood {
    /// Lines of tool output.
    pub lines: u64,
    /// Lines that were read.
    pub read: u64,
    /// The others (the first of them, if they are many).
    pub left: Vec<LineLeft>,
}

/// A line that was not understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LineLeft {
    /// File inside the capture; `-` for standard input.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Its text.
    pub text: String,
}

/// One interface.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct InterfaceRow {
    /// Name.
    pub name: String,
    /// Network namespace; empty for the one of the process.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Alias that an administrator gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Kind word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// True for a hardware port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub physical: Option<bool>,
    /// Driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// `up`, `down`, `no-carrier`, `disabled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Link speed in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed_bps: Option<f64>,
    /// MTU in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u64>,
    /// Interface below, master above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub master: Option<String>,
    /// True for the interface of the user's own session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_session: bool,
    /// Narrowest PCIe link on the way to the root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pcie: Option<PcieRow>,
    /// How fast it could go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<CeilingRow>,
    /// Best comparable measured result in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_bps: Option<f64>,
    /// Lost packets by place, from the wire inwards. A place that could not be read has no total.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<DropRow>,
    /// Short words for the STATE column: `ok`, `LOSS`, `LIMIT`, `DEGRADED`, `not judged` ...
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verdict: Vec<String>,
}

/// The narrowest PCIe link of a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PcieRow {
    /// PCI function of the interface.
    pub device: String,
    /// Name of the card out of the PCI id list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Generation, 1 to 6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Lanes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Address of the port at the upper end of the narrowest link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub narrowest: Option<String>,
    /// Slot name of that port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
    /// Each link from the card up to the root port, for the picture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<PcieHop>,
}

/// One link of a PCIe path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PcieHop {
    /// End that faces the device.
    pub lower: String,
    /// End that faces the root.
    pub upper: String,
    /// Role word of the upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Generation of the link as it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<u32>,
    /// Lanes of the link as it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// Best that the lower end could do, for example `Gen4 x16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_max: Option<String>,
    /// Best that the upper end could do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_max: Option<String>,
    /// Rate after line encoding, in bit/s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_bps: Option<f64>,
}

/// How fast an interface could go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CeilingRow {
    /// Lower end of the range in bit/s of TCP payload.
    pub lo_bps: f64,
    /// Typical value.
    pub typical_bps: f64,
    /// Upper end of the range.
    pub hi_bps: f64,
    /// What binds: `pcie`, `link`, `shared`, `usb`, `pci`, `thunderbolt`, `shaper` or `window`.
    pub binding: String,
    /// The binding part in words, with hop and slot: "PCIe Gen3 x4 at 0000:00:1c.0".
    pub binding_text: String,
    /// Inputs that were assumed, in words.
    pub assumed: Vec<String>,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    /// From the nominal rate down to what is left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waterfall: Vec<WaterfallStep>,
    /// What does not limit, in words: "PCIe has 4 times the link's rate".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headroom: Vec<String>,
    /// What else holds, in words: what one flow gets, what is shared and was not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What root would find out, in words; none where root would narrow nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub as_root: Option<String>,
    /// The interface below, where this one stands on another and carries what that one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stands_on: Option<String>,
}

/// One step of the waterfall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaterfallStep {
    /// What the step is: "link, nominal", "after framing at MTU 1500", "PCIe Gen3 x4 at 0000:00:1c.0", "measured".
    pub label: String,
    /// What is left after it, in bit/s.
    pub bps: f64,
    /// Range of that, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_bps: Option<(f64, f64)>,
    /// True for the step that binds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binds: bool,
    /// Where a gap begins, in bit/s: `bps` is then what nothing explains, from here up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_bps: Option<f64>,
}

/// A ceiling that several interfaces share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedCeiling {
    /// The interfaces.
    pub interfaces: Vec<String>,
    /// What they share, in words.
    pub what: String,
    /// Range in bit/s for all of them together.
    pub lo_bps: f64,
    /// Typical value.
    pub typical_bps: f64,
    /// Upper end.
    pub hi_bps: f64,
    /// Sum of what the interfaces typically carry alone.
    pub members_typical_bps: f64,
    /// True where what they share, and not they, sets the sum.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub binds: bool,
}

/// Lost packets at one place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DropRow {
    /// `wire`, `nic`, `ring`, `softnet`, `socket`, `qdisc`, `tx_ring` or `tx_wire`.
    pub place: String,
    /// Packets since the driver was loaded; none where not readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Packets within the sample; none without a second sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grew: Option<u64>,
    /// Interface in whose row they are counted, where one port shows its counters on several functions of a card.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_at: Option<String>,
}

/// A counter of lost packets of the whole host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostCounter {
    /// Its name: `UdpRcvbufErrors`.
    pub counter: String,
    /// Place whose row adds it up; none where another counter may hold the same packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it counts.
    pub what: String,
    /// Since boot; none where not readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Within the sample; none without a second sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grew: Option<u64>,
}

/// One finding.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Finding {
    /// Rule id.
    pub rule: String,
    /// `fault`, `risk`, `limit` or `hygiene`.
    pub kind: String,
    /// `critical`, `warning`, `advice` or `info`.
    pub severity: String,
    /// `high`, `medium` or `low`.
    pub confidence: String,
    /// Interface name, PCI address or `host`.
    pub subject: String,
    /// Interfaces that it concerns.
    pub interfaces: Vec<String>,
    /// One line.
    pub title: String,
    /// Why it matters here, with this host's figures.
    pub why: String,
    /// What it costs.
    pub impact: String,
    /// Rule of the root cause that it is folded below.
    pub under: Option<String>,
    /// Subject of that root cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_subject: Option<String>,
    /// How surely it stands below it: `high`, `medium` or `low`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_confidence: Option<String>,
    /// Other findings that may have a part in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherCause>,
    /// Severity of the group that it leads, where a measured finding below it is more severe than itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_severity: Option<String>,
    /// When it was seen; none for a state or a setting, which stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<SeenAt>,
    /// What had to be assumed for it to fire, in words.
    pub assumed: Vec<String>,
    /// The readings that it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do, alternatives in order.
    pub recommend: Vec<Recommendation>,
}

impl Finding {
    /// Severity of the group that it leads.
    pub fn group(&self) -> &str {
        self.group_severity.as_deref().unwrap_or(&self.severity)
    }

    /// True for a fault or a risk: a limit and hygiene are no trouble.
    pub fn is_trouble(&self) -> bool {
        matches!(self.kind.as_str(), "fault" | "risk")
    }
}

/// When and how often something was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SeenAt {
    /// `delta` (in the sample), `repeat` (between two outputs), `log`, `totals` (since boot) or `measured` (in a test).
    pub arm: String,
    /// The same in words, with the count: "in the sample: 33 120 in 10 s (0.19 %)".
    pub text: String,
}

/// A finding that may have a part in another one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherCause {
    /// Its rule.
    pub rule: String,
    /// Its subject.
    pub subject: String,
    /// Its title.
    pub title: String,
    /// Why the other one does not stand below it.
    pub why: String,
}

/// What is wrong, as far as it was measured, and what exclusions are about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Symptom {
    /// Rule of its finding.
    pub rule: String,
    /// Subject of its finding.
    pub subject: String,
    /// Title of its finding.
    pub title: String,
    /// What follows where no cause was found: where to look next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// One reading that a finding rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Path of the fact.
    pub fact: String,
    /// Interface name, PCI address or `host` that it was read of.
    pub subject: String,
    /// The value in the unit beside it.
    pub value: Value,
    /// Unit; empty for a plain value.
    pub unit: String,
    /// Value and unit as a person writes them: "100 Gb/s".
    pub text: String,
    /// Where it was read: an object with `kind` and, by kind, `path`, `file` and `line`, `command` and `subject` ...
    pub source: Value,
    /// The same in words.
    pub source_text: String,
}

/// One thing to do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recommendation {
    /// What to do, in words.
    #[serde(rename = "do")]
    pub action: String,
    /// Whose commands they are: `here`, or `peer` for the host at the other end.
    #[serde(rename = "where")]
    pub place: String,
    /// Commands, quoted and ready to type; each is complete.
    pub commands: Vec<String>,
    /// Why a command is left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub commands_note: String,
    /// How to make it last on this host, all of `keep` line by line.
    pub persist: Vec<String>,
    /// The same by what is words, lines of a file and commands; none where nothing is to last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep: Option<Keep>,
    /// What it risks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub risk: String,
    /// `none`, `queue`, `link`, `all-ports`, `service` or `host`.
    pub interrupts: String,
    /// True where the user's own session runs over what is interrupted.
    pub hits_session: bool,
    /// True where nobody read whether it does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub session_unread: bool,
    /// What it may bring: "up to 25-28 Gb/s".
    #[serde(skip_serializing_if = "String::is_empty")]
    pub gain: String,
    /// How to check it and what should be seen.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub verify: String,
    /// Commands that take it back.
    pub undo: Vec<String>,
    /// How to take it back, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub undo_note: String,
    /// Rule whose finding makes this advice pointless for now.
    pub withheld_by: Option<String>,
}

/// How to make a setting last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Keep {
    /// What configures the network of the host, where that is known and matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manager: Option<String>,
    /// In words: where it belongs, and what to know.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Lines for the file or field that the note names.
    pub lines: Vec<String>,
    /// Commands to type.
    pub commands: Vec<String>,
    /// Where the manager is not known: the usual ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub likely: Vec<LikelyManager>,
}

/// What one manager would need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LikelyManager {
    /// Its name.
    pub manager: String,
    /// What it needs, in a few words.
    pub needs: String,
}

/// A cause that was excluded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Excluded {
    /// What: "PCIe path of eth2".
    pub what: String,
    /// By which reading: "126 Gb/s raw against a 10 Gb/s link".
    pub by: String,
    /// Rule that passed; none for what no rule asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// A cause of the symptom that could not be decided.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotDecided {
    /// What: "receive ring of eth2".
    pub what: String,
    /// Rule that could not be decided.
    pub rule: String,
    /// Facts that it lacks.
    pub missing: Vec<Missing>,
}

/// Something that could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NotSeen {
    /// What: "max payload size of 0000:01:00.0".
    pub what: String,
    /// Why: "not permitted".
    pub why: String,
    /// Command that would supply it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
}

/// Result of one rule for a group of subjects.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Check {
    /// Rule id.
    pub rule: String,
    /// `fires`, `passes`, `not_applicable` or `unknown`.
    pub result: String,
    /// Interface names, PCI addresses or `host`.
    pub subjects: Vec<String>,
    /// Facts that are missing, for `unknown` only.
    pub missing: Vec<Missing>,
}

/// A fact that a rule lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Missing {
    /// Path of the fact.
    pub fact: String,
    /// Gap word, for example `not_permitted`.
    pub why: String,
    /// Command that would supply it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub command: String,
}

/// Two readings that contradict each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConflictLine {
    /// Interface name, PCI address or `host`.
    pub subject: String,
    /// Path of the fact.
    pub fact: String,
    /// Value that is used, and where it was read.
    pub used: String,
    /// Value that is not used, and where it was read.
    pub other: String,
}
