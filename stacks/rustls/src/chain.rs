use std::{fmt::Display, sync::Arc};

use netbench_worker::{
    ChainInDer, ChainVerifier, NotVerified, SetupError, TrustRoots, verify_chain,
};
use rustls::{
    Error, RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};

use crate::provider::Provider;

/// Makes a verifier by webpki with the provider's algorithms and the roots that come with each chain, as in rustls' clients.
pub(crate) fn given_roots(provider: &dyn Provider) -> Result<Box<dyn ChainVerifier>, SetupError> {
    let provider = Arc::new(provider.by_default()?);
    Ok(Box::new(move |chain: &ChainInDer| {
        let mut store = RootCertStore::empty();
        // As rustls' users do, this leaves out roots that rustls cannot use, which may be all.
        let _ = TrustRoots::Der(&chain.roots).add_each(|der| store.add(der).is_ok());
        let crls = chain.crls.iter().cloned();
        let verifier = WebPkiServerVerifier::builder_with_provider(store.into(), provider.clone())
            .with_crls(crls.map(CertificateRevocationListDer::from))
            .build()
            .map_err(NotVerified::by_rustls)?;
        verify_chain(&WebPki(verifier), chain)
    }))
}

/// A verifier of rustls.
pub(crate) struct WebPki<V: ?Sized>(pub(crate) Arc<V>);

impl<V: ServerCertVerifier + ?Sized> netbench_worker::WebPki for WebPki<V> {
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
