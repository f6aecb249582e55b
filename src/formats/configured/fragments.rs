//! The order of fragments such as /etc/sysctl.d/*.conf.

use std::collections::BTreeMap;

/// A file of one of the directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fragment {
    /// Its path.
    pub path: String,
    /// A file of the same name stands in a directory that comes before: this one is never read.
    pub masked: bool,
}

/// Files whose names end in `suffix`, in the order in which they are read: by name, whatever the directory. Of files with
/// the same name only that of the first directory in `directories` is read; the others stand before it.
pub fn in_order(directories: &[(&str, Vec<String>)], suffix: &str) -> Vec<Fragment> {
    let mut named: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (directory, names) in directories {
        for name in names.iter().filter(|name| name.ends_with(suffix) && !name.starts_with('.')) {
            named.entry(name).or_default().push(directory);
        }
    }
    named
        .iter()
        .flat_map(|(name, directories)| {
            directories
                .iter()
                .enumerate()
                .rev()
                .map(move |(rank, directory)| Fragment { path: format!("{directory}/{name}"), masked: rank > 0 })
        })
        .collect()
}

/// Which of several assignments holds in the end, where later ones replace earlier ones of the same key.
pub fn last_wins<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<bool> {
    let mut last: BTreeMap<K, usize> = BTreeMap::new();
    let mut wins = Vec::new();
    for (at, key) in keys.into_iter().enumerate() {
        wins.push(true);
        if let Some(earlier) = last.insert(key, at) {
            wins[earlier] = false;
        }
    }
    wins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_decide_and_the_first_directory_masks() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let directories = [
            ("/etc/sysctl.d", names(&["99-a.conf", "10-b.conf", "README", ".x.conf"])),
            ("/run/sysctl.d", names(&[])),
            ("/usr/lib/sysctl.d", names(&["99-a.conf", "50-c.conf"])),
        ];
        let order = in_order(&directories, ".conf");
        let seen: Vec<(&str, bool)> = order.iter().map(|file| (file.path.as_str(), file.masked)).collect();
        assert_eq!(
            seen,
            [
                ("/etc/sysctl.d/10-b.conf", false),
                ("/usr/lib/sysctl.d/50-c.conf", false),
                ("/usr/lib/sysctl.d/99-a.conf", true),
                ("/etc/sysctl.d/99-a.conf", false),
            ]
        );
    }

    #[test]
    fn the_last_of_a_key_holds() {
        assert_eq!(last_wins(["a", "b", "a", "a"]), [false, true, false, true]);
        assert!(last_wins(Vec::<&str>::new()).is_empty());
    }
}
