//! The ClientHello, and the server's response.

use netbench_model::{
    CipherSuite, Group, TlsVersion,
    tls::{Authentication, KeyExchange, is_grease},
};
use netbench_scan::codec::{ClientHello, Reader, extension as code};

use super::wire::{Broken, Wire, content, extension, message, put8, put16};
use crate::case::ServerSpec;

/// The longest ClientHello that is read.
const LONGEST: usize = 128 * 1024;

/// The random of a HelloRetryRequest (RFC 8446 section 4.1.3).
const RETRY: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// Alerts (RFC 8446 section 6).
pub(super) mod alert {
    pub(crate) const HANDSHAKE_FAILURE: u8 = 40;
    pub(crate) const BAD_CERTIFICATE: u8 = 42;
    pub(crate) const DECRYPT_ERROR: u8 = 51;
    pub(crate) const PROTOCOL_VERSION: u8 = 70;
    pub(crate) const CERTIFICATE_REQUIRED: u8 = 116;
    pub(crate) const NO_APPLICATION_PROTOCOL: u8 = 120;
}

/// A client's hello.
pub(super) struct Hello {
    /// The handshake message.
    pub(super) message: Vec<u8>,
    pub(super) wire_bytes: usize,
    pub(super) random: [u8; 32],
    pub(super) session_id: Vec<u8>,
    pub(super) offer: ClientHello,
    /// Key shares: group and public value.
    pub(super) shares: Vec<(u16, Vec<u8>)>,
}

impl Hello {
    /// Reads the records of a hello.
    pub(super) fn read(wire: &mut Wire) -> Result<Self, Broken> {
        let (mut bytes, mut wire_bytes) = (Vec::new(), 0);
        while bytes.len() < LONGEST {
            let (kind, payload) = wire.record()?;
            match kind {
                content::HANDSHAKE => {
                    wire_bytes += 5 + payload.len();
                    bytes.extend(payload);
                }
                content::CHANGE_CIPHER_SPEC => continue,
                content::ALERT => return Err(alert_of(&payload)),
                _ => return Err(Broken::Unreadable),
            }
            let mut reader = Reader::new(&bytes);
            if let (Some(1), Some(_)) = (reader.u8(), reader.vec24()) {
                return Self::of_message(&bytes, wire_bytes).ok_or(Broken::Unreadable);
            }
        }
        Err(Broken::Unreadable)
    }

    /// Parses a whole message.
    pub(super) fn of_message(bytes: &[u8], wire_bytes: usize) -> Option<Self> {
        let mut record = vec![content::HANDSHAKE, 3, 3];
        put16(&mut record, bytes);
        let offer = ClientHello::of_records(&record).ok()??;
        let message = bytes.get(..offer.message_bytes)?;
        let mut reader = Reader::new(message.get(6..)?);
        let random = reader.take(32)?.try_into().ok()?;
        let session_id = reader.vec8()?.to_vec();
        let mut shares = Vec::new();
        if let Some(body) = offer.extension(code::KEY_SHARE) {
            let mut list = Reader::new(Reader::new(body).vec16()?);
            while !list.is_empty() {
                shares.push((list.u16()?, list.vec16()?.to_vec()));
            }
        }
        Some(Self {
            message: message.to_vec(),
            wire_bytes,
            random,
            session_id,
            offer,
            shares,
        })
    }

    pub(super) fn has_grease(&self) -> bool {
        self.offer.suites.iter().any(|suite| is_grease(*suite))
    }

    /// Returns the chosen version.
    pub(super) fn version(&self, server: &ServerSpec) -> Result<TlsVersion, Broken> {
        let offered = self.offer.versions();
        let chosen = server
            .versions
            .iter()
            .find(|version| offered.contains(&version.code()));
        let first = server.versions.first().filter(|_| server.ignores_offer);
        chosen
            .or(first)
            .copied()
            .ok_or(Broken::Refused(alert::PROTOCOL_VERSION))
    }

    /// Returns the chosen suite of this version.
    pub(super) fn suite(
        &self,
        server: &ServerSpec,
        version: TlsVersion,
        has_rsa_key: bool,
    ) -> Result<CipherSuite, Broken> {
        let mut own = server.suites.iter().filter(|suite| {
            suite.facts().is_some_and(|facts| {
                let key = match facts.authentication {
                    Authentication::Ecdsa => !has_rsa_key,
                    Authentication::Rsa => has_rsa_key,
                    _ => true,
                };
                facts.fits(version) && key
            })
        });
        let common = own
            .clone()
            .find(|suite| self.offer.suites.contains(&suite.0));
        let first = own.next().filter(|_| server.ignores_offer);
        common
            .or(first)
            .copied()
            .ok_or(Broken::Refused(alert::HANDSHAKE_FAILURE))
    }

    /// Returns the chosen group: one whose share is present, if possible.
    pub(super) fn group(&self, server: &ServerSpec) -> Result<Group, Broken> {
        let groups = self.offer.groups();
        let shared = server
            .groups
            .iter()
            .find(|group| self.shares.iter().any(|(code, _)| *code == group.0));
        let chosen =
            shared.or_else(|| server.groups.iter().find(|group| groups.contains(&group.0)));
        chosen
            .copied()
            .ok_or(Broken::Refused(alert::HANDSHAKE_FAILURE))
    }

    /// Returns the application protocol, if there is one.
    pub(super) fn alpn(&self, server: &ServerSpec) -> Result<Option<String>, Broken> {
        let offered = self.offer.alpn();
        if offered.is_empty() || server.alpn.is_empty() {
            return Ok(None);
        }
        let common = server
            .alpn
            .iter()
            .find(|name| offered.iter().any(|o| o == name.as_bytes()));
        let first = server.alpn.first().filter(|_| server.ignores_offer);
        let chosen = common
            .or(first)
            .ok_or(Broken::Refused(alert::NO_APPLICATION_PROTOCOL))?;
        Ok(Some(chosen.clone()))
    }
}

/// Returns the reason for which an alert record ends a connection.
pub(super) fn alert_of(payload: &[u8]) -> Broken {
    match payload {
        [_, 0] => Broken::Closed,
        [_, description] => Broken::Alert(*description),
        _ => Broken::Unreadable,
    }
}

/// A ServerHello, as a handshake message.
pub(super) struct ServerHello<'a> {
    pub(super) version: TlsVersion,
    pub(super) random: [u8; 32],
    pub(super) session_id: &'a [u8],
    pub(super) suite: CipherSuite,
    pub(super) extensions: Vec<u8>,
}

impl ServerHello<'_> {
    pub(super) fn message(&self) -> Vec<u8> {
        let mut body = self
            .version
            .min(TlsVersion::Tls12)
            .code()
            .to_be_bytes()
            .to_vec();
        body.extend(self.random);
        put8(&mut body, self.session_id);
        body.extend(self.suite.0.to_be_bytes());
        body.push(0);
        if !self.extensions.is_empty() {
            put16(&mut body, &self.extensions);
        }
        message(2, &body)
    }
}

/// Returns a HelloRetryRequest for this group.
pub(super) fn retry_request(hello: &Hello, suite: CipherSuite, group: Group) -> Vec<u8> {
    let mut extensions = Vec::new();
    extension(
        &mut extensions,
        code::SUPPORTED_VERSIONS,
        &TlsVersion::Tls13.code().to_be_bytes(),
    );
    extension(&mut extensions, code::KEY_SHARE, &group.0.to_be_bytes());
    ServerHello {
        version: TlsVersion::Tls12,
        random: RETRY,
        session_id: &hello.session_id,
        suite,
        extensions,
    }
    .message()
}

/// Returns the key exchange of a suite.
pub(super) fn exchange_of(suite: CipherSuite) -> Option<KeyExchange> {
    suite.facts().map(|facts| facts.key_exchange)
}
