//! Chains without a connection. The worker of aws-lc compiles this file too.

use netbench_tls::CertificateFault;
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, SetupError};
use openssl::{
    error::ErrorStack,
    ssl::{Ssl, SslConnector},
    stack::Stack,
    x509::{
        X509, X509Crl, X509StoreContext, X509VerifyResult,
        store::{X509Store, X509StoreBuilder},
        verify::X509VerifyFlags,
    },
};

use crate::{context::bare_context, explain::certificate_fault, ffi};

/// A verifier of chains by `X509_verify_cert`, with the parameters that libssl and the openssl crate set for
/// a client: purpose, host and security level.
pub(crate) struct ClientOfChains {
    connector: SslConnector,
    trust: Trust,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// The roots that come with each chain.
    Given,
    /// The connector's own store.
    Own,
}

impl ClientOfChains {
    pub(crate) fn new() -> Result<Self, SetupError> {
        Ok(Self {
            connector: bare_context()?.build(),
            trust: Trust::Given,
        })
    }

    /// Makes a verifier with the roots that this connector has found.
    pub(crate) fn with_own_roots(connector: SslConnector) -> Self {
        Self {
            connector,
            trust: Trust::Own,
        }
    }

    fn ssl(&self, chain: &ChainInDer) -> Result<Ssl, ErrorStack> {
        let mut ssl = self.connector.configure()?.into_ssl(&chain.host)?;
        let parameters = ssl.param_mut();
        parameters.set_time(i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX));
        if !chain.crls.is_empty() {
            parameters.set_flags(X509VerifyFlags::CRL_CHECK | X509VerifyFlags::CRL_CHECK_ALL)?;
        }
        Ok(ssl)
    }
}

impl ChainVerifier for ClientOfChains {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        let ssl = self.ssl(chain).map_err(|error| {
            // The host is the only input from the chain.
            NotVerified::Rejected(CertificateFault::WrongName, first(&error))
        })?;
        // Errors left by other calls would be reported as this chain's.
        let _ = ErrorStack::get();
        let unreadable =
            |error: ErrorStack| NotVerified::Rejected(CertificateFault::BadEncoding, first(&error));
        let given;
        let store = match self.trust {
            Trust::Own => self.connector.context().cert_store(),
            Trust::Given => {
                given = store(chain).map_err(unreadable)?;
                &*given
            }
        };
        let mut sent = Stack::new().map_err(unreadable)?;
        for der in &chain.sent {
            let certificate = X509::from_der(der).map_err(unreadable)?;
            // As in libssl, no bytes may follow the certificate.
            if ffi::der_bytes(&certificate).is_none_or(|bytes| bytes as usize != der.len()) {
                return Err(NotVerified::Rejected(
                    CertificateFault::BadEncoding,
                    "cert length mismatch".to_owned(),
                ));
            }
            sent.push(certificate).map_err(unreadable)?;
        }
        let Some(leaf) = sent.get(0) else {
            return Err(NotVerified::Unsupported("an empty chain".to_owned()));
        };
        let result = X509StoreContext::new().and_then(|mut context| {
            context.init(store, leaf, &sent, |context| {
                ffi::set_as_client(context, &ssl)?;
                let good = context.verify_cert()?;
                Ok((good, context.error()))
            })
        });
        match result {
            Ok((true, X509VerifyResult::OK)) => Ok(()),
            Ok((_, error)) => Err(NotVerified::Rejected(
                certificate_fault(error),
                error.error_string().to_owned(),
            )),
            Err(error) => Err(NotVerified::Rejected(
                CertificateFault::Other,
                first(&error),
            )),
        }
    }
}

/// Returns the library's reason for the first error, which is the cause of the others.
fn first(errors: &ErrorStack) -> String {
    let first = errors.errors().first().and_then(|error| error.reason());
    first.unwrap_or("unreadable").to_owned()
}

fn store(chain: &ChainInDer) -> Result<X509Store, ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    for root in &chain.roots {
        store.add_cert(X509::from_der(root)?)?;
    }
    for crl in &chain.crls {
        let crl = X509Crl::from_der(crl)?;
        ffi::add_crl(&mut store, &crl)?;
    }
    Ok(store.build())
}
