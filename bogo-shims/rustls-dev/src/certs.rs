//! Certificates, keys, and verifiers that accept every chain, unless the test requires otherwise.

use std::{hash::Hasher, sync::Arc};

use netbench_bogo_shims::{
    Failure, Options,
    of_rustls::{Observed, OwnCertificate, PeerRules, Refusal, supported, tag},
};
use rustls::{
    DistinguishedName, Error,
    client::{
        ClientCredentialResolver, CredentialRequest,
        danger::{
            HandshakeSignatureValid, ServerIdentity, ServerVerifier, SignatureVerificationInput,
        },
    },
    crypto::{
        Credentials, Identity, SelectedCredential, SignatureScheme, Signer, SigningKey,
        VerifiedIdentity, WebPkiSupportedAlgorithms, verify_tls12_signature,
        verify_tls13_signature,
    },
    enums::CertificateType,
    error::{CertificateError, PeerIncompatible},
    server::{
        ClientHello, ServerCredentialResolver,
        danger::{ClientIdentity, ClientVerifier},
    },
};
use rustls_pki_types::SubjectPublicKeyInfoDer;
use rustls_ring::ALL_VERIFICATION_ALGS;

use super::provider::provider;

/// The resolver of this side's certificate, or of its raw public key.
#[derive(Debug)]
pub(crate) struct Resolver {
    key: Option<Credentials>,
    raw: bool,
    observed: Arc<Observed>,
}

impl Resolver {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let raw = options.has_raw_key();
        let own = OwnCertificate::new(options)?;
        let key = own.map(|own| credentials(own, raw)).transpose()?.flatten();
        Ok(Self { key, raw, observed })
    }
}

fn types(raw: bool) -> &'static [CertificateType] {
    if raw {
        &[CertificateType::RawPublicKey]
    } else {
        &[CertificateType::X509]
    }
}

fn credentials(own: OwnCertificate, raw: bool) -> Result<Option<Credentials>, Failure> {
    let key = provider()
        .key_provider
        .load_private_key(own.key)
        .map_err(|_| Failure::unsupported("private keys of this type"))?;
    let identity = match own.chain {
        _ if raw => {
            let spki = key
                .public_key()
                .ok_or_else(|| Failure::failed("no public key"))?;
            Identity::RawPublicKey(spki.into_owned())
        }
        Some(chain) => Identity::from_cert_chain(chain)
            .map_err(|error| Failure::failed(format!("{error:?}")))?,
        None => return Ok(None),
    };
    let prefs: Vec<_> = own.prefs.into_iter().map(SignatureScheme).collect();
    let key: Box<dyn SigningKey> = if prefs.is_empty() {
        key
    } else {
        Box::new(Preferring { key, prefs })
    };
    let mut credentials = Credentials::new_unchecked(Arc::new(identity), key);
    credentials.ocsp = own.ocsp.map(Arc::from);
    Ok(Some(credentials))
}

impl ServerCredentialResolver for Resolver {
    fn resolve(&self, hello: &ClientHello<'_>) -> Result<SelectedCredential, Error> {
        self.observed.get().asked = true;
        if let Some(protocols) = hello.alpn() {
            let recorded = self.observed.record_alpn(protocols);
            recorded.ok_or(Error::NoApplicationProtocol)?;
        }
        let key = self.key.as_ref().ok_or(Error::NoSuitableCertificate)?;
        key.signer(hello.signature_schemes())
            .ok_or_else(|| PeerIncompatible::NoSignatureSchemesInCommon.into())
    }

    fn supported_certificate_types(&self) -> &'static [CertificateType] {
        types(self.raw)
    }
}

impl ClientCredentialResolver for Resolver {
    fn resolve(&self, request: &CredentialRequest<'_>) -> Option<SelectedCredential> {
        let names = request.root_hint_subjects().iter();
        let mut observed = self.observed.get();
        observed.asked = true;
        observed.ca_names = Some(names.map(|name| name.as_ref().to_vec()).collect());
        self.key.as_ref()?.signer(request.signature_schemes())
    }

    fn supported_certificate_types(&self) -> &'static [CertificateType] {
        match self.key {
            Some(_) => types(self.raw),
            None => &[],
        }
    }

    // The runner resumes sessions whatever the certificates are.
    fn hash_config(&self, _: &mut dyn Hasher) {}
}

/// A key that signs only with the schemes of `prefs`, in order of preference.
#[derive(Debug)]
struct Preferring {
    key: Box<dyn SigningKey>,
    prefs: Vec<SignatureScheme>,
}

impl SigningKey for Preferring {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let mut both = self.prefs.iter().filter(|scheme| offered.contains(scheme));
        both.find_map(|scheme| self.key.choose_scheme(&[*scheme]))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }
}

/// A verifier that checks signatures as rustls does, and chains by the rules of the test.
#[derive(Debug)]
pub(crate) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    /// Whether a client asks for a stapled response.
    staple: bool,
    ca_names: Arc<[DistinguishedName]>,
    rules: PeerRules,
}

impl Verifier {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let mut algorithms = provider().signature_verification_algorithms;
        let all = algorithms.supported_schemes();
        let schemes = supported(options, "-verify-prefs", &all, |scheme| (*scheme).into())?;
        if let Some(schemes) = &schemes {
            let mapping = algorithms.mapping().iter();
            let kept = mapping.filter(|(scheme, _)| schemes.contains(scheme));
            // The process is short-lived.
            let kept = Vec::leak(kept.copied().collect());
            algorithms =
                WebPkiSupportedAlgorithms::new(ALL_VERIFICATION_ALGS, kept).map_err(tag)?;
        }
        let rules = PeerRules::new(options, observed)?;
        let ca_names = rules.ca_names.iter().cloned().map(DistinguishedName::from);
        Ok(Self {
            algorithms,
            schemes: schemes.unwrap_or(all),
            staple: options.on("-enable-ocsp-stapling"),
            ca_names: ca_names.collect(),
            rules,
        })
    }
}

/// Defines the methods that the traits of both sides have in common.
macro_rules! of_both_sides {
    () => {
        fn verify_tls12_signature(
            &self,
            input: &SignatureVerificationInput<'_>,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.rules.observed.get().signature = Some(input.signature.scheme.into());
            verify_tls12_signature(input, &self.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            input: &SignatureVerificationInput<'_>,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.rules.observed.get().signature = Some(input.signature.scheme.into());
            verify_tls13_signature(input, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.schemes.clone()
        }

        fn supported_certificate_types(&self) -> &'static [CertificateType] {
            types(self.rules.raw)
        }
    };
}

/// Returns rustls' error for a refusal by the application.
fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Chain => CertificateError::ApplicationVerificationFailure.into(),
        Refusal::Staple => CertificateError::InvalidOcspResponse.into(),
    }
}

impl ServerVerifier for Verifier {
    fn verify_identity<'a>(
        &self,
        shown: &ServerIdentity<'a, '_>,
    ) -> Result<VerifiedIdentity<'a>, Error> {
        let judged = self
            .rules
            .judge_server(shown.server_name, shown.ocsp_response);
        judged.map_err(error)?;
        Ok(VerifiedIdentity::assertion(shown.identity.clone()))
    }

    of_both_sides!();

    fn request_ocsp_response(&self) -> bool {
        self.staple
    }

    // The runner resumes sessions whatever the verification is.
    fn hash_config(&self, _: &mut dyn Hasher) {}
}

impl ClientVerifier for Verifier {
    fn verify_identity<'a>(
        &self,
        shown: &ClientIdentity<'a, '_>,
    ) -> Result<VerifiedIdentity<'a>, Error> {
        self.rules.judge_client().map_err(error)?;
        Ok(VerifiedIdentity::assertion(shown.identity.clone()))
    }

    of_both_sides!();

    fn root_hint_subjects(&self) -> Arc<[DistinguishedName]> {
        self.ca_names.clone()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.rules.required
    }

    fn offer_client_auth(&self) -> bool {
        self.rules.asks
    }
}
