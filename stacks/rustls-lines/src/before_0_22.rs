//! rustls 0.20 and 0.21, which include ring's cryptography. The feature of the build selects the release.

use std::{
    fmt::Display,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use netbench_tls::{Group, Profile, SignatureScheme};
#[cfg(feature = "connect")]
use netbench_worker::{ChainInDer, NotVerified, verify_chain};
use netbench_worker::{
    Parameters, Probe, SetupError, TrustRoots, chain_of_pem, key_of_pem, refused,
};
pub(crate) use rustls::{ALL_CIPHER_SUITES, Ticketer};
use rustls::{
    ALL_KX_GROUPS, Certificate, ClientConfig, ConfigBuilder, DigitallySignedStruct, Error,
    PrivateKey, RootCertStore, ServerConfig, ServerName, SupportedKxGroup,
    client::{
        HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier, WantsClientCert,
        WebPkiVerifier,
    },
};
use rustls_pki_types::UnixTime;

use crate::common::{Wanted, cipher_suites, schemes, unsupported, versions};

/// The name of the line in reports.
pub(crate) const LINE: &str = "this line of rustls";

pub(crate) fn server_name(host: &str) -> Result<ServerName, SetupError> {
    ServerName::try_from(host).map_err(refused("host name"))
}

pub(crate) fn has_group(group: Group) -> bool {
    library_group(group).is_ok()
}

pub(crate) fn verifies(scheme: SignatureScheme) -> bool {
    let all = WebPkiVerifier::verification_schemes();
    all.iter().any(|s| s.get_u16() == scheme.0)
}

/// Makes a client's default configuration, with these roots.
pub(crate) fn by_default(roots: TrustRoots<'_>) -> Result<ClientConfig, SetupError> {
    Ok(ClientConfig::builder()
        .with_safe_defaults()
        .with_root_certificates(store(roots)?)
        .with_no_client_auth())
}

/// Makes a client's configuration, which still lacks its certificate.
pub(crate) fn client(
    wanted: &Wanted<'_>,
) -> Result<ConfigBuilder<ClientConfig, WantsClientCert>, SetupError> {
    let parameters = &wanted.parameters;
    let (suites, groups, schemes) = match wanted.profile {
        Profile::Library => (
            ALL_CIPHER_SUITES.to_vec(),
            ALL_KX_GROUPS.to_vec(),
            WebPkiVerifier::verification_schemes(),
        ),
        Profile::Default | Profile::Servo => (
            cipher_suites(&parameters.suites)?,
            kx_groups(&parameters.groups)?,
            schemes(&parameters.signatures)?,
        ),
    };
    let verifier = Restricted {
        webpki: WebPkiVerifier::new(store(TrustRoots::Pem(wanted.roots_pem))?, None),
        schemes,
        probe: wanted.probe.clone(),
    };
    Ok(ClientConfig::builder()
        .with_cipher_suites(&suites)
        .with_kx_groups(&groups)
        .with_protocol_versions(&versions(&parameters.versions)?)
        .map_err(refused("versions"))?
        .with_custom_certificate_verifier(Arc::new(verifier)))
}

/// Makes a server's configuration, with a chain and its key in PEM.
pub(crate) fn server(
    parameters: &Parameters,
    chain_pem: &str,
    key_pem: &str,
    ocsp: Vec<u8>,
) -> Result<ServerConfig, SetupError> {
    let (chain, key) = identity(chain_pem, key_pem)?;
    ServerConfig::builder()
        .with_cipher_suites(&cipher_suites(&parameters.suites)?)
        .with_kx_groups(&kx_groups(&parameters.groups)?)
        .with_protocol_versions(&versions(&parameters.versions)?)
        .map_err(refused("versions"))?
        .with_no_client_auth()
        .with_single_cert_with_ocsp_and_sct(chain, key, ocsp, Vec::new())
        .map_err(refused("chain and key"))
}

/// Parses a chain and its key, both PEM.
pub(crate) fn identity(
    chain_pem: &str,
    key_pem: &str,
) -> Result<(Vec<Certificate>, PrivateKey), SetupError> {
    let chain = chain_of_pem("chain", chain_pem)?;
    let key = key_of_pem("key", key_pem)?;
    Ok((
        chain.iter().map(|der| Certificate(der.to_vec())).collect(),
        PrivateKey(key.secret_der().to_vec()),
    ))
}

fn kx_groups(groups: &[Group]) -> Result<Vec<&'static SupportedKxGroup>, SetupError> {
    groups.iter().map(|group| library_group(*group)).collect()
}

fn library_group(group: Group) -> Result<&'static SupportedKxGroup, SetupError> {
    let mut all = ALL_KX_GROUPS.iter().copied();
    let found = all.find(|kx| kx.name.get_u16() == group.0);
    found.ok_or_else(|| unsupported("group", group))
}

fn store(roots: TrustRoots<'_>) -> Result<RootCertStore, SetupError> {
    let mut store = RootCertStore::empty();
    roots.add_each(|der| store.add(&Certificate(der.to_vec())).is_ok())?;
    Ok(store)
}

/// webpki, restricted to fewer signature schemes, with its time measured where there is a probe.
struct Restricted {
    webpki: WebPkiVerifier,
    schemes: Vec<rustls::SignatureScheme>,
    probe: Option<Probe>,
}

impl Restricted {
    fn signed(&self, signed: &DigitallySignedStruct) {
        if let Some(probe) = &self.probe {
            probe.signature(SignatureScheme(signed.scheme.get_u16()));
        }
    }
}

impl ServerCertVerifier for Restricted {
    fn verify_server_cert(
        &self,
        leaf: &Certificate,
        above: &[Certificate],
        name: &ServerName,
        scts: &mut dyn Iterator<Item = &[u8]>,
        ocsp_response: &[u8],
        now: SystemTime,
    ) -> Result<ServerCertVerified, Error> {
        let webpki = &self.webpki;
        let Some(probe) = &self.probe else {
            return webpki.verify_server_cert(leaf, above, name, scts, ocsp_response, now);
        };
        probe.verify(|| webpki.verify_server_cert(leaf, above, name, scts, ocsp_response, now))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &Certificate,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(signed);
        self.webpki
            .verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &Certificate,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.signed(signed);
        self.webpki
            .verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<rustls::SignatureScheme> {
        self.schemes.clone()
    }

    fn request_scts(&self) -> bool {
        self.webpki.request_scts()
    }
}

/// The verifier of this line's clients.
pub(crate) struct WebPki(WebPkiVerifier);

impl WebPki {
    pub(crate) fn new(roots: TrustRoots<'_>) -> Result<Self, SetupError> {
        Ok(Self(WebPkiVerifier::new(store(roots)?, None)))
    }
}

impl netbench_worker::WebPki for WebPki {
    type Name = ServerName;
    type Error = Error;

    fn name(host: &str) -> Result<ServerName, impl Display> {
        ServerName::try_from(host)
    }

    fn verify(
        &self,
        leaf: &[u8],
        above: &[Vec<u8>],
        name: &ServerName,
        at: UnixTime,
    ) -> Result<(), Error> {
        let leaf = Certificate(leaf.to_vec());
        let above: Vec<_> = above.iter().cloned().map(Certificate).collect();
        let (none, at) = (
            &mut [].into_iter(),
            UNIX_EPOCH + Duration::from_secs(at.as_secs()),
        );
        self.0
            .verify_server_cert(&leaf, &above, name, none, &[], at)
            .map(drop)
    }
}

/// Verifies a chain as this line's clients do.
#[cfg(feature = "connect")]
pub(crate) fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    if !chain.crls.is_empty() {
        let why = "the verifier of rustls 0.21 takes no revocation lists for servers";
        return Err(NotVerified::Unsupported(why.to_owned()));
    }
    let mut roots = RootCertStore::empty();
    let _ =
        TrustRoots::Der(&chain.roots).add_each(|der| roots.add(&Certificate(der.to_vec())).is_ok());
    verify_chain(&WebPki(WebPkiVerifier::new(roots, None)), chain)
}
