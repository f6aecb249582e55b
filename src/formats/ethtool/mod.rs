//! What ethtool prints, in the forms of its ioctl and of its netlink versions.

pub mod driver;
pub mod features;
pub mod lists;
pub mod module;
pub mod settings;
pub mod statistics;
pub mod table;

use super::cursor::{At, Cursor};

/// The interface in a headline such as `Ring parameters for eth0:`; takes the line if it is one. Old and new versions
/// differ in the case of letters.
pub fn headline(cursor: &mut Cursor<'_>, starts: &[&str]) -> Option<At<String>> {
    cursor.take_if(|text| headed(text, starts).map(str::to_owned))
}

/// The interface in a headline that begins with one of these words.
pub fn headed<'t>(text: &'t str, starts: &[&str]) -> Option<&'t str> {
    let text = text.trim();
    let rest = starts.iter().find_map(|start| {
        let head = text.get(..start.len())?;
        head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
    })?;
    let name = rest.strip_prefix(' ')?.trim().strip_suffix(':')?.trim_end();
    (!name.is_empty() && !name.contains(' ')).then_some(name)
}

/// `on` or `off`.
pub fn switch(text: &str) -> Option<bool> {
    match text.split_ascii_whitespace().next()? {
        "on" | "yes" | "enabled" => Some(true),
        "off" | "no" | "disabled" => Some(false),
        _ => None,
    }
}
