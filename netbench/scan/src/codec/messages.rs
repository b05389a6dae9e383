//! Messages of a server's first flight.

pub use netbench_model::tls::wire::RETRY_RANDOM;
use netbench_model::tls::{CipherSuiteFacts, FfdheSize, KeyExchange};

use super::{
    Extension, Reader, extension,
    writer::{message, put_extension, put_u16, put_vec8, put_vec16},
};

/// The maximum number of extensions, certificates, shares or names that are read of a list; no real list is longer.
/// Memory stays in proportion to the arrived bytes.
pub(crate) const MOST_ENTRIES: usize = 256;

/// An alert (RFC 8446 section 6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alert {
    /// 1 warning, 2 fatal.
    pub level: u8,
    /// The alert's description.
    pub description: u8,
}

impl Alert {
    /// Parses a record's payload.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        match payload {
            [level, description] => Some(Self {
                level: *level,
                description: *description,
            }),
            _ => None,
        }
    }
}

/// A ServerHello, or a HelloRetryRequest, which has the same format.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerHello {
    /// The chosen version: that of `supported_versions` if the extension is present.
    pub version: u16,
    /// The server's random.
    pub random: [u8; 32],
    /// The session's id, or an echo of the client's.
    pub session_id: Vec<u8>,
    /// The chosen suite.
    pub suite: u16,
    /// The chosen compression method.
    pub compression: u8,
    /// Whether it is a HelloRetryRequest.
    pub is_retry: bool,
    /// Extensions.
    pub extensions: Vec<Extension>,
}

impl ServerHello {
    /// Parses a message's body.
    pub fn parse(body: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let legacy = reader.u16()?;
        let random: [u8; 32] = reader.take(32)?.try_into().ok()?;
        let session_id = reader.vec8()?;
        if session_id.len() > 32 {
            return None;
        }
        let suite = reader.u16()?;
        let compression = reader.u8()?;
        let extensions = if reader.is_empty() {
            Vec::new()
        } else {
            let bytes = reader.vec16()?;
            if !reader.is_empty() {
                return None;
            }
            extensions(bytes)?
        };
        let mut hello = Self {
            version: legacy,
            random,
            session_id: session_id.to_vec(),
            suite,
            compression,
            is_retry: random == RETRY_RANDOM,
            extensions,
        };
        if let Some(body) = hello.extension(extension::SUPPORTED_VERSIONS) {
            hello.version = Reader::new(body).u16().filter(|_| body.len() == 2)?;
        }
        Some(hello)
    }

    /// Returns the message. Its old field of the version is at most TLS 1.2.
    pub fn message(&self) -> Vec<u8> {
        let mut body = Vec::new();
        put_u16(&mut body, self.version.min(0x0303));
        body.extend(self.random);
        put_vec8(&mut body, &self.session_id);
        put_u16(&mut body, self.suite);
        body.push(self.compression);
        let mut extensions = Vec::new();
        for (code, content) in &self.extensions {
            put_extension(&mut extensions, *code, content);
        }
        if !extensions.is_empty() {
            put_vec16(&mut body, &extensions);
        }
        message(2, &body)
    }

    /// Returns the body of an extension.
    pub fn extension(&self, code: u16) -> Option<&[u8]> {
        body_of(&self.extensions, code)
    }

    /// Returns the group of the key share, or the one that a HelloRetryRequest requests.
    pub fn group(&self) -> Option<u16> {
        self.extension(extension::KEY_SHARE)
            .and_then(|body| Reader::new(body).u16())
    }

    /// Returns the server's group and public value.
    pub fn share(&self) -> Option<(u16, &[u8])> {
        let mut reader = Reader::new(self.extension(extension::KEY_SHARE)?);
        Some((reader.u16()?, reader.vec16()?))
    }

    /// Returns the chosen application protocol.
    pub fn alpn(&self) -> Option<Vec<u8>> {
        alpn(self.extension(extension::ALPN)?)
    }
}

/// Returns the body of one of these extensions.
pub(crate) fn body_of(extensions: &[Extension], code: u16) -> Option<&[u8]> {
    let found = extensions.iter().find(|(known, _)| *known == code);
    found.map(|(_, body)| body.as_slice())
}

/// Parses a list to its end. Returns `None` if it is too long, or an entry cannot be read.
fn entries<'a, T>(bytes: &'a [u8], read: impl Fn(&mut Reader<'a>) -> Option<T>) -> Option<Vec<T>> {
    let mut reader = Reader::new(bytes);
    let mut found = Vec::new();
    while !reader.is_empty() {
        found.push(read(&mut reader)?);
        if found.len() > MOST_ENTRIES {
            return None;
        }
    }
    Some(found)
}

/// Parses extensions.
pub(crate) fn extensions(bytes: &[u8]) -> Option<Vec<Extension>> {
    entries(bytes, |list| Some((list.u16()?, list.vec16()?.to_vec())))
}

/// Parses the only protocol of a server's ALPN extension.
pub(crate) fn alpn(body: &[u8]) -> Option<Vec<u8>> {
    let mut list = Reader::new(Reader::new(body).vec16()?);
    list.vec8().map(<[u8]>::to_vec)
}

/// Parses the certificates of a Certificate message before TLS 1.3.
pub(crate) fn certificates(body: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut reader = Reader::new(body);
    let found = entries(reader.vec24()?, |list| list.vec24().map(<[u8]>::to_vec))?;
    reader.is_empty().then_some(found)
}

/// Certificates with the extensions of each (RFC 8446 section 4.4.2).
pub(crate) type Entries = Vec<(Vec<u8>, Vec<Extension>)>;

/// Parses the certificates of a Certificate message of TLS 1.3, with their extensions.
pub(crate) fn certificate_entries(body: &[u8]) -> Option<Entries> {
    let mut reader = Reader::new(body);
    reader.vec8()?;
    let found = entries(reader.vec24()?, |list| {
        Some((list.vec24()?.to_vec(), extensions(list.vec16()?)?))
    })?;
    reader.is_empty().then_some(found)
}

/// The contents of a ServerKeyExchange message (RFC 5246 section 7.4.3, RFC 8422 section 5.4).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerKeyExchange {
    /// The curve.
    pub group: Option<u16>,
    /// The server's public value on it.
    pub public: Vec<u8>,
    /// The finite field's prime.
    pub prime: Option<FfdheSize>,
    /// The signature scheme; only TLS 1.2 states it.
    pub signature: Option<u16>,
}

impl ServerKeyExchange {
    /// Parses a message's body, for a suite and a version. Returns `None` if the body does not match them.
    pub fn parse(body: &[u8], suite: &CipherSuiteFacts, version: u16) -> Option<Self> {
        let mut reader = Reader::new(body);
        let mut found = Self::default();
        match suite.key_exchange {
            KeyExchange::Ecdhe => {
                const NAMED_CURVE: u8 = 3;
                if reader.u8()? != NAMED_CURVE {
                    // Curves by their parameters: in RFC 4492, but no implementation uses them.
                    return Some(found);
                }
                found.group = Some(reader.u16()?);
                found.public = reader.vec8()?.to_vec();
            }
            KeyExchange::Dhe => {
                found.prime = Some(FfdheSize::of_prime(reader.vec16()?));
                reader.vec16()?;
                found.public = reader.vec16()?.to_vec();
            }
            _ => return Some(found),
        }
        if version == 0x0303 && suite.is_signed() {
            found.signature = Some(reader.u16()?);
        }
        Some(found)
    }
}

/// The contents of a server's CertificateRequest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CertificateRequest {
    /// The context that the client repeats in TLS 1.3.
    pub context: Vec<u8>,
    /// The accepted schemes.
    pub schemes: Vec<u16>,
}

impl CertificateRequest {
    /// Parses a message's body of TLS 1.2 (RFC 5246 section 7.4.4).
    pub fn parse12(body: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        reader.vec8()?;
        Some(Self {
            context: Vec::new(),
            schemes: Reader::new(reader.vec16()?).u16s()?,
        })
    }

    /// Parses a message's body of TLS 1.3 (RFC 8446 section 4.3.2).
    pub fn parse13(body: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let context = reader.vec8()?.to_vec();
        let extensions = extensions(reader.vec16()?)?;
        let schemes = body_of(&extensions, extension::SIGNATURE_ALGORITHMS)?;
        Some(Self {
            context,
            schemes: Reader::new(Reader::new(schemes).vec16()?).u16s()?,
        })
    }
}
