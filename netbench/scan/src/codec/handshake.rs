//! Handshake messages from the payloads of records: many in one, or one in many.

use super::{MAX_MESSAGE, ReadError, Reader};

/// A handshake message as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The handshake type.
    pub kind: u8,
    /// The message with its header, for a transcript.
    pub whole: Vec<u8>,
}

impl Message {
    /// Returns the message without its header.
    pub fn body(&self) -> &[u8] {
        self.whole.get(4..).unwrap_or_default()
    }
}

/// A splitter of payloads into handshake messages.
#[derive(Debug, Default)]
pub struct Messages {
    bytes: Vec<u8>,
    at: usize,
}

impl Messages {
    /// Adds the payload of a record.
    pub fn push(&mut self, payload: &[u8]) {
        // The rest is moved once and not after each message: a record may hold thousands.
        self.bytes.drain(..std::mem::take(&mut self.at));
        self.bytes.extend_from_slice(payload);
    }

    /// Returns the next message, or `None` until it is complete.
    ///
    /// # Errors
    /// Returns an error if the message is too long to be read.
    pub fn next_message(&mut self) -> Result<Option<Message>, ReadError> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        let mut reader = Reader::new(left);
        let (Some(kind), Some(length)) = (reader.u8(), reader.u24()) else {
            return Ok(None);
        };
        let length = length as usize;
        if length > MAX_MESSAGE {
            return Err(ReadError::Malformed(format!(
                "a handshake message of {length} bytes"
            )));
        }
        let whole = left.get(..4 + length).map(<[u8]>::to_vec);
        self.at += whole.as_ref().map_or(0, Vec::len);
        Ok(whole.map(|whole| Message { kind, whole }))
    }
}
