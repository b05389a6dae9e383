//! The protection of records, by libssl's calls for TLS 1.3 (`tls13_AEAD`).

use std::{
    ffi::{c_int, c_ulong},
    ptr,
};

use netbench_model::{Aead, FailureWord};
use netbench_worker::{RECORD_DATA, RecordProtection, SessionError, SetupError};

use crate::{
    ffi::{self, Item},
    library::{Error, checked, library, made, refused},
    pk11::{self, ContextStr},
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
        library().map_err(refused("NSS"))?;
        let keyed = |operation| Keyed::new(aead, operation).map_err(refused("cipher"));
        Ok(Self {
            sender: keyed(pk11::MESSAGE_ENCRYPT)?,
            receiver: keyed(pk11::MESSAGE_DECRYPT)?,
            sealed: vec![0; SEALED_BYTES],
            received: Vec::new(),
            opened: vec![0; INNER_BYTES],
        })
    }
}

impl RecordProtection for Records {
    fn seal(&mut self) -> Result<(), SessionError> {
        // The library encrypts in the buffer to which it has copied the data, and appends the tag.
        self.sealed[..RECORD_DATA.len()].copy_from_slice(&RECORD_DATA);
        self.sealed[RECORD_DATA.len()] = APPLICATION_DATA;
        let mut tag = [0; TAG_BYTES];
        let place = self.sealed.as_mut_ptr();
        let bytes = self.sender.work(place, place, INNER_BYTES, &mut tag);
        self.sealed[INNER_BYTES..].copy_from_slice(&tag);
        finished(bytes)
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let (data, tag) = self.received.split_at_mut(INNER_BYTES);
        let mut own = [0; TAG_BYTES];
        own.copy_from_slice(tag);
        let out = self.opened.as_mut_ptr();
        finished(
            self.receiver
                .work(data.as_ptr(), out, INNER_BYTES, &mut own),
        )
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        self.opened.get(..RECORD_DATA.len()).unwrap_or_default()
    }
}

fn finished(bytes: Result<usize, Error>) -> Result<(), SessionError> {
    match bytes.map_err(|e| SessionError::new(FailureWord::Primitive, e))? {
        INNER_BYTES => Ok(()),
        other => {
            let why = format!("{other} bytes in place of {INNER_BYTES}");
            Err(SessionError::new(FailureWord::Primitive, why))
        }
    }
}

struct Keyed(*mut ContextStr);

impl Drop for Keyed {
    fn drop(&mut self) {
        // SAFETY: no other code frees it.
        unsafe { pk11::PK11_DestroyContext(self.0, 1) }
    }
}

impl Keyed {
    fn new(aead: Aead, operation: c_ulong) -> Result<Self, Error> {
        let (mechanism, key) = match aead {
            Aead::Aes128Gcm => (pk11::CKM_AES_GCM, &[0x5a; 16][..]),
            Aead::Aes256Gcm => (pk11::CKM_AES_GCM, &[0x5a; 32][..]),
            Aead::ChaCha20Poly1305 => (pk11::CKM_CHACHA20_POLY1305, &[0x5a; 32][..]),
        };
        let (mut key, none) = (Item::of(key), Item::of(&[]));
        // SAFETY: the library copies the key, and the context keeps its own reference to the key object.
        unsafe {
            let slot = made(ffi::PK11_GetInternalSlot())?;
            let key = made(pk11::PK11_ImportSymKey(
                slot,
                mechanism,
                pk11::PK11_ORIGIN_UNWRAP,
                pk11::CKA_ENCRYPT,
                &raw mut key,
                ptr::null_mut(),
            ));
            ffi::PK11_FreeSlot(slot);
            let key = key?;
            let context = made(pk11::PK11_CreateContextBySymKey(
                mechanism,
                operation,
                key,
                &raw const none,
            ));
            pk11::PK11_FreeSymKey(key);
            Ok(Self(context?))
        }
    }

    /// Seals or opens `data` into `out`, which has as much room, and returns the number of written bytes.
    fn work(
        &mut self,
        data: *const u8,
        out: *mut u8,
        bytes: usize,
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<usize, Error> {
        let (mut nonce, mut written) = (NONCE, 0);
        let length = |bytes| c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the callers' buffers have as many bytes.
        checked(unsafe {
            pk11::PK11_AEADOp(
                self.0,
                pk11::CKG_NO_GENERATE,
                0,
                nonce.as_mut_ptr(),
                length(nonce.len()),
                HEADER.as_ptr(),
                length(HEADER.len()),
                out,
                &raw mut written,
                length(bytes),
                tag.as_mut_ptr(),
                length(TAG_BYTES),
                data,
                length(bytes),
            )
        })?;
        Ok(usize::try_from(written).unwrap_or(0))
    }
}
