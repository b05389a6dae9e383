//! Versions, suites and groups, set in the same way on clients and servers, and other differences from AWS-LC.

use std::fmt::Display;

use netbench_libssl::{Libssl, Side, VerifyCallback};
use netbench_tls::{
    CertificateFault, CipherSuite, EchStatus, Group, Negotiated, SignatureScheme, TlsVersion,
};
use netbench_worker::{SetupError, refused};
use openssl::{
    error::ErrorStack,
    ssl::{SslConnector, SslContextBuilder, SslOptions, SslRef},
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
        ffi::set_max_send_fragment(ssl, bytes).map_err(refused("maximum fragment"))
    }

    fn release_buffers(ssl: &SslRef) -> Result<Option<&'static str>, ErrorStack> {
        ffi::free_buffers(ssl)
    }

    fn set_cert_verify_callback(ssl: &mut SslContextBuilder, callback: VerifyCallback) {
        ffi::set_cert_verify_callback(ssl, callback);
    }

    fn set_as_client(context: &mut X509StoreContextRef, ssl: &SslRef) -> Result<(), ErrorStack> {
        ffi::set_as_client(context, ssl)
    }

    fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack> {
        ffi::add_crl(store, crl)
    }

    fn roots_read(connector: &SslConnector) -> Option<u32> {
        ffi::roots_read(connector)
    }

    fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
        CertificateFault::of_openssl_result(result.as_raw().into())
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
