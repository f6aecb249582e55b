//! Rules: their form, how they are loaded and checked, what they say of a host, and which finding is the root of which.

pub mod located;
pub mod schema;
