//! Certificates and keys of the library: in memory, for as long as they are referenced.

use std::{ffi::c_uint, ptr};

use netbench_tls::Group;
use netbench_worker::{Owned, SetupError, chain_of_pem, key_of_pem, refused};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};

use crate::{
    ffi::{self, CertificateStr, Item, PrivateKeyStr, Trust},
    library::{Error, checked, library, made},
    pk11::{self, PublicKeyStr},
};

/// A certificate that the library knows for the lifetime of this value.
pub(crate) struct Certificate(Owned<CertificateStr>);

impl Certificate {
    pub(crate) fn read(der: &[u8]) -> Result<Self, Error> {
        library()?;
        let (db, mut der) = (ffi::CERT_GetDefaultCertDB(), Item::of(der));
        // SAFETY: the library copies the certificate, and returns one reference.
        unsafe {
            let read = ffi::CERT_NewTempCertificate(db, &raw mut der, ptr::null_mut(), 0, 1);
            made(read).map(Self)
        }
    }

    pub(crate) fn raw(&self) -> ffi::Certificate {
        self.0.pointer()
    }

    /// Returns the curve of its key, if the lab uses that curve.
    pub(crate) fn curve(&self) -> Option<Group> {
        match self.key()? {
            (pk11::EC_KEY, 256) => Some(Group::SECP256R1),
            (pk11::EC_KEY, 384) => Some(Group::SECP384R1),
            _ => None,
        }
    }

    /// Returns the kind and the size in bits of its key, or `None` for a kind that the library does not
    /// support.
    fn key(&self) -> Option<(c_uint, c_uint)> {
        let key = self.public_key().ok()?;
        // SAFETY: the key is alive.
        unsafe {
            let bits = pk11::SECKEY_PublicKeyStrengthInBits(key.pointer());
            Some(((*key.pointer()).kind, bits))
        }
    }

    pub(crate) fn public_key(&self) -> Result<Owned<PublicKeyStr>, Error> {
        // SAFETY: the certificate is alive, and the library makes a new object.
        unsafe { made(pk11::CERT_ExtractPublicKey(self.raw())) }
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
            matches!(kind, Some(pk11::RSA_KEY | pk11::EC_KEY))
        })
    }

    fn trusted(der: &[u8]) -> Result<Certificate, Error> {
        let certificate = Certificate::read(der)?;
        let mut trust = Trust {
            ssl: ffi::CERTDB_VALID_CA | ffi::CERTDB_TRUSTED_CA | ffi::CERTDB_TRUSTED_CLIENT_CA,
            ..Trust::default()
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
    pub(crate) key: Owned<PrivateKeyStr>,
}

impl Identity {
    pub(crate) fn of_pem(chain: &str, key: &str) -> Result<Self, SetupError> {
        let ders = certificates(chain, "chain")?;
        let chain = ders.iter().map(|der| Certificate::read(der));
        Ok(Self {
            chain: chain.collect::<Result<_, _>>().map_err(refused("chain"))?,
            ders,
            key: private_key(key)?,
        })
    }

    pub(crate) fn leaf(&self) -> &Certificate {
        &self.chain[0]
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

/// Imports a key into the library's internal token. The only format that the library supports is PKCS#8. An error does not
/// quote the key, which is a secret.
fn private_key(pem: &str) -> Result<Owned<PrivateKeyStr>, SetupError> {
    let PrivateKeyDer::Pkcs8(pkcs8) = key_of_pem("key", pem)? else {
        return Err(SetupError::unsupported("NSS reads keys in PKCS#8 alone"));
    };
    imported(pkcs8.secret_pkcs8_der()).map_err(refused("key"))
}

fn imported(pkcs8: &[u8]) -> Result<Owned<PrivateKeyStr>, Error> {
    library()?;
    let (mut der, mut key) = (Item::of(pkcs8), ptr::null_mut());
    // SAFETY: the library copies the key; the place for the result lives longer than the call.
    unsafe {
        let slot = made(ffi::PK11_GetInternalSlot())?;
        checked(ffi::PK11_ImportDERPrivateKeyInfoAndReturnKey(
            slot.pointer(),
            &raw mut der,
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            1,
            ffi::KU_ALL,
            &raw mut key,
            ptr::null_mut(),
        ))?;
        made(key)
    }
}
