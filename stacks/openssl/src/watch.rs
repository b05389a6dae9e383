//! Observes the connections of libraries that do not expose OpenSSL's context and session.
//!
//! OpenSSL notifies the owner of an index for extra data of every new context (`CRYPTO_get_ex_new_index(3)`).
//! Each context then gets a callback that verifies chains as OpenSSL does by default, and times the
//! verification.

use std::{
    ffi::{c_int, c_long, c_void},
    ptr,
    sync::{LazyLock, Mutex, PoisonError},
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{Side, ssl_of, verify_timed};
use netbench_tls::Negotiated;
use netbench_worker::{Probe, SetupError};
use openssl::{ssl::SslRef, x509::X509StoreContextRef};
use openssl_sys::{CRYPTO_EX_DATA, CRYPTO_EX_INDEX_SSL_CTX, SSL, SSL_CTX, X509_STORE_CTX};

use crate::{OpenSsl, ffi, negotiated::negotiated};

/// The connection in progress: a worker makes one at a time.
static WATCHED: Mutex<Option<Seen>> = Mutex::new(None);

struct Seen {
    probe: Probe,
    /// The session whose chain was verified last.
    session: *mut SSL,
}

// SAFETY: only `agreed` uses the session, on the thread of its connection.
unsafe impl Send for Seen {}

/// Makes every context that is made from now on verify chains with the observing callback.
///
/// # Errors
/// Returns an error if OpenSSL cannot allocate the index.
pub fn contexts() -> Result<(), SetupError> {
    static INDEX: LazyLock<c_int> = LazyLock::new(|| {
        openssl_sys::init();
        // SAFETY: the callback has static lifetime.
        unsafe {
            openssl_sys::CRYPTO_get_ex_new_index(
                CRYPTO_EX_INDEX_SSL_CTX,
                0,
                ptr::null_mut(),
                Some(made),
                None,
                None,
            )
        }
    });
    match *INDEX {
        index if index < 0 => Err(SetupError::Refused(
            "OpenSSL has no index for contexts".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// A guard that observes a connection for its lifetime.
#[derive(Debug)]
pub struct Watch(());

impl Watch {
    /// Observes the connection that is about to be made, for `probe`.
    pub fn begin(probe: &Probe) -> Self {
        replace(Some(Seen {
            probe: probe.clone(),
            session: ptr::null_mut(),
        }));
        Self(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        replace(None);
    }
}

fn replace(seen: Option<Seen>) {
    *WATCHED.lock().unwrap_or_else(PoisonError::into_inner) = seen;
}

/// Returns the negotiated parameters of the observed connection; empty where no chain was verified.
///
/// # Safety
/// The connection's session is still alive.
pub unsafe fn agreed() -> Negotiated {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*watched {
        Some(seen) if !seen.session.is_null() => {
            // SAFETY: the caller guarantees that it is alive.
            let session = unsafe { SslRef::from_ptr(seen.session) };
            negotiated(session, Side::Client)
        }
        _ => Negotiated::default(),
    }
}

/// Sets the callback. OpenSSL calls this function during `SSL_CTX_new`, which does not change the callback
/// afterwards.
unsafe extern "C" fn made(
    context: *mut c_void,
    _: *mut c_void,
    _: *mut CRYPTO_EX_DATA,
    _: c_int,
    _: c_long,
    _: *mut c_void,
) {
    // SAFETY: the pointer is to the context that is being made.
    unsafe { ffi::set_cert_verify_callback(context.cast::<SSL_CTX>(), verify) };
}

/// Verifies a chain as OpenSSL does by default, and times the verification of the observed connection's.
extern "C" fn verify(store: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    // SAFETY: OpenSSL calls this function with a live store context that no other code uses meanwhile.
    let store = unsafe { X509StoreContextRef::from_ptr_mut(store) };
    let ssl = ssl_of(store).map(SslRef::as_ptr);
    let probe = {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.as_mut().map(|seen| {
            seen.session = ssl.unwrap_or(ptr::null_mut());
            seen.probe.clone()
        })
    };
    match probe {
        Some(probe) => verify_timed::<OpenSsl>(store, &probe),
        None => c_int::from(store.verify_cert().unwrap_or(false)),
    }
}
