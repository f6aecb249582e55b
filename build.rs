//! Turns rules/ and knowledge/ into embedded JSON sections.
fn main() {}
