//! Chains: those that a peer has sent, and the verification of chains without a connection.

use std::ptr;

use foreign_types_shared::ForeignTypeRef;
use netbench_tls::CertificateFault::{self, BadEncoding, Other, WrongName};
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, SetupError};
use openssl::{
    error::ErrorStack,
    ssl::{Ssl, SslConnector, SslRef},
    stack::Stack,
    x509::{
        X509, X509Crl, X509Ref, X509StoreContext, X509VerifyResult,
        store::{X509Store, X509StoreBuilder, X509StoreRef},
        verify::X509VerifyFlags,
    },
};

use crate::{Libssl, Side, bare_context};

/// Returns the size of each certificate that the peer sent. A server's list of its client's certificates lacks the
/// leaf.
pub fn peer_chain(ssl: &SslRef, side: Side) -> Vec<u32> {
    if ssl.session_reused() {
        // The session remembers the chain, which was not sent again.
        return Vec::new();
    }
    let leaf = (side == Side::Server)
        .then(|| ssl.peer_certificate())
        .flatten();
    let chain = ssl.peer_cert_chain().into_iter().flatten();
    leaf.iter()
        .map(|leaf| der_bytes(leaf).unwrap_or(0))
        .chain(chain.map(|x509| der_bytes(x509).unwrap_or(0)))
        .collect()
}

/// Returns the length of a certificate in DER, without copying it.
pub fn der_bytes(certificate: &X509Ref) -> Option<u32> {
    // SAFETY: the certificate is live; without a buffer, the function only computes the length.
    let length = unsafe { openssl_sys::i2d_X509(certificate.as_ptr(), ptr::null_mut()) };
    u32::try_from(length).ok()
}

/// Makes a verifier of chains by `X509_verify_cert`, with the roots that come with each chain and the parameters that libssl
/// and the openssl crate set for a client: purpose, host and security level.
///
/// # Errors
/// An error of the library.
pub fn client_of_chains<L: Libssl>() -> Result<impl ChainVerifier, SetupError> {
    let connector = bare_context()?.build();
    Ok(move |chain: &ChainInDer| {
        let ssl = connection(&connector, chain)?;
        let store = store::<L>(chain).map_err(rejected(BadEncoding))?;
        verify::<L>(&ssl, &store, chain)
    })
}

/// Makes such a verifier with the roots that this connector has found.
pub(crate) fn with_own_roots<L: Libssl>(connector: SslConnector) -> impl ChainVerifier {
    move |chain: &ChainInDer| {
        let ssl = connection(&connector, chain)?;
        verify::<L>(&ssl, connector.context().cert_store(), chain)
    }
}

/// Makes a connection that has the parameters of a chain's verification.
fn connection(connector: &SslConnector, chain: &ChainInDer) -> Result<Ssl, NotVerified> {
    let made = connector.configure().and_then(|configured| {
        let mut ssl = configured.into_ssl(&chain.host)?;
        let parameters = ssl.param_mut();
        parameters.set_time(i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX));
        if !chain.crls.is_empty() {
            parameters.set_flags(X509VerifyFlags::CRL_CHECK | X509VerifyFlags::CRL_CHECK_ALL)?;
        }
        Ok(ssl)
    });
    // The host is the only input from the chain.
    let ssl = made.map_err(rejected(WrongName))?;
    // Errors left by other calls would be reported as this chain's.
    let _ = ErrorStack::get();
    Ok(ssl)
}

fn verify<L: Libssl>(
    ssl: &SslRef,
    store: &X509StoreRef,
    chain: &ChainInDer,
) -> Result<(), NotVerified> {
    let mut sent = Stack::new().map_err(rejected(BadEncoding))?;
    for der in &chain.sent {
        let certificate = X509::from_der(der).map_err(rejected(BadEncoding))?;
        // As in libssl, no bytes may follow the certificate.
        if der_bytes(&certificate).is_none_or(|bytes| bytes as usize != der.len()) {
            let why = "cert length mismatch".to_owned();
            return Err(NotVerified::Rejected(BadEncoding, why));
        }
        sent.push(certificate).map_err(rejected(BadEncoding))?;
    }
    let Some(leaf) = sent.get(0) else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let verified = X509StoreContext::new().and_then(|mut context| {
        context.init(store, leaf, &sent, |context| {
            L::set_as_client(context, ssl)?;
            let good = context.verify_cert()?;
            Ok((good, context.error()))
        })
    });
    match verified.map_err(rejected(Other))? {
        (true, X509VerifyResult::OK) => Ok(()),
        (_, error) => Err(NotVerified::Rejected(
            L::certificate_fault(error),
            error.error_string().to_owned(),
        )),
    }
}

/// Returns a function that converts an error of the library in a rejection.
fn rejected(fault: CertificateFault) -> impl Fn(ErrorStack) -> NotVerified {
    move |error| NotVerified::Rejected(fault, first(&error))
}

/// Returns the library's reason for the first error, which is the cause of the others.
fn first(errors: &ErrorStack) -> String {
    let first = errors.errors().first().and_then(|error| error.reason());
    first.unwrap_or("unreadable").to_owned()
}

fn store<L: Libssl>(chain: &ChainInDer) -> Result<X509Store, ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    for root in &chain.roots {
        store.add_cert(X509::from_der(root)?)?;
    }
    for crl in &chain.crls {
        let crl = X509Crl::from_der(crl)?;
        L::add_crl(&mut store, &crl)?;
    }
    Ok(store.build())
}
