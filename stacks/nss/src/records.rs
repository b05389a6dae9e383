//! The protection of records, by libssl's calls for TLS 1.3 (`tls13_AEAD`).

use std::{
    ffi::{c_int, c_ulong},
    ptr,
};

use netbench_tls::Aead;
use netbench_worker::{
    APPLICATION_DATA, AeadKey, AeadRecords, INNER_BYTES, NONCE, Owned, RECORD_DATA, RECORD_HEADER,
    SetupError, TAG_BYTES, refused,
};

use crate::{
    ffi::{self, Item},
    library::{Error, checked, library, made},
    pk11::{self, ContextStr},
};

/// Makes the keys of both ends.
pub(crate) fn records(aead: Aead) -> Result<AeadRecords<Key>, SetupError> {
    library().map_err(refused("NSS"))?;
    Ok(AeadRecords::new(
        Key::new(aead, pk11::MESSAGE_ENCRYPT).map_err(refused("cipher"))?,
        Key::new(aead, pk11::MESSAGE_DECRYPT).map_err(refused("cipher"))?,
    ))
}

/// A key to seal or to open records.
pub(crate) struct Key(Owned<ContextStr>);

impl AeadKey for Key {
    type Error = Error;

    fn seal(&mut self, sealed: &mut [u8]) -> Result<usize, Error> {
        // The library encrypts in the buffer to which it has copied the data, and appends the tag.
        sealed[..RECORD_DATA.len()].copy_from_slice(&RECORD_DATA);
        sealed[RECORD_DATA.len()] = APPLICATION_DATA;
        let mut tag = [0; TAG_BYTES];
        let place = sealed.as_mut_ptr();
        let bytes = self.work(place, place, &mut tag)?;
        sealed[INNER_BYTES..].copy_from_slice(&tag);
        Ok(bytes + TAG_BYTES)
    }

    fn open(&mut self, sealed: &[u8], opened: &mut [u8]) -> Result<usize, Error> {
        let (data, tag) = sealed.split_at(INNER_BYTES);
        let mut own = [0; TAG_BYTES];
        own.copy_from_slice(tag);
        self.work(data.as_ptr(), opened.as_mut_ptr(), &mut own)
    }
}

impl Key {
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
            let imported = made(pk11::PK11_ImportSymKey(
                slot.pointer(),
                mechanism,
                pk11::PK11_ORIGIN_UNWRAP,
                pk11::CKA_ENCRYPT,
                &raw mut key,
                ptr::null_mut(),
            ))?;
            let key = imported.pointer();
            let context =
                pk11::PK11_CreateContextBySymKey(mechanism, operation, key, &raw const none);
            made(context).map(Self)
        }
    }

    /// Seals or opens [`INNER_BYTES`] of `data` into `out`, which has as much room, and returns the number of
    /// written bytes.
    fn work(
        &mut self,
        data: *const u8,
        out: *mut u8,
        tag: &mut [u8; TAG_BYTES],
    ) -> Result<usize, Error> {
        let (mut nonce, mut written) = (NONCE, 0);
        let length = |bytes| c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the callers' buffers have as many bytes.
        checked(unsafe {
            pk11::PK11_AEADOp(
                self.0.pointer(),
                pk11::CKG_NO_GENERATE,
                0,
                nonce.as_mut_ptr(),
                length(nonce.len()),
                RECORD_HEADER.as_ptr(),
                length(RECORD_HEADER.len()),
                out,
                &raw mut written,
                length(INNER_BYTES),
                tag.as_mut_ptr(),
                length(TAG_BYTES),
                data,
                length(INNER_BYTES),
            )
        })?;
        Ok(usize::try_from(written).unwrap_or(0))
    }
}
