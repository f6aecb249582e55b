//! The secret that replacements come from: with another one everything is replaced in another way.

use sha2::{Digest, Sha256};

/// A secret that is forgotten when the bundle is written.
#[derive(Clone)]
pub(super) struct Key([u8; 32]);

impl Key {
    pub fn new(secret: [u8; 32]) -> Self {
        Self(secret)
    }

    /// Bytes that follow from the secret and from what is given, and tell nothing of either.
    pub fn bytes(&self, purpose: &str, parts: &[&[u8]]) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(purpose.as_bytes());
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}
