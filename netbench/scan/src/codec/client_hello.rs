//! Parser of the ClientHello of a client under test.

use super::{Reader, extension, messages};

/// A ClientHello as it was on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientHello {
    /// Bytes of the handshake message, with its header.
    pub message_bytes: usize,
    /// Bytes on the wire, with the records' headers.
    pub wire_bytes: usize,
    /// `client_version`.
    pub legacy_version: u16,
    /// Bytes of the session ID.
    pub session_id_bytes: usize,
    /// Suites, in the client's order, with signalling values and GREASE.
    pub suites: Vec<u16>,
    /// Compression methods.
    pub compression: Vec<u8>,
    /// Extensions, in the client's order: code point and body.
    pub extensions: Vec<(u16, Vec<u8>)>,
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
        let mut reader = Reader::new(bytes);
        let mut message = Vec::new();
        let mut wire_bytes = 0;
        loop {
            let Some(header) = reader.take(5) else {
                return Ok(None);
            };
            if header[0] != 22 || header[1] != 3 {
                return Err(ParseHelloError);
            }
            let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
            let Some(payload) = reader.take(length) else {
                return Ok(None);
            };
            wire_bytes += 5 + length;
            message.extend_from_slice(payload);
            let mut inner = Reader::new(&message);
            if let (Some(kind), Some(length)) = (inner.u8(), inner.u24()) {
                if kind != 1 {
                    return Err(ParseHelloError);
                }
                if let Some(body) = inner.take(length as usize) {
                    let mut hello = Self::of_body(body).ok_or(ParseHelloError)?;
                    hello.message_bytes = 4 + body.len();
                    hello.wire_bytes = wire_bytes;
                    return Ok(Some(hello));
                }
            }
        }
    }

    fn of_body(body: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let legacy_version = reader.u16()?;
        reader.take(32)?;
        let session_id_bytes = reader.vec8()?.len();
        let suites = Reader::new(reader.vec16()?).u16s()?;
        let compression = reader.vec8()?.to_vec();
        let extensions = if reader.is_empty() {
            Vec::new()
        } else {
            messages::extensions(reader.vec16()?)?
        };
        Some(Self {
            message_bytes: 0,
            wire_bytes: 0,
            legacy_version,
            session_id_bytes,
            suites,
            compression,
            extensions,
        })
    }

    /// Returns the body of an extension.
    pub fn extension(&self, code: u16) -> Option<&[u8]> {
        self.extensions
            .iter()
            .find(|(known, _)| *known == code)
            .map(|(_, body)| body.as_slice())
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

    /// Returns the groups of the key shares, with the length of each.
    pub fn shares(&self) -> Vec<(u16, usize)> {
        let mut found = Vec::new();
        let list = self
            .extension(extension::KEY_SHARE)
            .and_then(|body| Reader::new(body).vec16());
        let mut reader = Reader::new(list.unwrap_or_default());
        while let (Some(group), Some(public)) = (reader.u16(), reader.vec16())
            && found.len() < messages::MOST_ENTRIES
        {
            found.push((group, public.len()));
        }
        found
    }

    /// Returns the offered application protocols.
    pub fn alpn(&self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let list = self
            .extension(extension::ALPN)
            .and_then(|body| Reader::new(body).vec16());
        let mut reader = Reader::new(list.unwrap_or_default());
        while let Some(name) = reader.vec8()
            && found.len() < messages::MOST_ENTRIES
        {
            found.push(name.to_vec());
        }
        found
    }

    fn list16(&self, code: u16) -> Vec<u16> {
        self.extension(code)
            .and_then(|body| Reader::new(Reader::new(body).vec16()?).u16s())
            .unwrap_or_default()
    }
}
