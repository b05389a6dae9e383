//! Parser of the ClientHello of a client under test.

use super::{Extension, Message, Messages, Reader, Records, content, extension, messages};

/// A ClientHello as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHello {
    /// Bytes of the handshake message, with its header.
    pub message_bytes: usize,
    /// Bytes on the wire, with the records' headers.
    pub wire_bytes: usize,
    /// `client_version`.
    pub legacy_version: u16,
    /// The client's random.
    pub random: [u8; 32],
    /// The session ID.
    pub session_id: Vec<u8>,
    /// Suites, in the client's order, with signalling values and GREASE.
    pub suites: Vec<u16>,
    /// Compression methods.
    pub compression: Vec<u8>,
    /// Extensions, in the client's order.
    pub extensions: Vec<Extension>,
}

/// The bytes are not a ClientHello.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("these bytes are not a ClientHello")]
pub struct ParseHelloError;

impl ClientHello {
    /// Parses the records that a client sent. Returns `None` until the message is complete.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a ClientHello.
    pub fn of_records(bytes: &[u8]) -> Result<Option<Self>, ParseHelloError> {
        let (mut records, mut messages) = (Records::default(), Messages::default());
        records.push(bytes);
        let mut wire_bytes = 0;
        while let Some(record) = records.next_record().map_err(|_| ParseHelloError)? {
            if record.content != content::HANDSHAKE {
                return Err(ParseHelloError);
            }
            wire_bytes += 5 + record.payload.len();
            messages.push(&record.payload);
            if let Some(message) = messages.next_message().map_err(|_| ParseHelloError)? {
                let hello = Self::of_message(&message).ok_or(ParseHelloError)?;
                return Ok(Some(Self {
                    wire_bytes,
                    ..hello
                }));
            }
        }
        Ok(None)
    }

    /// Parses a message, whose records had no bytes beside it. Returns `None` if it is not a ClientHello.
    pub fn of_message(message: &Message) -> Option<Self> {
        let mut reader = Reader::new(message.body());
        let hello = Self {
            message_bytes: message.whole.len(),
            wire_bytes: message.whole.len(),
            legacy_version: reader.u16()?,
            random: reader.take(32)?.try_into().ok()?,
            session_id: reader.vec8()?.to_vec(),
            suites: Reader::new(reader.vec16()?).u16s()?,
            compression: reader.vec8()?.to_vec(),
            extensions: match reader.is_empty() {
                true => Vec::new(),
                false => messages::extensions(reader.vec16()?)?,
            },
        };
        (message.kind == 1 && reader.is_empty()).then_some(hello)
    }

    /// Returns the host name of `server_name` (RFC 6066 section 3), if there is one in UTF-8.
    pub fn server_name(&self) -> Option<String> {
        // The only type of names.
        const HOST_NAME: u8 = 0;
        let mut list = self.list(extension::SERVER_NAME);
        let is_host = list.u8()? == HOST_NAME;
        let name = std::str::from_utf8(list.vec16()?).ok()?;
        is_host.then(|| name.to_owned())
    }

    /// Returns the body of an extension.
    pub fn extension(&self, code: u16) -> Option<&[u8]> {
        messages::body_of(&self.extensions, code)
    }

    /// Returns the offered versions: `supported_versions`, or the highest one from the old field.
    pub fn versions(&self) -> Vec<u16> {
        self.extension(extension::SUPPORTED_VERSIONS)
            .and_then(|body| Reader::new(Reader::new(body).vec8()?).u16s())
            .unwrap_or_else(|| vec![self.legacy_version])
    }

    /// Returns the offered groups.
    pub fn groups(&self) -> Vec<u16> {
        self.list16(extension::SUPPORTED_GROUPS)
    }

    /// Returns the offered signature schemes.
    pub fn signatures(&self) -> Vec<u16> {
        self.list16(extension::SIGNATURE_ALGORITHMS)
    }

    /// Returns the key shares: the group and the public value of each.
    pub fn shares(&self) -> Vec<(u16, &[u8])> {
        let mut list = self.list(extension::KEY_SHARE);
        std::iter::from_fn(|| Some((list.u16()?, list.vec16()?)))
            .take(messages::MOST_ENTRIES)
            .collect()
    }

    /// Returns the offered algorithms for the compression of certificates (RFC 8879 section 3).
    pub fn certificate_compression(&self) -> Vec<u16> {
        let list = self
            .extension(extension::COMPRESS_CERTIFICATE)
            .and_then(|body| Reader::new(body).vec8());
        let codes = list.and_then(|list| Reader::new(list).u16s());
        codes.unwrap_or_default()
    }

    /// Returns the offered application protocols.
    pub fn alpn(&self) -> Vec<Vec<u8>> {
        let mut list = self.list(extension::ALPN);
        std::iter::from_fn(|| list.vec8().map(<[u8]>::to_vec))
            .take(messages::MOST_ENTRIES)
            .collect()
    }

    fn list16(&self, code: u16) -> Vec<u16> {
        self.list(code).u16s().unwrap_or_default()
    }

    /// Returns a reader of an extension that is one list.
    fn list(&self, code: u16) -> Reader<'_> {
        let list = self
            .extension(code)
            .and_then(|body| Reader::new(body).vec16());
        Reader::new(list.unwrap_or_default())
    }
}
