//! What a person or a script reads. One model, one file per output format.
//!
//! Every renderer is a pure function from [`model::Report`] to a string: equal input gives equal bytes. Text that
//! came from the host is untrusted; [`escape`] makes it harmless for each medium.

mod assemble;
mod causes;
mod ceilings;
pub mod escape;
pub mod html;
mod interfaces;
pub mod json;
pub mod markdown;
pub mod model;
mod next;
mod ports;
mod seen;
mod summary;
mod svg;
mod table;
mod templates;
pub mod text;
mod unseen;
mod view;
mod way;

#[cfg(test)]
mod tests;

pub use assemble::{assemble, is_at_least, json_value, origin};
