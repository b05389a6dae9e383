//! The trust roots of clients.

use std::io;

use netbench_model::{KeyType, RootsSource};
use rcgen::CertificateParams;
use sha2::{Digest as _, Sha256};
use time::{Duration, OffsetDateTime};

use crate::{files, hierarchy, keys, pem, pem::PemError};

/// The maximum number of roots in a set made by [`Roots::resized`].
pub const MAX_ROOTS: u32 = 2000;

/// The maximum size of a file of roots, in bytes.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Mozilla's set, from this source tree.
const MOZILLA: &str = include_str!("../../../trust-roots/mozilla.pem");

/// The key types of padding roots, used in rotation: three of RSA-4096, two of P-384, one of RSA-2048. Of the
/// 118 roots in `mozilla.pem` as of webpki-root-certs 1.0.11, 59 are RSA-4096, 39 ECDSA (35 of them P-384)
/// and 20 RSA-2048.
const PADDING_KEYS: [KeyType; 6] = [
    KeyType::Rsa4096,
    KeyType::EcdsaP384,
    KeyType::Rsa4096,
    KeyType::Rsa2048,
    KeyType::Rsa4096,
    KeyType::EcdsaP384,
];

/// A set of trust roots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roots {
    /// The certificates as PEM, one after the other, without comments.
    pub pem: String,
    /// Number of certificates.
    pub count: u32,
    /// SHA-256 of the PEM that the set was made from, in hexadecimal: of the unchanged file, before the set
    /// was resized or the lab's roots were added. For [`RootsSource::Native`], which may be many files, of
    /// all its certificates as PEM.
    pub sha256: String,
    /// The source of the set.
    pub source: RootsSource,
}

/// An error of trust roots.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RootsError {
    /// The file with this path could not be read.
    #[error("cannot read the trust roots {0:?}")]
    Unreadable(String, #[source] io::Error),
    /// The file with this path is not a regular file, or too large for a file of roots.
    #[error("the trust roots {0:?}: expected a regular file of at most 16 MiB")]
    NotRegular(String),
    /// The file with this path has an unexpected content.
    #[error("the trust roots {0:?}: {1}")]
    Wrong(String, #[source] PemError),
    /// The built-in set is invalid.
    #[error("the built-in trust roots: {0}")]
    BuiltIn(PemError),
    /// The operating system has no roots.
    #[error("the operating system has no trust roots{}; `--roots mozilla` needs none", reasons(.0))]
    NoNative(Vec<String>),
    /// More roots than [`MAX_ROOTS`] were requested.
    #[error("{0} trust roots are too many; expected at most {MAX_ROOTS}")]
    TooMany(u32),
    /// Additional roots for a set could not be made.
    #[error("cannot make further trust roots")]
    Padding(#[source] rcgen::Error),
}

fn reasons(reasons: &[String]) -> String {
    if reasons.is_empty() {
        String::new()
    } else {
        format!(" ({})", reasons.join("; "))
    }
}

impl Roots {
    /// Reads the roots from `source`.
    ///
    /// A file may contain comments and blocks that are no certificates; a block with the label of a
    /// certificate must be one.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, is not a regular file or over 16 MiB, has no certificate,
    /// or has one that is truncated, not base64, or not a certificate in DER; or if the operating system has
    /// no roots.
    pub fn load(source: &RootsSource) -> Result<Self, RootsError> {
        let source = source.clone();
        match &source {
            RootsSource::Mozilla => {
                let certificates =
                    pem::certificates(MOZILLA.as_bytes()).map_err(RootsError::BuiltIn)?;
                Ok(Self::new(&certificates, Some(MOZILLA.as_bytes()), source))
            }
            RootsSource::Native => {
                let loaded = rustls_native_certs::load_native_certs();
                let certificates: Vec<Vec<u8>> =
                    loaded.certs.iter().map(|der| der.to_vec()).collect();
                if certificates.is_empty() {
                    let reasons = loaded
                        .errors
                        .iter()
                        .map(|error| error.to_string().escape_debug().to_string());
                    return Err(RootsError::NoNative(reasons.collect()));
                }
                Ok(Self::new(&certificates, None, source))
            }
            RootsSource::File(path) => {
                let file = read(path)?;
                let certificates = pem::certificates(&file)
                    .map_err(|source| RootsError::Wrong(path.clone(), source))?;
                Ok(Self::new(&certificates, Some(&file), source))
            }
        }
    }

    /// Returns the set with `count` roots: the first ones of it, or all and additional ones.
    ///
    /// The additional ones are newly made self-signed roots of the kinds and about the sizes of Mozilla's,
    /// each with a different name; those with one kind of key share a pair. They sign no certificates: they
    /// exist to be parsed and searched.
    ///
    /// # Errors
    /// Returns an error if `count` is over [`MAX_ROOTS`], unless the set already has as many, or if there is
    /// no randomness.
    pub fn resized(mut self, count: u32) -> Result<Self, RootsError> {
        if count <= self.count {
            let keep: usize = blocks(&self.pem).take(count as usize).map(str::len).sum();
            self.pem.truncate(keep);
        } else if count > MAX_ROOTS {
            return Err(RootsError::TooMany(count));
        } else {
            let further = padding(count - self.count).map_err(RootsError::Padding)?;
            self.pem.push_str(&further);
        }
        self.count = count;
        Ok(self)
    }

    /// Returns the set with the lab's roots in place of as many others, so that its size stays the same; a
    /// set with fewer roots than the lab becomes the lab's set.
    ///
    /// The lab's roots are in the middle: a client that searches the set from either end then searches half
    /// of it, as it does on average for a site of the web.
    #[must_use]
    pub fn with_lab_ca(mut self, ca_pem: &str) -> Self {
        let own = blocks(ca_pem).count();
        let others: Vec<&str> = blocks(&self.pem).collect();
        let kept = others.len().saturating_sub(own);
        let middle = kept / 2;
        let after = (middle + own).min(others.len());
        let pem = [&others[..middle], &[ca_pem], &others[after..]]
            .concat()
            .concat();
        self.pem = pem;
        self.count = counted(kept + own);
        self
    }

    fn new(certificates: &[Vec<u8>], file: Option<&[u8]>, source: RootsSource) -> Self {
        let pem: String = certificates
            .iter()
            .map(|der| pem::certificate(der))
            .collect();
        let sha256 = sha256_hex(file.unwrap_or(pem.as_bytes()));
        Self {
            pem,
            count: counted(certificates.len()),
            sha256,
            source,
        }
    }
}

fn counted(certificates: usize) -> u32 {
    u32::try_from(certificates).unwrap_or(u32::MAX)
}

fn read(path: &str) -> Result<Vec<u8>, RootsError> {
    let read = files::read(path, MAX_FILE_BYTES)
        .map_err(|source| RootsError::Unreadable(path.to_owned(), source))?;
    read.ok_or_else(|| RootsError::NotRegular(path.to_owned()))
}

/// Returns the certificates of a PEM text without comments.
fn blocks(pem: &str) -> impl Iterator<Item = &str> {
    const END: &str = "-----END CERTIFICATE-----\n";
    pem.split_inclusive(END)
        .filter(|block| block.ends_with(END))
}

fn padding(count: u32) -> Result<String, rcgen::Error> {
    let now = OffsetDateTime::now_utc();
    let mut wanted: Vec<(KeyType, KeyType)> = PADDING_KEYS
        .iter()
        .take(count as usize)
        .map(|key| (*key, *key))
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let keys = keys::generate(&wanted)?;
    let mut made = String::new();
    for (number, key) in (1..=count).zip(PADDING_KEYS.iter().cycle()) {
        let key = keys.get(key).ok_or(rcgen::Error::CouldNotParseKeyPair)?;
        let mut params: CertificateParams =
            hierarchy::ca_params(&format!("netbench padding root CA {number}"))?;
        params.not_before = now - Duration::days(1000);
        params.not_after = now + Duration::days(5000);
        made.push_str(&pem::certificate(params.self_signed(key)?.der()));
    }
    Ok(made)
}

pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}
