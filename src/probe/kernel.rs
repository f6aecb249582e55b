//! What the kernel is asked, at the level of bytes: so that a session can be recorded, replayed and disturbed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Bytes that are usually text. Serialised as text where they are, else as `hex:` and digits.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blob(pub Vec<u8>);

impl Blob {
    /// The bytes as text; what is not valid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl From<&str> for Blob {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl From<String> for Blob {
    fn from(text: String) -> Self {
        Self(text.into_bytes())
    }
}

impl From<&[u8]> for Blob {
    fn from(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }
}

impl From<Vec<u8>> for Blob {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Blob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\"{}\"", self.0.escape_ascii())
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if let Ok(text) = std::str::from_utf8(&self.0) {
            let odd = text.bytes().filter(|byte| byte.is_ascii_control() && !b"\n\t".contains(byte)).count();
            if odd * 4 <= text.len() && !text.starts_with("hex:") {
                return out.serialize_str(text);
            }
        }
        let mut hex = String::with_capacity(4 + 2 * self.0.len());
        hex.push_str("hex:");
        for byte in &self.0 {
            hex.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
            hex.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
        }
        out.serialize_str(&hex)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        let Some(hex) = text.strip_prefix("hex:") else {
            return Ok(Self(text.into_bytes()));
        };
        let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
        match digits {
            Some(digits) if digits.len() % 2 == 0 => {
                Ok(Self(digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()))
            }
            _ => Err(serde::de::Error::custom("odd or bad hex digits")),
        }
    }
}

/// A netlink protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// NETLINK_ROUTE: links, addresses, routes.
    Route,
    /// NETLINK_GENERIC: the list of families, and ethtool.
    Generic,
    /// NETLINK_GENERIC: nl80211.
    Wireless,
    /// NETLINK_GENERIC: devlink.
    Devlink,
    /// NETLINK_SOCK_DIAG: sockets.
    SockDiag,
}

/// The question itself. Every one of them only reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// One netlink request; the answer is every message that belongs to it, up to `limit` bytes. The sequence number
    /// in `bytes` is replaced.
    Netlink {
        /// The protocol.
        protocol: Protocol,
        /// The request with its header.
        bytes: Blob,
        /// The most bytes to read; an answer cut here lacks its NLMSG_DONE.
        limit: usize,
    },
    /// SIOCETHTOOL; the answer is the buffer after the call.
    Ioctl {
        /// Interface name, at most 15 bytes.
        interface: Blob,
        /// The buffer, which begins with the ethtool command.
        data: Blob,
    },
    /// The first `limit` bytes of a regular file.
    Read {
        /// Its path.
        path: Blob,
        /// The most bytes to read.
        limit: usize,
    },
    /// The last `limit` bytes of a regular file.
    Tail {
        /// Its path.
        path: Blob,
        /// The most bytes to read.
        limit: usize,
    },
    /// The records of the kernel's log that are there by now, one after the other; the newest `limit` bytes of them.
    Records {
        /// Path of the device, /dev/kmsg.
        path: Blob,
        /// The most bytes to keep.
        limit: usize,
    },
    /// The clock that the kernel's log is stamped with, the time of day and what local time is ahead of it: three figures
    /// in seconds as text.
    Clock,
    /// The names in a directory in order of their bytes, each ended by a zero byte.
    List {
        /// Its path.
        path: Blob,
    },
    /// Where a symbolic link points to, as it is written.
    Link {
        /// Its path.
        path: Blob,
    },
    /// The path with all symbolic links resolved.
    Real {
        /// The path.
        path: Blob,
    },
    /// The answer is empty if the path exists, else ENOENT.
    Exists {
        /// The path.
        path: Blob,
    },
    /// `uname`: release, machine and node name, each ended by a zero byte.
    Uname,
    /// One variable of the environment of a process, and nothing else of it: an environment may hold secrets.
    Variable {
        /// Process id; 0 for ourselves.
        process: u32,
        /// Name of the variable.
        name: Blob,
    },
}

/// What a request may have to wait for inside the kernel.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lock {
    /// Nothing that a driver holds.
    None,
    /// The one lock of all network configuration: one driver that hangs under it stops all.
    Rtnl,
    /// A device, named by its address.
    Device(String),
}

/// A question with what it waits for and how long it may take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// The question.
    pub ask: Ask,
    /// What it waits for.
    pub lock: Lock,
    /// Milliseconds before it is given up.
    pub limit_ms: u32,
}

/// Milliseconds that a request may take where nothing else is said.
pub const DEFAULT_LIMIT_MS: u32 = 2000;
/// Bytes of a file that are read where nothing else is said; files of /proc and /sys are shorter.
pub const DEFAULT_READ: usize = 1 << 16;

impl Request {
    /// A question that waits for nothing.
    pub fn new(ask: Ask) -> Self {
        Self { ask, lock: Lock::None, limit_ms: DEFAULT_LIMIT_MS }
    }

    /// The same question under a lock.
    #[must_use]
    pub fn lock(mut self, lock: Lock) -> Self {
        self.lock = lock;
        self
    }

    /// The same question with another limit for the length of the answer.
    #[must_use]
    pub fn most(mut self, bytes: usize) -> Self {
        if let Ask::Netlink { limit, .. }
        | Ask::Read { limit, .. }
        | Ask::Tail { limit, .. }
        | Ask::Records { limit, .. } = &mut self.ask
        {
            *limit = bytes;
        }
        self
    }

    /// Reads a file.
    pub fn read(path: impl Into<Blob>) -> Self {
        Self::new(Ask::Read { path: path.into(), limit: DEFAULT_READ })
    }

    /// Lists a directory.
    pub fn list(path: impl Into<Blob>) -> Self {
        Self::new(Ask::List { path: path.into() })
    }

    /// Reads a symbolic link.
    pub fn link(path: impl Into<Blob>) -> Self {
        Self::new(Ask::Link { path: path.into() })
    }

    /// Resolves a path.
    pub fn real(path: impl Into<Blob>) -> Self {
        Self::new(Ask::Real { path: path.into() })
    }

    /// Asks whether a path exists.
    pub fn exists(path: impl Into<Blob>) -> Self {
        Self::new(Ask::Exists { path: path.into() })
    }

    /// Asks SIOCETHTOOL, under the rtnl lock.
    pub fn ioctl(interface: impl Into<Blob>, data: impl Into<Blob>) -> Self {
        Self::new(Ask::Ioctl { interface: interface.into(), data: data.into() }).lock(Lock::Rtnl)
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Netlink { protocol, bytes, .. } => {
                let kind = bytes.0.get(4..6).map_or(0, |kind| u16::from_ne_bytes([kind[0], kind[1]]));
                match protocol {
                    Protocol::Route => write!(out, "{}", super::netlink::route_name(kind)),
                    Protocol::SockDiag => out.write_str("SOCK_DIAG_BY_FAMILY"),
                    Protocol::Generic | Protocol::Wireless | Protocol::Devlink => {
                        let command = bytes.0.get(16).copied().unwrap_or(0);
                        write!(out, "{}", super::netlink::generic_name(*protocol, kind, command))
                    }
                }
            }
            Self::Ioctl { interface, data } => {
                let command =
                    data.0.get(..4).map_or(0, |head| u32::from_ne_bytes([head[0], head[1], head[2], head[3]]));
                write!(out, "{} {}", super::ioctl::name(command), interface.text())
            }
            Self::Read { path, .. } | Self::Tail { path, .. } | Self::Records { path, .. } => {
                write!(out, "read of {}", path.text())
            }
            Self::Clock => out.write_str("clock_gettime"),
            Self::List { path } => write!(out, "list of {}", path.text()),
            Self::Link { path } | Self::Real { path } | Self::Exists { path } => {
                write!(out, "look-up of {}", path.text())
            }
            Self::Uname => out.write_str("uname"),
            Self::Variable { process, name } => write!(out, "{} of process {process}", name.text()),
        }
    }
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    /// The answer.
    Bytes(Blob),
    /// The kernel's refusal.
    Error {
        /// Its number.
        errno: i32,
        /// Its words, where it gave any.
        text: String,
    },
    /// It did not come back in time.
    TimedOut,
    /// It was not tried.
    Skipped {
        /// Why not.
        because: String,
    },
}

impl Reply {
    /// A refusal without words.
    pub fn errno(errno: i32) -> Self {
        Self::Error { errno, text: String::new() }
    }

    /// The answer, if there is one.
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(blob) => Some(&blob.0),
            _ => None,
        }
    }
}

/// Whatever answers requests: this machine, a worker, a recording.
pub trait Kernel {
    /// Answers a batch: one reply per request, in their order.
    fn call(&mut self, requests: &[Request]) -> Vec<Reply>;

    /// Milliseconds on a clock that never goes back.
    fn now_ms(&mut self) -> u64;

    /// Waits.
    fn sleep(&mut self, ms: u64);
}

/// The names in an answer to [`Ask::List`] or the fields of [`Ask::Uname`].
pub fn zero_ended(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|piece| !piece.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_survive_a_round_trip_as_text_or_hex() {
        for (bytes, json) in [
            (&b"8.0 GT/s PCIe\n"[..], r#""8.0 GT/s PCIe\n""#),
            (&[0, 0, 0, 9][..], r#""hex:00000009""#),
            (&[0xff, 0x41][..], r#""hex:ff41""#),
            (b"hex:zz", r#""hex:6865783a7a7a""#),
            (b"", r#""""#),
        ] {
            let blob = Blob(bytes.to_vec());
            assert_eq!(serde_json::to_string(&blob).unwrap(), json);
            assert_eq!(serde_json::from_str::<Blob>(json).unwrap(), blob);
        }
        assert!(serde_json::from_str::<Blob>(r#""hex:123""#).is_err());
    }
}
