//! Verification of the peer's chain.

use std::{
    ffi::{CStr, c_int, c_ulong, c_void},
    ptr,
};

use netbench_tls::CertificateFault as Fault;

use crate::{
    ech,
    explain::certificate_fault,
    ffi::{self, FileDesc, VerifyLog},
    library::{Error, checked, made},
    negotiated::peer_certificates,
    session::User,
};

/// The key usage (RFC 5280 section 4.2.1.3) that a server's certificate must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum KeyUsage {
    /// The library's requirement: with RSA, `keyEncipherment`.
    #[default]
    OfLibrary,
    /// Any key usage. The suite's RSA certificates are only for signatures, which is their only use in TLS
    /// 1.3.
    Any,
}

/// Makes the library's default verification, and times it. The library calls this function when it has
/// received the chain.
pub(crate) extern "C" fn verify(
    user: *mut c_void,
    fd: FileDesc,
    check_signature: c_int,
    is_server: c_int,
) -> c_int {
    // SAFETY: every session has user data.
    let user = unsafe { &*user.cast::<User>() };
    let verified = || {
        // SAFETY: the session is alive.
        let status = unsafe {
            ffi::SSL_AuthCertificate(
                ffi::CERT_GetDefaultCertDB().cast(),
                fd,
                check_signature,
                is_server,
            )
        };
        if let Some(name) = ech::name_of_rejection(fd) {
            return for_public_name(fd, &name, status);
        }
        match &user.host {
            Some(host) if status != ffi::SUCCESS && user.key_usage == KeyUsage::Any => {
                the_rest(fd, host)
            }
            _ => status,
        }
    };
    let Some(probe) = &user.probe else {
        return verified();
    };
    let status = probe.verify(verified);
    if status != ffi::SUCCESS {
        let error = Error::last();
        let fault = peer_certificates(fd, |chain| fault(&error, chain, ffi::PR_Now()));
        probe.certificate_fault(fault, error.name());
        // The library chooses its alert by the error.
        ffi::PR_SetError(error.code, 0);
    }
    status
}

/// Finishes the verification of a server that rejected Encrypted ClientHello. `status` is that of the library's verification,
/// which looks at the name last, and at the hidden one.
fn for_public_name(fd: FileDesc, name: &CStr, status: c_int) -> c_int {
    if status != ffi::SUCCESS && Error::last().code != ffi::SSL_ERROR_BAD_CERT_DOMAIN {
        return status;
    }
    // SAFETY: the certificates are alive.
    status_by_leaf(fd, |leaf| unsafe { has_name(leaf, name) })
}

/// Continues the library's verification after it has rejected the key usage. Any other error remains.
fn the_rest(fd: FileDesc, host: &CStr) -> c_int {
    let error = Error::last();
    if error.code != ffi::SEC_ERROR_INADEQUATE_KEY_USAGE {
        return ffi::FAILURE;
    }
    // SAFETY: the certificates are alive.
    status_by_leaf(fd, |leaf| unsafe {
        all_but_key_usage(leaf, host, ffi::PR_Now())
    })
}

/// Returns the status of a check of the peer's certificate, and sets its error.
fn status_by_leaf(
    fd: FileDesc,
    check: impl FnOnce(ffi::Certificate) -> Result<(), Error>,
) -> c_int {
    peer_certificates(fd, |chain| match chain.first().copied().map(check) {
        Some(Ok(())) => ffi::SUCCESS,
        Some(Err(error)) => {
            ffi::PR_SetError(error.code, 0);
            ffi::FAILURE
        }
        None => ffi::FAILURE,
    })
}

/// Verifies a server whose key usage the library rejects: with a log, the library continues after an error.
///
/// # Safety
/// The leaf is alive.
unsafe fn all_but_key_usage(leaf: ffi::Certificate, host: &CStr, time: i64) -> Result<(), Error> {
    // SAFETY: the caller guarantees that the leaf is alive; the log and its contents live as long as the arena.
    unsafe {
        let arena = made(ffi::PORT_NewArena(LOG_BYTES))?;
        let mut log = VerifyLog {
            arena: arena.pointer(),
            ..VerifyLog::default()
        };
        ffi::CERT_VerifyCert(
            ffi::CERT_GetDefaultCertDB(),
            leaf,
            1,
            ffi::CERT_USAGE_SSL_SERVER,
            time,
            ptr::null_mut(),
            &raw mut log,
        );
        let mut other = None;
        let mut node = log.first;
        while !node.is_null() {
            let error = i32::try_from((*node).error).unwrap_or(i32::MIN);
            if (*node).depth > 0 || error != ffi::SEC_ERROR_INADEQUATE_KEY_USAGE {
                other.get_or_insert(error);
            }
            ffi::CERT_DestroyCertificate((*node).certificate);
            node = (*node).next;
        }
        match other {
            None if log.count > 0 => has_name(leaf, host),
            None => Err(Error::of(ffi::SEC_ERROR_INADEQUATE_KEY_USAGE)),
            Some(code) => Err(Error::of(code)),
        }
    }
}

/// The chunk size of a log's memory.
const LOG_BYTES: c_ulong = 512;

/// Verifies a server's certificate at a time in microseconds, as the library does for a session.
///
/// # Safety
/// The leaf is alive.
pub(crate) unsafe fn verify_server(
    leaf: ffi::Certificate,
    host: &CStr,
    time: i64,
    key_usage: KeyUsage,
) -> Result<(), Error> {
    // SAFETY: as above.
    unsafe {
        let verified = checked(ffi::CERT_VerifyCert(
            ffi::CERT_GetDefaultCertDB(),
            leaf,
            1,
            ffi::CERT_USAGE_SSL_SERVER,
            time,
            ptr::null_mut(),
            ptr::null_mut(),
        ));
        match verified {
            Ok(()) => has_name(leaf, host),
            Err(error)
                if error.code == ffi::SEC_ERROR_INADEQUATE_KEY_USAGE
                    && key_usage == KeyUsage::Any =>
            {
                all_but_key_usage(leaf, host, time)
            }
            error => error,
        }
    }
}

/// Checks that a certificate has the host's name.
///
/// # Safety
/// The leaf is alive.
unsafe fn has_name(leaf: ffi::Certificate, host: &CStr) -> Result<(), Error> {
    // SAFETY: the caller guarantees it.
    checked(unsafe { ffi::CERT_VerifyCertName(leaf, host.as_ptr()) })
        .map_err(|_| Error::of(ffi::SSL_ERROR_BAD_CERT_DOMAIN))
}

/// Returns the fault of a chain that was rejected at `time`. The library has one error for expired
/// certificates and for those that are not valid yet.
pub(crate) fn fault(error: &Error, chain: &[ffi::Certificate], time: i64) -> Fault {
    let found = certificate_fault(error.name()).unwrap_or(Fault::Other);
    let mut validities = chain.iter().map(|certificate| {
        // SAFETY: the certificates are alive.
        unsafe { ffi::CERT_CheckCertValidTimes(*certificate, time, 0) }
    });
    if found == Fault::Expired && validities.any(|found| found == ffi::CERT_TIME_NOT_VALID_YET) {
        Fault::NotYetValid
    } else {
        found
    }
}
