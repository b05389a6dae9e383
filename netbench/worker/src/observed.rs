//! The negotiated parameters of a handshake, parsed from the server's plaintext messages, for libraries that do not
//! report all of them.

use std::iter;

use netbench_tls::{
    CipherSuite, Group, KeyExchange, Negotiated, SignatureScheme, TlsVersion,
    wire::{content, extension, handshake},
};

/// Maximum length of a server's first flight.
const MOST_BYTES: usize = 256 << 10;

/// The bytes that a server has sent, up to its first encrypted record.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    bytes: Vec<u8>,
    /// The offset of the next record.
    next: usize,
    is_over: bool,
}

impl Observed {
    /// Records the next bytes that the client received, before their decryption.
    pub fn received(&mut self, bytes: &[u8]) {
        if self.is_over {
            return;
        }
        self.bytes.extend_from_slice(bytes);
        while let Some((kind, length)) = header(&self.bytes, self.next) {
            self.is_over |= kind != content::HANDSHAKE && kind != content::CHANGE_CIPHER_SPEC;
            self.next += length;
        }
        self.is_over |= self.bytes.len() > MOST_BYTES;
    }

    /// Returns the negotiated parameters of a handshake, given the plaintext messages of both sides as a library hashes
    /// them. They include the application protocol, the chain and the signature scheme for TLS 1.3 too.
    pub fn in_messages(messages: &[u8]) -> Negotiated {
        let mut seen = Seen::default();
        seen.read_messages(&mut messages.to_vec());
        let resumed = match seen.agreed.version {
            Some(TlsVersion::Tls13) => seen.took_psk,
            Some(_) => seen.agreed.chain_bytes.is_empty(),
            None => false,
        };
        Negotiated {
            resumed,
            ..seen.agreed
        }
    }

    /// Returns the parameters that the server has agreed to so far, without the application protocol. The chain and the
    /// signature scheme are present only before TLS 1.3, which encrypts them.
    pub fn negotiated(&self) -> Negotiated {
        let mut seen = Seen::default();
        seen.read_all(&self.bytes);
        // Before TLS 1.3, a server that sends ChangeCipherSpec without a certificate has resumed a session.
        let resumed = match seen.agreed.version {
            Some(TlsVersion::Tls13) => seen.took_psk,
            _ => seen.changed_cipher && seen.agreed.chain_bytes.is_empty(),
        };
        Negotiated {
            resumed,
            alpn: None,
            ..seen.agreed
        }
    }
}

/// A reader of a handshake message, which removes values from the front.
pub struct MessageReader<'a>(pub &'a [u8]);

impl<'a> MessageReader<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a big-endian number of `bytes` bytes.
    pub(crate) fn number(&mut self, bytes: usize) -> Option<usize> {
        let taken = self.take(bytes)?.iter();
        Some(taken.fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    /// Reads a code point.
    pub fn code(&mut self) -> Option<u16> {
        self.number(2)?.try_into().ok()
    }

    /// Reads a vector whose length has `bytes` bytes.
    pub fn prefixed(&mut self, bytes: usize) -> Option<&'a [u8]> {
        let length = self.number(bytes)?;
        self.take(length)
    }

    /// Reads the code points and the bodies of extensions, up to the first that is cut off.
    pub(crate) fn extensions(&mut self) -> Option<impl Iterator<Item = (u16, &'a [u8])> + use<'a>> {
        let mut extensions = MessageReader(self.prefixed(2)?);
        Some(iter::from_fn(move || {
            Some((extensions.code()?, extensions.prefixed(2)?))
        }))
    }
}

/// Returns the type of the record at `at` and its length including the header, if the header is complete.
fn header(bytes: &[u8], at: usize) -> Option<(u8, usize)> {
    let [kind, _, _, high, low] = *bytes.get(at..)?.first_chunk()?;
    Some((kind, 5 + usize::from(u16::from_be_bytes([high, low]))))
}

#[derive(Default)]
struct Seen {
    agreed: Negotiated,
    took_psk: bool,
    changed_cipher: bool,
}

impl Seen {
    fn read_all(&mut self, bytes: &[u8]) {
        let (mut at, mut messages) = (0, Vec::new());
        while let Some((kind, length)) = header(bytes, at) {
            let Some(record) = bytes.get(at + 5..at + length) else {
                break;
            };
            at += length;
            match kind {
                content::HANDSHAKE => messages.extend_from_slice(record),
                // ChangeCipherSpec has no meaning in TLS 1.3, and may come before a second ServerHello.
                content::CHANGE_CIPHER_SPEC => {
                    self.read_messages(&mut messages);
                    if self.agreed.version != Some(TlsVersion::Tls13) {
                        self.changed_cipher = true;
                        return;
                    }
                }
                _ => break,
            }
        }
        self.read_messages(&mut messages);
    }

    /// Reads the complete messages of `messages`, and keeps the rest.
    fn read_messages(&mut self, messages: &mut Vec<u8>) {
        let mut rest = MessageReader(messages);
        let mut left = rest.0.len();
        while let (Some(kind), Some(body)) = (rest.number(1), rest.prefixed(3)) {
            left = rest.0.len();
            // The library reports messages that cannot be parsed.
            let _ = match u8::try_from(kind) {
                Ok(handshake::SERVER_HELLO) => self.server_hello(MessageReader(body)),
                Ok(handshake::ENCRYPTED_EXTENSIONS) => {
                    self.encrypted_extensions(MessageReader(body))
                }
                Ok(handshake::CERTIFICATE_VERIFY) => self.certificate_verify(MessageReader(body)),
                Ok(handshake::CERTIFICATE) => self.certificate(MessageReader(body)),
                Ok(handshake::SERVER_KEY_EXCHANGE) => self.server_key_exchange(MessageReader(body)),
                _ => Some(()),
            };
        }
        messages.drain(..messages.len() - left);
    }

    /// Reads a ServerHello, or the HelloRetryRequest before it (RFC 8446 section 4.1.3).
    fn server_hello(&mut self, mut body: MessageReader<'_>) -> Option<()> {
        self.agreed = Negotiated {
            version: TlsVersion::of(body.code()?),
            ..Negotiated::default()
        };
        body.take(32)?;
        body.prefixed(1)?;
        self.agreed.suite = Some(CipherSuite(body.code()?));
        body.number(1)?;
        for (extension, value) in body.extensions()? {
            let mut value = MessageReader(value);
            match extension {
                extension::SUPPORTED_VERSIONS => {
                    self.agreed.version = TlsVersion::of(value.code()?)
                }
                extension::KEY_SHARE => self.agreed.group = Some(Group(value.code()?)),
                extension::PRE_SHARED_KEY => self.took_psk = true,
                extension::ALPN => self.application_protocol(value)?,
                _ => {}
            }
        }
        Some(())
    }

    /// Reads the EncryptedExtensions (RFC 8446 section 4.3.1).
    fn encrypted_extensions(&mut self, mut body: MessageReader<'_>) -> Option<()> {
        for (extension, value) in body.extensions()? {
            if extension == extension::ALPN {
                self.application_protocol(MessageReader(value))?;
            }
        }
        Some(())
    }

    /// Reads the application protocol, a list of one (RFC 7301 section 3.1).
    fn application_protocol(&mut self, mut value: MessageReader<'_>) -> Option<()> {
        let mut names = MessageReader(value.prefixed(2)?);
        let name = str::from_utf8(names.prefixed(1)?).ok()?;
        self.agreed.alpn = Some(name.to_owned());
        Some(())
    }

    /// Reads the server's Certificate (RFC 8446 section 4.4.2, RFC 5246 section 7.4.2). The client's Certificate comes
    /// after it.
    fn certificate(&mut self, mut body: MessageReader<'_>) -> Option<()> {
        let is_tls13 = self.agreed.version == Some(TlsVersion::Tls13);
        if !self.agreed.chain_bytes.is_empty() {
            return None;
        }
        if is_tls13 {
            // The context of a certificate request.
            body.prefixed(1)?;
        }
        let mut chain = MessageReader(body.prefixed(3)?);
        while let Some(der) = chain.prefixed(3) {
            let bytes = u32::try_from(der.len()).ok()?;
            self.agreed.chain_bytes.push(bytes);
            if is_tls13 {
                // The certificate's extensions.
                chain.prefixed(2)?;
            }
        }
        Some(())
    }

    /// Reads the CertificateVerify (RFC 8446 section 4.4.3). A client's signature comes after the server's, and only
    /// the server's counts here.
    fn certificate_verify(&mut self, mut body: MessageReader<'_>) -> Option<()> {
        let is_tls13 = self.agreed.version == Some(TlsVersion::Tls13);
        if is_tls13 && self.agreed.signature.is_none() {
            self.agreed.signature = Some(SignatureScheme(body.code()?));
        }
        Some(())
    }

    /// Reads a ServerKeyExchange (RFC 8422 section 5.4, RFC 5246 section 7.4.3).
    fn server_key_exchange(&mut self, mut body: MessageReader<'_>) -> Option<()> {
        match self.agreed.suite?.facts()?.key_exchange {
            KeyExchange::Ecdhe => {
                // The type of the curve: named_curve.
                body.number(1)?;
                self.agreed.group = Some(Group(body.code()?));
                body.prefixed(1)?;
            }
            KeyExchange::Dhe => {
                for _ in ["p", "g", "public value"] {
                    body.prefixed(2)?;
                }
            }
            _ => return None,
        }
        if self.agreed.version == Some(TlsVersion::Tls12) {
            self.agreed.signature = Some(SignatureScheme(body.code()?));
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u8, payload: &[u8]) -> Vec<u8> {
        let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
        [&[kind, 3, 3][..], &length, payload].concat()
    }

    fn message(kind: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).unwrap().to_be_bytes();
        [&[kind], &length[1..], body].concat()
    }

    fn server_hello(suite: u16, extensions: &[&[u8]]) -> Vec<u8> {
        let extensions = extensions.concat();
        let length = u16::try_from(extensions.len()).unwrap().to_be_bytes();
        let session = [&[32][..], &[7; 32]].concat();
        let body = [
            &[3, 3][..],
            &[9; 32],
            &session,
            &suite.to_be_bytes(),
            &[0],
            &length,
            &extensions,
        ];
        message(handshake::SERVER_HELLO, &body.concat())
    }

    fn observed(bytes: &[u8]) -> Observed {
        let mut observed = Observed::default();
        // The result must not depend on the division into pieces.
        for piece in bytes.chunks(7) {
            observed.received(piece);
        }
        observed
    }

    fn encrypted() -> Vec<u8> {
        record(23, &[1; 300])
    }

    fn certificate(lengths: &[u8]) -> Vec<u8> {
        let entries = lengths.iter().flat_map(|length| {
            let der = vec![6; usize::from(*length)];
            [vec![0, 0, *length], der, vec![0, 1, 9]].concat()
        });
        let entries = entries.collect::<Vec<_>>();
        let length = u8::try_from(entries.len()).unwrap();
        message(
            handshake::CERTIFICATE,
            &[&[0, 0, 0, length][..], &entries].concat(),
        )
    }

    #[test]
    fn tls_1_3_after_a_retry_in_a_resumed_session() {
        let version = [0, 43, 0, 2, 3, 4];
        let retry = server_hello(0x1301, &[&version, &[0, 51, 0, 2, 0, 24]]);
        let share = [&[0, 51, 0, 5, 0, 24, 0, 1][..], &[4]].concat();
        let psk = [0, 41, 0, 2, 0, 0];
        let extensions: [&[u8]; 3] = [&version, &share, &psk];
        let [resumed, full] = [&extensions[..], &extensions[..2]].map(|extensions| {
            let hello = server_hello(0x1301, extensions);
            let (one, other) = hello.split_at(20);
            let records = [
                record(content::HANDSHAKE, &retry),
                record(content::CHANGE_CIPHER_SPEC, &[1]),
                record(content::HANDSHAKE, one),
                record(content::HANDSHAKE, other),
                encrypted(),
                encrypted(),
            ];
            observed(&records.concat())
        });
        let due = Negotiated {
            version: Some(TlsVersion::Tls13),
            suite: Some(CipherSuite(0x1301)),
            group: Some(Group::SECP384R1),
            resumed: true,
            ..Negotiated::default()
        };
        assert_eq!(resumed.negotiated(), due);
        assert!(resumed.bytes.len() < 2 * 300, "what is encrypted is kept");
        assert!(!full.negotiated().resumed);
    }

    #[test]
    fn tls_1_2_in_full_and_resumed() {
        let chain = [&[0, 0, 9][..], &[0, 0, 1, 5, 0, 0, 2, 6, 6]].concat();
        let curve = [&[3, 0, 29, 1, 8][..], &[4, 3, 0, 1, 5]].concat();
        let finite = [0, 1, 7, 0, 1, 2, 0, 1, 9, 8, 4, 0, 1, 5];
        let cases = [
            (0xc02b, &curve[..], Some(Group::X25519), 0x0403),
            (0x009e, &finite, None, 0x0804),
        ];
        for (suite, exchange, group, scheme) in cases {
            let flight = [
                server_hello(suite, &[]),
                message(handshake::CERTIFICATE, &chain),
                message(handshake::SERVER_KEY_EXCHANGE, exchange),
                message(14, &[]),
            ];
            let full = observed(&record(content::HANDSHAKE, &flight.concat())).negotiated();
            let due = Negotiated {
                version: Some(TlsVersion::Tls12),
                suite: Some(CipherSuite(suite)),
                group,
                signature: Some(SignatureScheme(scheme)),
                chain_bytes: vec![1, 2],
                ..Negotiated::default()
            };
            assert_eq!(full, due);
        }
        let resumed = [
            record(content::HANDSHAKE, &server_hello(0xc02b, &[])),
            record(content::CHANGE_CIPHER_SPEC, &[1]),
            // An encrypted message, with arbitrary content.
            record(content::HANDSHAKE, &message(handshake::CERTIFICATE, &chain)),
        ];
        let resumed = observed(&resumed.concat()).negotiated();
        assert!(resumed.resumed && resumed.chain_bytes.is_empty());
        assert_eq!(resumed.group, None);
    }

    #[test]
    fn in_plain_messages_there_is_more_of_tls_1_3() {
        let extensions: &[&[u8]] = &[&[0, 43, 0, 2, 3, 4], &[0, 51, 0, 5, 0, 24, 0, 1, 4]];
        let psk: &[u8] = &[0, 41, 0, 2, 0, 0];
        let protocol = [0, 16, 0, 5, 0, 3, 2, b'h', b'2'];
        let encrypted = message(
            handshake::ENCRYPTED_EXTENSIONS,
            &[&[0, 9][..], &protocol].concat(),
        );
        let full = [
            // The substitute for the first ClientHello, and the second ClientHello.
            message(254, &[5; 32]),
            server_hello(0x1301, &[extensions[0], &[0, 51, 0, 2, 0, 24]]),
            message(1, &[5; 40]),
            server_hello(0x1301, extensions),
            encrypted.clone(),
            certificate(&[3, 4]),
            message(handshake::CERTIFICATE_VERIFY, &[4, 3]),
            message(20, &[5; 32]),
            // The client's messages.
            certificate(&[7]),
            message(handshake::CERTIFICATE_VERIFY, &[8, 4]),
        ];
        let due = Negotiated {
            ech: None,
            early_data: None,
            version: Some(TlsVersion::Tls13),
            suite: Some(CipherSuite(0x1301)),
            group: Some(Group::SECP384R1),
            signature: Some(SignatureScheme(0x0403)),
            alpn: Some("h2".to_owned()),
            resumed: false,
            chain_bytes: vec![3, 4],
        };
        assert_eq!(Observed::in_messages(&full.concat()), due);
        let hello = server_hello(0x1301, &[extensions[0], extensions[1], psk]);
        let resumed = Negotiated {
            signature: None,
            resumed: true,
            chain_bytes: Vec::new(),
            ..due
        };
        assert_eq!(Observed::in_messages(&[hello, encrypted].concat()), resumed);
        let hello = server_hello(0xc02b, &[&protocol]);
        let resumed = Observed::in_messages(&[hello, message(20, &[5; 12])].concat());
        assert!(resumed.resumed);
        assert_eq!(resumed.alpn.as_deref(), Some("h2"));
        assert_eq!(Observed::in_messages(&[]), Negotiated::default());
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        let hello = record(content::HANDSHAKE, &server_hello(0x1301, &[&[0, 43, 0, 9]]));
        for end in 0..hello.len() {
            let seen = observed(&hello[..end]).negotiated();
            assert_eq!(seen, Negotiated::default(), "{end} bytes");
        }
        assert_eq!(
            observed(b"HTTP/1.1 400 ").negotiated(),
            Negotiated::default()
        );
    }
}
