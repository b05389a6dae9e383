//! Certificates, keys, and verifiers that accept every chain, unless the test requires otherwise.

use std::{
    fs,
    sync::{Arc, PoisonError, RwLock},
};

use crate::{Failure, Options, options::hex_list};
use netbench_tls as tls;
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
    pki_types::{
        CertificateDer, PrivateKeyDer, ServerName, SubjectPublicKeyInfoDer, UnixTime,
        pem::PemObject,
    },
    server::{
        ClientHello, ParsedCertificate, ResolvesServerCert,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::{CertifiedKey, Signer, SigningKey},
};

use super::{observed::Observed, provider::provider};

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
        let key = certified_key(options, raw)?;
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

fn certified_key(options: &Options, raw: bool) -> Result<Option<Arc<CertifiedKey>>, Failure> {
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
    let chain = match cert_file {
        _ if raw => {
            let spki = key
                .public_key()
                .ok_or_else(|| Failure::failed("no public key"))?;
            vec![CertificateDer::from(spki.as_ref().to_vec())]
        }
        Some(file) => chain(&file)?,
        None => return Ok(None),
    };
    let prefs: Vec<_> = prefs.into_iter().map(SignatureScheme::from).collect();
    let key: Arc<dyn SigningKey> = if prefs.is_empty() {
        key
    } else {
        Arc::new(Preferring { key, prefs })
    };
    let mut certified = CertifiedKey::new(chain, key);
    certified.ocsp = ocsp.map(<[u8]>::to_vec);
    Ok(Some(Arc::new(certified)))
}

pub(crate) fn chain(file: &str) -> Result<Vec<CertificateDer<'static>>, Failure> {
    let pem = fs::read(file)?;
    CertificateDer::pem_slice_iter(&pem)
        .collect::<Result<_, _>>()
        .map_err(|e| Failure::failed(e.to_string()))
}

impl ResolvesServerCert for Resolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.observed.get().asked = true;
        if let Some(protocols) = hello.alpn() {
            let mut wire = Vec::new();
            for protocol in protocols {
                wire.push(u8::try_from(protocol.len()).ok()?);
                wire.extend(protocol);
            }
            self.observed.get().client_alpn = Some(wire);
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
        let both = self.prefs.iter().filter(|scheme| offered.contains(scheme));
        both.into_iter()
            .find_map(|scheme| self.key.choose_scheme(&[*scheme]))
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        self.key.public_key()
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.key.algorithm()
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
    ocsp_fails: bool,
    raw: bool,
    ca_names: Vec<DistinguishedName>,
    observed: Arc<Observed>,
}

impl Verifier {
    pub(crate) fn new(options: &Options, observed: Arc<Observed>) -> Result<Self, Failure> {
        let mut algorithms = provider().signature_verification_algorithms;
        let all = algorithms.supported_schemes();
        let prefs = options.codes("-verify-prefs");
        let schemes: Vec<_> = prefs.into_iter().map(SignatureScheme::from).collect();
        if let Some(unknown) = schemes.iter().find(|scheme| !all.contains(scheme)) {
            let name = tls::SignatureScheme(u16::from(*unknown));
            return Err(Failure::unsupported(format!(
                "verification of {name} signatures"
            )));
        }
        if !schemes.is_empty() {
            // The process is short-lived.
            algorithms.mapping = Vec::leak(restrict(algorithms.mapping, &schemes));
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
            ocsp_fails: !options.on("-server") && fails_ocsp(options),
            raw,
            ca_names,
            observed,
        })
    }

    fn signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.observed.get().signature = Some(dss.scheme);
        if self.raw {
            let spki = SubjectPublicKeyInfoDer::from(cert.as_ref());
            verify_tls13_signature_with_raw_key(message, &spki, dss, &self.algorithms)
        } else {
            verify_tls13_signature(message, cert, dss, &self.algorithms)
        }
    }

    fn signature_tls12(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.observed.get().signature = Some(dss.scheme);
        verify_tls12_signature(message, cert, dss, &self.algorithms)
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
            self.$verifier()?.signature_tls12(message, cert, dss)
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.$verifier()?.signature(message, cert, dss)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            let verifier = self.$verifier();
            verifier.map_or_else(|_| Vec::new(), |verifier| verifier.schemes.clone())
        }

        fn requires_raw_public_keys(&self) -> bool {
            self.$verifier().is_ok_and(|verifier| verifier.raw)
        }
    };
}

/// Returns the part of a table for an application that verifies fewer schemes than its provider can.
fn restrict<T: Copy>(
    table: &[(SignatureScheme, T)],
    schemes: &[SignatureScheme],
) -> Vec<(SignatureScheme, T)> {
    let kept = table.iter().filter(|(scheme, _)| schemes.contains(scheme));
    kept.copied().collect()
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
        let mut observed = verifier.observed.get();
        observed.ocsp = Some(ocsp.to_vec());
        observed.verified_name = Some(name.to_str().into_owned());
        if verifier.fails {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        if verifier.ocsp_fails {
            return Err(CertificateError::InvalidOcspResponse.into());
        }
        observed.verified = true;
        Ok(ServerCertVerified::assertion())
    }

    as_this_verifier!(now);
}

impl ClientCertVerifier for Verifier {
    fn offer_client_auth(&self) -> bool {
        self.asks
    }

    fn client_auth_mandatory(&self) -> bool {
        self.required
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
        if self.fails {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        self.observed.get().verified = true;
        Ok(ClientCertVerified::assertion())
    }

    as_this_verifier!(itself);
}
