//! The signature of a handshake, made and verified by the library's calls for TLS 1.3.

use std::{
    ffi::{c_int, c_uint},
    ptr,
};

use netbench_protocol::Material;
use netbench_tls::KeyType;
use netbench_worker::{Owned, SIGNED, SetupError, SigningKey, refused};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked, made},
    settings::number,
};

/// The flags, which the library does not set here either.
const NONE: c_uint = 0;

/// A key, and the public key of its certificate, which is parsed in advance.
pub(crate) struct Keys {
    private: Owned<ffi::PrivateKeyInt>,
    public: Owned<ffi::PublicKeyInt>,
    scheme: c_int,
}

impl Keys {
    pub(crate) fn new(kind: KeyType, material: &Material) -> Result<Self, SetupError> {
        ffi::ready();
        let scheme = kind.schemes().first().copied().and_then(number);
        Ok(Self {
            private: private_key(&material.key_pem).map_err(refused("key"))?,
            public: public_key(&material.chain_pem).map_err(refused("leaf"))?,
            scheme: scheme
                .ok_or_else(|| SetupError::Unsupported(format!("no key {kind} in this GnuTLS")))?,
        })
    }
}

impl SigningKey for Keys {
    type Error = Error;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), Error> {
        let mut made = Datum::EMPTY;
        // SAFETY: all arguments live longer than the call, and the signature is copied and freed.
        unsafe {
            checked(ffi::gnutls_privkey_sign_data2(
                self.private.pointer(),
                self.scheme,
                NONE,
                &Datum::of(&SIGNED),
                &raw mut made,
            ))?;
            *signature = made.into_vec();
        }
        Ok(())
    }

    fn verify(&self, signature: &[u8]) -> Result<bool, Error> {
        // SAFETY: all arguments live longer than the call.
        checked(unsafe {
            ffi::gnutls_pubkey_verify_data2(
                self.public.pointer(),
                self.scheme,
                NONE,
                &Datum::of(&SIGNED),
                &Datum::of(signature),
            )
        })
        .map(|()| true)
    }
}

fn private_key(pem: &str) -> Result<Owned<ffi::PrivateKeyInt>, Error> {
    let key = made(|object| ffi::gnutls_privkey_init(object))?;
    // SAFETY: the new key is alive, and the library copies the text.
    checked(unsafe {
        ffi::gnutls_privkey_import_x509_raw(
            key.pointer(),
            &Datum::of(pem.as_bytes()),
            ffi::X509_FMT_PEM,
            ptr::null(),
            NONE,
        )
    })?;
    Ok(key)
}

/// Reads the public key of the first certificate.
fn public_key(chain_pem: &str) -> Result<Owned<ffi::PublicKeyInt>, Error> {
    let key = made(|object| ffi::gnutls_pubkey_init(object))?;
    let (data, format) = (Datum::of(chain_pem.as_bytes()), ffi::X509_FMT_PEM);
    // SAFETY: as above.
    checked(unsafe { ffi::gnutls_pubkey_import_x509_raw(key.pointer(), &data, format, NONE) })?;
    Ok(key)
}
