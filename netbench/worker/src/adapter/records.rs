use std::ops::Range;

use netbench_tls::FailureWord;
pub use netbench_tls::wire::content::APPLICATION_DATA;

use crate::{RECORD_DATA, RecordProtection, SessionError, failed};

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

/// The keys of both ends of one direction, with a library that opens records in place.
pub trait InPlaceKeys {
    /// The length of the header in front of a record, or of the room for one.
    const HEADER_BYTES: usize;

    /// The library's error.
    type Error: std::fmt::Display;

    /// Protects [`RECORD_DATA`] as the record of this number, in place of the last record.
    ///
    /// # Errors
    /// An error of the library.
    fn seal(&mut self, number: u64, record: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Opens the record of this number, and returns the place of the data in it.
    ///
    /// # Errors
    /// The record was changed.
    fn open(&mut self, number: u64, record: &mut [u8]) -> Result<Range<usize>, Self::Error>;
}

/// The keys of one direction, and the last record. Records have consecutive numbers, which AWS-LC requires.
#[derive(Debug)]
pub struct InPlaceRecords<K> {
    keys: K,
    number: u64,
    next_number: u64,
    sealed: Vec<u8>,
    received: Vec<u8>,
    data: Range<usize>,
}

impl<K: InPlaceKeys> InPlaceRecords<K> {
    /// Creates the protection of records.
    pub fn new(keys: K) -> Self {
        Self {
            keys,
            number: 0,
            next_number: 0,
            sealed: Vec::new(),
            received: Vec::new(),
            data: 0..0,
        }
    }
}

impl<K: InPlaceKeys> RecordProtection for InPlaceRecords<K> {
    fn seal(&mut self) -> Result<(), SessionError> {
        self.number = self.next_number;
        self.next_number += 1;
        let sealed = self.keys.seal(self.number, &mut self.sealed);
        sealed.map_err(failed(FailureWord::Primitive))
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let opened = self.keys.open(self.number, &mut self.received);
        self.data = opened.map_err(failed(FailureWord::Primitive))?;
        Ok(())
    }

    fn record(&mut self) -> &mut [u8] {
        self.sealed.get_mut(K::HEADER_BYTES..).unwrap_or_default()
    }

    fn data(&self) -> &[u8] {
        self.received.get(self.data.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A library whose records are their data in reverse, after their number.
    struct Reversed;

    impl InPlaceKeys for Reversed {
        const HEADER_BYTES: usize = 1;

        type Error = &'static str;

        fn seal(&mut self, number: u64, record: &mut Vec<u8>) -> Result<(), Self::Error> {
            *record = RECORD_DATA.to_vec();
            record[0] = 1;
            record.push(u8::try_from(number).unwrap());
            record.reverse();
            Ok(())
        }

        fn open(&mut self, number: u64, record: &mut [u8]) -> Result<Range<usize>, Self::Error> {
            if u64::from(record[0]) != number {
                return Err("another number");
            }
            record[1..].reverse();
            Ok(1..record.len())
        }
    }

    #[test]
    fn the_last_record_is_received_and_opened_under_its_number() {
        let mut records = InPlaceRecords::new(Reversed);
        records.seal().unwrap();
        records.receive();
        records.seal().unwrap();
        let due = SessionError::new(FailureWord::Primitive, "another number");
        assert_eq!(records.open(), Err(due));
        records.receive();
        records.open().unwrap();
        assert_eq!(
            (records.data().len(), records.data()[0]),
            (RECORD_DATA.len(), 1)
        );
        assert_eq!(records.record().len(), RECORD_DATA.len());
        assert_eq!(records.record().last(), Some(&1));
    }
}
