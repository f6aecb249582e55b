//! The sections that build.rs wrote.

include!(concat!(env!("OUT_DIR"), "/knowledge.rs"));
