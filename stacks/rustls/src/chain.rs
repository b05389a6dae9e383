use std::{sync::Arc, time::Duration};

use netbench_tls::CertificateFault;
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, SetupError};
use rustls::{
    Error, RootCertStore,
    client::{VerifierBuilderError, WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::CryptoProvider,
};
use rustls_pki_types::{CertificateDer, CertificateRevocationListDer, ServerName, UnixTime};

use crate::{explain::certificate_fault, provider::Provider};

/// A verifier by webpki with the provider's algorithms, as in rustls' clients.
pub(crate) struct WebPki(Arc<CryptoProvider>);

impl WebPki {
    pub(crate) fn new(provider: &dyn Provider) -> Result<Self, SetupError> {
        Ok(Self(Arc::new(provider.by_default()?)))
    }
}

impl ChainVerifier for WebPki {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        let mut store = RootCertStore::empty();
        for root in &chain.roots {
            // As rustls' users do, this leaves out a root that rustls cannot use.
            let _ = store.add(CertificateDer::from(root.as_slice()));
        }
        let crls = chain.crls.iter().cloned();
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(store), self.0.clone())
            .with_crls(crls.map(CertificateRevocationListDer::from))
            .build();
        let verifier = verifier.map_err(|error| {
            let fault = match error {
                VerifierBuilderError::NoRootAnchors => CertificateFault::UnknownIssuer,
                VerifierBuilderError::InvalidCrl(_) => CertificateFault::BadEncoding,
                _ => CertificateFault::Other,
            };
            NotVerified::Rejected(fault, error.to_string())
        })?;
        verified(&*verifier, chain)
    }
}

/// Verifies a chain by `verifier`.
pub(crate) fn verified(
    verifier: &dyn ServerCertVerifier,
    chain: &ChainInDer,
) -> Result<(), NotVerified> {
    let name = ServerName::try_from(chain.host.as_str())
        .map_err(|error| NotVerified::Rejected(CertificateFault::WrongName, error.to_string()))?;
    let sent: Vec<_> = chain
        .sent
        .iter()
        .map(|der| CertificateDer::from(der.as_slice()))
        .collect();
    let Some((leaf, above)) = sent.split_first() else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let at = UnixTime::since_unix_epoch(Duration::from_secs(chain.at_unix_s));
    match verifier.verify_server_cert(leaf, above, &name, &[], at) {
        Ok(_) => Ok(()),
        Err(error) => {
            let fault = match &error {
                Error::InvalidCertificate(fault) => certificate_fault(fault),
                _ => CertificateFault::Other,
            };
            Err(NotVerified::Rejected(fault, error.to_string()))
        }
    }
}
