//! The signature of a handshake, made and verified by the library's calls for TLS 1.3.

use std::{
    ffi::{c_int, c_uint},
    ptr,
};

use netbench_model::{FailureWord, KeyType};
use netbench_protocol::Material;
use netbench_worker::{SIGNED, SessionError, SetupError, Signatures};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked},
    settings::{number, refused},
};

/// The flags, which the library does not set here either.
const NONE: c_uint = 0;

fn failed(error: Error) -> SessionError {
    SessionError::new(FailureWord::Primitive, error)
}

/// A key, the public key of its certificate, which is parsed in advance, and the last signature.
pub(crate) struct Signing {
    key: PrivateKey,
    public: PublicKey,
    scheme: c_int,
    signature: Vec<u8>,
}

impl Signing {
    pub(crate) fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        ffi::ready();
        let scheme = kind.schemes().first().copied().and_then(number);
        Ok(Self {
            key: PrivateKey::read(&material.key_pem).map_err(refused("key"))?,
            public: PublicKey::read(&material.chain_pem).map_err(refused("leaf"))?,
            scheme: scheme
                .ok_or_else(|| SetupError::Unsupported(format!("no key {kind} in this GnuTLS")))?,
            signature: Vec::new(),
        })
    }
}

impl Signatures for Signing {
    fn sign(&mut self) -> Result<(), SessionError> {
        let (data, mut signature) = (Datum::of(&SIGNED), Datum::EMPTY);
        // SAFETY: all arguments live longer than the call, and the signature is copied and freed.
        unsafe {
            let code = ffi::gnutls_privkey_sign_data2(
                self.key.0,
                self.scheme,
                NONE,
                &raw const data,
                &raw mut signature,
            );
            checked(code).map_err(failed)?;
            self.signature = signature.into_vec();
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), SessionError> {
        let (data, signature) = (Datum::of(&SIGNED), Datum::of(&self.signature));
        // SAFETY: all arguments live longer than the call.
        let code = unsafe {
            ffi::gnutls_pubkey_verify_data2(
                self.public.0,
                self.scheme,
                NONE,
                &raw const data,
                &raw const signature,
            )
        };
        checked(code).map_err(failed)
    }

    fn signature(&mut self) -> &mut [u8] {
        &mut self.signature
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
