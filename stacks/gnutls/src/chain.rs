//! The library's verifier, used without a connection.

use std::{
    ffi::{CStr, CString, c_int, c_uint},
    ptr,
    sync::atomic::{AtomicI64, Ordering},
};

use netbench_tls::CertificateFault as Fault;
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, Owned, SetupError, refused};

use crate::{
    config::some_roots,
    explain::certificate_fault,
    ffi::{self, Datum},
    session::{Error, checked, made},
    verify::{fault, requirements, words},
};

/// Returns the rejection of a chain that could not be read.
fn unreadable(error: Error) -> NotVerified {
    let fault = certificate_fault(error.name()).unwrap_or(Fault::BadEncoding);
    NotVerified::Rejected(fault, error.to_string())
}

/// A list of trusted roots.
pub(crate) struct TrustList(Owned<ffi::TrustListInt>);

impl TrustList {
    fn new() -> Result<Self, Error> {
        ffi::ready();
        // With 0, the library chooses a size.
        made(|list| ffi::gnutls_x509_trust_list_init(list, 0)).map(Self)
    }

    pub(crate) fn of_pem(roots: &str) -> Result<Self, SetupError> {
        let list = Self::new().map_err(refused("verifier"))?;
        some_roots(list.add(roots.as_bytes(), ffi::X509_FMT_PEM))?;
        Ok(list)
    }

    fn of_chain(chain: &ChainInDer) -> Result<Self, Error> {
        let list = Self::new()?;
        for der in &chain.roots {
            checked(list.add(der, ffi::X509_FMT_DER))?;
        }
        for der in &chain.crls {
            let crl = made(|object| ffi::gnutls_x509_crl_init(object))?;
            // SAFETY: the list is alive, and takes ownership of a parsed list of revoked certificates.
            unsafe {
                checked(ffi::gnutls_x509_crl_import(
                    crl.pointer(),
                    &Datum::of(der),
                    ffi::X509_FMT_DER,
                ))?;
                ffi::gnutls_x509_trust_list_add_crls(list.0.pointer(), &crl.released(), 1, 0, 0);
            }
        }
        Ok(list)
    }

    /// Adds roots, and returns their number or the library's error.
    fn add(&self, roots: &[u8], format: c_int) -> c_int {
        let (list, roots) = (self.0.pointer(), Datum::of(roots));
        // SAFETY: the list is alive; the library copies the roots.
        unsafe {
            ffi::gnutls_x509_trust_list_add_trust_mem(list, &roots, ptr::null(), format, 0, 0)
        }
    }

    /// Verifies a chain (the leaf first, DER) as that of the server `host`, at the present time.
    pub(crate) fn verify(&self, chain: &[Vec<u8>], host: &CStr) -> Result<(), NotVerified> {
        let read: Result<Vec<_>, _> = chain.iter().map(|der| certificate(der)).collect();
        let read = read.map_err(unreadable)?;
        let mut chain: Vec<_> = read.iter().map(Owned::pointer).collect();
        let (mut held_to, requirements) = requirements(Some(host));
        let mut status = 0;
        // SAFETY: all arguments are alive, and the library keeps none of them.
        let code = unsafe {
            ffi::gnutls_x509_trust_list_verify_crt2(
                self.0.pointer(),
                chain.as_mut_ptr(),
                c_uint::try_from(chain.len()).unwrap_or(c_uint::MAX),
                held_to.as_mut_ptr(),
                requirements,
                0,
                &raw mut status,
                ptr::null(),
            )
        };
        checked(code).map_err(unreadable)?;
        if status == 0 {
            Ok(())
        } else {
            Err(NotVerified::Rejected(fault(status), words(status)))
        }
    }
}

fn certificate(der: &[u8]) -> Result<Owned<ffi::CertificateInt>, Error> {
    let certificate = made(|object| ffi::gnutls_x509_crt_init(object))?;
    let (data, format) = (Datum::of(der), ffi::X509_FMT_DER);
    // SAFETY: the certificate is alive, and the library copies the data.
    checked(unsafe { ffi::gnutls_x509_crt_import(certificate.pointer(), &data, format) })?;
    Ok(certificate)
}

/// Makes a verifier of chains as in the connector: with the purpose of a server, and for a host.
pub(crate) fn verifier() -> impl ChainVerifier {
    ffi::ready();
    ffi::gnutls_global_set_time_function(time);
    verify
}

fn verify(chain: &ChainInDer) -> Result<(), NotVerified> {
    let host = CString::new(chain.host.as_str())
        .map_err(|e| NotVerified::Rejected(Fault::WrongName, e.to_string()))?;
    let trust = TrustList::of_chain(chain).map_err(unreadable)?;
    NOW.store(
        i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX),
        Ordering::Relaxed,
    );
    let verified = trust.verify(&chain.sent, &host);
    NOW.store(0, Ordering::Relaxed);
    verified?;
    if chain.crls.is_empty() {
        return Ok(());
    }
    Err(NotVerified::Unsupported(
        "GnuTLS does not say whether the lists of revoked certificates cover the whole chain"
            .to_owned(),
    ))
}

/// The time of the current verification; 0 for the present.
static NOW: AtomicI64 = AtomicI64::new(0);

/// Replaces time(2), for the library's calls.
extern "C" fn time(place: *mut libc::time_t) -> libc::time_t {
    let now = match NOW.load(Ordering::Relaxed) {
        // SAFETY: without a place, the function only returns its result.
        0 => unsafe { libc::time(ptr::null_mut()) },
        now => now,
    };
    if !place.is_null() {
        // SAFETY: the library provides a place for the time.
        unsafe { place.write(now) };
    }
    now
}
