use netbench_tls::FailureWord;
pub use netbench_tls::wire::content::APPLICATION_DATA;

use crate::{RECORD_DATA, RecordProtection, SessionError};

/// The nonce of a record, derived from the record's number. Every record is the first of its connection and can
/// therefore be opened repeatedly.
pub const NONCE: [u8; 12] = [0x11; 12];

/// The size of the authentication tag.
pub const TAG_BYTES: usize = 16;

/// The size of the inner plaintext: the content type follows the data (RFC 8446 section 5.2).
pub const INNER_BYTES: usize = RECORD_DATA.len() + 1;

/// The size of a protected record without its header.
pub const SEALED_BYTES: usize = INNER_BYTES + TAG_BYTES;

/// The header, which is authenticated with the record.
pub const RECORD_HEADER: [u8; 5] = {
    let [_, _, high, low] = (SEALED_BYTES as u32).to_be_bytes();
    [APPLICATION_DATA, 3, 3, high, low]
};

/// A library's key for records, whose results are in other memory than the input.
pub trait AeadKey {
    /// The library's error.
    type Error: std::fmt::Display;

    /// Protects [`RECORD_DATA`] into `sealed` of [`SEALED_BYTES`], and returns the number of bytes that the library
    /// reports.
    ///
    /// # Errors
    /// An error of the library.
    fn seal(&mut self, sealed: &mut [u8]) -> Result<usize, Self::Error>;

    /// Opens `sealed` into `opened` of [`INNER_BYTES`], and returns the number of bytes that the library reports.
    ///
    /// # Errors
    /// The record was changed.
    fn open(&mut self, sealed: &[u8], opened: &mut [u8]) -> Result<usize, Self::Error>;
}

/// The keys of both ends of one direction, and the last record.
#[derive(Debug)]
pub struct AeadRecords<K> {
    sender: K,
    receiver: K,
    sealed: Vec<u8>,
    received: Vec<u8>,
    opened: Vec<u8>,
}

impl<K: AeadKey> AeadRecords<K> {
    /// Creates the protection of records with the same key at both ends.
    pub fn new(sender: K, receiver: K) -> Self {
        Self {
            sender,
            receiver,
            sealed: vec![0; SEALED_BYTES],
            received: Vec::new(),
            opened: vec![0; INNER_BYTES],
        }
    }
}

impl<K: AeadKey> RecordProtection for AeadRecords<K> {
    fn seal(&mut self) -> Result<(), SessionError> {
        expect(self.sender.seal(&mut self.sealed), SEALED_BYTES)
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let opened = self.receiver.open(&self.received, &mut self.opened);
        expect(opened, INNER_BYTES)
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        self.opened.get(..RECORD_DATA.len()).unwrap_or_default()
    }
}

fn expect(
    result: Result<usize, impl std::fmt::Display>,
    expected: usize,
) -> Result<(), SessionError> {
    match result {
        Ok(bytes) if bytes == expected => Ok(()),
        Ok(bytes) => Err(SessionError::new(
            FailureWord::Primitive,
            format!("{bytes} bytes in place of {expected}"),
        )),
        Err(error) => Err(SessionError::new(FailureWord::Primitive, error)),
    }
}
