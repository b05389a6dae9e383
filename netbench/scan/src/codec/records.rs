//! The record layer of a server's data (RFC 8446 section 5.1): records, and the handshake messages in them, many in
//! one or one in many.

use super::content;

/// The longest handshake message that is read; a certificate chain has some thousand bytes.
pub const MAX_MESSAGE: usize = 128 * 1024;

/// The longest record: 2^14 and the permitted expansion by encryption (RFC 5246 section 6.2.3).
const MAX_RECORD: usize = 16_384 + 2_048;

/// The protocol of a server that does not speak TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotTls {
    /// HTTP without TLS.
    Http,
    /// SSH.
    Ssh,
    /// SMTP.
    Smtp,
    /// FTP.
    Ftp,
    /// IMAP.
    Imap,
    /// POP3.
    Pop3,
    /// XMPP.
    Xmpp,
    /// SMTP, FTP, or another protocol whose replies have codes of three digits.
    Codes,
    /// LDAP.
    Ldap,
    /// MySQL, or MariaDB.
    MySql,
    /// PostgreSQL.
    Postgresql,
    /// Something else.
    Other,
}

/// One record, without its header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The content type.
    pub content: u8,
    /// The version in its header.
    pub version: u16,
    /// The payload.
    pub payload: Vec<u8>,
}

/// A splitter of arrived bytes into records.
#[derive(Debug, Default)]
pub struct Records {
    bytes: Vec<u8>,
    at: usize,
    seen: bool,
}

/// The bytes cannot be those of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The first bytes are of another protocol.
    #[error("not TLS")]
    NotTls(NotTls),
    /// A violation of the protocol.
    #[error("{0}")]
    Malformed(String),
}

impl Records {
    /// Adds arrived bytes.
    pub fn push(&mut self, arrived: &[u8]) {
        if self.at == self.bytes.len() {
            self.bytes.clear();
            self.at = 0;
        }
        self.bytes.extend_from_slice(arrived);
    }

    /// Returns the number of bytes that are not yet part of a complete record.
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the next record, or `None` until it is complete.
    ///
    /// # Errors
    /// Returns an error if the bytes cannot be a record.
    pub fn next_record(&mut self) -> Result<Option<Record>, ReadError> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        if !self.seen
            && let Some(other) = other_protocol(left)
        {
            return Err(ReadError::NotTls(other));
        }
        let Some((header, rest)) = left.split_at_checked(5) else {
            return Ok(None);
        };
        let content = header[0];
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if !(content::CHANGE_CIPHER_SPEC..=content::HEARTBEAT).contains(&content) || header[1] != 3
        {
            return Err(if self.seen {
                ReadError::Malformed(format!("a record of the unknown type {content}"))
            } else {
                ReadError::NotTls(NotTls::Other)
            });
        }
        if length > MAX_RECORD {
            return Err(ReadError::Malformed(format!("a record of {length} bytes")));
        }
        let Some(payload) = rest.get(..length) else {
            return Ok(None);
        };
        let record = Record {
            content,
            version: u16::from_be_bytes([header[1], header[2]]),
            payload: payload.to_vec(),
        };
        self.seen = true;
        self.at += 5 + length;
        Ok(Some(record))
    }
}

/// Returns the protocol that the first bytes show, or `None` if they may still be TLS.
fn other_protocol(bytes: &[u8]) -> Option<NotTls> {
    let first = *bytes.first()?;
    if bytes.starts_with(b"<?xml") || bytes.starts_with(b"<stream") {
        return Some(NotTls::Xmpp);
    }
    if bytes.starts_with(b"HTTP/") || first == b'<' {
        return Some(NotTls::Http);
    }
    if bytes.starts_with(b"SSH-") {
        return Some(NotTls::Ssh);
    }
    let digits = bytes.len() >= 4 && bytes[..3].iter().all(u8::is_ascii_digit);
    if digits && matches!(bytes[3], b' ' | b'-') {
        return Some(if contains(bytes, b"SMTP") {
            NotTls::Smtp
        } else if contains(bytes, b"FTP") {
            NotTls::Ftp
        } else {
            NotTls::Codes
        });
    }
    if bytes.starts_with(b"* OK") {
        return Some(NotTls::Imap);
    }
    if bytes.starts_with(b"+OK") {
        return Some(NotTls::Pop3);
    }
    binary_protocol(bytes)
}

/// The same of protocols that are not text.
fn binary_protocol(bytes: &[u8]) -> Option<NotTls> {
    // The name of LDAP's notice of disconnection (RFC 4511 section 4.4.1).
    const NOTICE: &[u8] = b"1.3.6.1.4.1.1466.20036";
    if bytes.first() == Some(&0x30) && contains(bytes, NOTICE) {
        return Some(NotTls::Ldap);
    }
    match bytes {
        // The first packet of a server: its length, the number 0, the protocol's version 10 and the server's in text.
        [_, _, 0, 0, 10, digit, ..] if digit.is_ascii_digit() => Some(NotTls::MySql),
        // An ErrorResponse, whose first field is the severity.
        [b'E', 0, 0, _, _, b'S', ..] => Some(NotTls::Postgresql),
        _ => None,
    }
}

fn contains(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}
