//! The cryptography of a handshake, called as rustls' own handshake calls it.

use std::sync::Arc;

use netbench_model::{FailureWord, Group, KeyType, Primitive};
use netbench_protocol::Material;
use netbench_worker::{PrimitiveOperation, SessionError, SetupError};
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

const MESSAGE: [u8; Primitive::SIGNED_BYTES] = [0x20; Primitive::SIGNED_BYTES];

pub(crate) fn operation(
    provider: &dyn Provider,
    primitive: Primitive,
    material: &Material,
) -> Result<Box<dyn PrimitiveOperation>, SetupError> {
    let exchange = |group: Group| {
        let held = provider.held_to(&[], &[group])?;
        let first = held.kx_groups.first().copied();
        first.ok_or_else(|| SetupError::Unsupported(format!("no group {group}")))
    };
    Ok(match primitive {
        Primitive::Sign { key } => Box::new(Sign(Signatures::new(provider, key, material)?)),
        Primitive::Verify { key } => Box::new(Verify(Signatures::new(provider, key, material)?)),
        Primitive::KeyShare { group } => Box::new(KeyShare {
            group: exchange(group)?,
            made: None,
        }),
        Primitive::Respond { group } => Box::new(Respond::new(exchange(group)?, group)?),
        Primitive::Agree { group } => Box::new(Agree {
            group: exchange(group)?,
            ready: None,
            agreed: None,
        }),
    })
}

fn failed(why: impl std::fmt::Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, why)
}

/// A key, its certificate, and the last signature.
struct Signatures {
    key: Arc<dyn SigningKey>,
    scheme: SignatureScheme,
    certificate: CertificateDer<'static>,
    algorithm: &'static dyn SignatureVerificationAlgorithm,
    signature: Vec<u8>,
}

impl Signatures {
    fn new(provider: &dyn Provider, key: KeyType, material: &Material) -> Result<Self, SetupError> {
        let library = provider.by_default()?;
        let pem = |e| SetupError::refused("PEM", e);
        let der = PrivateKeyDer::from_pem_slice(material.key_pem.as_bytes()).map_err(pem)?;
        let certificate =
            CertificateDer::from_pem_slice(material.chain_pem.as_bytes()).map_err(pem)?;
        let wanted = key.handshake_scheme();
        let unsupported =
            || SetupError::Unsupported(format!("no {wanted} in {}", provider.stack()));
        let verifiable = library.signature_verification_algorithms.mapping;
        let found = verifiable
            .iter()
            .find(|(scheme, _)| u16::from(*scheme) == wanted.0);
        let (scheme, algorithms) = found.ok_or_else(unsupported)?;
        let signing = library.key_provider.load_private_key(der);
        let mut made = Self {
            key: signing.map_err(|_| unsupported())?,
            scheme: *scheme,
            certificate,
            algorithm: *algorithms.first().ok_or_else(unsupported)?,
            signature: Vec::new(),
        };
        made.key
            .choose_scheme(&[made.scheme])
            .ok_or_else(unsupported)?;
        made.sign()
            .map_err(|e| SetupError::refused("signature", e))?;
        Ok(made)
    }

    fn sign(&mut self) -> Result<(), SessionError> {
        let signer = self.key.choose_scheme(&[self.scheme]);
        let signer = signer.ok_or_else(|| failed("no signer"))?;
        self.signature = signer.sign(&MESSAGE).map_err(failed)?;
        Ok(())
    }

    /// As `rustls::crypto::verify_tls13_signature` does it.
    fn verify(&self) -> Result<(), SessionError> {
        let certificate = EndEntityCert::try_from(&self.certificate).map_err(failed)?;
        certificate
            .verify_signature(self.algorithm, &MESSAGE, &self.signature)
            .map_err(failed)
    }
}

struct Sign(Signatures);

impl PrimitiveOperation for Sign {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.sign()
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        self.0.verify()
    }
}

struct Verify(Signatures);

impl PrimitiveOperation for Verify {
    fn run(&mut self) -> Result<(), SessionError> {
        self.0.verify()
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        if let Some(byte) = self.0.signature.last_mut() {
            *byte ^= 1;
        }
        let accepted = self.0.verify().is_ok();
        self.0.sign()?;
        if accepted {
            return Err(failed("a wrong signature is accepted"));
        }
        Ok(())
    }
}

struct KeyShare {
    group: &'static dyn SupportedKxGroup,
    made: Option<Box<dyn ActiveKeyExchange>>,
}

impl PrimitiveOperation for KeyShare {
    fn run(&mut self) -> Result<(), SessionError> {
        self.made = Some(self.group.start().map_err(failed)?);
        Ok(())
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        let ours = self.made.take().ok_or_else(|| failed("no key share"))?;
        let theirs = self
            .group
            .start_and_complete(ours.pub_key())
            .map_err(failed)?;
        same(
            &ours.complete(&theirs.pub_key).map_err(failed)?,
            &theirs.secret,
        )
    }
}

struct Respond {
    group: &'static dyn SupportedKxGroup,
    client: Option<Box<dyn ActiveKeyExchange>>,
    share: Vec<u8>,
    made: Option<CompletedKeyExchange>,
}

impl Respond {
    fn new(kx: &'static dyn SupportedKxGroup, group: Group) -> Result<Self, SetupError> {
        let client = kx
            .start()
            .map_err(|e| SetupError::refused(&group.to_string(), e))?;
        Ok(Self {
            group: kx,
            share: client.pub_key().to_vec(),
            client: Some(client),
            made: None,
        })
    }
}

impl PrimitiveOperation for Respond {
    fn run(&mut self) -> Result<(), SessionError> {
        self.made = Some(self.group.start_and_complete(&self.share).map_err(failed)?);
        Ok(())
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        let (Some(client), Some(made)) = (self.client.take(), &self.made) else {
            return Err(failed("no answer"));
        };
        same(
            &client.complete(&made.pub_key).map_err(failed)?,
            &made.secret,
        )
    }
}

struct Agree {
    group: &'static dyn SupportedKxGroup,
    ready: Option<(Box<dyn ActiveKeyExchange>, CompletedKeyExchange)>,
    agreed: Option<(SharedSecret, SharedSecret)>,
}

impl PrimitiveOperation for Agree {
    fn ready(&mut self) -> Result<(), SessionError> {
        let ours = self.group.start().map_err(failed)?;
        let theirs = self
            .group
            .start_and_complete(ours.pub_key())
            .map_err(failed)?;
        self.ready = Some((ours, theirs));
        Ok(())
    }

    fn run(&mut self) -> Result<(), SessionError> {
        let (ours, theirs) = self.ready.take().ok_or_else(|| failed("no share"))?;
        let secret = ours.complete(&theirs.pub_key).map_err(failed)?;
        self.agreed = Some((secret, theirs.secret));
        Ok(())
    }

    fn proved(&mut self) -> Result<(), SessionError> {
        let (ours, theirs) = self.agreed.as_ref().ok_or_else(|| failed("no secret"))?;
        same(ours, theirs)
    }
}

fn same(ours: &SharedSecret, theirs: &SharedSecret) -> Result<(), SessionError> {
    if ours.secret_bytes() == theirs.secret_bytes() {
        Ok(())
    } else {
        Err(failed("the sides have different secrets"))
    }
}
