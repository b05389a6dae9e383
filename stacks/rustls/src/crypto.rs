//! The cryptography of a handshake, called as rustls' own handshake calls it.

use std::sync::Arc;

use netbench_model::{FailureWord, Group, KeyType};
use netbench_protocol::Material;
use netbench_worker::{KeyExchange, SIGNED, SessionError, SetupError, Signatures};
use rustls::{
    SignatureScheme,
    crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup},
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

/// A key, its certificate, and the last signature.
pub(crate) struct Signing {
    key: Arc<dyn SigningKey>,
    scheme: SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
    signature: Vec<u8>,
}

impl Signing {
    pub(crate) fn new(
        provider: &dyn Provider,
        key: KeyType,
        material: &Material,
    ) -> Result<Self, SetupError> {
        let library = provider.by_default()?;
        let pem = |e| SetupError::refused("PEM", e);
        let der = PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).map_err(pem)?;
        let certificate =
            CertificateDer::from_pem_slice(material.chain_pem.as_bytes()).map_err(pem)?;
        let wanted = key.schemes()[0];
        let unsupported =
            || SetupError::Unsupported(format!("no {wanted} in {}", provider.stack()));
        let verifiable = library.signature_verification_algorithms.mapping;
        let found = verifiable
            .iter()
            .find(|(scheme, _)| u16::from(*scheme) == wanted.0);
        let (scheme, algorithms) = found.ok_or_else(unsupported)?;
        let signing = library.key_provider.load_private_key(der);
        let made = Self {
            key: signing.map_err(|_| unsupported())?,
            scheme: *scheme,
            certificate,
            algorithm: *algorithms.first().ok_or_else(unsupported)?,
            signature: Vec::new(),
        };
        made.key
            .choose_scheme(&[made.scheme])
            .ok_or_else(unsupported)?;
        Ok(made)
    }
}

impl Signatures for Signing {
    fn sign(&mut self) -> Result<(), SessionError> {
        let signer = self.key.choose_scheme(&[self.scheme]);
        let signer = signer.ok_or_else(|| failed("no signer"))?;
        self.signature = signer.sign(&SIGNED).map_err(failed)?;
        Ok(())
    }

    /// As `rustls::crypto::verify_tls13_signature` does it.
    fn verify(&self) -> Result<(), SessionError> {
        let certificate = EndEntityCert::try_from(&self.certificate).map_err(failed)?;
        certificate
            .verify_signature(self.algorithm, &SIGNED, &self.signature)
            .map_err(failed)
    }

    fn signature(&mut self) -> &mut [u8] {
        &mut self.signature
    }
}

/// A key exchange, as far as it has come.
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
