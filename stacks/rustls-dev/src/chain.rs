use std::{sync::Arc, time::Duration};

use netbench_tls::CertificateFault;
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified};
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

use crate::explain::certificate_fault;

/// A verifier by webpki with ring's algorithms, as in rustls' clients.
pub(crate) struct WebPki;

impl ChainVerifier for WebPki {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        let mut store = RootCertStore::empty();
        for root in &chain.roots {
            // As rustls' users do, this leaves out a root that rustls cannot use.
            let _ = store.add(CertificateDer::from(root.as_slice()));
        }
        let crls = chain.crls.iter().cloned();
        let verifier = WebPkiServerVerifier::builder(Arc::new(store), &DEFAULT_PROVIDER)
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
        let name = ServerName::try_from(chain.host.as_str()).map_err(|error| {
            NotVerified::Rejected(CertificateFault::WrongName, error.to_string())
        })?;
        let sent = chain.sent.iter();
        let sent = sent.map(|der| CertificateDer::from(der.as_slice()));
        let sent = Identity::from_cert_chain(sent.collect())
            .map_err(|_| NotVerified::Unsupported("an empty chain".to_owned()))?;
        let at = UnixTime::since_unix_epoch(Duration::from_secs(chain.at_unix_s));
        match verifier.verify_identity(&ServerIdentity::new(&sent, &name, at)) {
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
}
