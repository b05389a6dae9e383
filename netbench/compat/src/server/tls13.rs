//! The server's side of TLS 1.3 (RFC 8446).

use netbench_model::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_scan::{
    codec::{
        Message, Messages, ServerHello, certificate_verify, certificate13, extension as code,
        message, message_type, protocol_list, put_extension, put_vec8, put_vec16, vec16,
    },
    crypto::{Hash, Protection13, to_sign},
};

use super::{
    Served, Server, Session, Shown, compression,
    ech::{Accepted, EchOutcome, EchViolation},
    exchange,
    hello::{self, Hello, alert, alert_of, retry_request},
    wire::{Broken, Wire, content},
};
use crate::{
    case::ClientCertificate,
    ech::{ENCRYPTED_CLIENT_HELLO, EchFlaw},
};

/// A finished handshake.
pub(super) struct Session13<'a> {
    wire: &'a mut Wire,
    suite: u16,
    hash: Hash,
    transcript: Vec<u8>,
    read: Protection13,
    write: Protection13,
    /// Partly read handshake messages.
    pending: Messages,
    record_bytes: usize,
    /// Whether early data is skipped, until the first other record.
    skips_early_data: bool,
}

/// A first ClientHello, and the one that was encrypted in it.
pub(super) struct Received {
    pub(super) outer: Hello,
    pub(super) accepted: Option<Accepted>,
    pub(super) ech: EchOutcome,
}

impl Received {
    /// Returns the hello that the handshake is about.
    fn hello(&self) -> &Hello {
        let accepted = self.accepted.as_ref();
        accepted.map_or(&self.outer, |accepted| &accepted.inner)
    }
}

/// The server's choices from a ClientHello.
struct Chosen {
    suite: CipherSuite,
    group: Group,
    scheme: SignatureScheme,
    alpn: Option<String>,
}

/// The length of a handshake message's type and length.
const HANDSHAKE_HEADER: usize = 4;

/// The maximum length of the contents of a record of TLS 1.3.
const LONGEST_RECORD: usize = 1 << 14;

impl<'a> Session13<'a> {
    /// Performs the handshake.
    pub(super) fn handshake(
        wire: &'a mut Wire,
        server: &Server,
        mut received: Received,
        served: &mut Served,
    ) -> Result<(Self, Option<String>), Broken> {
        let chosen = choose(server, received.hello()).map_err(|broken| wire.refuse(broken))?;
        let hash = Hash::of(chosen.suite.0);
        let mut transcript = retried(wire, server, &mut received, &chosen, served)?;
        let hello = received.hello();
        let shares = hello.offer.shares();
        let share = shares.iter().find(|(code, _)| *code == chosen.group.0);
        let Some((public, shared)) =
            share.and_then(|(_, theirs)| exchange::answer(chosen.group, theirs))
        else {
            return Err(Broken::Cannot(format!(
                "no key exchange with {}",
                chosen.group
            )));
        };
        transcript.extend(&hello.message);
        let mut server_hello = server_hello(server, hello, &chosen, &public)?;
        if let Some(accepted) = &received.accepted {
            let ech = server.ech.as_ref();
            served.is_ech_accepted = !ech.is_some_and(|ech| ech.has(EchFlaw::ConfirmedOnce));
            if served.is_ech_accepted {
                accepted.confirm(hash, &transcript, &mut server_hello);
            }
        }
        transcript.extend(&server_hello);
        wire.send_plain(content::HANDSHAKE, &server_hello)?;
        if !hello.offer.session_id.is_empty() {
            wire.send_plain(content::CHANGE_CIPHER_SPEC, &[1])?;
        }
        let handshake_secret = hash.handshake_secret(&shared);
        let so_far = hash.of_bytes(&transcript);
        let pair = Protection13::pair(chosen.suite.0, &handshake_secret, "hs", &so_far);
        let [read, write] =
            pair.ok_or_else(|| Broken::Cannot(format!("no records with {}", chosen.suite)))?;
        let mut session = Self {
            wire,
            suite: chosen.suite.0,
            hash,
            transcript,
            read,
            write,
            pending: Messages::default(),
            record_bytes: server.spec.record_bytes.unwrap_or(LONGEST_RECORD),
            skips_early_data: served.is_offered_early_data,
        };
        let retry_configs = server.ech.as_ref();
        let retry_configs = retry_configs.and_then(|ech| ech.retry_configs(received.ech));
        session.send_flight(server, hello, &chosen, retry_configs.as_deref())?;
        served.retry_configs = retry_configs;
        served.certificate = server.chain.sent.first().cloned();
        session.finish(server, &handshake_secret, received.ech, served)?;
        Ok((session, chosen.alpn))
    }

    fn send_flight(
        &mut self,
        server: &Server,
        hello: &Hello,
        chosen: &Chosen,
        retry_configs: Option<&[u8]>,
    ) -> Result<(), Broken> {
        let mut flight = encrypted_extensions(chosen.alpn.as_deref(), retry_configs);
        if server.spec.client_certificate != ClientCertificate::NotAsked {
            flight.extend(certificate_request());
        }
        let wants_staple = hello.extension(code::STATUS_REQUEST).is_some();
        let mut of_leaf = Vec::new();
        if let Some(response) = server.chain.staple.as_ref().filter(|_| wants_staple) {
            put_extension(&mut of_leaf, code::STATUS_REQUEST, &super::status(response));
        }
        flight.extend(certificate(server, hello, &of_leaf));
        self.transcript.extend(&flight);
        let signed = to_sign("server", &self.digest());
        let signature = server.chain.key.sign_handshake(chosen.scheme, &signed)?;
        let verify = certificate_verify(chosen.scheme.0, &signature);
        self.transcript.extend(&verify);
        flight.extend(verify);
        let finished = message(20, &self.write.finished(&self.transcript));
        self.transcript.extend(&finished);
        flight.extend(finished);
        self.send(content::HANDSHAKE, &flight)
    }

    /// Reads the client's flight, and switches to the application traffic keys.
    fn finish(
        &mut self,
        server: &Server,
        handshake_secret: &[u8],
        ech: EchOutcome,
        served: &mut Served,
    ) -> Result<(), Broken> {
        let main = self.hash.main_secret(handshake_secret);
        let application = Protection13::pair(self.suite, &main, "ap", &self.digest());
        let known = server.ech.as_ref();
        let forbids_certificate = known.is_some_and(|it| it.forbids_certificate(ech));
        let mut shown = Shown::Nothing;
        loop {
            let message = self.handshake_message()?;
            let body = message.body();
            match message.kind {
                11 => {
                    // The context is empty.
                    let list = body.get(1..).unwrap_or_default();
                    shown = Shown::certificate(server, list).map_err(|why| self.refuse(why))?;
                    if forbids_certificate && shown == Shown::Certificate {
                        served.ech_violation = Some(EchViolation::CertificateShown);
                    }
                }
                15 => {
                    let signed = to_sign("client", &self.digest());
                    let verified = shown.verify(server, body, &signed);
                    shown = verified.map_err(|why| self.refuse(why))?;
                }
                20 if body != self.read.finished(&self.transcript) => {
                    return Err(self.refuse(Broken::Refused(alert::DECRYPT_ERROR)));
                }
                _ => {}
            }
            let kind = message.kind;
            self.transcript.extend(message.whole);
            if kind == 20 {
                break;
            }
        }
        served.is_finished = true;
        [self.read, self.write] = application.ok_or(Broken::Unreadable)?;
        // A client that shows a certificate otherwise shows none to a server that rejected ECH.
        if !forbids_certificate {
            shown
                .suffices(server, alert::CERTIFICATE_REQUIRED)
                .map_err(|why| self.refuse(why))?;
        }
        for number in 0..server.spec.tickets {
            let ticket = ticket(number, server.spec.early_data_bytes);
            self.send(content::HANDSHAKE, &ticket)?;
        }
        Ok(())
    }

    /// Sends KeyUpdate messages that each request one.
    pub(super) fn update_keys(&mut self, times: u16) -> Result<(), Broken> {
        for _ in 0..times {
            self.send(content::HANDSHAKE, &message(message_type::KEY_UPDATE, &[1]))?;
            self.write = self.write.updated().ok_or(Broken::Unreadable)?;
        }
        Ok(())
    }

    fn record(&mut self) -> Result<(u8, Vec<u8>), Broken> {
        loop {
            let (kind, payload) = self.wire.record()?;
            let (kind, plain) = match kind {
                content::CHANGE_CIPHER_SPEC => continue,
                content::ALERT => return Err(alert_of(&payload)),
                content::APPLICATION_DATA => match self.read.open(&payload) {
                    Some(opened) => opened,
                    // Early data is refused by skipping it (RFC 8446 section 4.2.10).
                    None if self.skips_early_data => continue,
                    None => return Err(Broken::Unreadable),
                },
                _ => return Err(Broken::Unreadable),
            };
            self.skips_early_data = false;
            if kind == content::ALERT {
                return Err(alert_of(&plain));
            }
            return Ok((kind, plain));
        }
    }

    fn digest(&self) -> Vec<u8> {
        self.hash.of_bytes(&self.transcript)
    }

    fn handshake_message(&mut self) -> Result<Message, Broken> {
        loop {
            if let Some(found) = self.pending.next_message()? {
                return Ok(found);
            }
            let (kind, plain) = self.record()?;
            if kind != content::HANDSHAKE {
                return Err(Broken::Unreadable);
            }
            self.pending.push(&plain);
        }
    }
}

impl Session for Session13<'_> {
    fn data(&mut self) -> Result<Vec<u8>, Broken> {
        loop {
            match self.record()? {
                (content::APPLICATION_DATA, data) => return Ok(data),
                (content::HANDSHAKE, bytes) => {
                    self.pending.push(&bytes);
                    while let Some(message) = self.pending.next_message()? {
                        if message.kind == message_type::KEY_UPDATE {
                            self.read = self.read.updated().ok_or(Broken::Unreadable)?;
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn send(&mut self, kind: u8, bytes: &[u8]) -> Result<(), Broken> {
        let mut records = Vec::new();
        for piece in bytes.chunks(self.record_bytes.clamp(1, LONGEST_RECORD)) {
            records.extend(self.write.seal(kind, piece).ok_or(Broken::Unreadable)?);
        }
        self.wire.send(&records)
    }

    fn renegotiate(&mut self, _: &Server, _: &mut Served) -> Result<(), Broken> {
        Err(Broken::Cannot("TLS 1.3 has no renegotiation".to_owned()))
    }

    fn wire(&mut self) -> &mut Wire {
        self.wire
    }
}

fn choose(server: &Server, hello: &Hello) -> Result<Chosen, Broken> {
    let has_rsa_key = server.chain.key.rsa().is_some();
    let suite = hello.suite(&server.spec, TlsVersion::Tls13, has_rsa_key)?;
    let group = hello.group(&server.spec)?;
    let offered = hello.offer.signatures();
    let schemes = server.chain.key.schemes().iter();
    // RSASSA-PKCS1-v1_5 is only for certificates (RFC 8446 section 4.2.3).
    let mut schemes = schemes.filter(|scheme| **scheme != SignatureScheme::RSA_PKCS1_SHA256);
    let common = schemes.find(|scheme| offered.contains(&scheme.0));
    Ok(Chosen {
        suite,
        group,
        scheme: *common.ok_or(Broken::Refused(alert::HANDSHAKE_FAILURE))?,
        alpn: hello.alpn(&server.spec)?,
    })
}

/// Asks for a hello with a share of the chosen group, if the first has none or the server always retries. Returns the part of
/// the transcript that precedes the last hello.
fn retried(
    wire: &mut Wire,
    server: &Server,
    received: &mut Received,
    chosen: &Chosen,
    served: &mut Served,
) -> Result<Vec<u8>, Broken> {
    let hello = received.hello();
    let has_share = hello
        .offer
        .shares()
        .iter()
        .any(|(code, _)| *code == chosen.group.0);
    if has_share && !server.spec.always_retries {
        return Ok(Vec::new());
    }
    let hash = Hash::of(chosen.suite.0);
    let ech = server.ech.as_ref();
    let signal = ech.and_then(|ech| ech.retry_signal(received.ech));
    let signal = signal.map(|signal| (ENCRYPTED_CLIENT_HELLO, signal));
    let mut request = retry_request(hello, chosen.suite, chosen.group, signal);
    let mut transcript = message(254, &hash.of_bytes(&hello.message));
    if let Some(accepted) = &received.accepted {
        accepted.confirm_retry(hash, &transcript, &mut request);
    }
    transcript.extend(&request);
    wire.send_plain(content::HANDSHAKE, &request)?;
    received.outer = Hello::read(wire)?;
    if let (Some(ech), Some(accepted)) = (ech, &mut received.accepted) {
        let opened = ech.open_second(accepted, &received.outer);
        opened.map_err(|violation| {
            served.ech_violation = Some(violation);
            wire.refuse(violation.refused())
        })?;
    }
    Ok(transcript)
}

fn server_hello(
    server: &Server,
    hello: &Hello,
    chosen: &Chosen,
    public: &[u8],
) -> Result<Vec<u8>, Broken> {
    let mut share = Vec::new();
    put_extension(&mut share, chosen.group.0, public);
    let version = TlsVersion::Tls13;
    let random = super::random(server.spec.downgrade_sentinel)?;
    let answer = ServerHello {
        extensions: vec![
            (
                code::SUPPORTED_VERSIONS,
                version.code().to_be_bytes().to_vec(),
            ),
            (code::KEY_SHARE, share),
        ],
        ..hello::server_hello(version, random, &hello.offer.session_id, chosen.suite)
    };
    Ok(answer.message())
}

fn encrypted_extensions(alpn: Option<&str>, retry_configs: Option<&[u8]>) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(alpn) = alpn {
        let protocols = protocol_list([alpn.as_bytes()]);
        put_extension(&mut extensions, code::ALPN, &protocols);
    }
    if let Some(configs) = retry_configs {
        put_extension(&mut extensions, ENCRYPTED_CLIENT_HELLO, configs);
    }
    message(8, &vec16(&extensions))
}

/// Returns the server's certificates, compressed if the case has that for the client.
fn certificate(server: &Server, hello: &Hello, of_leaf: &[u8]) -> Vec<u8> {
    let plain = certificate13(&[], &server.chain.sent, of_leaf);
    let Some(spec) = server.spec.compression else {
        return plain;
    };
    match compression::choose(spec.algorithm, hello) {
        Ok(chosen) => compression::compressed_certificate(spec, chosen, &plain[HANDSHAKE_HEADER..]),
        Err(_) => plain,
    }
}

fn certificate_request() -> Vec<u8> {
    let mut extensions = Vec::new();
    let schemes = super::client_schemes();
    put_extension(&mut extensions, code::SIGNATURE_ALGORITHMS, &schemes);
    let mut body = vec![0];
    put_vec16(&mut body, &extensions);
    message(13, &body)
}

/// Returns a ticket that this server will not accept later.
fn ticket(number: u8, early_data_bytes: Option<u32>) -> Vec<u8> {
    let mut extensions = Vec::new();
    if let Some(most) = early_data_bytes {
        put_extension(&mut extensions, code::EARLY_DATA, &most.to_be_bytes());
    }
    let mut body = 7200_u32.to_be_bytes().to_vec();
    body.extend([number, 1, 2, 3]);
    put_vec8(&mut body, &[number]);
    put_vec16(&mut body, &[number; 32]);
    put_vec16(&mut body, &extensions);
    message(4, &body)
}
