//! The cryptography of handshakes and records, by the same calls as in rustls.

use std::{ops::Range, sync::Arc};

use netbench_protocol::Material;
use netbench_tls::{Aead, Group, KeyType, SessionSettings, TlsVersion};
use netbench_worker::{
    Exchange, ExchangeCalls, InPlaceKeys, KeyExchange, RECORD_DATA, SIGNED, SetupError, key_of_pem,
    refused,
};
use rustls::{
    ContentType, Error, ProtocolVersion, SignatureScheme, SupportedCipherSuite, Tls13CipherSuite,
    crypto::{
        SupportedKxGroup,
        cipher::{
            AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter,
            OutboundPlainMessage,
        },
        tls13::OkmBlock,
    },
    internal::derive_traffic_key,
    sign::SigningKey,
};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, pem::PemObject};
use webpki::EndEntityCert;

use crate::provider::{Provider, verification};

pub(crate) fn exchange(
    provider: &dyn Provider,
    group: Group,
) -> Result<Box<dyn KeyExchange>, SetupError> {
    let held = provider.held_to(&[], &[group])?;
    let first = held.kx_groups.first().copied();
    let group = first.ok_or_else(|| SetupError::Unsupported(format!("no group {group}")))?;
    let calls = ExchangeCalls {
        start: |group: &&dyn SupportedKxGroup| group.start(),
        respond: |group, client| group.start_and_complete(client.pub_key()),
        agree: |_, client, server| {
            let secret = client.complete(&server.pub_key);
            secret.map(|secret| (None, secret))
        },
        secrets: |client, server| [client.secret_bytes(), server.secret.secret_bytes()],
    };
    Ok(Box::new(Exchange::new(group, calls)))
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
        let der = key_of_pem("PEM", &material.key_pem)?;
        let certificate = CertificateDer::from_pem_slice(material.chain_pem.as_bytes())
            .map_err(refused("PEM"))?;
        let wanted = key.schemes()[0];
        let verifiable = library.signature_verification_algorithms.mapping;
        let made = verification(verifiable, wanted).and_then(|(scheme, algorithms)| {
            let key = library.key_provider.load_private_key(der).ok()?;
            key.choose_scheme(&[scheme])?;
            Some(Self {
                key,
                scheme,
                certificate,
                algorithm: *algorithms.first()?,
            })
        });
        made.ok_or_else(|| provider.lacks(&format!("no {wanted}")))
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

/// The keys of one direction.
pub(crate) struct RecordKeys {
    encrypter: Box<dyn MessageEncrypter>,
    decrypter: Box<dyn MessageDecrypter>,
}

impl RecordKeys {
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
        })
    }
}

const IV: [u8; 12] = [0x11; 12];

/// Derives a key from a secret: rustls has no other way to make keys of all lengths.
fn key(suite: &Tls13CipherSuite, secret: &[u8]) -> AeadKey {
    let expander = suite.hkdf_provider.expander_for_okm(&OkmBlock::new(secret));
    derive_traffic_key(&*expander, suite.aead_alg)
}

impl InPlaceKeys for RecordKeys {
    const HEADER_BYTES: usize = 5;

    type Error = Error;

    fn seal(&mut self, number: u64, record: &mut Vec<u8>) -> Result<(), Error> {
        let message = OutboundPlainMessage {
            typ: ContentType::ApplicationData,
            version: ProtocolVersion::TLSv1_2,
            payload: RECORD_DATA[..].into(),
        };
        *record = self.encrypter.encrypt(message, number)?.encode();
        Ok(())
    }

    fn open(&mut self, number: u64, record: &mut [u8]) -> Result<Range<usize>, Error> {
        let record = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_2,
            record.get_mut(Self::HEADER_BYTES..).unwrap_or_default(),
        );
        let opened = self.decrypter.decrypt(record, number)?;
        Ok(Self::HEADER_BYTES..Self::HEADER_BYTES + opened.payload.len())
    }
}
