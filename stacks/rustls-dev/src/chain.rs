use std::{fmt::Display, iter, sync::Arc};

use netbench_worker::{ChainInDer, NotVerified, SetupError, TrustRoots, refused, verify_chain};
use rustls::{
    Error, RootCertStore,
    client::{
        WebPkiServerVerifier,
        danger::{ServerIdentity, ServerVerifier},
    },
    crypto::Identity,
};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use rustls_ring::DEFAULT_PROVIDER;

use crate::settings::roots;

/// webpki with ring's algorithms, as in rustls' clients.
pub(crate) struct WebPki(WebPkiServerVerifier);

impl WebPki {
    pub(crate) fn new(trust: TrustRoots<'_>) -> Result<Self, SetupError> {
        let webpki = WebPkiServerVerifier::builder(roots(trust)?, &DEFAULT_PROVIDER).build();
        Ok(Self(webpki.map_err(refused("verifier"))?))
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
        let chain = iter::once(leaf).chain(above.iter().map(Vec::as_slice));
        let chain = Identity::from_cert_chain(chain.map(CertificateDer::from).collect())?;
        let identity = ServerIdentity::new(&chain, name, at);
        self.0.verify_identity(&identity).map(drop)
    }
}

/// Verifies a chain as rustls' clients do.
pub(crate) fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    let mut store = RootCertStore::empty();
    for root in &chain.roots {
        // As rustls' users do, this leaves out a root that rustls cannot use.
        let _ = store.add(CertificateDer::from(root.as_slice()));
    }
    let crls = chain.crls.iter().cloned();
    let webpki = WebPkiServerVerifier::builder(Arc::new(store), &DEFAULT_PROVIDER)
        .with_crls(crls.map(CertificateRevocationListDer::from))
        .build()
        .map_err(NotVerified::by_rustls)?;
    verify_chain(&WebPki(webpki), chain)
}
