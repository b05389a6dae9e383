//! The common configuration of one client's or server's sessions.

use std::{
    ffi::{CStr, CString, c_int, c_uint},
    ptr,
    sync::{Arc, LazyLock},
};

use netbench_tls::Alpn;
use netbench_worker::{FFDHE2048_PEM, Owned, SetupError, refused};

use crate::{
    ffi::{self, Datum},
    negotiated::is_tls13,
    session::{Error, checked, made},
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
    pub(crate) alpn: Vec<Alpn>,
    /// The maximum plaintext of a record, where it is limited.
    pub(crate) max_record_bytes: Option<u16>,
    pub(crate) resumption: Resumption,
}

/// A server's means of resumption. A client has none.
pub(crate) enum Resumption {
    None,
    /// Sends tickets, `count` of them after handshakes of TLS 1.3.
    Tickets {
        key: Vec<u8>,
        count: u8,
    },
    /// Keeps sessions, before TLS 1.3.
    Kept(Arc<ServerSessions>),
}

impl Config {
    /// Makes the settings of a client with these further flags, without application protocols and a limit.
    pub(crate) fn client(flags: c_uint, credentials: Credentials, priority: Priority) -> Self {
        Self {
            flags: ffi::CLIENT | flags,
            credentials,
            priority,
            alpn: Vec::new(),
            max_record_bytes: None,
            resumption: Resumption::None,
        }
    }

    /// Makes the settings of a server, as [`Self::client`] does.
    pub(crate) fn server(
        resumption: Resumption,
        credentials: Credentials,
        priority: Priority,
    ) -> Self {
        let tickets = match resumption {
            Resumption::Tickets { .. } => ffi::NO_AUTO_SEND_TICKET,
            Resumption::None | Resumption::Kept(_) => ffi::NO_TICKETS,
        };
        Self {
            flags: ffi::SERVER | tickets,
            resumption,
            ..Self::client(0, credentials, priority)
        }
    }

    /// Sets up a new session.
    pub(crate) fn set(&self, raw: ffi::Session) -> Result<(), Error> {
        let is_server = self.flags & ffi::SERVER != 0;
        // SAFETY: the session is alive, and keeps this configuration alive; the library copies the rest.
        unsafe {
            checked(ffi::gnutls_priority_set(raw, self.priority.pointer()))?;
            checked(ffi::gnutls_credentials_set(
                raw,
                ffi::CRD_CERTIFICATE,
                self.credentials.pointer().cast(),
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
            if is_server && self.credentials.verifies_peers {
                ffi::gnutls_certificate_server_set_request(raw, ffi::CERT_REQUIRE);
            }
            match &self.resumption {
                Resumption::None => Ok(()),
                Resumption::Tickets { key, .. } => checked(
                    ffi::gnutls_session_ticket_enable_server(raw, &Datum::of(key)),
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

/// Makes a key with which a server encrypts its tickets.
pub(crate) fn ticket_key() -> Result<Vec<u8>, SetupError> {
    let mut key = Datum::EMPTY;
    checked(ffi::gnutls_session_ticket_key_generate(&mut key)).map_err(refused("ticket key"))?;
    // SAFETY: the library has allocated the key, and no other code frees it.
    Ok(unsafe { key.into_vec() })
}

/// Certificates and keys, and the trust for the verification of peers.
pub(crate) struct Credentials {
    credentials: Owned<ffi::CredentialsInt>,
    verifies_peers: bool,
}

impl Credentials {
    pub(crate) fn new() -> Result<Self, SetupError> {
        ffi::ready();
        let credentials = made(|object| ffi::gnutls_certificate_allocate_credentials(object));
        Ok(Self {
            credentials: credentials.map_err(refused("credentials"))?,
            verifies_peers: false,
        })
    }

    /// Makes the library verify the peers' certificates, which a server then requires.
    pub(crate) fn verify_peers(&mut self, roots_pem: &str) -> Result<(), SetupError> {
        self.trust(roots_pem.as_bytes(), ffi::X509_FMT_PEM)?;
        // SAFETY: the credentials are alive and not shared yet.
        unsafe { ffi::gnutls_certificate_set_verify_function(self.pointer(), verify) };
        self.verifies_peers = true;
        Ok(())
    }

    pub(crate) fn trust(&self, roots: &[u8], format: c_int) -> Result<(), SetupError> {
        // SAFETY: the credentials are alive and not shared yet; the library copies the roots.
        some_roots(unsafe {
            ffi::gnutls_certificate_set_x509_trust_mem(self.pointer(), &Datum::of(roots), format)
        })
    }

    pub(crate) fn trust_file(&self, path: &CStr) -> Result<(), SetupError> {
        // SAFETY: as above.
        some_roots(unsafe {
            ffi::gnutls_certificate_set_x509_trust_file(
                self.pointer(),
                path.as_ptr(),
                ffi::X509_FMT_PEM,
            )
        })
    }

    /// Sets the chain and key of this side, in PEM.
    pub(crate) fn identity(
        &self,
        chain_pem: &str,
        key_pem: &str,
        password: Option<&str>,
    ) -> Result<(), SetupError> {
        let password = password.map(terminated).transpose()?;
        let password = password.as_deref().map_or(ptr::null(), CStr::as_ptr);
        // SAFETY: the credentials are alive and not shared yet; the library copies its arguments.
        let code = unsafe {
            ffi::gnutls_certificate_set_flags(
                self.pointer(),
                ffi::CERTIFICATE_API_V2 | ffi::CERTIFICATE_SKIP_OCSP_RESPONSE_CHECK,
            );
            ffi::gnutls_certificate_set_x509_key_mem2(
                self.pointer(),
                &Datum::of(chain_pem.as_bytes()),
                &Datum::of(key_pem.as_bytes()),
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
        let password = terminated(password.unwrap_or_default())?;
        // SAFETY: as above.
        let code = unsafe {
            ffi::gnutls_certificate_set_x509_simple_pkcs12_mem(
                self.pointer(),
                &Datum::of(file),
                ffi::X509_FMT_DER,
                password.as_ptr(),
            )
        };
        checked(code).map_err(refused("PKCS#12 file"))
    }

    /// Sets the OCSP response that is sent with the chain.
    pub(crate) fn staple(&self, response: &[u8]) -> Result<(), SetupError> {
        // SAFETY: as above; the chain that was set has index 0.
        let code = unsafe {
            ffi::gnutls_certificate_set_ocsp_status_request_mem(
                self.pointer(),
                &Datum::of(response),
                0,
                ffi::X509_FMT_DER,
            )
        };
        checked(code).map_err(refused("OCSP response"))
    }

    /// Sets parameters, without which a server has no suite with DHE.
    pub(crate) fn allow_dhe(&self) -> Result<(), SetupError> {
        static FFDHE2048: LazyLock<Result<Owned<ffi::DhParamsInt>, Error>> =
            LazyLock::new(ffdhe2048);
        let parameters = FFDHE2048.as_ref().map_err(refused("DH parameters"))?;
        // SAFETY: the credentials are alive and not shared yet; the parameters are never freed.
        unsafe { ffi::gnutls_certificate_set_dh_params(self.pointer(), parameters.pointer()) };
        Ok(())
    }

    fn pointer(&self) -> ffi::Credentials {
        self.credentials.pointer()
    }
}

/// Makes the parameters that all credentials share.
fn ffdhe2048() -> Result<Owned<ffi::DhParamsInt>, Error> {
    let made = made(|object| ffi::gnutls_dh_params_init(object))?;
    let (pem, format) = (Datum::of(FFDHE2048_PEM.as_bytes()), ffi::X509_FMT_PEM);
    // SAFETY: the parameters are alive, and the library copies the text.
    checked(unsafe { ffi::gnutls_dh_params_import_pkcs3(made.pointer(), &pem, format) })?;
    Ok(made)
}

fn terminated(password: &str) -> Result<CString, SetupError> {
    // The error does not contain the password, which is a secret.
    CString::new(password)
        .map_err(|_| SetupError::Refused("password: it has a zero byte".to_owned()))
}

/// Checks the number of roots that the library has read, which must not be zero.
pub(crate) fn some_roots(read: c_int) -> Result<(), SetupError> {
    match read {
        0 => Err(SetupError::Refused("roots: none".to_owned())),
        read => checked(read).map_err(refused("roots")),
    }
}
