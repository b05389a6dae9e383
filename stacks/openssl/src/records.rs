//! The protection of records, by the EVP calls of libssl's record layer for TLS 1.3.

use std::ops::Range;

use netbench_tls::Aead;
use netbench_worker::{
    APPLICATION_DATA, INNER_BYTES, InPlaceKeys, NONCE, RECORD_DATA, RECORD_HEADER, SEALED_BYTES,
    SetupError, refused,
};
use openssl::{
    cipher::{Cipher, CipherRef},
    cipher_ctx::CipherCtx,
    error::ErrorStack,
};

/// The keys of one direction, with a context for each end.
pub(crate) struct RecordKeys {
    sender: CipherCtx,
    receiver: CipherCtx,
}

impl RecordKeys {
    pub(crate) fn new(aead: Aead) -> Result<Self, SetupError> {
        let (cipher, key): (&CipherRef, _) = match aead {
            Aead::Aes128Gcm => (Cipher::aes_128_gcm(), &[0x5a; 16][..]),
            Aead::Aes256Gcm => (Cipher::aes_256_gcm(), &[0x5a; 32][..]),
            Aead::ChaCha20Poly1305 => (Cipher::chacha20_poly1305(), &[0x5a; 32][..]),
        };
        let mut sender = CipherCtx::new().map_err(refused("cipher"))?;
        let mut receiver = CipherCtx::new().map_err(refused("cipher"))?;
        let keyed = sender.encrypt_init(Some(cipher), Some(key), None);
        keyed.map_err(refused("cipher"))?;
        let keyed = receiver.decrypt_init(Some(cipher), Some(key), None);
        keyed.map_err(refused("cipher"))?;
        Ok(Self { sender, receiver })
    }
}

impl InPlaceKeys for RecordKeys {
    const HEADER_BYTES: usize = 0;

    type Error = ErrorStack;

    fn seal(&mut self, _: u64, record: &mut Vec<u8>) -> Result<(), ErrorStack> {
        record.resize(SEALED_BYTES, 0);
        let (inner, tag) = record.split_at_mut(INNER_BYTES);
        // As in libssl, the data are copied to the buffer in which they are then encrypted.
        inner[..RECORD_DATA.len()].copy_from_slice(&RECORD_DATA);
        inner[RECORD_DATA.len()] = APPLICATION_DATA;
        self.sender.encrypt_init(None, None, Some(&NONCE))?;
        self.sender.cipher_update(&RECORD_HEADER, None)?;
        self.sender.cipher_update_inplace(inner, INNER_BYTES)?;
        self.sender.cipher_final(&mut [])?;
        self.sender.tag(tag)
    }

    fn open(&mut self, _: u64, record: &mut [u8]) -> Result<Range<usize>, ErrorStack> {
        let (inner, tag) = record.split_at_mut(INNER_BYTES);
        self.receiver.decrypt_init(None, None, Some(&NONCE))?;
        self.receiver.set_tag(tag)?;
        self.receiver.cipher_update(&RECORD_HEADER, None)?;
        self.receiver.cipher_update_inplace(inner, INNER_BYTES)?;
        self.receiver.cipher_final(&mut [])?;
        Ok(0..RECORD_DATA.len())
    }
}
