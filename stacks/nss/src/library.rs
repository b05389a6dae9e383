//! The library as a whole: it is initialized once for the process, and each thread has its last error.

use std::{
    ffi::{CStr, c_int},
    ptr,
    sync::OnceLock,
};

use netbench_tls::Alert;
use netbench_worker::{CObject, Owned};

use crate::ffi;

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Error {
    pub(crate) code: i32,
    /// The received alert, where that is the error.
    pub(crate) alert: Option<Alert>,
    words: String,
}

impl Error {
    /// Returns the last error of this thread.
    pub(crate) fn last() -> Self {
        Self::of(ffi::PR_GetError())
    }

    pub(crate) fn of(code: i32) -> Self {
        let words = ffi::PR_ErrorToString(code, 0).get();
        Self {
            code,
            alert: None,
            words: format!("{} ({})", words.unwrap_or("unknown error"), name(code)),
        }
    }

    /// Returns the library's name of the error, such as `SSL_ERROR_BAD_CERT_DOMAIN`.
    pub(crate) fn name(&self) -> &'static str {
        name(self.code)
    }
}

fn name(code: i32) -> &'static str {
    ffi::PR_ErrorToName(code).get().unwrap_or("UNKNOWN")
}

/// Converts a `SECStatus` or `PRStatus` of the library.
pub(crate) fn checked(status: c_int) -> Result<(), Error> {
    if status == ffi::SUCCESS {
        Ok(())
    } else {
        Err(Error::last())
    }
}

/// Takes ownership of an object that the library has made, where null is an error.
///
/// # Safety
/// No other code frees the object.
pub(crate) unsafe fn made<T: CObject>(object: *mut T) -> Result<Owned<T>, Error> {
    if object.is_null() {
        return Err(Error::last());
    }
    // SAFETY: the caller guarantees it.
    Ok(unsafe { Owned::new(object) })
}

/// The used experimental functions, and other data that are found once.
pub(crate) struct Library {
    /// The identity of the layer below TLS.
    pub(crate) identity: c_int,
    pub(crate) set_suites: ffi::SetSuites,
    pub(crate) set_token: ffi::SetToken,
    pub(crate) set_token_callback: ffi::SetTokenCallback,
    pub(crate) send_ticket: ffi::SendTicket,
}

/// Initializes the library at the first call. It has no database: certificates are only in memory.
pub(crate) fn library() -> Result<&'static Library, Error> {
    static LIBRARY: OnceLock<Result<Library, Error>> = OnceLock::new();
    LIBRARY.get_or_init(set_up).as_ref().map_err(Clone::clone)
}

fn set_up() -> Result<Library, Error> {
    /// The size of the OCSP cache: no responses are kept for later connections.
    const NO_OCSP_CACHE: i32 = -1;
    // SAFETY: this code runs once, before any other call of the library; without a folder, there is no
    // database.
    unsafe {
        checked(ffi::NSS_NoDB_Init(ptr::null()))?;
        checked(ffi::NSS_SetDomesticPolicy())?;
        checked(ffi::CERT_OCSPCacheSettings(NO_OCSP_CACHE, 0, 0))?;
        Ok(Library {
            identity: ffi::PR_GetUniqueIdentity(c"netbench".as_ptr()),
            set_suites: experimental(c"SSL_CipherSuiteOrderSet")?,
            set_token: experimental(c"SSL_SetResumptionToken")?,
            set_token_callback: experimental(c"SSL_SetResumptionTokenCallback")?,
            send_ticket: experimental(c"SSL_SendSessionTicket")?,
        })
    }
}

/// Returns an experimental function.
///
/// # Safety
/// `T` must be the function's type.
unsafe fn experimental<T: Copy>(name: &CStr) -> Result<T, Error> {
    // SAFETY: the caller guarantees it.
    unsafe { ffi::experimental(name) }.ok_or_else(Error::last)
}

/// Returns the library's version.
pub(crate) fn version() -> &'static str {
    // This requires no initialization.
    ffi::NSS_GetVersion().get().unwrap_or_default()
}
