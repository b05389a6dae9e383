//! The protection of records, by the calls that the library's record layer makes for TLS 1.3.

use std::ffi::c_int;

use netbench_tls::Aead;
use netbench_worker::{
    APPLICATION_DATA, AeadKey, NONCE, Owned, RECORD_DATA, RECORD_HEADER, SetupError, TAG_BYTES,
    refused,
};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked, made},
};

/// A key for records.
pub(crate) struct Key(Owned<ffi::AeadInt>);

impl Key {
    pub(crate) fn new(aead: Aead) -> Result<Self, SetupError> {
        // Numbers of `gnutls_cipher_algorithm_t`.
        const AES_128_GCM: c_int = 10;
        const AES_256_GCM: c_int = 11;
        const CHACHA20_POLY1305: c_int = 23;
        ffi::ready();
        let (cipher, key) = match aead {
            Aead::Aes128Gcm => (AES_128_GCM, &[0x5a; 16][..]),
            Aead::Aes256Gcm => (AES_256_GCM, &[0x5a; 32][..]),
            Aead::ChaCha20Poly1305 => (CHACHA20_POLY1305, &[0x5a; 32][..]),
        };
        // SAFETY: the library copies the key.
        let made =
            made(|made| unsafe { ffi::gnutls_aead_cipher_init(made, cipher, &Datum::of(key)) });
        made.map(Self).map_err(refused("cipher"))
    }
}

impl AeadKey for Key {
    type Error = Error;

    fn seal(&mut self, sealed: &mut [u8]) -> Result<usize, Error> {
        let mut bytes = sealed.len();
        let header = slice(&RECORD_HEADER);
        let data = [slice(&RECORD_DATA), slice(&[APPLICATION_DATA])];
        // SAFETY: all arguments live longer than the call, and the record has room for as many bytes.
        checked(unsafe {
            ffi::gnutls_aead_cipher_encryptv(
                self.0.pointer(),
                NONCE.as_ptr().cast(),
                NONCE.len(),
                &raw const header,
                1,
                TAG_BYTES,
                data.as_ptr(),
                2,
                sealed.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        })?;
        Ok(bytes)
    }

    fn open(&mut self, sealed: &[u8], opened: &mut [u8]) -> Result<usize, Error> {
        let mut bytes = opened.len();
        // SAFETY: all arguments live longer than the call, and there is room for as many bytes.
        checked(unsafe {
            ffi::gnutls_aead_cipher_decrypt(
                self.0.pointer(),
                NONCE.as_ptr().cast(),
                NONCE.len(),
                RECORD_HEADER.as_ptr().cast(),
                RECORD_HEADER.len(),
                TAG_BYTES,
                sealed.as_ptr().cast(),
                sealed.len(),
                opened.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        })?;
        Ok(bytes)
    }
}

fn slice(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}
