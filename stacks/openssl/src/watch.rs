//! Sees the connections of libraries that keep OpenSSL's context and session to themselves.
//!
//! OpenSSL tells whoever has an index for extra data of every context that is made (`CRYPTO_get_ex_new_index(3)`). Each then gets a
//! callback that verifies chains as OpenSSL does by itself, and takes the time.

use std::{
    ffi::{c_int, c_long, c_void},
    ptr,
    sync::{LazyLock, Mutex, PoisonError},
};

use foreign_types_shared::ForeignTypeRef;
use netbench_model::Negotiated;
use netbench_worker::{Probe, SetupError};
use openssl::{
    ssl::SslRef,
    x509::{X509StoreContext, X509StoreContextRef},
};
use openssl_sys::{CRYPTO_EX_DATA, CRYPTO_EX_INDEX_SSL_CTX, SSL, SSL_CTX, X509_STORE_CTX};

use crate::{explain::certificate_fault, ffi, names::Side, negotiated::negotiated};

/// The connection that is being made: a worker makes one at a time.
static WATCHED: Mutex<Option<Seen>> = Mutex::new(None);

struct Seen {
    probe: Probe,
    /// The session whose chain was verified last.
    session: *mut SSL,
}

// SAFETY: the session is used by `agreed` alone, on the thread of its connection.
unsafe impl Send for Seen {}

/// Has every context that is made from now on verify chains under watch.
///
/// # Errors
/// OpenSSL has no room for it.
pub fn contexts() -> Result<(), SetupError> {
    static INDEX: LazyLock<c_int> = LazyLock::new(|| {
        openssl_sys::init();
        // SAFETY: the callback lives for ever.
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

/// Watches a connection for as long as this lives.
#[derive(Debug)]
pub struct Watch(());

impl Watch {
    /// Watches the connection that is about to be made, for `probe`.
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

/// What the handshake of the watched connection agreed on, or nothing where no chain was verified.
///
/// # Safety
/// The connection's session still lives.
pub unsafe fn agreed() -> Negotiated {
    let watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    match &*watched {
        Some(seen) if !seen.session.is_null() => {
            // SAFETY: the caller says that it lives.
            let session = unsafe { SslRef::from_ptr(seen.session) };
            negotiated(session, Side::Client)
        }
        _ => Negotiated::default(),
    }
}

/// OpenSSL calls this in the middle of `SSL_CTX_new`, after which it touches the callback no more.
unsafe extern "C" fn made(
    context: *mut c_void,
    _: *mut c_void,
    _: *mut CRYPTO_EX_DATA,
    _: c_int,
    _: c_long,
    _: *mut c_void,
) {
    // SAFETY: it is the context that is being made.
    unsafe { ffi::set_raw_cert_verify_callback(context.cast::<SSL_CTX>(), verify) };
}

/// `X509_verify_cert`, which checks the chain and the name, with its time taken.
extern "C" fn verify(store: *mut X509_STORE_CTX, _: *mut c_void) -> c_int {
    // SAFETY: OpenSSL calls this with a live store context that nobody else uses meanwhile.
    let store = unsafe { X509StoreContextRef::from_ptr_mut(store) };
    let ssl = X509StoreContext::ssl_idx()
        .ok()
        .and_then(|index| store.ex_data(index))
        .map(SslRef::as_ptr);
    let probe = {
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.as_mut().map(|seen| {
            seen.session = ssl.unwrap_or(ptr::null_mut());
            seen.probe.clone()
        })
    };
    let Some(probe) = probe else {
        return c_int::from(store.verify_cert().unwrap_or(false));
    };
    let good = probe.verify(|| store.verify_cert().unwrap_or(false));
    if !good {
        let error = store.error();
        probe.certificate_fault(certificate_fault(error), error.error_string());
    }
    c_int::from(good)
}
