//! The hash functions of TLS 1.0 to 1.2: those of the transcript, and those of the PRF.

use md5::{Digest as _, Md5};
use netbench_model::{CipherSuite, TlsVersion};
use netbench_scan::crypto::{Hash, p_hash};

use crate::certificates::{hmac_sha1, md5_sha1};

/// The length of a block of MD5 (RFC 2104).
const MD5_BLOCK: usize = 64;

/// The hash functions of a version and a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hashing {
    /// MD5 and SHA-1 together, before TLS 1.2.
    Md5Sha1,
    /// The suite's own, since TLS 1.2.
    OfSuite(Hash),
}

impl Hashing {
    pub(super) fn of(version: TlsVersion, suite: CipherSuite) -> Self {
        match version {
            TlsVersion::Tls10 | TlsVersion::Tls11 => Self::Md5Sha1,
            _ => Self::OfSuite(Hash::of(suite.0)),
        }
    }

    /// Returns the digest of handshake messages that Finished and the extended master secret contain.
    pub(super) fn of_transcript(self, messages: &[u8]) -> Vec<u8> {
        match self {
            Self::Md5Sha1 => md5_sha1(messages),
            Self::OfSuite(hash) => hash.of_bytes(messages),
        }
    }

    /// Computes the PRF (RFC 2246 section 5, RFC 5246 section 5).
    pub(super) fn prf(self, secret: &[u8], label: &str, seed: &[u8], length: usize) -> Vec<u8> {
        if let Self::OfSuite(hash) = self {
            return hash.prf(secret, label, seed, length);
        }
        // With an odd number of bytes, both halves contain the middle one.
        let half = secret.len().div_ceil(2);
        let seed = [label.as_bytes(), seed].concat();
        let (first, second) = (&secret[..half], &secret[secret.len() - half..]);
        let md5 = p_hash(hmac_md5, first, &seed, length);
        let sha1 = p_hash(hmac_sha1, second, &seed, length);
        md5.iter().zip(sha1).map(|(md5, sha1)| md5 ^ sha1).collect()
    }
}

fn hmac_md5(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut block = [0; MD5_BLOCK];
    match block.get_mut(..key.len()) {
        Some(start) => start.copy_from_slice(key),
        None => block[..16].copy_from_slice(&Md5::digest(key)),
    }
    let [inner, outer] = [0x36, 0x5c].map(|byte: u8| block.map(|of_key| of_key ^ byte));
    let inner = Md5::digest([&inner, data].concat());
    Md5::digest([&outer, inner.as_slice()].concat()).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first two cases of RFC 2202 section 2, and one whose key is longer than a block.
    #[test]
    fn hmac_md5_is_as_its_rfc_has_it() {
        for (key, data, due) in [
            (
                [0x0b; 16].as_slice(),
                b"Hi There".as_slice(),
                "9294727a3638bb1c13f48ef8158bfc9d",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "750c783e6ab0b503eaa86e310a5db738",
            ),
            (
                &[0xaa; 80],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "6b1ab7fe4bd7bf8f0b62e6ce61b9d0cd",
            ),
        ] {
            let bytes = hmac_md5(key, data).into_iter();
            let hex: String = bytes.map(|b| format!("{b:02x}")).collect();
            assert_eq!(hex, due);
        }
    }
}
