//! The cryptography of handshakes and records, by the same calls as in rustls.

use netbench_protocol::Material;
use netbench_tls::{Aead, FailureWord, Group, KeyType, SessionSettings, TlsVersion};
use netbench_worker::{
    KeyExchange, RECORD_DATA, RecordProtection, SIGNED, SessionError, SetupError, refused,
};
use rustls::{
    crypto::{
        SignatureScheme, SigningKey,
        cipher::{
            AeadKey, EncodableVersion, InboundOpaque, Iv, Record, RecordDecrypter, RecordEncrypter,
        },
        kx::{CompletedKeyExchange, SharedSecret, StartedKeyExchange, SupportedKxGroup},
    },
    enums::{ContentType, ProtocolVersion},
};
use rustls_pki_types::{
    CertificateDer, PrivateKeyDer, SignatureVerificationAlgorithm, pem::PemObject,
};
use rustls_ring::DEFAULT_PROVIDER;
use webpki::EndEntityCert;

use crate::settings::{group, held_to, lacks, scheme};

pub(crate) fn exchange(wanted: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
    Ok(Box::new(Exchange {
        group: group(wanted)?,
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
    key: Box<dyn SigningKey>,
    scheme: SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
}

impl Signing {
    pub(crate) fn new(key: KeyType, material: &Material) -> Result<Self, SetupError> {
        let der =
            PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).map_err(refused("PEM"))?;
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
    client: Option<StartedKeyExchange>,
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
        let agreed = client.into_single().complete(&server.pub_key);
        self.agreed = Some(agreed.map_err(failed)?);
        Ok(())
    }

    fn secrets(&self) -> Option<[&[u8]; 2]> {
        let (client, server) = (self.agreed.as_ref()?, self.server.as_ref()?);
        Some([client.secret_bytes(), server.secret.secret_bytes()])
    }
}

/// The keys of one direction, and its last record.
pub(crate) struct Records {
    encrypter: Box<dyn RecordEncrypter>,
    decrypter: Box<dyn RecordDecrypter>,
    /// The number of the last record, and of the next.
    number: u64,
    next_number: u64,
    /// The sealed record, without the room for a header.
    sealed: Vec<u8>,
    received: Vec<u8>,
    data_bytes: usize,
}

impl Records {
    pub(crate) fn new(aead: Aead) -> Result<Self, SetupError> {
        let settings = SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, aead);
        let held = held_to(&[TlsVersion::Tls13], &[settings.suite()], &[])?;
        let suite = held.tls13_cipher_suites.first();
        let algorithm = suite.ok_or_else(|| lacks(&format!("no {aead}")))?.aead_alg;
        // Both ends have the keys, each in a separate object.
        Ok(Self {
            encrypter: algorithm.encrypter(key(algorithm.key_len())?, Iv::from(IV)),
            decrypter: algorithm.decrypter(key(algorithm.key_len())?, Iv::from(IV)),
            number: 0,
            next_number: 0,
            sealed: Vec::new(),
            received: Vec::new(),
            data_bytes: 0,
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

impl RecordProtection for Records {
    fn seal(&mut self) -> Result<(), SessionError> {
        self.number = self.next_number;
        self.next_number += 1;
        // rustls also clears the buffer before it writes there.
        let bytes = self.encrypter.encrypted_payload_len(RECORD_DATA.len());
        self.sealed.clear();
        self.sealed.resize(bytes, 0);
        let plain = record(RECORD_DATA[..].into());
        let sealed = self.encrypter.encrypt(plain, self.number, &mut self.sealed);
        sealed.map(drop).map_err(failed)
    }

    fn receive(&mut self) {
        self.received.clone_from(&self.sealed);
    }

    fn open(&mut self) -> Result<(), SessionError> {
        let received = record(InboundOpaque(&mut self.received));
        let opened = self.decrypter.decrypt(received, self.number);
        self.data_bytes = opened.map_err(failed)?.payload.len();
        Ok(())
    }

    fn record(&mut self) -> &mut [u8] {
        &mut self.sealed
    }

    fn data(&self) -> &[u8] {
        self.received.get(..self.data_bytes).unwrap_or_default()
    }
}
