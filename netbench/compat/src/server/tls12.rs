//! The server's side of TLS 1.0 (RFC 2246), 1.1 (RFC 4346) and 1.2 (RFC 5246).

use std::fmt::Display;

use netbench_model::{
    CipherSuite, Group, SignatureScheme, TlsVersion,
    tls::{Authentication, KeyExchange},
};
use netbench_scan::{
    PrivateShare,
    codec::{
        Message, Messages, Reader, ServerHello, certificate12, extension as code, message,
        protocol_list, put_u16, put_vec8, put_vec16, vec8,
    },
};

use super::{
    Served, Server, Session, Shown,
    exchange::FiniteField,
    hashing::Hashing,
    hello::{Hello, alert, alert_of, exchange_of, server_hello},
    protection12::{Pair, Protection},
    wire::{Broken, Wire, content},
};
use crate::case::ClientCertificate;

/// The maximum length of a record's contents.
const LONGEST_RECORD: usize = 1 << 14;

/// A connection before, during and after its handshakes.
pub(super) struct Session12<'a> {
    wire: &'a mut Wire,
    version: TlsVersion,
    read: Option<Protection>,
    write: Option<Protection>,
    /// Partly read handshake messages.
    pending: Messages,
    record_bytes: usize,
    /// The `verify_data` of both sides, which a renegotiation repeats (RFC 5746).
    verify_data: Option<[Vec<u8>; 2]>,
}

/// The server's choices from a ClientHello.
struct Chosen {
    version: TlsVersion,
    suite: CipherSuite,
    exchange: KeyExchange,
    alpn: Option<String>,
    random: [u8; 32],
}

impl Chosen {
    /// Returns whether the server shows a certificate: an anonymous suite has none (RFC 5246 section 7.4.2).
    fn is_authenticated(&self) -> bool {
        let suite = self.suite.facts();
        suite.is_none_or(|suite| suite.authentication != Authentication::Anonymous)
    }
}

/// The server's half of the key exchange.
enum Half {
    Curve(PrivateShare, Group),
    Field(FiniteField),
    Rsa,
}

impl<'a> Session12<'a> {
    pub(super) fn new(wire: &'a mut Wire, version: TlsVersion) -> Self {
        Self {
            wire,
            version,
            read: None,
            write: None,
            pending: Messages::default(),
            record_bytes: LONGEST_RECORD,
            verify_data: None,
        }
    }

    /// Performs a handshake: the first, or another within the connection.
    pub(super) fn handshake(
        &mut self,
        server: &Server,
        hello: &Hello,
        served: &mut Served,
    ) -> Result<Option<String>, Broken> {
        self.record_bytes = server.spec.record_bytes.unwrap_or(LONGEST_RECORD);
        let made = self.try_handshake(server, hello, served);
        let alpn = made.map_err(|broken| self.refuse(broken))?;
        served.is_finished = true;
        Ok(alpn)
    }

    fn try_handshake(
        &mut self,
        server: &Server,
        hello: &Hello,
        served: &mut Served,
    ) -> Result<Option<String>, Broken> {
        let chosen = choose(server, hello, self.version)?;
        let mut transcript = hello.message.clone();
        let mut flight = self.server_hello(server, hello, &chosen);
        if chosen.is_authenticated() {
            flight.extend(certificate12(&server.chain.sent));
        }
        let wants_staple = hello.extension(code::STATUS_REQUEST).is_some();
        if let Some(response) = server.chain.staple.as_ref().filter(|_| wants_staple) {
            flight.extend(message(22, &super::status(response)));
        }
        let half = half(server, hello, &chosen)?;
        flight.extend(key_exchange(server, hello, &chosen, &half)?);
        if server.spec.client_certificate != ClientCertificate::NotAsked {
            flight.extend(certificate_request(self.version));
        }
        flight.extend(message(14, &[]));
        transcript.extend(&flight);
        self.send(content::HANDSHAKE, &flight)?;
        served.certificate = server.chain.sent.first().cloned();
        self.finish(server, hello, &chosen, &half, transcript)?;
        Ok(chosen.alpn)
    }

    fn server_hello(&self, server: &Server, hello: &Hello, chosen: &Chosen) -> Vec<u8> {
        let spec = &server.spec;
        let mut extensions = Vec::new();
        if spec.secure_renegotiation {
            let data = self.verify_data.as_ref().map(|both| both.concat());
            let data = vec8(&data.unwrap_or_default());
            extensions.push((code::RENEGOTIATION_INFO, data));
        }
        let is_elliptic = chosen.exchange == KeyExchange::Ecdhe;
        let has_staple = server.chain.staple.is_some();
        let answers = [
            (
                code::EXTENDED_MASTER_SECRET,
                spec.extended_master_secret,
                vec![],
            ),
            (code::EC_POINT_FORMATS, is_elliptic, vec![1, 0]),
            (code::STATUS_REQUEST, has_staple, vec![]),
        ];
        for (code, is_there, body) in answers {
            if is_there && hello.extension(code).is_some() {
                extensions.push((code, body));
            }
        }
        if let Some(alpn) = &chosen.alpn {
            extensions.push((code::ALPN, protocol_list([alpn.as_bytes()])));
        }
        let answer = ServerHello {
            extensions,
            ..server_hello(chosen.version, chosen.random, &[], chosen.suite)
        };
        answer.message()
    }

    /// Reads the client's flight, and sends the end of the handshake.
    fn finish(
        &mut self,
        server: &Server,
        hello: &Hello,
        chosen: &Chosen,
        half: &Half,
        mut transcript: Vec<u8>,
    ) -> Result<(), Broken> {
        let hash = Hashing::of(self.version, chosen.suite);
        let mut shown = Shown::Nothing;
        let secret = loop {
            let message = self.handshake_message()?;
            transcript.extend(&message.whole);
            match message.kind {
                11 => shown = Shown::certificate(server, message.body())?,
                16 => {
                    break half
                        .agree(server, message.body())
                        .ok_or(Broken::Unreadable)?;
                }
                _ => return Err(Broken::Unreadable),
            }
        };
        let extended = hello.extension(code::EXTENDED_MASTER_SECRET).is_some()
            && server.spec.extended_master_secret;
        let main = if extended {
            let so_far = hash.of_transcript(&transcript);
            hash.prf(&secret, "extended master secret", &so_far, 48)
        } else {
            let seed = [hello.offer.random, chosen.random].concat();
            hash.prf(&secret, "master secret", &seed, 48)
        };
        let randoms = [&hello.offer.random, &chosen.random];
        let pair = Pair::new(self.version, chosen.suite, hash, &main, randoms);
        let pair =
            pair.ok_or_else(|| Broken::Cannot(format!("no records with {}", chosen.suite)))?;
        let mut client = Some(pair.client);
        let client_data = loop {
            let Some(message) = self.pending.next_message()? else {
                match self.any_record()? {
                    (content::CHANGE_CIPHER_SPEC, _) => {
                        self.read = client.take().or(self.read.take());
                    }
                    (_, payload) => self.pending.push(&payload),
                }
                continue;
            };
            if message.kind == 15 {
                if self.version < TlsVersion::Tls12 {
                    let what = "no client certificate can be verified before TLS 1.2";
                    return Err(Broken::Cannot(what.to_owned()));
                }
                shown = shown.verify(server, message.body(), &transcript)?;
            }
            if message.kind == 20 {
                let so_far = hash.of_transcript(&transcript);
                let due = hash.prf(&main, "client finished", &so_far, 12);
                if message.body() != due || client.is_some() {
                    return Err(Broken::Refused(alert::DECRYPT_ERROR));
                }
                shown.suffices(server, alert::HANDSHAKE_FAILURE)?;
                transcript.extend(message.whole);
                break due;
            }
            transcript.extend(message.whole);
        };
        self.send(content::CHANGE_CIPHER_SPEC, &[1])?;
        self.write = Some(pair.server);
        let so_far = hash.of_transcript(&transcript);
        let own_data = hash.prf(&main, "server finished", &so_far, 12);
        self.send(content::HANDSHAKE, &message(20, &own_data))?;
        self.verify_data = Some([client_data, own_data]);
        Ok(())
    }

    fn any_record(&mut self) -> Result<(u8, Vec<u8>), Broken> {
        let (kind, payload) = self.wire.record()?;
        let plain = match &mut self.read {
            Some(read) => read.open(kind, &payload).ok_or(Broken::Unreadable)?,
            None => payload,
        };
        if kind == content::ALERT {
            return Err(alert_of(&plain));
        }
        Ok((kind, plain))
    }

    fn handshake_message(&mut self) -> Result<Message, Broken> {
        loop {
            if let Some(found) = self.pending.next_message()? {
                return Ok(found);
            }
            match self.any_record()? {
                (content::HANDSHAKE, plain) => self.pending.push(&plain),
                // Data that the client sent before it read the request for a handshake.
                (content::APPLICATION_DATA, _) if self.verify_data.is_some() => {}
                _ => return Err(Broken::Unreadable),
            }
        }
    }
}

impl Session for Session12<'_> {
    fn data(&mut self) -> Result<Vec<u8>, Broken> {
        loop {
            if let (content::APPLICATION_DATA, data) = self.any_record()? {
                return Ok(data);
            }
        }
    }

    fn send(&mut self, kind: u8, bytes: &[u8]) -> Result<(), Broken> {
        let mut records = Vec::new();
        for piece in bytes.chunks(self.record_bytes.clamp(1, LONGEST_RECORD)) {
            match &mut self.write {
                Some(write) => records.extend(write.seal(kind, piece).ok_or(Broken::Unreadable)?),
                None => {
                    records.push(kind);
                    put_u16(&mut records, self.version.code());
                    put_vec16(&mut records, piece);
                }
            }
        }
        self.wire.send(&records)
    }

    fn renegotiate(&mut self, server: &Server, served: &mut Served) -> Result<(), Broken> {
        self.send(content::HANDSHAKE, &message(0, &[]))?;
        let message = match self.handshake_message() {
            // The client declines. IIS and others cannot answer without a renegotiation.
            Err(Broken::Alert(description)) => {
                let _ = self.alert(alert::HANDSHAKE_FAILURE);
                return Err(Broken::Alert(description));
            }
            other => other?,
        };
        let hello = Hello::of_message(message)?;
        served.is_finished = false;
        self.handshake(server, &hello, served)?;
        Ok(())
    }

    fn wire(&mut self) -> &mut Wire {
        self.wire
    }
}

impl Half {
    /// Returns the secret from a ClientKeyExchange message.
    fn agree(&self, server: &Server, body: &[u8]) -> Option<Vec<u8>> {
        let mut reader = Reader::new(body);
        match self {
            Self::Curve(share, _) => share.agree(reader.vec8()?),
            Self::Field(field) => Some(field.agree(reader.vec16()?)),
            Self::Rsa => server.chain.key.rsa()?.decrypt(reader.vec16()?),
        }
    }
}

/// Returns the server's choices from the offer.
fn choose(server: &Server, hello: &Hello, version: TlsVersion) -> Result<Chosen, Broken> {
    let has_rsa_key = server.chain.key.rsa().is_some();
    let suite = hello.suite(&server.spec, version, has_rsa_key)?;
    Ok(Chosen {
        version,
        suite,
        exchange: exchange_of(suite)
            .ok_or_else(|| Broken::Cannot(format!("no handshake with {suite}")))?,
        alpn: hello.alpn(&server.spec)?,
        random: super::random(server.spec.downgrade_sentinel)?,
    })
}

fn half(server: &Server, hello: &Hello, chosen: &Chosen) -> Result<Half, Broken> {
    match chosen.exchange {
        KeyExchange::Ecdhe => {
            let offered = hello.offer.groups();
            let group = server
                .spec
                .groups
                .iter()
                .find(|group| offered.contains(&group.0));
            let group = *group.ok_or(Broken::Refused(alert::HANDSHAKE_FAILURE))?;
            // Hybrid groups are those of TLS 1.3.
            let share = PrivateShare::new(group.0).filter(|share| !share.is_hybrid());
            let half = share.map(|share| Half::Curve(share, group));
            half.ok_or_else(|| no_exchange(group))
        }
        KeyExchange::Dhe => {
            let field = FiniteField::new(server.spec.dh_bits).map(Half::Field);
            field.ok_or_else(|| no_exchange("this finite field"))
        }
        KeyExchange::Rsa => Ok(Half::Rsa),
        _ => Err(no_exchange(chosen.suite)),
    }
}

fn no_exchange(what: impl Display) -> Broken {
    Broken::Cannot(format!("no key exchange with {what}"))
}

/// Returns the ServerKeyExchange message, if the suite has one.
fn key_exchange(
    server: &Server,
    hello: &Hello,
    chosen: &Chosen,
    half: &Half,
) -> Result<Vec<u8>, Broken> {
    let mut params = Vec::new();
    match half {
        Half::Curve(share, group) => {
            let public = share.public().map(|share| share.public);
            params.push(3);
            put_u16(&mut params, group.0);
            put_vec8(&mut params, &public.unwrap_or_default());
        }
        Half::Field(field) => {
            put_vec16(&mut params, &field.prime());
            put_vec16(&mut params, &[2]);
            put_vec16(&mut params, &field.public());
        }
        Half::Rsa => return Ok(Vec::new()),
    }
    if !chosen.is_authenticated() {
        return Ok(message(12, &params));
    }
    let key = &server.chain.key;
    let to_sign = [&hello.offer.random, chosen.random.as_slice(), &params].concat();
    if chosen.version < TlsVersion::Tls12 {
        put_vec16(&mut params, &key.sign_before_12(&to_sign)?);
        return Ok(message(12, &params));
    }
    let offered = hello.offer.signatures();
    let mut schemes = key.schemes().iter();
    let scheme = schemes.find(|scheme| offered.contains(&scheme.0));
    let scheme: SignatureScheme = *scheme.ok_or(Broken::Refused(alert::HANDSHAKE_FAILURE))?;
    let signature = key.sign_handshake(scheme, &to_sign)?;
    put_u16(&mut params, scheme.0);
    put_vec16(&mut params, &signature);
    Ok(message(12, &params))
}

fn certificate_request(version: TlsVersion) -> Vec<u8> {
    let mut body = Vec::new();
    // rsa_sign, ecdsa_sign
    put_vec8(&mut body, &[1, 64]);
    if version >= TlsVersion::Tls12 {
        body.extend(super::client_schemes());
    }
    put_vec16(&mut body, &[]);
    message(13, &body)
}
