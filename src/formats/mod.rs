//! Pure parsers of what tools and /proc files print, one file each; used live and on captures.

pub mod shell;
