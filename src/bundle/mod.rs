//! The support bundle: what was read of a host, packed so that somebody else can look at it, and what is taken out before.

mod manifest;
mod members;
mod redact;
mod secrets;
mod time;
mod unread;
mod write;

pub use manifest::{Asked, Entry, Manifest, SCHEMA, Stage, Unread};
pub use members::{Bundle, Collected, Member, Reports, sources};
pub use redact::{Leak, Redactor};
pub use secrets::{LEFT_OUT, scrub_recording, scrub_snapshot};
pub use unread::unread;
pub use write::pack;
