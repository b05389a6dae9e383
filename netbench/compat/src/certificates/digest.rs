//! Hash functions of signatures, and those of TLS before version 1.2.

use aws_lc_rs::{digest, hmac};
use md5::{Digest as _, Md5};
use serde::Deserialize;

use super::der;

/// The hash of a certificate's signature. The issuer's key determines which hashes are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Digest {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

impl Digest {
    pub(crate) fn of(self, bytes: &[u8]) -> Vec<u8> {
        let algorithm = match self {
            Self::Sha1 => &digest::SHA1_FOR_LEGACY_USE_ONLY,
            Self::Sha256 => &digest::SHA256,
            Self::Sha384 => &digest::SHA384,
            Self::Sha512 => &digest::SHA512,
        };
        digest::digest(algorithm, bytes).as_ref().to_vec()
    }

    pub(crate) fn oid(self) -> Vec<u8> {
        let last = match self {
            Self::Sha1 => return der::oid(&[1, 3, 14, 3, 2, 26]),
            Self::Sha256 => 1,
            Self::Sha384 => 2,
            Self::Sha512 => 3,
        };
        der::oid(&[2, 16, 840, 1, 101, 3, 4, 2, last])
    }
}

/// Returns MD5 and SHA-1, concatenated.
pub(crate) fn md5_sha1(bytes: &[u8]) -> Vec<u8> {
    [Md5::digest(bytes).as_slice(), &Digest::Sha1.of(bytes)].concat()
}

/// Computes HMAC with SHA-1.
pub(crate) fn hmac_sha1(key: &[u8], data: &[u8]) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, key);
    hmac::sign(&key, data).as_ref().to_vec()
}
