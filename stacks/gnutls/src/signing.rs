//! The signature of a handshake, made and verified by the library's calls for TLS 1.3.

use std::{
    ffi::{c_int, c_uint},
    ptr,
};

use netbench_protocol::Material;
use netbench_tls::KeyType;
use netbench_worker::{SIGNED, SetupError, SigningKey, refused};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked},
    settings::number,
};

/// The flags, which the library does not set here either.
const NONE: c_uint = 0;

/// A key, and the public key of its certificate, which is parsed in advance.
pub(crate) struct Keys {
    private: PrivateKey,
    public: PublicKey,
    scheme: c_int,
}

impl Keys {
    pub(crate) fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        ffi::ready();
        let scheme = kind.schemes().first().copied().and_then(number);
        Ok(Self {
            private: PrivateKey::read(&material.key_pem).map_err(refused("key"))?,
            public: PublicKey::read(&material.chain_pem).map_err(refused("leaf"))?,
            scheme: scheme
                .ok_or_else(|| SetupError::Unsupported(format!("no key {kind} in this GnuTLS")))?,
        })
    }
}

impl SigningKey for Keys {
    type Error = Error;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), Error> {
        let (data, mut made) = (Datum::of(&SIGNED), Datum::EMPTY);
        // SAFETY: all arguments live longer than the call, and the signature is copied and freed.
        unsafe {
            checked(ffi::gnutls_privkey_sign_data2(
                self.private.0,
                self.scheme,
                NONE,
                &raw const data,
                &raw mut made,
            ))?;
            *signature = made.into_vec();
        }
        Ok(())
    }

    fn verify(&self, signature: &[u8]) -> Result<bool, Error> {
        let (data, signature) = (Datum::of(&SIGNED), Datum::of(signature));
        // SAFETY: all arguments live longer than the call.
        checked(unsafe {
            ffi::gnutls_pubkey_verify_data2(
                self.public.0,
                self.scheme,
                NONE,
                &raw const data,
                &raw const signature,
            )
        })
        .map(|()| true)
    }
}

struct PrivateKey(ffi::PrivateKey);

impl Drop for PrivateKey {
    fn drop(&mut self) {
        // SAFETY: no other code frees it.
        unsafe { ffi::gnutls_privkey_deinit(self.0) }
    }
}

impl PrivateKey {
    fn read(pem: &str) -> Result<Self, Error> {
        let data = Datum::of(pem.as_bytes());
        let mut key = ptr::null_mut();
        // SAFETY: the places for the results live longer than the calls, and the library copies the key.
        unsafe {
            checked(ffi::gnutls_privkey_init(&raw mut key))?;
            let key = Self(key);
            checked(ffi::gnutls_privkey_import_x509_raw(
                key.0,
                &raw const data,
                ffi::X509_FMT_PEM,
                ptr::null(),
                NONE,
            ))?;
            Ok(key)
        }
    }
}

struct PublicKey(ffi::PublicKey);

impl Drop for PublicKey {
    fn drop(&mut self) {
        // SAFETY: no other code frees it.
        unsafe { ffi::gnutls_pubkey_deinit(self.0) }
    }
}

impl PublicKey {
    /// Reads the public key of the first certificate.
    fn read(chain_pem: &str) -> Result<Self, Error> {
        let data = Datum::of(chain_pem.as_bytes());
        let mut key = ptr::null_mut();
        // SAFETY: as above.
        unsafe {
            checked(ffi::gnutls_pubkey_init(&raw mut key))?;
            let key = Self(key);
            checked(ffi::gnutls_pubkey_import_x509_raw(
                key.0,
                &raw const data,
                ffi::X509_FMT_PEM,
                NONE,
            ))?;
            Ok(key)
        }
    }
}
