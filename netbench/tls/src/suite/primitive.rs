use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Aead;
use crate::{Group, KeyType};

/// An operation of a library's cryptography in a session of TLS 1.3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "operation", rename_all = "kebab-case")]
pub enum Primitive {
    /// The server signs: 130 bytes, as in a CertificateVerify with SHA-256 (RFC 8446 section 4.4.3), hashed first.
    Sign {
        /// The type of the key, which determines the scheme as in TLS 1.3.
        key: KeyType,
    },
    /// The client verifies that signature.
    Verify {
        /// The type of the key.
        key: KeyType,
    },
    /// The client generates a key pair for its key share.
    KeyShare {
        /// The group.
        group: Group,
    },
    /// The server generates its key share and computes the secret from the client's share.
    Respond {
        /// The group.
        group: Group,
    },
    /// The client computes the secret from the server's share.
    Agree {
        /// The group.
        group: Group,
    },
    /// The sender protects a full record: 16 KiB of data.
    Seal {
        /// The algorithm.
        aead: Aead,
    },
    /// The receiver opens such a record.
    Open {
        /// The algorithm.
        aead: Aead,
    },
}

impl Primitive {
    /// Number of bytes that are signed and verified.
    pub const SIGNED_BYTES: usize = 130;

    /// Size of the data in a protected record: the maximum (RFC 8446 section 5.1).
    pub const RECORD_BYTES: usize = 16 * 1024;

    /// Returns every operation.
    pub fn all() -> impl Iterator<Item = Self> {
        let keys = KeyType::ALL.iter();
        let keys = keys.flat_map(|key| [Self::Sign { key: *key }, Self::Verify { key: *key }]);
        let groups = Group::OFFERED.iter().copied().flat_map(|group| {
            [
                Self::KeyShare { group },
                Self::Respond { group },
                Self::Agree { group },
            ]
        });
        let aeads = Aead::ALL.iter();
        let records =
            aeads.flat_map(|aead| [Self::Seal { aead: *aead }, Self::Open { aead: *aead }]);
        keys.chain(groups).chain(records)
    }
}
