//! Files of /proc/sys and the lines of `sysctl -a`.

/// A value: trimmed, with one space between figures, which the kernel parts by tabs.
pub fn value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for word in text.split_ascii_whitespace() {
        if !value.is_empty() {
            value.push(' ');
        }
        value.push_str(word);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_become_one_space() {
        assert_eq!(value("4096\t131072\t6291456\n"), "4096 131072 6291456");
        assert_eq!(value("cubic\n"), "cubic");
        assert_eq!(value(" \n"), "");
    }
}
