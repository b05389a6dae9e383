use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ChainProfile, HostName, KeyType, Site, StackName, Switch, scan::NamedCode};

/// The compression of certificates (RFC 8879) that the lab's servers do without: the sizes of their chains, and the algorithms
/// that clients offer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompressionRecord {
    /// The sizes of each kind of chain.
    pub chains: Vec<CompressedChain>,
    /// The algorithms in each stack's ClientHello, without stacks whose hello could not be recorded.
    pub offers: BTreeMap<StackName, Vec<NamedCode>>,
}

/// The sizes of a chain's Certificate message in TLS 1.3, without the header of the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompressedChain {
    /// The host name in the leaf.
    pub host: HostName,
    /// The type of the leaf's key.
    pub key: KeyType,
    /// The type of the keys of root and intermediates.
    pub ca_key: KeyType,
    /// The number of certificates, and their minimum size.
    pub chain: ChainProfile,
    /// Whether the message has a stapled OCSP response.
    pub ocsp: Switch,
    /// Size without compression, in bytes.
    pub plain_bytes: u32,
    /// Size with zlib at level 6, in bytes.
    pub zlib_bytes: u32,
    /// Size with brotli at quality 11, in bytes.
    pub brotli_bytes: u32,
    /// Size with zstd at level 3, in bytes.
    pub zstd_bytes: u32,
}

impl CompressionRecord {
    /// Returns the sizes of the chain that the site's server sends.
    pub fn chain_of(&self, site: &Site) -> Option<&CompressedChain> {
        self.chains.iter().find(|chain| chain.is_of(site))
    }

    /// Adds the chains of another record that this one lacks, and its offers.
    pub fn merge(&mut self, other: Self) {
        for chain in other.chains {
            if !self.chains.iter().any(|own| own.is_alike(&chain)) {
                self.chains.push(chain);
            }
        }
        self.offers.extend(other.offers);
    }
}

impl CompressedChain {
    /// The size of the fields before the data of a CompressedCertificate message: the length of the original message, the
    /// number of the algorithm and the length of the data.
    pub const FIELDS_BYTES: u32 = 3 + 2 + 3;

    /// Returns each algorithm with the size of its data.
    pub fn sizes(&self) -> [(&'static str, u32); 3] {
        [
            ("zlib", self.zlib_bytes),
            ("brotli", self.brotli_bytes),
            ("zstd", self.zstd_bytes),
        ]
    }

    fn kind(&self) -> (&HostName, KeyType, KeyType, ChainProfile, Switch) {
        (&self.host, self.key, self.ca_key, self.chain, self.ocsp)
    }

    fn is_of(&self, site: &Site) -> bool {
        let lab = &site.lab;
        self.kind() == (&site.host, lab.key, lab.ca_key(), lab.chain, lab.ocsp)
    }

    /// Returns whether both are of the same kind. Sizes vary by a few bytes, because each run has its own keys.
    fn is_alike(&self, other: &Self) -> bool {
        self.kind() == other.kind()
    }
}
