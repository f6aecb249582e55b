//! The form of a rule file. build.rs includes this file: it uses serde alone.

use serde::{Deserialize, Serialize};

use super::located::{Located, Ordered};

/// What a finding of a rule is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Losing, broken or degraded now.
    Fault,
    /// Will hurt under a stated condition.
    Risk,
    /// A design ceiling: nothing is broken.
    Limit,
    /// Dated, redundant or untidy.
    Hygiene,
}

impl Kind {
    /// The word of rule files, reports and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Risk => "risk",
            Self::Limit => "limit",
            Self::Hygiene => "hygiene",
        }
    }
}

/// How loud a finding is. For limits and hygiene never above advice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth doing.
    Advice,
    /// Hurts.
    Warning,
    /// Hurts badly.
    Critical,
}

impl Severity {
    /// The word of rule files, reports and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Advice => "advice",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// How sure a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// A hint.
    Low,
    /// Probably.
    Medium,
    /// Read, not guessed.
    High,
}

impl Confidence {
    /// The word of rule files, reports and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a rule is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The host, once.
    Host,
    /// Each interface.
    Interface,
    /// Each PCI function of class network.
    PciDevice,
}

impl Scope {
    /// The word of rule files, reports and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Interface => "interface",
            Self::PciDevice => "pci_device",
        }
    }
}

/// What an action interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interrupts {
    /// Nothing.
    None,
    /// Packets of one interface for some milliseconds.
    Queue,
    /// The link of one interface for some seconds.
    Link,
    /// Every port of the card.
    AllPorts,
    /// The connections of one program or address.
    Service,
    /// The host: a reboot, or power off.
    Host,
}

impl Interrupts {
    /// The word of rule files, reports and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Queue => "queue",
            Self::Link => "link",
            Self::AllPorts => "all-ports",
            Self::Service => "service",
            Self::Host => "host",
        }
    }
}

/// Whose commands they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// The host that the report is about.
    #[default]
    Here,
    /// The host at the other end: never to be typed here.
    Peer,
}

impl Place {
    /// The word of rule files and the JSON contract.
    pub fn word(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Peer => "peer",
        }
    }
}

/// For serde, which hands on a reference.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_here(place: &Place) -> bool {
    *place == Place::Here
}

/// Who sends the data that is lost or late. What this host loses while it receives, the other end sends again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// This host.
    Own,
    /// The other end.
    Peer,
    /// Either.
    Both,
}

impl Side {
    /// The word of rule files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Peer => "peer",
            Self::Both => "both",
        }
    }
}

/// Which way a cause works in the stack of interfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// On what stands on its interface: the bond or bridge of a member, VLANs, tunnels, the ports of a card.
    #[default]
    Up,
    /// On what its interface stands on.
    Down,
    /// Both.
    Both,
}

/// A side under a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideWhen {
    /// The side; not both at once.
    pub is: Side,
    /// The condition.
    pub when: Located,
}

/// A severity under a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeverityWhen {
    /// The severity.
    pub is: Severity,
    /// The condition.
    pub when: Located,
}

/// A kind under a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindWhen {
    /// The kind.
    pub is: Kind,
    /// The condition.
    pub when: Located,
}

/// A confidence under a condition.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfidenceWhen {
    /// The confidence.
    pub is: Confidence,
    /// The condition.
    pub when: Located,
}

/// Thresholds of one arm. Each is a constant expression with its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArmSpec {
    /// Smallest count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Located>,
    /// Ratio to the denominator that must be passed; below the floor the growth alone is the proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<Located>,
    /// Ratio to the denominator that must be passed, for events that are normal in small numbers: below the floor unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Located>,
    /// Denominator from which the ratio counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Located>,
    /// Growth per second that must be passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Located>,
    /// Count per day of uptime that must be passed (totals; only where the uptime is known).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_day: Option<Located>,
    /// A further condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Located>,
    /// Confidence of a finding by this arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
}

/// Named events of the kernel log. Lines without a time count as they stand; too few within the time, but enough in all, are
/// information only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogArmSpec {
    /// Events that are counted together, by their names in knowledge/log-events.
    pub events: Vec<Located>,
    /// Smallest number of them; 1 where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<Located>,
    /// How old they may be; any age where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Located>,
    /// The log tells what the counters of this rule count: where they decide, an unread log leaves nothing open, and one that
    /// says otherwise makes it unknown.
    #[serde(skip_serializing_if = "is_default")]
    pub beside: bool,
    /// Confidence of a finding by this arm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
}

/// The arms of a counter rule: any of them holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArmsSpec {
    /// Canonical counters, summed.
    pub count: Vec<Located>,
    /// Canonical counters of the denominator, summed.
    pub of: Vec<Located>,
    /// Growth within the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<ArmSpec>,
    /// The same output twice in one capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeat: Option<ArmSpec>,
    /// Since the driver was loaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub totals: Option<ArmSpec>,
    /// Events of the kernel log that name the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogArmSpec>,
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecommendSpec {
    /// What to do (template).
    #[serde(rename = "do")]
    pub action: Located,
    /// Only then; no condition: always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Located>,
    /// Where it is typed.
    #[serde(default, rename = "where", skip_serializing_if = "is_here")]
    pub place: Place,
    /// Commands (templates; what is filled in is quoted for the shell). One with a value that nobody read is left out.
    #[serde(default)]
    pub commands: Vec<Located>,
    /// Key of knowledge/persistence; `none` where nothing is to last, `hardware` where it lasts by itself.
    pub persist: String,
    /// What it interrupts.
    pub interrupts: Interrupts,
    /// What it risks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Located>,
    /// What it may bring (template).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain: Option<Located>,
    /// How to check it and what should be seen (template).
    pub verify: Located,
    /// Commands that take it back (templates).
    #[serde(default)]
    pub undo: Vec<Located>,
    /// How to take it back, in words (template).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_note: Option<Located>,
}

/// An edge to a symptom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explains {
    /// The symptom's rule.
    pub rule: String,
    /// Who sends the data that the cause loses or delays; for symptoms that state their `sides`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// Which way the cause works in the stack of interfaces.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reach: Reach,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Where a judgement comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// An address, a document name, or `seed 3, line 19`.
    pub from: String,
    /// How it was checked: `read`, `measured`, `known` or `inferred`.
    pub checked: String,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSpec {
    /// `area.what-is-wrong`.
    pub id: Located,
    /// One line; no template.
    pub title: String,
    /// The title with what was found in it (template); a finding without one of its values bears the title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headline: Option<Located>,
    /// Kind, unless `kind_when` says otherwise.
    pub kind: Kind,
    /// Kinds under conditions; the first that holds wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kind_when: Vec<KindWhen>,
    /// Severity, unless `severity_when` says otherwise.
    pub severity: Severity,
    /// Severities under conditions; the first that holds wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub severity_when: Vec<SeverityWhen>,
    /// What it is asked about.
    pub scope: Scope,
    /// Where it applies. False: not applicable. Unknown: evaluated all the same, a finding is `assumed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires: Option<Located>,
    /// Names for intermediate values, each may use those before it.
    #[serde(default, rename = "let")]
    pub lets: Ordered,
    /// The condition; `arms` in it is true where one of the arms holds.
    pub when: Located,
    /// Arms of a counter rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<ArmsSpec>,
    /// Confidence, unless `confidence_when` or the arm says otherwise.
    pub confidence: Confidence,
    /// Confidences under conditions; the first that holds wins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confidence_when: Vec<ConfidenceWhen>,
    /// Why it matters here (template).
    pub why: Located,
    /// What it costs (template).
    pub impact: Located,
    /// Facts shown as evidence, beside those that the condition read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Located>,
    /// What to do, alternatives in order.
    pub recommend: Vec<RecommendSpec>,
    /// When it may be wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub false_positives: Vec<String>,
    /// Symptoms that it explains.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub explains: Vec<Explains>,
    /// Who sent the data that a finding is about; each that holds counts. None given: this host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<SideWhen>,
    /// What is no cause where the rule passes, for example `receive ring`; the title where it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspect: Option<String>,
    /// Rules whose advice is withheld while this one stands.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instead_of: Vec<String>,
    /// Where the judgement comes from.
    pub sources: Vec<Citation>,
}
