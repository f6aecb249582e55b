//! `devlink dev info`, `devlink port show`, `devlink health show` and `devlink dev param`.

use super::cursor::{At, Cursor};

/// What a line of devlink is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Handle {
    /// PCI function.
    pub address: String,
    /// Port number, where the line is about a port.
    pub port: Option<u32>,
    /// What stands behind it: `type eth netdev ens1f0np0 flavour physical port 0`.
    pub rest: String,
}

/// Reads a line that begins with a handle: `pci/0000:03:00.0/65535: type eth netdev ens1f0np0 flavour physical port 0`.
pub fn handle(text: &str) -> Option<Handle> {
    let rest = text.trim_end().strip_prefix("pci/")?;
    let (path, rest) = match rest.split_once(": ") {
        Some((path, rest)) => (path, rest),
        None => (rest.trim_end_matches(':'), ""),
    };
    let (address, port) = path.split_once('/').map_or((path, None), |(address, port)| (address, port.parse().ok()));
    let fits = super::kernel_log::speaker::is_pci_address(address);
    fits.then(|| Handle { address: address.to_owned(), port, rest: rest.to_owned() })
}

/// The word behind another.
pub fn behind<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut words = text.split_ascii_whitespace();
    words.by_ref().find(|word| *word == name)?;
    words.next()
}

/// Reads handles with the rows below each.
pub fn handles(cursor: &mut Cursor<'_>) -> Vec<(At<Handle>, Vec<String>)> {
    let mut found: Vec<(At<Handle>, Vec<String>)> = Vec::new();
    while let Some(line) = cursor.peek() {
        if let Some(handle) = handle(line.text) {
            found.push((At::new(handle, line.number), Vec::new()));
        } else if let Some((_, rows)) = found.last_mut().filter(|_| line.text.starts_with([' ', '\t'])) {
            rows.push(line.text.trim().to_owned());
        } else {
            break;
        }
        cursor.take();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::cursor::lines;

    #[test]
    fn handles_and_rows() {
        let text = "pci/0000:03:00.0/65535: type eth netdev ens1f0np0 flavour physical port 0 splittable false\npci/0000:03:00.0:\n  driver mlx5_core\n  versions:\n      fixed:\n        fw.psid MT_0000000359\nnext\n";
        let lines = lines(text);
        let mut cursor = Cursor::new(&lines);
        let found = handles(&mut cursor);
        assert_eq!((found.len(), cursor.position()), (2, 6));
        assert_eq!(
            (found[0].0.value.port, behind(&found[0].0.value.rest, "netdev")),
            (Some(65_535), Some("ens1f0np0"))
        );
        assert_eq!((found[1].0.value.address.as_str(), found[1].1[0].as_str()), ("0000:03:00.0", "driver mlx5_core"));
        assert_eq!(handle("pci/x: y"), None);
    }
}
