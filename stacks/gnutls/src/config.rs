//! The common configuration of one client's or server's sessions.

use std::{
    ffi::{CStr, CString, c_int, c_uint},
    ptr,
    sync::{Arc, OnceLock},
};

use netbench_tls::{Alpn, TlsVersion};
use netbench_worker::{FFDHE2048_PEM, SetupError, made_once, refused};

use crate::{
    ffi::{self, Datum},
    session::{Error, checked},
    settings::Priority,
    tickets::ServerSessions,
    verify::verify,
};

/// Settings of a client's or a server's sessions.
pub(crate) struct Config {
    /// The flags of `gnutls_init`.
    pub(crate) flags: c_uint,
    pub(crate) credentials: Credentials,
    pub(crate) priority: Priority,
    pub(crate) versions: Vec<TlsVersion>,
    pub(crate) alpn: Vec<Alpn>,
    /// The maximum plaintext of a record, where it is limited.
    pub(crate) max_record_bytes: Option<u16>,
    pub(crate) resumption: Resumption,
    pub(crate) client_certificates: ClientCertificates,
}

/// A server's means of resumption. A client has none.
pub(crate) enum Resumption {
    None,
    /// Sends tickets, `count` of them after handshakes of TLS 1.3.
    Tickets {
        key: TicketKey,
        count: u8,
    },
    /// Keeps sessions, before TLS 1.3.
    Kept(Arc<ServerSessions>),
}

/// Whether a server requests certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientCertificates {
    NotAsked,
    Required,
}

impl Config {
    /// Sets up a new session.
    pub(crate) fn set(&self, raw: ffi::Session) -> Result<(), Error> {
        let is_server = self.flags & ffi::SERVER != 0;
        // SAFETY: the session is alive, and keeps this configuration alive; the library copies the rest.
        unsafe {
            checked(ffi::gnutls_priority_set(raw, self.priority.0))?;
            checked(ffi::gnutls_credentials_set(
                raw,
                ffi::CRD_CERTIFICATE,
                self.credentials.0.cast(),
            ))?;
            if !self.alpn.is_empty() {
                let names: Vec<_> = self
                    .alpn
                    .iter()
                    .map(|alpn| Datum::of(alpn.name().as_bytes()))
                    .collect();
                let flags = if is_server {
                    ffi::ALPN_MANDATORY | ffi::ALPN_SERVER_PRECEDENCE
                } else {
                    0
                };
                let count = c_uint::try_from(names.len()).unwrap_or(0);
                checked(ffi::gnutls_alpn_set_protocols(
                    raw,
                    names.as_ptr(),
                    count,
                    flags,
                ))?;
            }
            if let Some(bytes) = self.max_record_bytes {
                let code = ffi::gnutls_record_set_max_size(raw, usize::from(bytes));
                checked(c_int::try_from(code).unwrap_or(c_int::MIN))?;
            }
            if self.client_certificates == ClientCertificates::Required {
                ffi::gnutls_certificate_server_set_request(raw, ffi::CERT_REQUIRE);
            }
            match &self.resumption {
                Resumption::None => Ok(()),
                Resumption::Tickets { key, .. } => checked(
                    ffi::gnutls_session_ticket_enable_server(raw, &raw const key.0),
                ),
                Resumption::Kept(sessions) => {
                    sessions.set(raw);
                    Ok(())
                }
            }
        }
    }

    /// Returns the number of tickets to send after the handshake. Those of TLS 1.2 are a part of it.
    pub(crate) fn tickets_to_send(&self, raw: ffi::Session) -> c_uint {
        match &self.resumption {
            Resumption::Tickets { count, .. } if is_tls13(raw) => c_uint::from(*count),
            _ => 0,
        }
    }
}

/// Returns whether a session is of TLS 1.3.
pub(crate) fn is_tls13(raw: ffi::Session) -> bool {
    const TLS13: c_int = 5;
    // SAFETY: the session is alive.
    unsafe { ffi::gnutls_protocol_get_version(raw) == TLS13 }
}

/// The key with which a server encrypts its tickets.
pub(crate) struct TicketKey(Datum);

// SAFETY: the key is only read.
unsafe impl Send for TicketKey {}
// SAFETY: as above.
unsafe impl Sync for TicketKey {}

impl TicketKey {
    pub(crate) fn new() -> Result<Self, SetupError> {
        let mut key = Datum::EMPTY;
        // SAFETY: the place for the result lives longer than the call.
        let code = unsafe { ffi::gnutls_session_ticket_key_generate(&raw mut key) };
        checked(code).map_err(refused("ticket key"))?;
        Ok(Self(key))
    }
}

impl Drop for TicketKey {
    fn drop(&mut self) {
        // SAFETY: the library has allocated it, and no other code frees it.
        unsafe { ffi::gnutls_free(self.0.data.cast()) }
    }
}

/// Certificates and keys, and the trust for the verification of peers.
pub(crate) struct Credentials(ffi::Credentials);

// SAFETY: sessions only read credentials after their initialization.
unsafe impl Send for Credentials {}
// SAFETY: as above.
unsafe impl Sync for Credentials {}

impl Drop for Credentials {
    fn drop(&mut self) {
        // SAFETY: sessions keep their credentials alive.
        unsafe { ffi::gnutls_certificate_free_credentials(self.0) }
    }
}

impl Credentials {
    pub(crate) fn new() -> Result<Self, SetupError> {
        ffi::ready();
        let mut made = ptr::null_mut();
        // SAFETY: the place for the result lives longer than the call.
        let code = unsafe { ffi::gnutls_certificate_allocate_credentials(&raw mut made) };
        checked(code).map_err(refused("credentials"))?;
        Ok(Self(made))
    }

    /// Makes the library verify the peers' certificates.
    pub(crate) fn verify_peers(&self) {
        // SAFETY: the credentials are alive and not shared yet.
        unsafe { ffi::gnutls_certificate_set_verify_function(self.0, verify) }
    }

    pub(crate) fn trust_pem(&self, roots: &str) -> Result<(), SetupError> {
        self.trust(roots.as_bytes(), ffi::X509_FMT_PEM)
    }

    pub(crate) fn trust_der(&self, root: &[u8]) -> Result<(), SetupError> {
        self.trust(root, ffi::X509_FMT_DER)
    }

    fn trust(&self, roots: &[u8], format: c_int) -> Result<(), SetupError> {
        let roots = Datum::of(roots);
        // SAFETY: the credentials are alive and not shared yet; the library copies the roots.
        let read =
            unsafe { ffi::gnutls_certificate_set_x509_trust_mem(self.0, &raw const roots, format) };
        some_roots(read)
    }

    pub(crate) fn trust_file(&self, path: &CStr) -> Result<(), SetupError> {
        // SAFETY: as above.
        let read = unsafe {
            ffi::gnutls_certificate_set_x509_trust_file(self.0, path.as_ptr(), ffi::X509_FMT_PEM)
        };
        some_roots(read)
    }

    /// Sets the chain and key of this side, in PEM.
    pub(crate) fn identity(
        &self,
        chain_pem: &str,
        key_pem: &str,
        password: Option<&str>,
    ) -> Result<(), SetupError> {
        let password = terminated(password)?;
        let password = password.as_deref().map_or(ptr::null(), CStr::as_ptr);
        let (chain, key) = (
            Datum::of(chain_pem.as_bytes()),
            Datum::of(key_pem.as_bytes()),
        );
        // SAFETY: the credentials are alive and not shared yet; the library copies its arguments.
        let code = unsafe {
            ffi::gnutls_certificate_set_flags(
                self.0,
                ffi::CERTIFICATE_API_V2 | ffi::CERTIFICATE_SKIP_OCSP_RESPONSE_CHECK,
            );
            ffi::gnutls_certificate_set_x509_key_mem2(
                self.0,
                &raw const chain,
                &raw const key,
                ffi::X509_FMT_PEM,
                password,
                0,
            )
        };
        checked(code).map_err(refused("chain and key"))
    }

    /// Sets the chain and key of this side from a PKCS#12 file.
    pub(crate) fn identity_of_pkcs12(
        &self,
        file: &[u8],
        password: Option<&str>,
    ) -> Result<(), SetupError> {
        let password = terminated(Some(password.unwrap_or_default()))?;
        let password = password.as_deref().map_or(ptr::null(), CStr::as_ptr);
        let file = Datum::of(file);
        // SAFETY: as above.
        let code = unsafe {
            ffi::gnutls_certificate_set_x509_simple_pkcs12_mem(
                self.0,
                &raw const file,
                ffi::X509_FMT_DER,
                password,
            )
        };
        checked(code).map_err(refused("PKCS#12 file"))
    }

    /// Sets the OCSP response that is sent with the chain.
    pub(crate) fn staple(&self, response: &[u8]) -> Result<(), SetupError> {
        let response = Datum::of(response);
        // SAFETY: as above; the chain that was set has index 0.
        let code = unsafe {
            ffi::gnutls_certificate_set_ocsp_status_request_mem(
                self.0,
                &raw const response,
                0,
                ffi::X509_FMT_DER,
            )
        };
        checked(code).map_err(refused("OCSP response"))
    }

    /// Sets parameters, without which a server has no suite with DHE.
    pub(crate) fn allow_dhe(&self) -> Result<(), SetupError> {
        static FFDHE2048: OnceLock<Parameters> = OnceLock::new();
        let parameters = made_once(&FFDHE2048, Parameters::ffdhe2048);
        let parameters = parameters.map_err(refused("DH parameters"))?;
        // SAFETY: the credentials are alive and not shared yet; the parameters are never freed.
        unsafe { ffi::gnutls_certificate_set_dh_params(self.0, parameters.0) };
        Ok(())
    }
}

/// Parameters of DHE, which all credentials share.
#[derive(Clone, Copy)]
struct Parameters(ffi::DhParams);

// SAFETY: they are only read.
unsafe impl Send for Parameters {}
// SAFETY: as above.
unsafe impl Sync for Parameters {}

impl Parameters {
    /// Makes those of ffdhe2048.
    fn ffdhe2048() -> Result<Self, Error> {
        let pem = Datum::of(FFDHE2048_PEM.as_bytes());
        let mut made = ptr::null_mut();
        // SAFETY: the place for the result lives longer than the call, and the library copies the text.
        unsafe {
            checked(ffi::gnutls_dh_params_init(&raw mut made))?;
            checked(ffi::gnutls_dh_params_import_pkcs3(
                made,
                &raw const pem,
                ffi::X509_FMT_PEM,
            ))?;
        }
        Ok(Self(made))
    }
}

fn terminated(password: Option<&str>) -> Result<Option<CString>, SetupError> {
    let password = password.map(CString::new).transpose();
    // The error does not contain the password, which is a secret.
    password.map_err(|_| SetupError::Refused("password: it has a zero byte".to_owned()))
}

/// Checks the number of roots that the library has read, which must not be zero.
pub(crate) fn some_roots(read: c_int) -> Result<(), SetupError> {
    match read {
        0 => Err(SetupError::Refused("roots: none".to_owned())),
        read => checked(read).map_err(refused("roots")),
    }
}
