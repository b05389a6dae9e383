//! Versions, suites and groups, set in the same way on clients and servers, and other differences from AWS-LC.

use std::{
    ffi::{c_int, c_long},
    fmt::Display,
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use netbench_libssl::{Libssl, Side, VerifyCallback, good};
use netbench_tls::{
    CertificateFault, CipherSuite, EchStatus, Group, Negotiated, SignatureScheme, TlsVersion,
};
use netbench_worker::{SetupError, refused};
use openssl::{
    error::{Error, ErrorStack},
    ssl::{SslContextBuilder, SslOptions, SslRef},
    x509::{X509CrlRef, X509StoreContextRef, X509VerifyResult, store::X509StoreBuilderRef},
};

use crate::{OpenSsl, ech, ffi, names, negotiated};

/// OpenSSL 3.5.0, the first with X25519MLKEM768 and ML-DSA.
const FIRST_POST_QUANTUM: i64 = 0x3050_0000;

impl Libssl for OpenSsl {
    const OPTIONS: SslOptions = SslOptions::NO_COMPRESSION;

    fn set_suites(ssl: &mut SslContextBuilder, suites: &[CipherSuite]) -> Result<(), SetupError> {
        ssl.set_ciphersuites(&list(suites, TlsVersion::Tls13))
            .map_err(refused("suites"))?;
        let tls12 = list(suites, TlsVersion::Tls12);
        // A list without any known suite is an error; an unknown suite in a list is not.
        let known = tls12.is_empty() || ssl.set_cipher_list(&tls12).is_ok();
        let able = ffi::suites(ssl);
        match suites.iter().find(|suite| !known || !able.contains(*suite)) {
            Some(suite) => Err(unsupported("suite", suite)),
            None => Ok(()),
        }
    }

    fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError> {
        if let Some(group) = groups.iter().find(|group| !can_group(**group)) {
            return Err(unsupported("group", group));
        }
        ssl.set_groups_list(&names::groups_list(groups))
            .map_err(refused("groups"))
    }

    fn set_schemes(
        ssl: &mut SslContextBuilder,
        schemes: &[SignatureScheme],
    ) -> Result<(), SetupError> {
        if let Some(scheme) = schemes.iter().find(|scheme| !can_scheme(**scheme)) {
            return Err(unsupported("signature scheme", scheme));
        }
        ssl.set_sigalgs_list(&names::list(schemes))
            .map_err(refused("signature schemes"))
    }

    fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack> {
        ssl.set_num_tickets(tickets)
    }

    fn set_max_send_fragment(ssl: &mut SslContextBuilder, bytes: u16) -> Result<(), SetupError> {
        let (control, bytes) = (ffi::SET_MAX_SEND_FRAGMENT, c_long::from(bytes));
        // SAFETY: the context is live; this control takes no pointer.
        match unsafe { openssl_sys::SSL_CTX_ctrl(ssl.as_ptr(), control, bytes, ptr::null_mut()) } {
            1 => Ok(()),
            _ => Err(SetupError::refused(
                "maximum fragment",
                "OpenSSL takes 512 to 16,384 bytes",
            )),
        }
    }

    /// Releases the buffers, which are made again when they are needed.
    fn release_buffers(ssl: &SslRef) -> Result<Option<&'static str>, ErrorStack> {
        // SAFETY: the connection is live, and no call of the library is under way.
        match unsafe { ffi::SSL_free_buffers(ssl.as_ptr()) } {
            1 => Ok(Some("SSL_free_buffers")),
            _ => Err(ErrorStack::get()),
        }
    }

    fn set_cert_verify_callback(ssl: &mut SslContextBuilder, callback: VerifyCallback) {
        // SAFETY: the context is live.
        unsafe { ffi::set_cert_verify_callback(ssl.as_ptr(), callback) };
    }

    /// Sets the security level, the purpose of a server's certificate, and the parameters of `ssl`, including its host.
    fn set_as_client(context: &mut X509StoreContextRef, ssl: &SslRef) -> Result<(), ErrorStack> {
        let level = c_int::try_from(ssl.security_level()).unwrap_or(c_int::MAX);
        // SAFETY: both are live. The context owns its parameters, and copies those of `ssl`.
        unsafe {
            let (context, own) = (context.as_ptr(), openssl_sys::SSL_get0_param(ssl.as_ptr()));
            let parameters = ffi::X509_STORE_CTX_get0_param(context);
            openssl_sys::X509_VERIFY_PARAM_set_auth_level(parameters, level);
            good(ffi::X509_STORE_CTX_set_default(
                context,
                c"ssl_server".as_ptr(),
            ))?;
            good(ffi::X509_VERIFY_PARAM_set1(parameters, own))
        }
    }

    fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack> {
        // SAFETY: both are live.
        good(unsafe { ffi::X509_STORE_add_crl(store.as_ptr(), crl.as_ptr()) })
    }

    /// Returns the number of roots so far: a folder is read when a chain is verified.
    #[cfg(not(before_openssl_3))]
    fn roots_read(connector: &openssl::ssl::SslConnector) -> Option<u32> {
        let store = connector.context().cert_store();
        u32::try_from(store.all_certificates().len()).ok()
    }

    fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
        CertificateFault::of_openssl_result(result.as_raw().into())
    }

    /// Returns the last error, which is the nearest to the handshake, except for one that is less specific than the one before
    /// it.
    fn cause(stack: &ErrorStack) -> Option<&Error> {
        const VAGUE: &str = "record layer failure";
        let errors = stack.errors();
        let specific = errors.iter().rfind(|error| error.reason() != Some(VAGUE));
        specific.or(errors.last())
    }

    fn negotiated(ssl: &SslRef, side: Side) -> Negotiated {
        negotiated::negotiated(ssl, side)
    }

    fn served_ech(ssl: &SslRef) -> Option<EchStatus> {
        ech::served(ssl)
    }
}

/// Returns the names of the suites of a version, in OpenSSL's format.
fn list(suites: &[CipherSuite], version: TlsVersion) -> String {
    let these = suites.iter().filter(|suite| suite.version() == version);
    let names: Vec<_> = these.map(|suite| names::openssl_name(*suite)).collect();
    names.join(":")
}

/// Returns whether the library supports `group`.
pub fn can_group(group: Group) -> bool {
    match group {
        Group::X25519MLKEM768 => openssl::version::number() >= FIRST_POST_QUANTUM,
        other => Group::OFFERED.contains(&other),
    }
}

/// Returns whether the library verifies signatures of `scheme`.
pub(crate) fn can_scheme(scheme: SignatureScheme) -> bool {
    openssl::version::number() >= FIRST_POST_QUANTUM || !SignatureScheme::ML_DSA.contains(&scheme)
}

fn unsupported(what: &str, name: impl Display) -> SetupError {
    let library = openssl::version::version();
    SetupError::Unsupported(format!("no {what} {name} in {library}"))
}
