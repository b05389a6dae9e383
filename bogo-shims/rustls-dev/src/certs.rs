//! Certificates, keys, and verifiers that accept every chain, unless the test requires otherwise.

use std::{fs, hash::Hasher, sync::Arc};

use netbench_bogo_shims::options::hex_list;
use netbench_tls as tls;
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
        ClientHello, ParsedCertificate, ServerCredentialResolver,
        danger::{ClientIdentity, ClientVerifier},
    },
};
use rustls_pki_types::{CertificateDer, PrivateKeyDer, SubjectPublicKeyInfoDer, pem::PemObject};
use rustls_ring::ALL_VERIFICATION_ALGS;

use crate::{Failure, Options};

use super::{observed::Observed, provider::provider};

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
        // A server's response is part of its certificate. The behaviour without one would be the shim's
        // decision.
        if options.on("-server")
            && options.on("-use-ocsp-callback")
            && (options.on("-decline-ocsp-callback") || options.on("-fail-ocsp-callback"))
        {
            return Err(Failure::unsupported(
                "a callback that decides whether a server staples a response",
            ));
        }
        let key = credentials(options, raw)?;
        Ok(Self { key, raw, observed })
    }
}

/// Returns whether the application rejects the peer's stapled response.
fn fails_ocsp(options: &Options) -> bool {
    options.on("-use-ocsp-callback") && options.on("-fail-ocsp-callback")
}

/// Certificate types (RFC 7250).
const X509: u16 = 0;
const RAW: u16 = 2;

/// Returns whether the peer must send a raw public key; rustls requests one type, never a choice.
pub(crate) fn wants_raw(options: &Options) -> Result<bool, Failure> {
    match *options.codes("-accepted-peer-cert-types") {
        [] | [X509] => Ok(false),
        [RAW] => Ok(true),
        _ => Err(Failure::unsupported("a choice of certificate types")),
    }
}

/// Returns the type of the peer's certificate entry: a certificate, or a raw public key.
pub(crate) fn type_of(shown: &CertificateDer<'_>) -> u16 {
    match ParsedCertificate::try_from(shown) {
        Ok(_) => X509,
        Err(_) => RAW,
    }
}

fn types(raw: bool) -> &'static [CertificateType] {
    if raw {
        &[CertificateType::RawPublicKey]
    } else {
        &[CertificateType::X509]
    }
}

fn credentials(options: &Options, raw: bool) -> Result<Option<Credentials>, Failure> {
    let (cert_file, key_file, prefs, ocsp) = match options.credentials() {
        [] => (
            options.text("-cert-file"),
            options.text("-key-file"),
            options.codes("-signing-prefs"),
            options.bytes("-ocsp-response"),
        ),
        // rustls leaves the choice among several to its user, which would be the shim.
        [one] if options.text("-cert-file").is_none() && !one.on("-must-match-issuer") => (
            one.text("-cert-file"),
            one.text("-key-file"),
            one.codes("-signing-prefs"),
            one.bytes("-ocsp-response"),
        ),
        _ => return Err(Failure::unsupported("a choice among several certificates")),
    };
    let Some(key_file) = key_file else {
        return Ok(None);
    };
    let key =
        PrivateKeyDer::from_pem_file(&key_file).map_err(|e| Failure::failed(e.to_string()))?;
    let key = provider()
        .key_provider
        .load_private_key(key)
        .map_err(|_| Failure::unsupported("private keys of this type"))?;
    let identity = match cert_file {
        _ if raw => {
            let spki = key
                .public_key()
                .ok_or_else(|| Failure::failed("no public key"))?;
            Identity::RawPublicKey(spki.into_owned())
        }
        Some(file) => Identity::from_cert_chain(chain(&file)?)
            .map_err(|error| Failure::failed(format!("{error:?}")))?,
        None => return Ok(None),
    };
    let prefs: Vec<_> = prefs.into_iter().map(SignatureScheme).collect();
    let key: Box<dyn SigningKey> = if prefs.is_empty() {
        key
    } else {
        Box::new(Preferring { key, prefs })
    };
    let mut credentials = Credentials::new_unchecked(Arc::new(identity), key);
    credentials.ocsp = ocsp.map(Arc::from);
    Ok(Some(credentials))
}

pub(crate) fn chain(file: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let pem = fs::read(file)?;
    CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::failed(e.to_string()))
}

impl ServerCredentialResolver for Resolver {
    fn resolve(&self, hello: &ClientHello<'_>) -> Result<SelectedCredential, Error> {
        self.observed.get().asked = true;
        if let Some(protocols) = hello.alpn() {
            let mut wire = Vec::new();
            for protocol in protocols {
                let length = u8::try_from(protocol.len());
                wire.push(length.map_err(|_| Error::NoApplicationProtocol)?);
                wire.extend(protocol);
            }
            self.observed.get().client_alpn = Some(wire);
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

/// A verifier that checks signatures as rustls does, and accepts every chain unless the test requires a
/// refusal.
#[derive(Debug)]
pub(crate) struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    schemes: Vec<SignatureScheme>,
    /// Whether the peer must send a certificate, and a failure counts.
    asks: bool,
    required: bool,
    fails: bool,
    /// Whether a client asks for a stapled response.
    staple: bool,
    ocsp_fails: bool,
    raw: bool,
    ca_names: Arc<[DistinguishedName]>,
    observed: Arc<Observed>,
}

impl Verifier {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let mut algorithms = provider().signature_verification_algorithms;
        let all = algorithms.supported_schemes();
        let prefs = options.codes("-verify-prefs");
        let schemes: Vec<_> = prefs.into_iter().map(SignatureScheme).collect();
        if let Some(unknown) = schemes.iter().find(|scheme| !all.contains(scheme)) {
            let name = tls::SignatureScheme(unknown.0);
            return Err(Failure::unsupported(format!(
                "verification of {name} signatures"
            )));
        }
        if !schemes.is_empty() {
            let mapping = algorithms.mapping().iter();
            let kept = mapping.filter(|(scheme, _)| schemes.contains(scheme));
            // The process is short-lived.
            let kept = Vec::leak(kept.copied().collect());
            algorithms = WebPkiSupportedAlgorithms::new(ALL_VERIFICATION_ALGS, kept)
                .map_err(|error| Failure::failed(format!("{error:?}")))?;
        }
        let required = options.on("-require-any-client-certificate");
        let asks = options.on("-verify-peer") || required;
        let ca_names = match options.text("-use-client-ca-list").as_deref() {
            None | Some("<NULL>" | "<EMPTY>") => Vec::new(),
            Some(list) => hex_list(list)?
                .into_iter()
                .map(DistinguishedName::from)
                .collect(),
        };
        let raw = wants_raw(options)?;
        let own_raw = options.has_raw_key();
        match *options.codes("-available-client-cert-types") {
            [] => {}
            [X509] if !own_raw => {}
            [RAW] if own_raw => {}
            _ => return Err(Failure::unsupported("a choice of certificate types")),
        }
        Ok(Self {
            algorithms,
            schemes: if schemes.is_empty() { all } else { schemes },
            asks,
            required,
            fails: (asks || raw) && options.on("-verify-fail"),
            staple: options.on("-enable-ocsp-stapling"),
            ocsp_fails: !options.on("-server") && fails_ocsp(options),
            raw,
            ca_names: ca_names.into(),
            observed,
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
            self.observed.get().signature = Some(input.signature.scheme);
            verify_tls12_signature(input, &self.algorithms)
        }

        fn verify_tls13_signature(
            &self,
            input: &SignatureVerificationInput<'_>,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.observed.get().signature = Some(input.signature.scheme);
            verify_tls13_signature(input, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.schemes.clone()
        }

        fn supported_certificate_types(&self) -> &'static [CertificateType] {
            types(self.raw)
        }
    };
}

impl ServerVerifier for Verifier {
    fn verify_identity<'a>(
        &self,
        shown: &ServerIdentity<'a, '_>,
    ) -> Result<VerifiedIdentity<'a>, Error> {
        let mut observed = self.observed.get();
        observed.ocsp = Some(shown.ocsp_response.to_vec());
        observed.verified_name = Some(shown.server_name.to_str().into_owned());
        if self.fails {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        if self.ocsp_fails {
            return Err(CertificateError::InvalidOcspResponse.into());
        }
        observed.verified = true;
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
        if self.fails {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        self.observed.get().verified = true;
        Ok(VerifiedIdentity::assertion(shown.identity.clone()))
    }

    of_both_sides!();

    fn root_hint_subjects(&self) -> Arc<[DistinguishedName]> {
        self.ca_names.clone()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn offer_client_auth(&self) -> bool {
        self.asks
    }
}
