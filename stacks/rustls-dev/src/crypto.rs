//! The cryptography of handshakes and records, by the same calls as in rustls.

use std::{error::Error as StdError, ops::Range};

use netbench_protocol::Material;
use netbench_tls::{Aead, Group, KeyType, SessionSettings, TlsVersion};
use netbench_worker::{
    Exchange, ExchangeCalls, InPlaceKeys, KeyExchange, RECORD_DATA, SIGNED, SetupError, key_of_pem,
    refused,
};
use rustls::{
    Error,
    crypto::{
        SignatureScheme, SigningKey,
        cipher::{
            AeadKey, EncodableVersion, InboundOpaque, Iv, Record, RecordDecrypter, RecordEncrypter,
        },
        kx::{StartedKeyExchange, SupportedKxGroup},
    },
    enums::{ContentType, ProtocolVersion},
};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, pem::PemObject};
use rustls_ring::DEFAULT_PROVIDER;
use webpki::EndEntityCert;

use crate::settings::{group, held_to, lacks, scheme};

pub(crate) fn exchange(wanted: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
    let calls = ExchangeCalls {
        start: |group: &&dyn SupportedKxGroup| group.start(),
        respond: |group, client: &StartedKeyExchange| group.start_and_complete(client.pub_key()),
        agree: |_, client, server| {
            let secret = client.into_single().complete(&server.pub_key);
            secret.map(|secret| (None, secret))
        },
        secrets: |client, server| [client.secret_bytes(), server.secret.secret_bytes()],
    };
    Ok(Box::new(Exchange::new(group(wanted)?, calls)))
}

/// A key and its certificate.
pub(crate) struct Signing {
    key: Box<dyn SigningKey>,
    scheme: SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
}

impl Signing {
    pub(crate) fn new(key: KeyType, material: &Material) -> Result<Self, SetupError> {
        let der = key_of_pem("PEM", &material.key_pem)?;
        let certificate = CertificateDer::from_pem_slice(material.chain_pem.as_bytes())
            .map_err(refused("PEM"))?;
        let wanted = key.schemes()[0];
        let made = scheme(wanted).and_then(|(scheme, algorithms)| {
            let key = DEFAULT_PROVIDER.key_provider.load_private_key(der).ok()?;
            key.choose_scheme(&[scheme])?;
            Some(Self {
                key,
                scheme,
                certificate,
                algorithm: *algorithms.first()?,
            })
        });
        made.ok_or_else(|| lacks(&format!("no {wanted}")))
    }
}

impl netbench_worker::SigningKey for Signing {
    type Error = Box<dyn StdError>;

    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), Self::Error> {
        let signer = self.key.choose_scheme(&[self.scheme]);
        *signature = signer.ok_or("no signer")?.sign(&SIGNED)?;
        Ok(())
    }

    /// Verifies the signature as `rustls::crypto::verify_tls13_signature` does.
    fn verify(&self, signature: &[u8]) -> Result<bool, Self::Error> {
        let certificate = EndEntityCert::try_from(&self.certificate)?;
        certificate.verify_signature(self.algorithm, &SIGNED, signature)?;
        Ok(true)
    }
}

/// The keys of one direction.
pub(crate) struct RecordKeys {
    encrypter: Box<dyn RecordEncrypter>,
    decrypter: Box<dyn RecordDecrypter>,
}

impl RecordKeys {
    pub(crate) fn new(aead: Aead) -> Result<Self, SetupError> {
        let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, aead);
        let held = held_to(&[TlsVersion::Tls13], &[settings.suite()], &[])?;
        let suite = held.tls13_cipher_suites.first();
        let algorithm = suite.ok_or_else(|| lacks(&format!("no {aead}")))?.aead_alg;
        // Both ends have the keys, each in a separate object.
        Ok(Self {
            encrypter: algorithm.encrypter(key(algorithm.key_len())?, Iv::from(IV)),
            decrypter: algorithm.decrypter(key(algorithm.key_len())?, Iv::from(IV)),
        })
    }
}

const IV: [u8; 12] = [0x11; 12];

fn key(bytes: usize) -> Result<AeadKey, SetupError> {
    match bytes {
        16 => Ok(AeadKey::from([0x5a; 16])),
        32 => Ok(AeadKey::from([0x5a; 32])),
        other => Err(lacks(&format!("no keys of {other} bytes"))),
    }
}

fn record<P>(payload: P) -> Record<P> {
    let version = EncodableVersion::Legacy(ProtocolVersion::TLSv1_2);
    Record::new(ContentType::ApplicationData, version, payload)
}

impl InPlaceKeys for RecordKeys {
    const HEADER_BYTES: usize = 0;

    type Error = Error;

    fn seal(&mut self, number: u64, sealed: &mut Vec<u8>) -> Result<(), Error> {
        // rustls also clears the buffer before it writes there.
        sealed.clear();
        sealed.resize(self.encrypter.encrypted_payload_len(RECORD_DATA.len()), 0);
        let plain = record(RECORD_DATA[..].into());
        self.encrypter.encrypt(plain, number, sealed).map(drop)
    }

    fn open(&mut self, number: u64, received: &mut [u8]) -> Result<Range<usize>, Error> {
        let received = record(InboundOpaque(received));
        let opened = self.decrypter.decrypt(received, number)?;
        Ok(0..opened.payload.len())
    }
}
