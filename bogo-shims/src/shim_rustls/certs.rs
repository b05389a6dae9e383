//! Certificates, keys, and verifiers that accept every chain, unless the test requires otherwise.

use std::sync::{Arc, PoisonError, RwLock};

use crate::{
    Failure, Options,
    of_rustls::{Observed, OwnCertificate, PeerRules, Refusal, supported},
};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureAlgorithm,
    SignatureScheme,
    client::{
        ResolvesClientCert,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{
        WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
        verify_tls13_signature_with_raw_key,
    },
    pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime},
    server::{
        ClientHello, ResolvesServerCert,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::{CertifiedKey, Signer, SigningKey},
};

use super::provider::provider;

/// A verifier or resolver that stays the same object over all connections of a client, even if its behaviour
/// changes. rustls resumes a session only with the objects that created the session.
#[derive(Debug)]
pub(crate) struct Lasting<T>(RwLock<Option<Arc<T>>>);

impl<T> Default for Lasting<T> {
    fn default() -> Self {
        Self(RwLock::new(None))
    }
}

impl<T> Lasting<T> {
    pub(crate) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(value));
    }

    fn get(&self) -> Option<Arc<T>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// The resolver of this side's certificate, or of its raw public key.
#[derive(Debug)]
pub(crate) struct Resolver {
    key: Option<Arc<CertifiedKey>>,
    raw: bool,
    observed: Arc<Observed>,
}

impl Resolver {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let raw = options.has_raw_key();
        let own = OwnCertificate::new(options)?;
        let key = own
            .map(|own| certified_key(own, raw))
            .transpose()?
            .flatten();
        Ok(Self { key, raw, observed })
    }
}

fn certified_key(own: OwnCertificate, raw: bool) -> Result<Option<Arc<CertifiedKey>>, Failure> {
    let key = provider()
        .key_provider
        .load_private_key(own.key)
        .map_err(|_| Failure::unsupported("private keys of this type"))?;
    let chain = match own.chain {
        _ if raw => {
            let spki = key
                .public_key()
                .ok_or_else(|| Failure::failed("no public key"))?;
            vec![CertificateDer::from(spki.as_ref().to_vec())]
        }
        Some(chain) => chain,
        None => return Ok(None),
    };
    let prefs: Vec<_> = own.prefs.into_iter().map(SignatureScheme::from).collect();
    let key: Arc<dyn SigningKey> = if prefs.is_empty() {
        key
    } else {
        Arc::new(Preferring { key, prefs })
    };
    let mut certified = CertifiedKey::new(chain, key);
    certified.ocsp = own.ocsp;
    Ok(Some(Arc::new(certified)))
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.observed.get().asked = true;
        if let Some(protocols) = hello.alpn() {
            self.observed.record_alpn(protocols)?;
        }
        self.key.clone()
    }

    fn only_raw_public_keys(&self) -> bool {
        self.raw
    }
}

impl ResolvesClientCert for Lasting<Resolver> {
    fn resolve(&self, ca_names: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let resolver = self.get()?;
        let ca_names = ca_names.iter().map(|name| name.to_vec()).collect();
        let mut observed = resolver.observed.get();
        observed.asked = true;
        observed.ca_names = Some(ca_names);
        resolver.key.clone()
    }

    fn only_raw_public_keys(&self) -> bool {
        self.get().is_some_and(|resolver| resolver.raw)
    }

    fn has_certs(&self) -> bool {
        self.get().is_some_and(|resolver| resolver.key.is_some())
    }
}

/// A key that signs only with the schemes of `prefs`, in order of preference.
#[derive(Debug)]
struct Preferring {
    key: Arc<dyn SigningKey>,
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

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
    }
}

/// A verifier that checks signatures as rustls does, and chains by the rules of the test.
#[derive(Debug)]
pub(crate) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    ca_names: Vec<DistinguishedName>,
    rules: PeerRules,
}

impl Verifier {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let mut algorithms = provider().signature_verification_algorithms;
        let all = algorithms.supported_schemes();
        let schemes = supported(options, "-verify-prefs", &all, |scheme| (*scheme).into())?;
        if let Some(schemes) = &schemes {
            let mapping = algorithms.mapping.iter();
            let kept = mapping.filter(|(scheme, _)| schemes.contains(scheme));
            // The process is short-lived.
            algorithms.mapping = Vec::leak(kept.copied().collect());
        }
        let rules = PeerRules::new(options, observed)?;
        let ca_names = rules.ca_names.iter().cloned().map(DistinguishedName::from);
        Ok(Self {
            algorithms,
            schemes: schemes.unwrap_or(all),
            ca_names: ca_names.collect(),
            rules,
        })
    }
}

/// Defines the methods that the traits of both sides have in common, by the verifier that a method returns.
macro_rules! as_this_verifier {
    ($verifier:ident) => {
        fn verify_tls12_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let verifier = self.$verifier()?;
            verifier.rules.observed.get().signature = Some(dss.scheme.into());
            verify_tls12_signature(message, cert, dss, &verifier.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let verifier = self.$verifier()?;
            verifier.rules.observed.get().signature = Some(dss.scheme.into());
            if verifier.rules.raw {
                let spki = SubjectPublicKeyInfoDer::from(cert.as_ref());
                verify_tls13_signature_with_raw_key(message, &spki, dss, &verifier.algorithms)
            } else {
                verify_tls13_signature(message, cert, dss, &verifier.algorithms)
            }
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            let verifier = self.$verifier();
            verifier.map_or_else(|_| Vec::new(), |verifier| verifier.schemes.clone())
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.$verifier().is_ok_and(|verifier| verifier.rules.raw)
        }
    };
}

impl Verifier {
    fn itself(&self) -> Result<&Self, Error> {
        Ok(self)
    }
}

impl Lasting<Verifier> {
    fn now(&self) -> Result<Arc<Verifier>, Error> {
        self.get()
            .ok_or_else(|| Error::General("no verifier".to_owned()))
    }
}

/// Returns rustls' error for a refusal by the application.
fn error(refusal: Refusal) -> Error {
    match refusal {
        Refusal::Chain => CertificateError::ApplicationVerificationFailure.into(),
        Refusal::Staple => CertificateError::InvalidOcspResponse.into(),
    }
}

impl ServerCertVerifier for Lasting<Verifier> {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self.now()?;
        verifier.rules.judge_server(name, ocsp).map_err(error)?;
        Ok(ServerCertVerified::assertion())
    }

    as_this_verifier!(now);
}

impl ClientCertVerifier for Verifier {
    fn offer_client_auth(&self) -> bool {
        self.rules.asks
    }

    fn client_auth_mandatory(&self) -> bool {
        self.rules.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &self.ca_names
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.rules.judge_client().map_err(error)?;
        Ok(ClientCertVerified::assertion())
    }

    as_this_verifier!(itself);
}
