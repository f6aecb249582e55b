//! Lines of the kernel log: records of /dev/kmsg, and lines as dmesg, syslog daemons and the journal print them.

pub mod link;
pub mod pcie;
pub mod printed;
pub mod sieve;
pub mod speaker;
pub mod stamp;

pub use printed::syslog;
pub use stamp::Stamp;

/// A record of /dev/kmsg.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Who wrote it: 0 is the kernel itself.
    pub facility: u32,
    /// Microseconds on the kernel's clock.
    pub stamp_us: u64,
    /// The message.
    pub text: String,
}

/// Reads one record: `6,1234,5678,-;message`, followed by lines of a dictionary that begin with a space.
pub fn record(bytes: &[u8]) -> Option<Record> {
    let bytes = bytes.split(|byte| *byte == b'\n').next()?;
    let at = bytes.iter().position(|byte| *byte == b';')?;
    let mut fields = std::str::from_utf8(&bytes[..at]).ok()?.split(',');
    let priority: u32 = fields.next()?.parse().ok()?;
    let stamp_us = fields.nth(1)?.parse().ok()?;
    Some(Record { facility: priority >> 3, stamp_us, text: unescape(&bytes[at + 1..]) })
}

/// The kernel writes what is not plain ASCII as `\xNN`. Control characters stay written so.
fn unescape(bytes: &[u8]) -> String {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first() {
        let code = match rest {
            [b'\\', b'x', high, low, ..] => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|digits| u8::from_str_radix(digits, 16).ok())
                .filter(|code| !code.is_ascii_control()),
            _ => None,
        };
        plain.push(code.unwrap_or(*first));
        rest = if code.is_some() { &rest[4..] } else { tail };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_of_kmsg_lose_their_dictionary_and_escapes() {
        let bytes = b"6,199,102815,-;igb 0000:01:00.0 eth\\x5c0: \\xc3\\xa9 \\x1b[31m\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n";
        let record = record(bytes).unwrap();
        assert_eq!((record.facility, record.stamp_us), (0, 102_815));
        assert_eq!(record.text, "igb 0000:01:00.0 eth\\0: \u{e9} \\x1b[31m");
        let other = super::record(b"30,700,5000000,-,caller=T1;systemd[1]: hello\n").unwrap();
        assert_eq!((other.facility, other.text.as_str()), (3, "systemd[1]: hello"));
        for bad in [&b""[..], b"x", b"6,1;x", b"6,1,z,-;x", b"\xff,1,2,-;x"] {
            assert_eq!(super::record(bad), None);
        }
    }
}
