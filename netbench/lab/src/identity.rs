//! The client's certificate and key, for servers that request one.

use std::{fmt, io};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use rcgen::{KeyPair, PublicKeyData as _};

use crate::{files, pem, pem::PemError, roots::sha256_hex};

/// The maximum size of each of its files, in bytes.
const MAX_FILE_BYTES: u64 = 1024 * 1024;

/// A client's certificate and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate and the chain to a root, as PEM, without comments.
    pub chain_pem: String,
    /// Number of these certificates.
    pub certificates: u32,
    /// SHA-256 of these certificates as PEM, in hexadecimal.
    pub sha256: String,
    /// The key, as PEM.
    pub key_pem: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// A client certificate or key that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The file with this path could not be read.
    #[error("cannot read {0:?}: {1}")]
    Unreadable(String, #[source] io::Error),
    /// The file with this path is not a regular file, or too large.
    #[error("{0:?}: expected a regular file of at most 1 MiB")]
    NotRegular(String),
    /// The certificate's file, with this path, has an unexpected content.
    #[error("{0:?}: {1}")]
    Wrong(String, #[source] PemError),
    /// The file with this path has no key.
    #[error("{0:?}: no private key in it; expected PEM with \"-----BEGIN PRIVATE KEY-----\"")]
    NoKey(String),
    /// The key in the file with this path needs a password.
    #[error("{0:?}: the key is encrypted; `openssl pkey -in FILE -out FILE` decrypts it")]
    Encrypted(String),
    /// The key in the file with this path belongs to another certificate.
    #[error("{0:?}: not the key of the client certificate")]
    OtherKey(String),
}

impl Identity {
    /// Reads a certificate with its chain from one PEM file, and its key from another, or from the same one.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or has another content, the key is encrypted, or it belongs
    /// to another certificate.
    pub fn load(certificate: &str, key: Option<&str>) -> Result<Self, IdentityError> {
        let file = read(certificate)?;
        let chain = pem::certificates(&file)
            .map_err(|source| IdentityError::Wrong(certificate.to_owned(), source))?;
        let (path, key_file) = match key {
            Some(key) => (key, read(key)?),
            None => (certificate, file),
        };
        let key_pem = private_key(path, &key_file)?;
        // A key type that is not supported here is left to the stacks.
        if let (Some(pair), Some(leaf)) = (pkcs8(&key_pem), chain.first()) {
            let public = pair.der_bytes();
            if !leaf.windows(public.len()).any(|bytes| bytes == public) {
                return Err(IdentityError::OtherKey(path.to_owned()));
            }
        }
        let chain_pem: String = chain.iter().map(|der| pem::certificate(der)).collect();
        Ok(Self {
            certificates: u32::try_from(chain.len()).unwrap_or(u32::MAX),
            sha256: sha256_hex(chain_pem.as_bytes()),
            chain_pem,
            key_pem,
        })
    }
}

/// Returns the key of a PEM block, if it is in PKCS#8 and of a supported type.
fn pkcs8(key_pem: &str) -> Option<KeyPair> {
    let body = key_pem.strip_prefix("-----BEGIN PRIVATE KEY-----\n")?;
    let body = body.strip_suffix("-----END PRIVATE KEY-----\n")?;
    let der = BASE64_STANDARD.decode(body.replace('\n', "")).ok()?;
    KeyPair::try_from(der.as_slice()).ok()
}

/// Returns the first key of a PEM file, unchanged.
fn private_key(path: &str, file: &[u8]) -> Result<String, IdentityError> {
    let text = String::from_utf8_lossy(file);
    let mut key = String::new();
    for line in text.lines().map(str::trim) {
        let is_label = line.ends_with("PRIVATE KEY-----") && line.is_ascii();
        if key.is_empty() && !(is_label && line.starts_with("-----BEGIN ")) {
            continue;
        }
        if line.contains("ENCRYPTED") {
            return Err(IdentityError::Encrypted(path.to_owned()));
        }
        key.push_str(line);
        key.push('\n');
        if is_label && line.starts_with("-----END ") {
            return Ok(key);
        }
    }
    Err(IdentityError::NoKey(path.to_owned()))
}

fn read(path: &str) -> Result<Vec<u8>, IdentityError> {
    let read = files::read(path, MAX_FILE_BYTES)
        .map_err(|source| IdentityError::Unreadable(path.to_owned(), source))?;
    read.ok_or_else(|| IdentityError::NotRegular(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rcgen::CertificateParams;

    use super::*;

    #[test]
    fn a_certificate_goes_with_its_own_key_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let [(own, own_key), (other, other_key)] = [(); 2].map(|()| {
            let key = KeyPair::generate().unwrap();
            let certificate = CertificateParams::default().self_signed(&key).unwrap();
            let key = pem::encode("PRIVATE KEY", &key.serialize_der());
            (pem::certificate(certificate.der()), key)
        });
        let encrypted =
            "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAA==\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAA==\n-----END RSA PRIVATE KEY-----\n";
        let [chain, key, both, other_key, encrypted, old, cut, long] = [
            ("chain", format!("a comment\n{own}{other}")),
            ("key", own_key.clone()),
            // One file has the certificates and the key.
            ("both", format!("{own_key}{own}{other}")),
            ("other", other_key),
            ("encrypted", encrypted.to_owned()),
            ("old", old.to_owned()),
            ("cut", own_key[..60].to_owned()),
            ("long", "x".repeat(2 << 20)),
        ]
        .map(|(name, text)| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            path.display().to_string()
        });
        let folder = folder.path().display().to_string();
        let missing = format!("{folder}/missing");
        let identity = Identity::load(&chain, Some(&key)).unwrap();
        assert_eq!(identity.certificates, 2);
        assert_eq!(identity.key_pem.trim(), own_key.trim());
        assert!(!format!("{identity:?}").contains(own_key.lines().nth(1).unwrap()));
        assert_eq!(Identity::load(&both, None).unwrap(), identity);
        for (certificate, key, why) in [
            (&chain, Some(&*other_key), "not the key of"),
            (&chain, Some(&encrypted), "encrypted"),
            (&chain, Some(&old), "encrypted"),
            (&chain, Some(&cut), "no private key"),
            (&chain, None, "no private key"),
            (&key, None, "no certificate"),
            (&chain, Some(&missing), "cannot read"),
            (&chain, Some(&folder), "regular file"),
            (&chain, Some(&long), "regular file"),
        ] {
            let error = Identity::load(certificate, key).unwrap_err();
            let words = error.to_string();
            assert!(words.contains(why), "{why}: {words}");
        }
    }
}
