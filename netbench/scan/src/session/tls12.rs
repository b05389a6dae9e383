//! The client's side of a TLS 1.2 handshake after the ServerHelloDone, for suites with an AEAD and with key
//! exchange on a curve or by RSA encryption (RFC 5246, 5288, 7627, 8422).

use aws_lc_rs::rsa::{Pkcs1PublicEncryptingKey, PublicEncryptingKey};

use netbench_model::tls::TlsVersion;

use super::{
    ClientIdentity, PrivateShares,
    crypto::{Hash, Protection12},
};
use crate::codec::{
    Flight, Record, certificate12, content, extension, message, put_records, put_vec8, put_vec16,
};

/// The inputs of the key derivation.
struct PreMaster {
    secret: Vec<u8>,
    /// The ClientKeyExchange message, with its header.
    message: Vec<u8>,
}

impl PreMaster {
    /// Computes the inputs for the flight's suite. Returns `None` if the suite cannot be computed here.
    fn of(flight: &Flight) -> Option<Self> {
        let mut body = Vec::new();
        let secret = if let Some(exchange) = &flight.key_exchange {
            let group = exchange.group?;
            let share = PrivateShares::new(&[group]);
            let public = share.public().pop()?;
            put_vec8(&mut body, &public.public);
            share.agree(group, &exchange.public)?
        } else {
            let mut secret = vec![3, 3];
            let mut random = [0; 46];
            aws_lc_rs::rand::fill(&mut random).ok()?;
            secret.extend(random);
            let leaf = flight.certificates.as_ref()?.first()?;
            let key = crate::x509::rsa_public_key(leaf)?;
            let key =
                Pkcs1PublicEncryptingKey::new(PublicEncryptingKey::from_der(&key).ok()?).ok()?;
            let mut room = vec![0; key.ciphertext_size()];
            put_vec16(&mut body, key.encrypt(&secret, &mut room).ok()?);
            secret
        };
        Some(Self {
            secret,
            message: message(16, &body),
        })
    }
}

/// A handshake of TLS 1.2 whose keys are derived.
pub(crate) struct Keys12 {
    hash: Hash,
    main: Vec<u8>,
    transcript: Vec<u8>,
    client: Protection12,
    server: Protection12,
    /// The data that a renegotiation must repeat (RFC 5746).
    pub(crate) verify_data: Vec<u8>,
    /// The ticket, if the server sent one before it finished.
    pub(crate) ticket: Option<Vec<u8>>,
    /// Whether the server's Finished has arrived.
    pub(crate) is_done: bool,
    pub(crate) alert: Option<u8>,
    changed: bool,
}

impl Keys12 {
    /// Derives the keys from the client's hello as a message, the server's flight, and the certificate for a
    /// request. Also returns the bytes to send.
    pub(crate) fn new(
        client_hello: &[u8],
        random: &[u8; 32],
        flight: &Flight,
        identity: Option<&ClientIdentity>,
    ) -> Option<(Self, Vec<u8>)> {
        let suite = flight.hello.suite;
        let (key_length, iv_length) = Protection12::lengths(suite)?;
        let hash = Hash::of(suite);
        let exchange = PreMaster::of(flight)?;
        let mut transcript = [client_hello, &flight.hello_message, &flight.messages].concat();
        let mut sent = Vec::new();
        let asked = flight.certificate_request.as_ref();
        if asked.is_some() {
            let shown = certificate12(identity.map_or(&[], ClientIdentity::chain));
            transcript.extend_from_slice(&shown);
            record(&mut sent, &shown);
        }
        transcript.extend_from_slice(&exchange.message);
        record(&mut sent, &exchange.message);
        let extended = flight
            .hello
            .extension(extension::EXTENDED_MASTER_SECRET)
            .is_some();
        let main = if extended {
            let so_far = hash.of_bytes(&transcript);
            hash.prf(&exchange.secret, "extended master secret", &so_far, 48)
        } else {
            let seed = [random.as_slice(), &flight.hello.random].concat();
            hash.prf(&exchange.secret, "master secret", &seed, 48)
        };
        if let (Some(asked), Some(identity)) = (asked, identity) {
            let proof = identity.verify(&asked.schemes, TlsVersion::Tls12, &transcript)?;
            transcript.extend_from_slice(&proof);
            record(&mut sent, &proof);
        }
        let seed = [flight.hello.random.as_slice(), random].concat();
        let block = hash.prf(&main, "key expansion", &seed, 2 * (key_length + iv_length));
        let (client_key, rest) = block.split_at(key_length);
        let (server_key, rest) = rest.split_at(key_length);
        let (client_iv, server_iv) = rest.split_at(iv_length);
        let mut keys = Self {
            hash,
            main,
            transcript,
            client: Protection12::new(suite, client_key, client_iv)?,
            server: Protection12::new(suite, server_key, server_iv)?,
            verify_data: Vec::new(),
            ticket: None,
            is_done: false,
            alert: None,
            changed: false,
        };
        sent.extend([content::CHANGE_CIPHER_SPEC, 3, 3, 0, 1, 1]);
        let so_far = keys.hash.of_bytes(&keys.transcript);
        keys.verify_data = keys.hash.prf(&keys.main, "client finished", &so_far, 12);
        let finished = message(20, &keys.verify_data);
        sent.extend(keys.client.seal(content::HANDSHAKE, &finished)?);
        keys.transcript.extend(finished);
        Some((keys, sent))
    }

    /// Processes a record. Returns its content type and its contents, or `None` if it cannot be read.
    pub(crate) fn take(&mut self, record: &Record) -> Option<(u8, Vec<u8>)> {
        if record.content == content::CHANGE_CIPHER_SPEC {
            self.changed = true;
            return Some((record.content, Vec::new()));
        }
        if !self.changed {
            // NewSessionTicket: a lifetime, and the ticket (RFC 5077 section 3.3).
            if record.content == content::HANDSHAKE && record.payload.first() == Some(&4) {
                let mut reader = crate::codec::Reader::new(record.payload.get(8..)?);
                self.ticket = reader.vec16().map(<[u8]>::to_vec);
            } else if record.content == content::ALERT {
                self.alert = record.payload.get(1).copied();
            }
            return Some((record.content, Vec::new()));
        }
        let plain = self.server.open(record.content, &record.payload)?;
        match record.content {
            content::HANDSHAKE if plain.first() == Some(&20) => self.is_done = true,
            content::ALERT => self.alert = plain.get(1).copied(),
            _ => {}
        }
        Some((record.content, plain))
    }

    /// Encrypts a record of this content type.
    pub(crate) fn seal(&mut self, content: u8, plain: &[u8]) -> Option<Vec<u8>> {
        self.client.seal(content, plain)
    }
}

fn record(to: &mut Vec<u8>, message: &[u8]) {
    put_records(to, 0x0303, message, usize::MAX);
}
