//! Rules: their form, how they are loaded and checked, what they say of a host, and which finding is the root of which.

mod arms;
mod compile;
mod evaluate;
mod load;
pub mod located;
mod log_arm;
mod problem;
mod roots;
pub mod schema;
mod senders;
mod template;

pub use arms::{ArmName, Arms, Held};
pub use compile::{Advice, Rule, arm_variables, compile, roots};
pub use evaluate::{Diagnosis, Finding, Outcome, Seen, Verdict, bind, diagnose, related, variables};
pub use load::{RuleFolder, RuleSet, embedded_specs, parse_file, read_folder};
pub use problem::{Problem, RuleFile};
pub use roots::{Other, Ranked, Reservation, Suspect, explained_by, rank, suspects};
pub use senders::Senders;
pub use template::{Purpose, Template};
