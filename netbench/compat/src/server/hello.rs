//! The ClientHello, and the server's response.

use netbench_model::{
    CipherSuite, Group, TlsVersion,
    tls::{Authentication, KeyExchange, is_grease},
};
use netbench_scan::codec::{
    ClientHello, Extension, Message, Messages, RETRY_RANDOM, ServerHello, extension as code,
    message, put_extension, put_vec16,
};

use super::wire::{Broken, Wire, content};
use crate::case::ServerSpec;

/// Alerts (RFC 8446 section 6).
pub(super) mod alert {
    pub(crate) const HANDSHAKE_FAILURE: u8 = 40;
    pub(crate) const BAD_CERTIFICATE: u8 = 42;
    pub(crate) const ILLEGAL_PARAMETER: u8 = 47;
    pub(crate) const DECRYPT_ERROR: u8 = 51;
    pub(crate) const PROTOCOL_VERSION: u8 = 70;
    pub(crate) const CERTIFICATE_REQUIRED: u8 = 116;
    pub(crate) const NO_APPLICATION_PROTOCOL: u8 = 120;
}

/// A client's hello.
pub(super) struct Hello {
    /// The handshake message.
    pub(super) message: Vec<u8>,
    pub(super) offer: ClientHello,
}

impl Hello {
    /// Reads the records of a hello.
    pub(super) fn read(wire: &mut Wire) -> Result<Self, Broken> {
        let (mut messages, mut wire_bytes) = (Messages::default(), 0);
        loop {
            let (kind, payload) = wire.record()?;
            match kind {
                content::HANDSHAKE => {
                    wire_bytes += 5 + payload.len();
                    messages.push(&payload);
                }
                content::CHANGE_CIPHER_SPEC => continue,
                content::ALERT => return Err(alert_of(&payload)),
                _ => return Err(Broken::Unreadable),
            }
            if let Some(message) = messages.next_message()? {
                let mut hello = Self::of_message(message)?;
                hello.offer.wire_bytes = wire_bytes;
                return Ok(hello);
            }
        }
    }

    /// Parses a whole message.
    pub(super) fn of_message(message: Message) -> Result<Self, Broken> {
        let offer = ClientHello::of_message(&message).ok_or(Broken::Unreadable)?;
        Ok(Self {
            message: message.whole,
            offer,
        })
    }

    /// Returns the hello without an extension. A hello that lacks it remains as it is.
    pub(super) fn without(self, number: u16) -> Result<Self, Broken> {
        if self.extension(number).is_none() {
            return Ok(self);
        }
        let mut extensions = Vec::new();
        let mut all = 0;
        for (code, body) in &self.offer.extensions {
            all += 4 + body.len();
            if *code != number {
                put_extension(&mut extensions, *code, body);
            }
        }
        // The length of the extensions is before them.
        let end = self.message.len().checked_sub(all + 2);
        let start = end.and_then(|end| self.message.get(4..end));
        let mut body = start.ok_or(Broken::Unreadable)?.to_vec();
        put_vec16(&mut body, &extensions);
        Self::of_message(Message {
            kind: 1,
            whole: message(1, &body),
        })
    }

    /// Returns the body of an extension.
    pub(super) fn extension(&self, code: u16) -> Option<&[u8]> {
        self.offer.extension(code)
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
        let shares = self.offer.shares();
        let shared = server
            .groups
            .iter()
            .find(|group| shares.iter().any(|(code, _)| *code == group.0));
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

/// Returns a HelloRetryRequest for this group, with a further extension at the end.
pub(super) fn retry_request(
    hello: &Hello,
    suite: CipherSuite,
    group: Group,
    last: Option<Extension>,
) -> Vec<u8> {
    let version = TlsVersion::Tls13.code().to_be_bytes().to_vec();
    let mut extensions = vec![
        (code::SUPPORTED_VERSIONS, version),
        (code::KEY_SHARE, group.0.to_be_bytes().to_vec()),
    ];
    extensions.extend(last);
    let retry = ServerHello {
        extensions,
        ..server_hello(
            TlsVersion::Tls13,
            RETRY_RANDOM,
            &hello.offer.session_id,
            suite,
        )
    };
    retry.message()
}

/// Returns a ServerHello without extensions.
pub(super) fn server_hello(
    version: TlsVersion,
    random: [u8; 32],
    session_id: &[u8],
    suite: CipherSuite,
) -> ServerHello {
    ServerHello {
        version: version.code(),
        random,
        session_id: session_id.to_vec(),
        suite: suite.0,
        compression: 0,
        is_retry: random == RETRY_RANDOM,
        extensions: Vec::new(),
    }
}

/// Returns the key exchange of a suite.
pub(super) fn exchange_of(suite: CipherSuite) -> Option<KeyExchange> {
    suite.facts().map(|facts| facts.key_exchange)
}
