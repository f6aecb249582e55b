//! Checks on rules themselves: lint, rule tests, mutants, coverage by raw input.

mod cases;
mod coverage;
mod lint;
mod mutation;
mod run;

pub use cases::{Case, Expected, RuleCases, TestFile, read_tests};
pub use coverage::{Coverage, cover};
pub use lint::lint;
pub use mutation::{Allowed, Survivor, read_allowed, survivors};
pub use run::{Failure, RuleTests, given, run_tests};
