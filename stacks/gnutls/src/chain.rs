//! The library's verifier, used without a connection.

use std::{
    ffi::{CStr, CString, c_uint},
    ptr,
    sync::atomic::{AtomicI64, Ordering},
};

use netbench_tls::CertificateFault as Fault;
use netbench_worker::{ChainInDer, ChainVerifier, NotVerified, SetupError, refused};

use crate::{
    config::some_roots,
    explain::certificate_fault,
    ffi::{self, Datum},
    session::{Error, checked},
    verify::{as_server, fault, words},
};

/// The reason why a chain is invalid, in the library's terms.
type Bad = (Fault, String);

fn bad(error: &Error) -> Bad {
    let fault = certificate_fault(error.name());
    (fault.unwrap_or(Fault::BadEncoding), error.to_string())
}

/// A list of trusted roots.
pub(crate) struct TrustList(ffi::TrustList);

// SAFETY: the library keeps no state of a list in its threads.
unsafe impl Send for TrustList {}
// SAFETY: a verification only reads the list, which does not change after its initialization.
unsafe impl Sync for TrustList {}

impl Drop for TrustList {
    fn drop(&mut self) {
        // SAFETY: no other code frees it; with 1, its contents are freed too.
        unsafe { ffi::gnutls_x509_trust_list_deinit(self.0, 1) }
    }
}

impl TrustList {
    fn new() -> Result<Self, Error> {
        ffi::ready();
        let mut list = ptr::null_mut();
        // SAFETY: the place for the result lives longer than the call; with 0, the library chooses a size.
        checked(unsafe { ffi::gnutls_x509_trust_list_init(&raw mut list, 0) })?;
        Ok(Self(list))
    }

    pub(crate) fn of_pem(roots: &str) -> Result<Self, SetupError> {
        let list = Self::new().map_err(refused("verifier"))?;
        let roots = Datum::of(roots.as_bytes());
        // SAFETY: the list is alive; the library copies the roots.
        let read = unsafe {
            ffi::gnutls_x509_trust_list_add_trust_mem(
                list.0,
                &raw const roots,
                ptr::null(),
                ffi::X509_FMT_PEM,
                0,
                0,
            )
        };
        some_roots(read)?;
        Ok(list)
    }

    fn of_chain(chain: &ChainInDer) -> Result<Self, Error> {
        let list = Self::new()?;
        for der in &chain.roots {
            let root = Certificate::read(der)?.kept();
            // SAFETY: the list is alive, and takes ownership of the certificate.
            unsafe { ffi::gnutls_x509_trust_list_add_cas(list.0, &raw const root, 1, 0) };
        }
        for der in &chain.crls {
            let data = Datum::of(der);
            let mut crl = ptr::null_mut();
            // SAFETY: the list is alive, and takes ownership of a parsed list of revoked certificates.
            unsafe {
                checked(ffi::gnutls_x509_crl_init(&raw mut crl))?;
                let read = checked(ffi::gnutls_x509_crl_import(
                    crl,
                    &raw const data,
                    ffi::X509_FMT_DER,
                ));
                if read.is_err() {
                    ffi::gnutls_x509_crl_deinit(crl);
                }
                read?;
                ffi::gnutls_x509_trust_list_add_crls(list.0, &raw const crl, 1, 0, 0);
            }
        }
        Ok(list)
    }

    /// Verifies a chain (the leaf first, DER) as that of the server `host`, at the present time.
    pub(crate) fn verify(&self, chain: &[Vec<u8>], host: &CStr) -> Result<(), Bad> {
        let read: Result<Vec<_>, _> = chain.iter().map(|der| Certificate::read(der)).collect();
        let read = read.map_err(|error| bad(&error))?;
        let mut chain: Vec<_> = read.iter().map(|certificate| certificate.0).collect();
        let mut held_to = as_server(host);
        let mut status = 0;
        // SAFETY: all arguments are alive, and the library keeps none of them.
        let code = unsafe {
            ffi::gnutls_x509_trust_list_verify_crt2(
                self.0,
                chain.as_mut_ptr(),
                c_uint::try_from(chain.len()).unwrap_or(c_uint::MAX),
                held_to.as_mut_ptr(),
                c_uint::try_from(held_to.len()).unwrap_or(0),
                0,
                &raw mut status,
                ptr::null(),
            )
        };
        checked(code).map_err(|error| bad(&error))?;
        if status == 0 {
            Ok(())
        } else {
            Err((fault(status), words(status)))
        }
    }
}

struct Certificate(ffi::Certificate);

impl Drop for Certificate {
    fn drop(&mut self) {
        // SAFETY: no other code frees it; a null pointer is ignored.
        unsafe { ffi::gnutls_x509_crt_deinit(self.0) }
    }
}

impl Certificate {
    fn read(der: &[u8]) -> Result<Self, Error> {
        let data = Datum::of(der);
        let mut certificate = ptr::null_mut();
        // SAFETY: the places for the results live longer than the calls, and the library copies the data.
        unsafe {
            checked(ffi::gnutls_x509_crt_init(&raw mut certificate))?;
            let certificate = Self(certificate);
            checked(ffi::gnutls_x509_crt_import(
                certificate.0,
                &raw const data,
                ffi::X509_FMT_DER,
            ))?;
            Ok(certificate)
        }
    }

    /// Returns the certificate for another owner to free.
    fn kept(mut self) -> ffi::Certificate {
        std::mem::replace(&mut self.0, ptr::null_mut())
    }
}

/// A verifier of chains as in the connector: with the purpose of a server, and for a host.
pub(crate) struct ClientOfChains;

impl ClientOfChains {
    pub(crate) fn new() -> Self {
        ffi::ready();
        // SAFETY: the function lives as long as the process.
        unsafe { ffi::gnutls_global_set_time_function(time) };
        Self
    }
}

impl ChainVerifier for ClientOfChains {
    fn verify(&self, chain: &ChainInDer) -> Result<(), NotVerified> {
        let host = CString::new(chain.host.as_str())
            .map_err(|e| NotVerified::Rejected(Fault::WrongName, e.to_string()))?;
        let trust = TrustList::of_chain(chain).map_err(|error| rejected(bad(&error)))?;
        NOW.store(
            i64::try_from(chain.at_unix_s).unwrap_or(i64::MAX),
            Ordering::Relaxed,
        );
        let verified = trust.verify(&chain.sent, &host);
        NOW.store(0, Ordering::Relaxed);
        verified.map_err(rejected)?;
        if chain.crls.is_empty() {
            return Ok(());
        }
        Err(NotVerified::Unsupported(
            "GnuTLS does not say whether the lists of revoked certificates cover the whole chain"
                .to_owned(),
        ))
    }
}

fn rejected((fault, words): Bad) -> NotVerified {
    NotVerified::Rejected(fault, words)
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
