//! Code for libraries with OpenSSL's interface behind the openssl crate: OpenSSL itself, and AWS-LC in another workspace.
//!
//! This crate must never load trust roots or settings other than the given ones. Start reading at [`Libssl`];
//! `context.rs` makes clients, `in_memory.rs` the sessions of the suite, and `chain.rs` verifies chains alone.

mod chain;
mod context;
mod explain;
mod identity;
mod in_memory;
mod memory_bio;
mod piped;
mod server;
mod signing;
mod trust;
mod versions;

use std::ffi::{c_int, c_void};

use netbench_tls::{
    CertificateFault, CipherSuite, EchStatus, Group, Negotiated, SignatureScheme, TlsVersion,
};
use netbench_worker::{SetupError, usable_versions};
use openssl::{
    error::{Error, ErrorStack},
    ssl::{SslConnector, SslContextBuilder, SslOptions, SslRef},
    x509::{X509CrlRef, X509StoreContextRef, X509VerifyResult, store::X509StoreBuilderRef},
};
use openssl_sys::X509_STORE_CTX;

pub use chain::{client_of_chains, der_bytes, peer_chain};
pub use context::{
    bare_context, client_context, for_each_connection, probe_of, roots, select_alpn, ssl_of,
    verified_context, verify_timed,
};
pub use explain::explain;
pub use identity::{Identity, set_identity};
pub use in_memory::{Sessions, client, configuration, server, verifier};
/// The side of a connection.
pub use netbench_worker::EndpointSide as Side;
pub use server::{accepted, server_context};
pub use signing::Keys;
pub use trust::{SOURCES, own_trust};
pub use versions::{set_versions, tls_version};

/// The differences between the libraries.
///
/// # Errors
/// Its functions return errors of the library, unless they say otherwise.
pub trait Libssl: 'static {
    /// The options of every context.
    const OPTIONS: SslOptions;

    /// Restricts a context to the range of `versions`.
    ///
    /// # Errors
    /// No version, or one that the library lacks.
    fn set_versions(
        ssl: &mut SslContextBuilder,
        versions: &[TlsVersion],
    ) -> Result<(), SetupError> {
        set_versions(ssl, versions)
    }

    /// Restricts a context to `suites`, in this order.
    ///
    /// # Errors
    /// A suite that the library lacks.
    fn set_suites(ssl: &mut SslContextBuilder, suites: &[CipherSuite]) -> Result<(), SetupError>;

    /// Restricts a context to those of `versions` to which one of `suites` belongs, as rustls does, with exactly
    /// `suites`, in this order.
    ///
    /// # Errors
    /// A version or suite that the library lacks.
    fn set_versions_and_suites(
        ssl: &mut SslContextBuilder,
        versions: &[TlsVersion],
        suites: &[CipherSuite],
    ) -> Result<(), SetupError> {
        Self::set_versions(ssl, &usable_versions(versions, suites))?;
        Self::set_suites(ssl, suites)
    }

    /// Restricts a context to `groups`, in this order.
    ///
    /// # Errors
    /// A group that the library lacks.
    fn set_groups(ssl: &mut SslContextBuilder, groups: &[Group]) -> Result<(), SetupError>;

    /// Restricts the peer's schemes to `schemes`, in this order.
    ///
    /// # Errors
    /// A scheme that the library lacks.
    fn set_schemes(
        ssl: &mut SslContextBuilder,
        schemes: &[SignatureScheme],
    ) -> Result<(), SetupError>;

    /// Sets the number of tickets that a server of TLS 1.3 sends after a handshake.
    fn set_tickets(ssl: &mut SslContextBuilder, tickets: usize) -> Result<(), ErrorStack>;

    /// Limits records to `bytes` of plaintext.
    ///
    /// # Errors
    /// A length that the library does not accept.
    fn set_max_send_fragment(ssl: &mut SslContextBuilder, bytes: u16) -> Result<(), SetupError>;

    /// Releases the buffers of an idle connection, and returns the library's function for it, if it has one.
    ///
    /// # Errors
    /// The buffers are in use.
    fn release_buffers(_ssl: &SslRef) -> Result<Option<&'static str>, ErrorStack> {
        Ok(None)
    }

    /// Makes `callback` verify chains instead of `X509_verify_cert`, which the callback must call.
    fn set_cert_verify_callback(ssl: &mut SslContextBuilder, callback: VerifyCallback);

    /// Sets up a verification context as libssl does for the client `ssl`.
    fn set_as_client(context: &mut X509StoreContextRef, ssl: &SslRef) -> Result<(), ErrorStack>;

    /// Adds a list of revoked certificates, of which the store then holds a reference.
    fn add_crl(store: &mut X509StoreBuilderRef, crl: &X509CrlRef) -> Result<(), ErrorStack>;

    /// Returns the number of roots that a connector has read so far, if the library reports it.
    fn roots_read(_connector: &SslConnector) -> Option<u32> {
        None
    }

    /// Maps a result of `X509_verify_cert`.
    fn certificate_fault(result: X509VerifyResult) -> CertificateFault {
        CertificateFault::of_x509_result(result.as_raw().into())
    }

    /// Returns that of the library's errors which explains a failure: the first. Later ones show where it was noticed.
    fn cause(stack: &ErrorStack) -> Option<&Error> {
        stack.errors().first()
    }

    /// Returns the negotiated parameters according to one side of a finished handshake.
    fn negotiated(ssl: &SslRef, side: Side) -> Negotiated;

    /// Returns the outcome of the client's Encrypted ClientHello according to a server, in a finished handshake.
    fn served_ech(_ssl: &SslRef) -> Option<EchStatus> {
        None
    }

    /// Sends the tickets of a server whose handshake is done, if the library keeps them until the server writes.
    fn send_tickets(_ssl: &SslRef) -> Result<(), ErrorStack> {
        Ok(())
    }
}

/// Returns the library's errors, where `result` is that of a function which returns 1 on success.
///
/// # Errors
/// The function has failed.
#[inline]
pub fn good(result: c_int) -> Result<(), ErrorStack> {
    if result > 0 {
        Ok(())
    } else {
        Err(ErrorStack::get())
    }
}

/// A verification callback for a whole chain: it returns 1 for a valid chain, and 0 otherwise.
pub type VerifyCallback = extern "C" fn(*mut X509_STORE_CTX, *mut c_void) -> c_int;
