use std::{ffi::c_long, ptr};

use boring::{
    error::ErrorStack,
    ssl::{Ssl, SslConnector, SslMethod},
    stack::Stack,
    x509::{
        X509, X509StoreContext,
        store::{X509Store, X509StoreBuilder},
        verify::X509VerifyFlags,
    },
};
use foreign_types_shared::{ForeignType, ForeignTypeRef};
use netbench_tls::CertificateFault::{self, BadEncoding, Other, WrongName};
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, SetupError, refused};

use crate::settings::good;

/// Makes a verifier of chains by `X509_verify_cert`, with the parameters that libssl and the boring crate set for a client:
/// purpose and host.
pub(crate) fn client_of_chains() -> Result<impl ChainVerifier, SetupError> {
    let connector = SslConnector::builder(SslMethod::tls()).map_err(refused("context"))?;
    let connector = connector.build();
    Ok(move |chain: &ChainInDer| verify(&connector, chain))
}

fn connection(connector: &SslConnector, chain: &ChainInDer) -> Result<Ssl, ErrorStack> {
    let mut ssl = connector.configure()?.into_ssl(&chain.host)?;
    let parameters = ssl.param_mut();
    parameters.set_time(i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX));
    if !chain.crls.is_empty() {
        parameters.try_set_flags(X509VerifyFlags::CRL_CHECK | X509VerifyFlags::CRL_CHECK_ALL)?;
    }
    Ok(ssl)
}

fn verify(connector: &SslConnector, chain: &ChainInDer) -> Result<(), NotVerified> {
    // The host is the only input from the chain.
    let mut ssl = connection(connector, chain).map_err(rejected(WrongName))?;
    // Errors left by other calls would be reported as this chain's.
    let _ = ErrorStack::get();
    let store = store(chain).map_err(rejected(BadEncoding))?;
    let mut sent = Stack::new().map_err(rejected(BadEncoding))?;
    for der in &chain.sent {
        let certificate = X509::from_der(der).map_err(rejected(BadEncoding))?;
        // As in libssl, no bytes may follow the certificate.
        if certificate.to_der().map_err(rejected(BadEncoding))?.len() != der.len() {
            let why = "bytes after the certificate".to_owned();
            return Err(NotVerified::Rejected(BadEncoding, why));
        }
        sent.push(certificate).map_err(rejected(BadEncoding))?;
    }
    let Some(leaf) = sent.get(0) else {
        return Err(NotVerified::Unsupported("an empty chain".to_owned()));
    };
    let verified = X509StoreContext::new().and_then(|mut context| {
        context.init(&store, leaf, &sent, |context| {
            // SAFETY: the context is live, and the name has static lifetime.
            good(unsafe {
                boring_sys::X509_STORE_CTX_set_default(context.as_ptr(), c"ssl_server".as_ptr())
            })?;
            context.verify_param_mut().copy_from(ssl.param_mut())?;
            let is_good = context.verify_cert()?;
            Ok((is_good, context.verify_result()))
        })
    });
    match verified.map_err(rejected(Other))? {
        (true, Ok(())) => Ok(()),
        (_, Err(error)) => Err(NotVerified::Rejected(
            CertificateFault::of_x509_result(error.as_raw().into()),
            error.error_string().to_owned(),
        )),
        (false, Ok(())) => {
            let why = "refused without an error".to_owned();
            Err(NotVerified::Rejected(Other, why))
        }
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

fn store(chain: &ChainInDer) -> Result<X509Store, ErrorStack> {
    let mut store = X509StoreBuilder::new()?;
    for root in &chain.roots {
        store.add_cert(&X509::from_der(root)?)?;
    }
    for crl in &chain.crls {
        add_crl(&mut store, crl)?;
    }
    Ok(store.build())
}

/// Adds a list of revoked certificates, for which the boring crate has no type.
fn add_crl(store: &mut X509StoreBuilder, der: &[u8]) -> Result<(), ErrorStack> {
    let length = c_long::try_from(der.len()).unwrap_or(c_long::MAX);
    let mut at = der.as_ptr();
    // SAFETY: the bytes are only read.
    let crl = unsafe { boring_sys::d2i_X509_CRL(ptr::null_mut(), &raw mut at, length) };
    if crl.is_null() {
        return Err(ErrorStack::get());
    }
    // SAFETY: both are live. The store takes its own reference, and this one is released.
    good(unsafe {
        let result = boring_sys::X509_STORE_add_crl(store.as_ptr(), crl);
        boring_sys::X509_CRL_free(crl);
        result
    })
}
