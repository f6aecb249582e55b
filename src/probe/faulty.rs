//! A kernel that fails on purpose, the same way for the same seed.

use super::kernel::{Blob, Kernel, Reply, Request};

/// The ways in which a call may go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// An errno.
    Errno(i32),
    /// No answer in time.
    Delay,
    /// The answer ends early.
    Short,
    /// Some bytes of the answer are others.
    Garbage,
    /// A netlink dump says that it was interrupted by a change.
    Interrupted,
}

/// Faults that lose an answer but never change one.
pub const LOSSES: &[Fault] =
    &[Fault::Errno(libc::EPERM), Fault::Errno(libc::ENODEV), Fault::Errno(libc::EIO), Fault::Delay, Fault::Interrupted];
/// All faults.
pub const ALL_FAULTS: &[Fault] = &[
    Fault::Errno(libc::EPERM),
    Fault::Errno(libc::ENODEV),
    Fault::Errno(libc::EIO),
    Fault::Delay,
    Fault::Interrupted,
    Fault::Short,
    Fault::Garbage,
];

/// Wraps a kernel; about one call in eight fails.
pub struct Faulty<K> {
    inner: K,
    state: u64,
    faults: &'static [Fault],
}

impl<K: Kernel> Faulty<K> {
    /// Disturbs `inner` by `faults` in the order that `seed` gives.
    pub fn new(seed: u64, faults: &'static [Fault], inner: K) -> Self {
        Self { inner, state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, faults }
    }

    /// xorshift64*: small, and equal on every machine.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn disturb(&mut self, reply: Reply) -> Reply {
        if self.faults.is_empty() || !self.next().is_multiple_of(8) {
            return reply;
        }
        let fault = self.faults[self.next() as usize % self.faults.len()];
        let Reply::Bytes(Blob(mut bytes)) = reply else { return reply };
        match fault {
            Fault::Errno(errno) => return Reply::errno(errno),
            Fault::Delay => return Reply::TimedOut,
            Fault::Short => {
                let keep = self.next() as usize % (bytes.len() + 1);
                bytes.truncate(keep);
            }
            Fault::Garbage => {
                for _ in 0..=self.next() % 8 {
                    if !bytes.is_empty() {
                        let at = self.next() as usize % bytes.len();
                        bytes[at] = self.next() as u8;
                    }
                }
            }
            Fault::Interrupted => {
                let plausible = bytes.get(..4).is_some_and(|head| {
                    u32::from_ne_bytes([head[0], head[1], head[2], head[3]]) as usize <= bytes.len()
                });
                if plausible && bytes.len() >= 16 && bytes[1] < 2 && bytes[6] & 2 != 0 {
                    bytes[6] |= 0x10;
                }
            }
        }
        Reply::Bytes(Blob(bytes))
    }
}

impl<K: Kernel> Kernel for Faulty<K> {
    fn call(&mut self, requests: &[Request]) -> Vec<Reply> {
        let replies = self.inner.call(requests);
        replies.into_iter().map(|reply| self.disturb(reply)).collect()
    }

    fn now_ms(&mut self) -> u64 {
        self.inner.now_ms()
    }

    fn sleep(&mut self, ms: u64) {
        self.inner.sleep(ms);
    }
}
