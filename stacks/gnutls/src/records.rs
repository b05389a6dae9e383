//! The protection of records, by the calls that the library's record layer makes for TLS 1.3.

use std::{ffi::c_int, ptr};

use netbench_model::{Aead, FailureWord};
use netbench_worker::{RECORD_DATA, RecordProtection, SessionError, SetupError};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked},
    settings::refused,
};

/// The nonce of a record, which is derived from the record's number. Every record here is the first one, so
/// that it can be opened many times.
const NONCE: [u8; 12] = [0x11; 12];
const TAG_BYTES: usize = 16;
/// The size of the inner plaintext: the content type follows the data (RFC 8446 section 5.2).
const INNER_BYTES: usize = RECORD_DATA.len() + 1;
const SEALED_BYTES: usize = INNER_BYTES + TAG_BYTES;
const APPLICATION_DATA: u8 = 23;
/// The header, which is authenticated with the record.
const HEADER: [u8; 5] = {
    let [_, _, high, low] = (SEALED_BYTES as u32).to_be_bytes();
    [APPLICATION_DATA, 3, 3, high, low]
};

/// The keys of both ends of one direction, and the last record.
pub(crate) struct Records {
    sender: Keyed,
    receiver: Keyed,
    sealed: Vec<u8>,
    received: Vec<u8>,
    /// The opened record: the library opens a record into other memory than the input.
    opened: Vec<u8>,
}

impl Records {
    pub(crate) fn new(aead: Aead) -> Result<Self, SetupError> {
        ffi::ready();
        Ok(Self {
            sender: Keyed::new(aead).map_err(refused("cipher"))?,
            receiver: Keyed::new(aead).map_err(refused("cipher"))?,
            sealed: vec![0; SEALED_BYTES],
            received: Vec::new(),
            opened: vec![0; INNER_BYTES],
        })
    }
}

impl RecordProtection for Records {
    fn seal(&mut self) -> Result<(), SessionError> {
        let mut bytes = self.sealed.len();
        let header = slice(&HEADER);
        let data = [slice(&RECORD_DATA), slice(&[APPLICATION_DATA])];
        // SAFETY: all arguments live longer than the call, and the record has room for as many bytes.
        let code = unsafe {
            ffi::gnutls_aead_cipher_encryptv(
                self.sender.0,
                NONCE.as_ptr().cast(),
                NONCE.len(),
                &raw const header,
                1,
                TAG_BYTES,
                data.as_ptr(),
                2,
                self.sealed.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        finished(code, bytes, SEALED_BYTES)
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let mut bytes = self.opened.len();
        // SAFETY: all arguments live longer than the call, and there is room for as many bytes.
        let code = unsafe {
            ffi::gnutls_aead_cipher_decrypt(
                self.receiver.0,
                NONCE.as_ptr().cast(),
                NONCE.len(),
                HEADER.as_ptr().cast(),
                HEADER.len(),
                TAG_BYTES,
                self.received.as_ptr().cast(),
                self.received.len(),
                self.opened.as_mut_ptr().cast(),
                &raw mut bytes,
            )
        };
        finished(code, bytes, INNER_BYTES)
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        self.opened.get(..RECORD_DATA.len()).unwrap_or_default()
    }
}

fn slice(bytes: &[u8]) -> libc::iovec {
    libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    }
}

fn finished(code: c_int, bytes: usize, due: usize) -> Result<(), SessionError> {
    checked(code).map_err(|e| SessionError::new(FailureWord::Primitive, e))?;
    if bytes == due {
        Ok(())
    } else {
        let why = format!("{bytes} bytes in place of {due}");
        Err(SessionError::new(FailureWord::Primitive, why))
    }
}

struct Keyed(ffi::Aead);

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: no other code frees it.
        unsafe { ffi::gnutls_aead_cipher_deinit(self.0) }
    }
}

impl Keyed {
    fn new(aead: Aead) -> Result<Self, Error> {
        // Numbers of `gnutls_cipher_algorithm_t`.
        const AES_128_GCM: c_int = 10;
        const AES_256_GCM: c_int = 11;
        const CHACHA20_POLY1305: c_int = 23;
        let (cipher, key) = match aead {
            Aead::Aes128Gcm => (AES_128_GCM, &[0x5a; 16][..]),
            Aead::Aes256Gcm => (AES_256_GCM, &[0x5a; 32][..]),
            Aead::ChaCha20Poly1305 => (CHACHA20_POLY1305, &[0x5a; 32][..]),
        };
        let key = Datum::of(key);
        let mut made = ptr::null_mut();
        // SAFETY: the place for the result lives longer than the call, and the library copies the key.
        checked(unsafe { ffi::gnutls_aead_cipher_init(&raw mut made, cipher, &raw const key) })?;
        Ok(Self(made))
    }
}
