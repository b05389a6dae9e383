//! The client's side of a TLS 1.3 handshake after the ServerHello (RFC 8446).

use netbench_model::tls::TlsVersion;

use super::{
    ClientIdentity,
    crypto::{Hash, Protection13, to_sign},
};
use crate::codec::{
    CertificateRequest, Extension, Messages, Reader, Record, ServerHello, certificate13,
    compression::{CompressedCertificate, DecompressError},
    content, extension, message, messages,
};

/// The maximum length of one record's contents (RFC 8446 section 5.1).
const LONGEST_RECORD: usize = 16 * 1024;

/// The contents of the server's encrypted flight.
#[derive(Debug, Clone, Default)]
pub(crate) struct Encrypted13 {
    pub(crate) extensions: Vec<Extension>,
    /// Certificates, the leaf first, with their extensions.
    pub(crate) certificates: messages::Entries,
    /// The compression of the certificates, if the server compressed them.
    pub(crate) compression: Option<Compression>,
    pub(crate) signature: Option<u16>,
    pub(crate) certificate_request: Option<CertificateRequest>,
    pub(crate) is_done: bool,
    pub(crate) alert: Option<u8>,
}

/// The compression of a server's Certificate message.
#[derive(Debug, Clone)]
pub(crate) struct Compression {
    pub(crate) algorithm: u16,
    /// The number of bytes of the compressed message.
    pub(crate) compressed: usize,
    /// The number of bytes of the message, as stated.
    pub(crate) length: u32,
    pub(crate) fault: Option<DecompressError>,
}

impl Encrypted13 {
    pub(crate) fn extension(&self, code: u16) -> Option<&[u8]> {
        messages::body_of(&self.extensions, code)
    }

    /// Returns an extension of the leaf certificate.
    pub(crate) fn leaf_extension(&self, code: u16) -> Option<&[u8]> {
        let (_, extensions) = self.certificates.first()?;
        messages::body_of(extensions, code)
    }

    /// Processes a message of the server's flight. Returns `None` if it cannot be read.
    fn message(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        match kind {
            8 => self.extensions = messages::extensions(Reader::new(body).vec16()?)?,
            11 => self.certificates = messages::certificate_entries(body)?,
            13 => self.certificate_request = Some(CertificateRequest::parse13(body)?),
            15 => self.signature = Reader::new(body).u16(),
            20 => self.is_done = true,
            25 => self.compressed(&CompressedCertificate::parse(body)?)?,
            _ => {}
        }
        Some(())
    }

    /// Processes a compressed Certificate message. A message that cannot be decompressed does not end the flight.
    fn compressed(&mut self, message: &CompressedCertificate<'_>) -> Option<()> {
        let body = message.decompress();
        self.compression = Some(Compression {
            algorithm: message.algorithm,
            compressed: message.compressed.len(),
            length: message.length,
            fault: body.as_ref().err().cloned(),
        });
        match body {
            Ok(body) => self.message(11, &body),
            Err(_) => Some(()),
        }
    }

    /// Returns the groups that the server states.
    pub(crate) fn stated_groups(&self) -> Option<Vec<u16>> {
        Reader::new(Reader::new(self.extension(extension::SUPPORTED_GROUPS)?).vec16()?).u16s()
    }
}

/// A NewSessionTicket message (RFC 8446 section 4.6.1).
struct NewTicket<'a> {
    age_add: u32,
    nonce: &'a [u8],
    ticket: &'a [u8],
    early_data_bytes: u32,
}

impl<'a> NewTicket<'a> {
    fn parse(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        // The lifetime.
        reader.u32()?;
        let age_add = reader.u32()?;
        let nonce = reader.vec8()?;
        let ticket = reader.vec16()?;
        let extensions = messages::extensions(reader.vec16()?)?;
        let early = messages::body_of(&extensions, extension::EARLY_DATA);
        let early = early.and_then(|body| Reader::new(body).u32());
        Some(Self {
            age_add,
            nonce,
            ticket,
            early_data_bytes: early.unwrap_or(0),
        })
    }
}

/// Parses messages as they are inside the encryption, until one cannot be read.
pub(crate) fn parse_message13(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let mut encrypted = Encrypted13::default();
    while let (Some(kind), Some(body)) = (reader.u8(), reader.vec24()) {
        let read = match kind {
            4 => NewTicket::parse(body).map(|_| ()),
            _ => encrypted.message(kind, body),
        };
        if read.is_none() {
            return;
        }
        encrypted.stated_groups();
    }
}

/// The data with which a later connection resumes this one.
#[derive(Debug, Clone)]
pub(crate) struct Resumption13 {
    pub(crate) suite: u16,
    pub(crate) psk: Vec<u8>,
    pub(crate) ticket: Vec<u8>,
    pub(crate) age_add: u32,
    pub(crate) early_data_bytes: u32,
}

/// A handshake of TLS 1.3 in progress.
pub(crate) struct Session13 {
    suite: u16,
    hash: Hash,
    transcript: Vec<u8>,
    handshake_secret: Vec<u8>,
    server: Protection13,
    client: Protection13,
    resumption_secret: Vec<u8>,
    joined: Messages,
    pub(crate) encrypted: Encrypted13,
    pub(crate) tickets: Vec<Resumption13>,
}

impl Session13 {
    /// Starts the key schedule from all handshake messages before the ServerHello, from that message, and from the shared
    /// secret of the key exchange.
    pub(crate) fn new(
        before: &[u8],
        server_hello: &[u8],
        hello: &ServerHello,
        shared: &[u8],
    ) -> Option<Self> {
        let hash = Hash::of(hello.suite);
        let transcript = [before, server_hello].concat();
        let handshake_secret = hash.handshake_secret(shared);
        let so_far = hash.of_bytes(&transcript);
        let [client, server] = Protection13::pair(hello.suite, &handshake_secret, "hs", &so_far)?;
        Some(Self {
            suite: hello.suite,
            hash,
            transcript,
            server,
            client,
            handshake_secret,
            resumption_secret: Vec::new(),
            joined: Messages::default(),
            encrypted: Encrypted13::default(),
            tickets: Vec::new(),
        })
    }

    /// Processes a record. Returns the application bytes that it carries, or `None` if it cannot be read.
    pub(crate) fn take(&mut self, record: &Record) -> Option<Vec<u8>> {
        match record.content {
            content::CHANGE_CIPHER_SPEC => return Some(Vec::new()),
            content::ALERT => {
                self.encrypted.alert = record.payload.get(1).copied();
                return Some(Vec::new());
            }
            content::APPLICATION_DATA => {}
            _ => return None,
        }
        let (inner, plain) = self.server.open(&record.payload)?;
        match inner {
            content::APPLICATION_DATA => Some(plain),
            content::ALERT => {
                self.encrypted.alert = plain.get(1).copied();
                Some(Vec::new())
            }
            content::HANDSHAKE => {
                self.joined.push(&plain);
                while let Some(message) = self.joined.next_message().ok()? {
                    self.message(message.kind, message.body())?;
                    if message.kind != 4 {
                        self.transcript.extend(message.whole);
                    }
                }
                Some(Vec::new())
            }
            _ => None,
        }
    }

    /// Returns the client's last flight: a certificate if one was requested, empty if there is none, and Finished.
    pub(crate) fn finish(&mut self, identity: Option<&ClientIdentity>) -> Option<Vec<u8>> {
        let at_server_finished = self.hash.of_bytes(&self.transcript);
        // For middleboxes (RFC 8446 appendix D.4).
        let mut flight = vec![content::CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1];
        if let Some(asked) = self.encrypted.certificate_request.take() {
            let chain = identity.map_or(&[][..], ClientIdentity::chain);
            let shown = certificate13(&asked.context, chain, &[]);
            self.transcript.extend_from_slice(&shown);
            let mut sent = shown;
            if let Some(identity) = identity {
                let signed = to_sign("client", &self.hash.of_bytes(&self.transcript));
                let proof = identity.verify(&asked.schemes, TlsVersion::Tls13, &signed)?;
                self.transcript.extend_from_slice(&proof);
                sent.extend(proof);
            }
            for part in sent.chunks(LONGEST_RECORD) {
                flight.extend(self.client.seal(content::HANDSHAKE, part)?);
            }
            self.encrypted.certificate_request = Some(asked);
        }
        let finished = message(20, &self.client.finished(&self.transcript));
        flight.extend(self.client.seal(content::HANDSHAKE, &finished)?);
        self.transcript.extend(finished);

        let main = self.hash.main_secret(&self.handshake_secret);
        let pair = Protection13::pair(self.suite, &main, "ap", &at_server_finished);
        [self.client, self.server] = pair?;
        let so_far = self.hash.of_bytes(&self.transcript);
        self.resumption_secret = self.hash.derive(&main, "res master", &so_far);
        Some(flight)
    }

    /// Encrypts a record of this content type.
    pub(crate) fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        self.client.seal(content, plain)
    }

    fn message(&mut self, kind: u8, body: &[u8]) -> Option<()> {
        match kind {
            4 => {
                let ticket = NewTicket::parse(body)?;
                let length = self.hash.length();
                self.tickets.push(Resumption13 {
                    suite: self.suite,
                    psk: self.hash.expand_label(
                        &self.resumption_secret,
                        "resumption",
                        ticket.nonce,
                        length,
                    ),
                    ticket: ticket.ticket.to_vec(),
                    age_add: ticket.age_add,
                    early_data_bytes: ticket.early_data_bytes,
                });
            }
            _ => self.encrypted.message(kind, body)?,
        }
        Some(())
    }
}

/// Returns the binder of a hello whose last extension is a `pre_shared_key` with one identity and one binder of
/// this length (RFC 8446 section 4.2.11.2).
pub(crate) fn binder(session: &Resumption13, hello: &[u8]) -> Option<Vec<u8>> {
    let hash = Hash::of(session.suite);
    // The list of binders: its length, and the length of its only binder.
    let partial = hello.get(..hello.len().checked_sub(hash.length() + 3)?)?;
    let early = hash.extract(&[], &session.psk);
    let key = hash.derive(&early, "res binder", &hash.of_bytes(&[]));
    Some(hash.finished(&key, partial))
}
