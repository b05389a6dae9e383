//! rustls 0.22, whose cryptography already comes from a provider.

use std::{fmt::Display, sync::Arc};

use netbench_tls::{CipherSuite, Group, Profile, SignatureScheme};
use netbench_worker::{
    ChainInDer, NotVerified, Parameters, Probe, SetupError, TrustRoots, all_of, chain_of_pem,
    key_of_pem, refused, verify_chain,
};
#[cfg(feature = "aws-lc")]
use rustls::crypto::aws_lc_rs as cryptography;
#[cfg(not(feature = "aws-lc"))]
use rustls::crypto::ring as cryptography;
use rustls::{
    ClientConfig, ConfigBuilder, DigitallySignedStruct, Error, RootCertStore, ServerConfig,
    client::{
        WantsClientCert, WebPkiServerVerifier,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, SupportedKxGroup, WebPkiSupportedAlgorithms},
};
use rustls_pki_types::{
    CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime,
};

pub(crate) use cryptography::{ALL_CIPHER_SUITES, Ticketer};
use cryptography::{ALL_KX_GROUPS, default_provider};

use crate::common::{Wanted, cipher_suites, schemes, unsupported, versions};

/// The name of the line in reports.
pub(crate) const LINE: &str = if cfg!(feature = "aws-lc") {
    "rustls 0.22 with aws-lc-rs"
} else {
    "rustls 0.22 with ring"
};

pub(crate) fn server_name(host: &str) -> Result<ServerName<'static>, SetupError> {
    ServerName::try_from(host.to_owned()).map_err(refused("host name"))
}

pub(crate) fn has_group(group: Group) -> bool {
    library_group(group).is_ok()
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = default_provider().signature_verification_algorithms.mapping;
    all.iter().any(|(s, _)| s.get_u16() == scheme.0)
}

/// Makes a client's default configuration, with these roots.
pub(crate) fn by_default(roots: TrustRoots<'_>) -> Result<ClientConfig, SetupError> {
    Ok(
        ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(refused("versions"))?
            .with_root_certificates(store(roots)?)
            .with_no_client_auth(),
    )
}

/// Makes a client's configuration, which still lacks its certificate.
pub(crate) fn client(
    wanted: &Wanted<'_>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, SetupError> {
    let parameters = &wanted.parameters;
    let mut provider = match wanted.profile {
        Profile::Library => default_provider(),
        Profile::Default | Profile::Servo => held_to(&parameters.suites, &parameters.groups)?,
    };
    if wanted.probe.is_none() {
        verify_with(&mut provider, &parameters.signatures)?;
    }
    let provider = Arc::new(provider);
    let roots = store(TrustRoots::Pem(wanted.roots_pem))?;
    let webpki = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
        .build()
        .map_err(refused("verifier"))?;
    let verifier: Arc<dyn ServerCertVerifier> = match &wanted.probe {
        Some(probe) => Arc::new(TimedVerifier {
            schemes: match wanted.profile {
                Profile::Library => webpki.supported_verify_schemes(),
                Profile::Default | Profile::Servo => schemes(&parameters.signatures)?,
            },
            webpki,
            probe: probe.clone(),
        }),
        None => webpki,
    };
    Ok(ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions(&parameters.versions)?)
        .map_err(refused("versions"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier))
}

/// Makes a server's configuration, with a chain and its key in PEM.
pub(crate) fn server(
    parameters: &Parameters,
    chain_pem: &str,
    key_pem: &str,
    ocsp: Vec<u8>,
) -> Result<ServerConfig, SetupError> {
    let provider = held_to(&parameters.suites, &parameters.groups)?;
    let (chain, key) = identity(chain_pem, key_pem)?;
    ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&versions(&parameters.versions)?)
        .map_err(refused("versions"))?
        .with_no_client_auth()
        .with_single_cert_with_ocsp(chain, key, ocsp)
        .map_err(refused("chain and key"))
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), SetupError> {
    let chain = chain_of_pem("chain", chain_pem)?;
    Ok((chain, key_of_pem("key", key_pem)?))
}

/// Returns the provider, restricted to these suites and groups, in their order.
fn held_to(suites: &[CipherSuite], groups: &[Group]) -> Result<CryptoProvider, SetupError> {
    let groups = groups.iter().map(|group| library_group(*group));
    Ok(CryptoProvider {
        cipher_suites: cipher_suites(suites)?,
        kx_groups: groups.collect::<Result<_, _>>()?,
        ..default_provider()
    })
}

fn library_group(group: Group) -> Result<&'static dyn SupportedKxGroup, SetupError> {
    let mut all = ALL_KX_GROUPS.iter().copied();
    let found = all.find(|kx| kx.name().get_u16() == group.0);
    found.ok_or_else(|| unsupported("group", group))
}

/// Restricts the provider to the verification of these schemes.
fn verify_with(
    provider: &mut CryptoProvider,
    schemes: &[SignatureScheme],
) -> Result<(), SetupError> {
    let able = provider.signature_verification_algorithms;
    let mapping = all_of(
        schemes,
        |scheme| {
            let mut able = able.mapping.iter().copied();
            able.find(|(known, _)| known.get_u16() == scheme.0)
        },
        |scheme| unsupported("verification of", scheme),
    )?;
    provider.signature_verification_algorithms = WebPkiSupportedAlgorithms {
        all: able.all,
        // rustls requires a list with static lifetime. One is made for each configuration, not for each
        // session.
        mapping: Vec::leak(mapping),
    };
    Ok(())
}

fn store(roots: TrustRoots<'_>) -> Result<Arc<RootCertStore>, SetupError> {
    let mut store = RootCertStore::empty();
    roots.add_each(|der| store.add(der).is_ok())?;
    Ok(Arc::new(store))
}

/// rustls' own verifier, with its time measured.
#[derive(Debug)]
struct TimedVerifier {
    webpki: Arc<WebPkiServerVerifier>,
    schemes: Vec<rustls::SignatureScheme>,
    probe: Probe,
}

impl ServerCertVerifier for TimedVerifier {
    fn verify_server_cert(
        &self,
        leaf: &CertificateDer<'_>,
        above: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.probe.verify(|| {
            self.webpki
                .verify_server_cert(leaf, above, name, ocsp_response, now)
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let scheme = SignatureScheme(signed.scheme.get_u16());
        self.probe.signature(scheme);
        self.webpki
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let scheme = SignatureScheme(signed.scheme.get_u16());
        self.probe.signature(scheme);
        self.webpki
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.schemes.clone()
    }
}

/// The verifier of this line's clients.
pub(crate) struct WebPki(Arc<WebPkiServerVerifier>);

impl WebPki {
    pub(crate) fn new(roots: TrustRoots<'_>) -> Result<Self, SetupError> {
        let provider = Arc::new(default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(store(roots)?, provider).build();
        Ok(Self(verifier.map_err(refused("verifier"))?))
    }
}

impl netbench_worker::WebPki for WebPki {
    type Name = ServerName<'static>;
    type Error = Error;

    fn name(host: &str) -> Result<Self::Name, impl Display> {
        ServerName::try_from(host.to_owned())
    }

    fn verify(
        &self,
        leaf: &[u8],
        above: &[Vec<u8>],
        name: &Self::Name,
        at: UnixTime,
    ) -> Result<(), Error> {
        let above = above.iter().map(|der| CertificateDer::from(&**der));
        let above: Vec<_> = above.collect();
        self.0
            .verify_server_cert(&leaf.into(), &above, name, &[], at)
            .map(drop)
    }
}

/// Verifies a chain as this line's clients do.
pub(crate) fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    let mut roots = RootCertStore::empty();
    let _ = TrustRoots::Der(&chain.roots).add_each(|der| roots.add(der).is_ok());
    let provider = Arc::new(default_provider());
    let crls = chain.crls.iter().cloned();
    let webpki = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
        .with_crls(crls.map(CertificateRevocationListDer::from))
        .build()
        .map_err(NotVerified::by_rustls)?;
    verify_chain(&WebPki(webpki), chain)
}
