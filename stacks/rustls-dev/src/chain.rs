use std::{fmt::Display, iter, sync::Arc};

use netbench_worker::{ChainInDer, NotVerified, TrustRoots, verify_chain};
use rustls::{
    Error, RootCertStore,
    client::{
        VerifierBuilderError, WebPkiServerVerifier,
        danger::{ServerIdentity, ServerVerifier},
    },
    crypto::Identity,
};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};
use rustls_ring::DEFAULT_PROVIDER;

/// webpki with ring's algorithms, as in rustls' clients.
pub(crate) struct WebPki(WebPkiServerVerifier);

impl WebPki {
    pub(crate) fn new(
        roots: Arc<RootCertStore>,
        crls: &[Vec<u8>],
    ) -> Result<Self, VerifierBuilderError> {
        let crls = crls.iter().cloned().map(CertificateRevocationListDer::from);
        let builder = WebPkiServerVerifier::builder(roots, &DEFAULT_PROVIDER).with_crls(crls);
        builder.build().map(Self)
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
    // As rustls' users do, this leaves out roots that rustls cannot use, which may be all.
    let _ = TrustRoots::Der(&chain.roots).add_each(|der| store.add(der).is_ok());
    let webpki = WebPki::new(Arc::new(store), &chain.crls).map_err(NotVerified::by_rustls)?;
    verify_chain(&webpki, chain)
}
