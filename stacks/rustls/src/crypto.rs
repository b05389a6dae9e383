//! The cryptography of handshakes and records, by the same calls as in rustls.

use std::sync::Arc;

use netbench_protocol::Material;
use netbench_tls::{Aead, FailureWord, Group, KeyType, SessionSettings, TlsVersion};
use netbench_worker::{
    KeyExchange, RECORD_DATA, RecordProtection, SIGNED, SessionError, SetupError, refused,
};
use rustls::{
    ContentType, ProtocolVersion, SignatureScheme, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{
        ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup,
        cipher::{
            AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter,
            OutboundPlainMessage,
        },
        tls13::OkmBlock,
    },
    internal::derive_traffic_key,
    sign::SigningKey,
};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer, SignatureVerificationAlgorithm, pem::PemObject,
};
use webpki::EndEntityCert;

use crate::provider::Provider;

pub(crate) fn exchange(
    provider: &dyn Provider,
    group: Group,
) -> Result<Box<dyn KeyExchange>, SetupError> {
    let held = provider.held_to(&[], &[group])?;
    let first = held.kx_groups.first().copied();
    let group = first.ok_or_else(|| SetupError::Unsupported(format!("no group {group}")))?;
    Ok(Box::new(Exchange {
        group,
        client: None,
        server: None,
        agreed: None,
    }))
}

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// A key and its certificate.
pub(crate) struct Signing {
    key: Arc<dyn SigningKey>,
    scheme: SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
}

impl Signing {
    pub(crate) fn new(
        provider: &dyn Provider,
        key: KeyType,
        material: &Material,
    ) -> Result<Self, SetupError> {
        let library = provider.by_default()?;
        let der =
            PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).map_err(refused("PEM"))?;
        let certificate = CertificateDer::from_pem_slice(material.chain_pem.as_bytes())
            .map_err(refused("PEM"))?;
        let wanted = key.schemes()[0];
        let verifiable = library.signature_verification_algorithms.mapping;
        let found = verifiable
            .iter()
            .find(|(scheme, _)| u16::from(*scheme) == wanted.0);
        let made = found.and_then(|(scheme, algorithms)| {
            let key = library.key_provider.load_private_key(der).ok()?;
            key.choose_scheme(&[*scheme])?;
            Some(Self {
                key,
                scheme: *scheme,
                certificate,
                algorithm: *algorithms.first()?,
            })
        });
        made.ok_or_else(|| SetupError::Unsupported(format!("no {wanted} in {}", provider.stack())))
    }
}

impl netbench_worker::SigningKey for Signing {
    type Error = String;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), String> {
        let signer = self.key.choose_scheme(&[self.scheme]);
        let signed = signer.ok_or("no signer")?.sign(&SIGNED);
        *signature = signed.map_err(|e| e.to_string())?;
        Ok(())
    }

    /// Verifies the signature as `rustls::crypto::verify_tls13_signature` does.
    fn verify(&self, signature: &[u8]) -> Result<bool, String> {
        EndEntityCert::try_from(&self.certificate)
            .and_then(|certificate| {
                certificate.verify_signature(self.algorithm, &SIGNED, signature)
            })
            .map(|()| true)
            .map_err(|e| e.to_string())
    }
}

/// A key exchange in progress.
struct Exchange {
    group: &'static dyn SupportedKxGroup,
    client: Option<Box<dyn ActiveKeyExchange>>,
    server: Option<CompletedKeyExchange>,
    agreed: Option<SharedSecret>,
}

impl KeyExchange for Exchange {
    fn key_share(&mut self) -> Result<(), SessionError> {
        self.client = Some(self.group.start().map_err(failed)?);
        Ok(())
    }

    fn respond(&mut self) -> Result<(), SessionError> {
        let client = self.client.as_ref().ok_or_else(|| failed("no key share"))?;
        let made = self.group.start_and_complete(client.pub_key());
        self.server = Some(made.map_err(failed)?);
        Ok(())
    }

    fn agree(&mut self) -> Result<(), SessionError> {
        let (Some(client), Some(server)) = (self.client.take(), &self.server) else {
            return Err(failed("no share"));
        };
        self.agreed = Some(client.complete(&server.pub_key).map_err(failed)?);
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        let (client, server) = (self.agreed.as_ref()?, self.server.as_ref()?);
        Some([client.secret_bytes(), server.secret.secret_bytes()])
    }
}

/// The keys of one direction, and its last record.
pub(crate) struct Records {
    encrypter: Box<dyn MessageEncrypter>,
    decrypter: Box<dyn MessageDecrypter>,
    /// The number of the last record, and of the next. AWS-LC requires consecutive numbers.
    number: u64,
    next_number: u64,
    /// The library's output, after the room for a header.
    sealed: Vec<u8>,
    received: Vec<u8>,
    data_bytes: usize,
}

impl Records {
    pub(crate) fn new(provider: &dyn Provider, aead: Aead) -> Result<Self, SetupError> {
        let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, aead);
        let held = provider.held_to(&[settings.suite()], &[])?;
        let Some(SupportedCipherSuite::Tls13(suite)) = held.cipher_suites.first() else {
            return Err(provider.lacks(&format!("no {aead}")));
        };
        let secret = vec![0x5a; suite.common.hash_provider.output_len()];
        // Both ends have the keys, each in a separate object.
        Ok(Self {
            encrypter: suite.aead_alg.encrypter(key(suite, &secret), Iv::from(IV)),
            decrypter: suite.aead_alg.decrypter(key(suite, &secret), Iv::from(IV)),
            number: 0,
            next_number: 0,
            sealed: Vec::new(),
            received: Vec::new(),
            data_bytes: 0,
        })
    }
}

const HEADER_BYTES: usize = 5;

const IV: [u8; 12] = [0x11; 12];

/// Derives a key from a secret: rustls has no other way to make keys of all lengths.
fn key(suite: &Tls13CipherSuite, secret: &[u8]) -> AeadKey {
    let expander = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(secret));
    derive_traffic_key(&*expander, suite.aead_alg)
}

impl RecordProtection for Records {
    fn seal(&mut self) -> Result<(), SessionError> {
        let message = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: RECORD_DATA[..].into(),
        };
        self.number = self.next_number;
        self.next_number += 1;
        let sealed = self.encrypter.encrypt(message, self.number);
        let sealed = sealed.map_err(failed)?;
        self.sealed = sealed.encode();
        Ok(())
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let record = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_2,
            self.received.get_mut(HEADER_BYTES..).unwrap_or_default(),
        );
        let opened = self.decrypter.decrypt(record, self.number);
        let opened = opened.map_err(failed)?;
        self.data_bytes = opened.payload.len();
        Ok(())
    }

    fn record(&mut self) -> &mut [u8] {
        self.sealed.get_mut(HEADER_BYTES..).unwrap_or_default()
    }

    fn data(&self) -> &[u8] {
        let data = HEADER_BYTES..HEADER_BYTES + self.data_bytes;
        self.received.get(data).unwrap_or_default()
    }
}
