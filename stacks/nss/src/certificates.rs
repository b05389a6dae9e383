//! Certificates and keys of the library: in memory, for as long as they are referenced.

use std::{ffi::c_uint, ptr};

use netbench_tls::Group;
use netbench_worker::{SetupError, chain_of_pem, key_of_pem, refused};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::{
    ffi::{self, Item, Trust},
    library::{Error, checked, library, made},
};

/// A certificate that the library knows for the lifetime of this value.
pub(crate) struct Certificate(ffi::Certificate);

// SAFETY: the library counts references to certificates and locks their mutable state.
unsafe impl Send for Certificate {}
// SAFETY: as above.
unsafe impl Sync for Certificate {}

impl Drop for Certificate {
    fn drop(&mut self) {
        // SAFETY: this is one reference, which no other code releases.
        unsafe { ffi::CERT_DestroyCertificate(self.0) }
    }
}

impl Certificate {
    pub(crate) fn read(der: &[u8]) -> Result<Self, Error> {
        library()?;
        let mut der = Item::of(der);
        // SAFETY: the library copies the certificate.
        let read = unsafe {
            ffi::CERT_NewTempCertificate(
                ffi::CERT_GetDefaultCertDB(),
                &raw mut der,
                ptr::null_mut(),
                0,
                1,
            )
        };
        Ok(Self(made(read)?))
    }

    pub(crate) fn raw(&self) -> ffi::Certificate {
        self.0
    }

    /// Returns the curve of its key, if the lab uses that curve.
    pub(crate) fn curve(&self) -> Option<Group> {
        match self.key()? {
            (ffi::EC_KEY, 256) => Some(Group::SECP256R1),
            (ffi::EC_KEY, 384) => Some(Group::SECP384R1),
            _ => None,
        }
    }

    /// Returns the kind and the size in bits of its key, or `None` for a kind that the library does not
    /// support.
    fn key(&self) -> Option<(c_uint, c_uint)> {
        // SAFETY: the certificate is alive, and its public key is freed once.
        unsafe {
            let key = made(ffi::CERT_ExtractPublicKey(self.0)).ok()?;
            let known = (
                ffi::SECKEY_GetPublicKeyType(key),
                ffi::SECKEY_PublicKeyStrengthInBits(key),
            );
            ffi::SECKEY_DestroyPublicKey(key);
            Some(known)
        }
    }

    /// Returns a reference for the library, which releases it.
    pub(crate) fn lent(&self) -> ffi::Certificate {
        // SAFETY: the certificate is alive.
        unsafe { ffi::CERT_DupCertificate(self.0) }
    }
}

/// Certificates with which chains may end: the library trusts them while it knows them.
pub(crate) struct Roots(Vec<Certificate>);

impl Roots {
    /// Parses PEM, which the library does not support.
    pub(crate) fn of_pem(text: &str) -> Result<Self, SetupError> {
        let all = certificates(text, "roots")?;
        Self::of_der(all.iter().map(AsRef::as_ref)).map_err(refused("roots"))
    }

    pub(crate) fn of_der<'a>(all: impl Iterator<Item = &'a [u8]>) -> Result<Self, Error> {
        Ok(Self(all.map(Self::trusted).collect::<Result<_, _>>()?))
    }

    pub(crate) fn raw(&self) -> impl Iterator<Item = ffi::Certificate> {
        self.0.iter().map(Certificate::raw)
    }

    /// Returns whether the library verifies signatures of each root's key: newer releases parse Ed25519 keys,
    /// and do not verify their signatures.
    pub(crate) fn are_all_known(&self) -> bool {
        self.0.iter().all(|root| {
            let kind = root.key().map(|(kind, _)| kind);
            matches!(kind, Some(ffi::RSA_KEY | ffi::EC_KEY))
        })
    }

    fn trusted(der: &[u8]) -> Result<Certificate, Error> {
        let certificate = Certificate::read(der)?;
        let mut trust = Trust {
            ssl: ffi::CERTDB_VALID_CA | ffi::CERTDB_TRUSTED_CA | ffi::CERTDB_TRUSTED_CLIENT_CA,
            email: 0,
            object_signing: 0,
        };
        // SAFETY: the certificate is alive, and the library copies the trust.
        checked(unsafe {
            ffi::CERT_ChangeCertTrust(
                ffi::CERT_GetDefaultCertDB(),
                certificate.raw(),
                &raw mut trust,
            )
        })?;
        Ok(certificate)
    }
}

/// A chain, the leaf first, and the leaf's key.
pub(crate) struct Identity {
    chain: Vec<Certificate>,
    pub(crate) ders: Vec<CertificateDer<'static>>,
    key: Key,
}

impl Identity {
    pub(crate) fn of_pem(chain: &str, key: &str) -> Result<Self, SetupError> {
        let ders = certificates(chain, "chain")?;
        let chain = ders.iter().map(|der| Certificate::read(der));
        Ok(Self {
            chain: chain.collect::<Result<_, _>>().map_err(refused("chain"))?,
            ders,
            key: Key::of_pem(key)?,
        })
    }

    pub(crate) fn leaf(&self) -> &Certificate {
        &self.chain[0]
    }

    pub(crate) fn key(&self) -> &Key {
        &self.key
    }
}

/// Parses one or more certificates.
fn certificates(pem: &str, what: &str) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    let all = chain_of_pem(what, pem)?;
    if all.is_empty() {
        return Err(SetupError::Refused(format!("{what}: none")));
    }
    Ok(all)
}

/// A private key in the library's internal token.
pub(crate) struct Key(ffi::PrivateKey);

// SAFETY: the library locks the token.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: no other code frees it.
        unsafe { ffi::SECKEY_DestroyPrivateKey(self.0) }
    }
}

impl Key {
    /// Parses a key in PKCS#8, the only format that the library supports. An error does not quote the key,
    /// which is a secret.
    fn of_pem(text: &str) -> Result<Self, SetupError> {
        let PrivateKeyDer::Pkcs8(pkcs8) = key_of_pem("key", text)? else {
            return Err(SetupError::unsupported("NSS reads keys in PKCS#8 alone"));
        };
        Self::of_pkcs8(pkcs8.secret_pkcs8_der()).map_err(refused("key"))
    }

    fn of_pkcs8(der: &[u8]) -> Result<Self, Error> {
        library()?;
        let (mut der, mut key) = (Item::of(der), ptr::null_mut());
        // SAFETY: the library copies the key; the place for the result lives longer than the call.
        unsafe {
            let slot = made(ffi::PK11_GetInternalSlot())?;
            let status = ffi::PK11_ImportDERPrivateKeyInfoAndReturnKey(
                slot,
                &raw mut der,
                ptr::null_mut(),
                ptr::null_mut(),
                0,
                1,
                ffi::KU_ALL,
                &raw mut key,
                ptr::null_mut(),
            );
            let status = checked(status);
            ffi::PK11_FreeSlot(slot);
            status?;
        }
        Ok(Self(made(key)?))
    }

    pub(crate) fn raw(&self) -> ffi::PrivateKey {
        self.0
    }

    /// Returns a copy for the library, which frees it.
    pub(crate) fn lent(&self) -> ffi::PrivateKey {
        // SAFETY: the key is alive.
        unsafe { ffi::SECKEY_CopyPrivateKey(self.0) }
    }
}
