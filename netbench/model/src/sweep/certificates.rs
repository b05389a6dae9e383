use crate::{ChainProfile, KeyType, LabProfile};

/// Named certificates of a server: keys, and the chain that it sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CertificatesPreset {
    /// The name of the certificates.
    pub name: &'static str,
    /// The type of the leaf's key.
    pub key: KeyType,
    /// The type of the CAs' keys.
    pub ca_key: KeyType,
    /// The number of certificates and their size.
    pub chain: ChainProfile,
    /// A description of the certificates.
    pub about: &'static str,
}

impl CertificatesPreset {
    /// Every preset: first those whose CAs do without post-quantum signatures, then those with them, and those of Merkle
    /// trees, which need none.
    pub const ALL: [Self; 6] = [
        preset(
            "ecdsa",
            [KeyType::EcdsaP256, KeyType::EcdsaP256],
            (2, 0),
            "ECDSA P-256",
        ),
        preset(
            "long",
            [KeyType::Rsa2048, KeyType::Rsa2048],
            (4, 11_500),
            "four certificates with RSA-2048 and many names, 11,500 bytes",
        ),
        preset(
            "mixed",
            [KeyType::EcdsaP256, KeyType::MlDsa65],
            (2, 0),
            "an ECDSA P-256 leaf under CAs with ML-DSA-65",
        ),
        preset(
            "mldsa-44",
            [KeyType::MlDsa44, KeyType::MlDsa44],
            (2, 0),
            "ML-DSA-44",
        ),
        preset(
            "mldsa-65",
            [KeyType::MlDsa65, KeyType::MlDsa65],
            (2, 0),
            "ML-DSA-65",
        ),
        preset(
            "merkle",
            [KeyType::MlDsa44, KeyType::EcdsaP256],
            (1, MERKLE_BYTES),
            "an ML-DSA-44 leaf alone, of the size of a landmark-relative Merkle tree certificate",
        ),
    ];

    /// Gives these certificates to a site.
    pub(super) fn apply(&self, lab: &mut LabProfile) {
        lab.key = self.key;
        lab.ca_key = Some(self.ca_key);
        lab.chain = self.chain;
    }
}

/// The size of a landmark-relative Merkle tree certificate with a key of ML-DSA-44: the lab's leaf without its signature,
/// and an inclusion proof of 736 bytes in the signature's place.
///
/// The proof has 23 hashes of 32 bytes for a subtree of 4,400,000 certificates, those that a CA of the size of Let's
/// Encrypt would issue in an hour (draft-ietf-plants-merkle-tree-certs-04 section 6.4, Size Estimates).
const MERKLE_BYTES: u32 = 2900;

/// Creates a preset with the keys of leaf and CAs, and the number of certificates with their minimum size.
const fn preset(
    name: &'static str,
    [key, ca_key]: [KeyType; 2],
    (length, bytes): (u8, u32),
    about: &'static str,
) -> CertificatesPreset {
    CertificatesPreset {
        name,
        key,
        ca_key,
        chain: ChainProfile { length, bytes },
        about,
    }
}
