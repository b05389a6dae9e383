//! The protection of records, by the EVP calls of libssl's record layer for TLS 1.3.

use netbench_tls::{Aead, FailureWord};
use netbench_worker::{
    APPLICATION_DATA, INNER_BYTES, NONCE, RECORD_DATA, RECORD_HEADER, RecordProtection,
    SEALED_BYTES, SessionError, SetupError, refused,
};
use openssl::{
    cipher::{Cipher, CipherRef},
    cipher_ctx::CipherCtx,
    error::ErrorStack,
};

/// The keys of one direction, with a context for each end, and the last record.
pub(crate) struct Records {
    sender: CipherCtx,
    receiver: CipherCtx,
    sealed: Vec<u8>,
    received: Vec<u8>,
}

impl Records {
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
        Ok(Self {
            sender,
            receiver,
            sealed: vec![0; SEALED_BYTES],
            received: Vec::new(),
        })
    }

    fn sealed(&mut self) -> Result<(), ErrorStack> {
        let (inner, tag) = self.sealed.split_at_mut(INNER_BYTES);
        // As in libssl, the data are copied to the buffer in which they are then encrypted.
        inner[..RECORD_DATA.len()].copy_from_slice(&RECORD_DATA);
        inner[RECORD_DATA.len()] = APPLICATION_DATA;
        self.sender.encrypt_init(None, None, Some(&NONCE))?;
        self.sender.cipher_update(&RECORD_HEADER, None)?;
        self.sender.cipher_update_inplace(inner, INNER_BYTES)?;
        self.sender.cipher_final(&mut [])?;
        self.sender.tag(tag)
    }

    fn opened(&mut self) -> Result<(), ErrorStack> {
        let (inner, tag) = self.received.split_at_mut(INNER_BYTES);
        self.receiver.decrypt_init(None, None, Some(&NONCE))?;
        self.receiver.set_tag(tag)?;
        self.receiver.cipher_update(&RECORD_HEADER, None)?;
        self.receiver.cipher_update_inplace(inner, INNER_BYTES)?;
        self.receiver.cipher_final(&mut [])?;
        Ok(())
    }
}

impl RecordProtection for Records {
    fn seal(&mut self) -> Result<(), SessionError> {
        self.sealed().map_err(failed)
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        self.opened().map_err(failed)
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        self.received.get(..RECORD_DATA.len()).unwrap_or_default()
    }
}

fn failed(error: ErrorStack) -> SessionError {
    SessionError::new(FailureWord::Primitive, error)
}
