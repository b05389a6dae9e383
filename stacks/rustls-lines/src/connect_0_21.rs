//! rustls 0.21 on connections.

use std::{
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

use netbench_protocol::ServeSite;
use netbench_tls::{CertificateFault, Profile};
use netbench_worker::{ChainInDer, ClientSetup, NotVerified, SetupError, TrustRoots, site_suites};
use rustls::{
    ALL_CIPHER_SUITES, ALL_KX_GROUPS, Certificate, ClientConfig, RootCertStore, ServerConfig,
    ServerName,
    client::{ServerCertVerifier, WebPkiVerifier},
};

use crate::{
    common::{cipher_suites, schemes, versions},
    explain::fault_of,
    in_memory::roots,
    line::{Restricted, identity, kx_groups, store},
};

pub(crate) fn client(setup: &ClientSetup<'_>) -> Result<ClientConfig, SetupError> {
    let settings = setup.settings;
    let is_library = settings.profile == Profile::Library;
    let (suites, groups) = if is_library {
        (ALL_CIPHER_SUITES.to_vec(), ALL_KX_GROUPS.to_vec())
    } else {
        let suites = cipher_suites(&settings.suites)?;
        (suites, kx_groups(&settings.groups)?)
    };
    let verifier = Restricted {
        webpki: WebPkiVerifier::new(store(&roots(TrustRoots::Pem(setup.roots_pem))?)?, None),
        schemes: if is_library {
            WebPkiVerifier::verification_schemes()
        } else {
            schemes(&settings.signatures)?
        },
        probe: Some(setup.probe.clone()),
    };
    let builder = ClientConfig::builder()
        .with_cipher_suites(&suites)
        .with_kx_groups(&groups)
        .with_protocol_versions(&versions(&settings.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(pem) = setup.identity else {
        return Ok(builder.with_no_client_auth());
    };
    let (chain, key) = identity(&pem.chain_pem, &pem.key_pem)?;
    builder
        .with_client_auth_cert(chain, key)
        .map_err(|e| SetupError::refused("client certificate", e))
}

pub(crate) fn server(site: &ServeSite, ocsp: Vec<u8>) -> Result<ServerConfig, SetupError> {
    let suites = site_suites(site);
    let groups = if site.groups.is_empty() {
        ALL_KX_GROUPS.to_vec()
    } else {
        kx_groups(&site.groups)?
    };
    let (chain, key) = identity(&site.chain_pem, &site.key_pem)?;
    ServerConfig::builder()
        .with_cipher_suites(&cipher_suites(suites)?)
        .with_kx_groups(&groups)
        .with_protocol_versions(&versions(&site.versions)?)
        .map_err(|e| SetupError::refused("versions", e))?
        .with_no_client_auth()
        .with_single_cert_with_ocsp_and_sct(chain, key, ocsp, Vec::new())
        .map_err(|e| SetupError::refused("chain and key", e))
}

/// Verifies a chain as this line's clients do.
pub(crate) fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    if !chain.crls.is_empty() {
        let why = "the verifier of rustls 0.21 takes no revocation lists for servers";
        return Err(NotVerified::Unsupported(why.to_owned()));
    }
    let mut roots = RootCertStore::empty();
    for root in &chain.roots {
        let _ = roots.add(&Certificate(root.clone()));
    }
    let name = ServerName::try_from(chain.host.as_str());
    let name =
        name.map_err(|e| NotVerified::Rejected(CertificateFault::WrongName, e.to_string()))?;
    let sent: Vec<_> = chain.sent.iter().cloned().map(Certificate).collect();
    let Some((leaf, above)) = sent.split_first() else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let (none, at) = (&mut [].into_iter(), Duration::from_secs(chain.at_unix_s));
    let verifier = WebPkiVerifier::new(roots, None);
    let verified = verifier.verify_server_cert(leaf, above, &name, none, &[], UNIX_EPOCH + at);
    verified
        .map(drop)
        .map_err(|error| NotVerified::Rejected(fault_of(&error), error.to_string()))
}
