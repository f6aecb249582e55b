//! What a person or a script reads. One model, one file per output format.

mod assemble;
mod ceilings;
mod interfaces;
pub mod model;
mod summary;

pub use assemble::{assemble, is_at_least, json_value, origin, outcomes_of};
