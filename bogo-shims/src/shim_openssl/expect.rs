//! The test's expectations of a connection, compared with OpenSSL's view of it.

use netbench_tls::TlsVersion;
use openssl::{
    hash::{MessageDigest, hash},
    ssl::{NameType, SslRef},
    x509::X509VerifyResult,
};

use crate::{
    Failure, Options,
    exchange::traffic_secrets,
    options::hex_list,
    reported::{Known, Reported, Retry, Verification},
};

use super::{
    certs,
    errors::library,
    ffi::{self, control},
    names,
    state::state,
};

/// The expectations of one connection.
pub(crate) struct Expect<'a> {
    pub(crate) options: &'a Options,
    pub(crate) resume: bool,
}

impl Expect<'_> {
    pub(crate) fn check(&self, ssl: &SslRef) -> Result<(), Failure> {
        self.check_session(ssl)?;
        self.check_negotiated(ssl)?;
        reported(ssl).check(self.options)?;
        self.check_protocols(ssl)?;
        self.check_peer(ssl)?;
        self.check_own(ssl)?;
        self.check_early_data(ssl)
    }

    /// Returns the bytes of `-export-traffic-secrets`.
    pub(crate) fn traffic_secrets(&self) -> Result<Vec<u8>, Failure> {
        let state = state();
        traffic_secrets(self.options, |label| {
            let mut secrets = state.secrets.iter();
            let found = secrets.find(|(known, _)| known == label);
            found.map(|(_, secret)| secret.clone())
        })
    }

    fn is_server(&self) -> bool {
        self.options.on("-server")
    }

    fn check_session(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        let reused = ssl.session_reused();
        let want = self.resume && !options.on("-expect-session-miss");
        // A renegotiation may resume the session of the same connection.
        let renegotiated = ffi::control(ssl, control::TOTAL_RENEGOTIATIONS, 0) > 0;
        ensure(reused == want || renegotiated, || {
            format!("session reused: {reused}, expected {want}")
        })?;
        let mut state = state();
        if !self.is_server() && version(ssl) != TlsVersion::Tls13.code() {
            // No callback reports a ticket that replaces the session's; the session contains it.
            if let Some(session) = ssl.session().filter(|_| reused)
                && ffi::ticket(session) != state.offered_ticket
            {
                state.got_session = true;
                state.session = Some(session.to_owned());
            }
            let want = !options.on("-expect-no-session")
                && (!reused || options.on("-expect-ticket-renewal"));
            let got = state.got_session;
            ensure(got == want, || {
                format!("new session: {got}, expected {want}")
            })?;
        }
        if !self.resume && self.is_server() {
            ensure(
                !options.on("-expect-session-id") || state.got_session,
                || "no session stored",
            )?;
            ensure(
                !(options.on("-expect-no-session-id") && state.got_session),
                || "session stored",
            )?;
        }
        ensure(
            !self.is_server() || state.hello_called,
            || "no early callback",
        )
    }

    fn check_negotiated(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        if let Some(want) = options.number("-expect-version") {
            let got = i64::from(version(ssl));
            ensure(got == want, || {
                format!("version {got:#06x}, expected {want:#06x}")
            })?;
        }
        if let Some(want) = options.number("-expect-cipher") {
            let id = ssl.current_cipher().map(|suite| suite.protocol_id());
            let got = id.map(|id| i64::from(u16::from_be_bytes(id)));
            ensure(got == Some(want), || {
                format!("suite {got:?}, expected {want:#06x}")
            })?;
        }
        let supports = |control| ffi::control(ssl, control, 0) == 1;
        if options.on("-expect-extended-master-secret") {
            ensure(
                supports(control::EXTMS_SUPPORT),
                || "no extended master secret",
            )?;
        }
        if options.on("-expect-secure-renegotiation") {
            ensure(
                supports(control::RENEGOTIATION_SUPPORT),
                || "no secure renegotiation",
            )?;
        }
        if options.on("-expect-no-secure-renegotiation") {
            ensure(
                !supports(control::RENEGOTIATION_SUPPORT),
                || "secure renegotiation",
            )?;
        }
        Ok(())
    }

    fn check_protocols(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        let alpn = if self.is_server() {
            "-select-alpn"
        } else {
            "-expect-alpn"
        };
        let want = options.bytes(alpn).unwrap_or_default();
        let got = ssl.selected_alpn_protocol().unwrap_or_default();
        ensure(got == want, || {
            format!("protocol {got:?}, expected {want:?}")
        })?;
        if options.on("-expect-next-proto") || options.on("-expect-no-next-proto") {
            let want = options.bytes("-expect-next-proto").unwrap_or_default();
            let got = ffi::next_proto(ssl);
            ensure(got == want, || format!("NPN {got:?}, expected {want:?}"))?;
        }
        let name = ssl.servername(NameType::HOST_NAME);
        if let Some(want) = options.text("-expect-server-name") {
            ensure(name == Some(&*want), || format!("server name {name:?}"))?;
        }
        ensure(
            !(options.on("-expect-no-server-name") && name.is_some()),
            || "a server name",
        )
    }

    fn check_peer(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        let leaf = ssl.peer_certificate();
        if let Some(file) = options.text("-expect-peer-cert-file") {
            let mut want = certs::chain(&file)?;
            let leaf_der = leaf.as_ref().and_then(|leaf| leaf.to_der().ok());
            let want_leaf = want.first().and_then(|leaf| leaf.to_der().ok());
            ensure(leaf_der == want_leaf, || "another leaf than expected")?;
            if self.is_server() {
                want.remove(0);
            }
            let want: Vec<_> = want.iter().map(|cert| cert.to_der().ok()).collect();
            let chain = ssl.peer_cert_chain().into_iter().flatten();
            let got: Vec<_> = chain.map(|cert| cert.to_der().ok()).collect();
            ensure(got == want, || "another chain than expected")?;
        }
        if let Some(want) = options.number("-expect-peer-certificate-type") {
            let got = ffi::certificate_type_agreed(ssl, self.is_server());
            ensure(got == want, || {
                format!("certificate type {got}, expected {want}")
            })?;
        }
        let raw = options.bytes("-expect-peer-rpk-sha256");
        if let Some(want) = raw {
            let key = ffi::peer_raw_key(ssl).ok_or_else(|| Failure::failed("no raw public key"))?;
            let der = key.public_key_to_der().map_err(library)?;
            let got = hash(MessageDigest::sha256(), &der).map_err(library)?;
            ensure(*got == *want, || "another raw public key than expected")?;
        }
        if options.on("-expect-no-peer-cert") || options.on("-psk") || raw.is_some() {
            ensure(leaf.is_none(), || "a peer certificate")
        } else if !self.is_server() || options.on("-require-any-client-certificate") {
            ensure(leaf.is_some(), || "no peer certificate")
        } else {
            Ok(())
        }
    }

    /// Checks which of its certificates libssl has chosen.
    fn check_own(&self, ssl: &SslRef) -> Result<(), Failure> {
        let Some(want) = self.options.number("-expect-selected-credential") else {
            return Ok(());
        };
        // A client that received no CertificateRequest has chosen none, whichever was set last.
        let asked = self.is_server() || state().asked;
        let key = ssl.private_key().filter(|_| asked);
        let held = certs::load(self.options)?;
        let mut chosen = held
            .iter()
            .filter(|held| key.is_some_and(|key| held.key.public_eq(key)));
        let got = chosen.next().map_or(certs::DEFAULT, |held| held.index);
        ensure(got == want, || format!("credential {got}, expected {want}"))
    }

    fn check_early_data(&self, ssl: &SslRef) -> Result<(), Failure> {
        let accepted = ffi::early_data_accepted(ssl);
        let options = self.options;
        ensure(
            !options.on("-expect-accept-early-data") || accepted,
            || "early data was not accepted",
        )?;
        ensure(
            !(options.on("-expect-reject-early-data") && accepted),
            || "early data was accepted",
        )
    }

    /// Checks the properties that are known only when data have been exchanged.
    pub(crate) fn check_end(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        let count = ffi::control(ssl, control::TOTAL_RENEGOTIATIONS, 0);
        let want = options.number("-expect-total-renegotiations").unwrap_or(0);
        ensure(count == want, || {
            format!("{count} renegotiations, expected {want}")
        })?;
        let state = state();
        if let Some(want) = options.text("-expect-msg-callback") {
            ensure(state.messages == want, || {
                format!("messages {:?}, expected {want:?}", state.messages)
            })?;
        }
        if self.is_server() || version(ssl) != TlsVersion::Tls13.code() {
            return Ok(());
        }
        let want = !options.on("-expect-no-session") && !options.on("-shim-shuts-down");
        let got = state.got_session;
        ensure(got == want, || {
            format!("new session: {got}, expected {want}")
        })?;
        if let (true, Some(session)) = (want, &state.session) {
            let want = options.on("-expect-ticket-supports-early-data");
            let got = session.max_early_data() > 0;
            ensure(got == want, || {
                format!("session for early data: {got}, expected {want}")
            })?;
        }
        Ok(())
    }
}

/// Returns the properties that libssl shows of this connection. A session keeps the result of the
/// verification and the group, but neither the scheme of the peer's signature nor a stapled response.
fn reported(ssl: &SslRef) -> Reported {
    let resumed = ssl.session_reused();
    let group = ffi::group_name(ssl);
    let signature = ffi::peer_signature(ssl);
    Reported {
        verification: Known::Is(if ssl.verify_result() == X509VerifyResult::OK {
            Verification::Accepted
        } else {
            Verification::Refused
        }),
        signature: if resumed {
            Known::Unreported("the scheme of the peer's signature on a resumed connection")
        } else {
            Known::Is(signature.as_deref().and_then(names::signature_code))
        },
        retry: Known::Is(if state().retried {
            Retry::Was
        } else {
            Retry::WasNot
        }),
        staple: if resumed {
            Known::Unreported("the stapled response on a resumed connection")
        } else {
            Known::Is(ssl.ocsp_status().unwrap_or_default().to_vec())
        },
        group: Known::Is(group.as_deref().and_then(names::group_code)),
    }
}

/// Compares a CertificateRequest with the test's expectations.
pub(crate) fn check_request(ssl: &SslRef, options: &Options) -> Result<(), Failure> {
    if let Some(want) = options.bytes("-expect-certificate-types")
        && ffi::certificate_types(ssl) != want
    {
        return Err(Failure::failed("other certificate types than expected"));
    }
    if let Some(list) = options.text("-expect-client-ca-list") {
        let want = if list == "<EMPTY>" {
            Vec::new()
        } else {
            hex_list(&list)?
        };
        if ffi::ca_names(ssl) != want {
            return Err(Failure::failed("another list of CAs than expected"));
        }
    }
    Ok(())
}

fn version(ssl: &SslRef) -> u16 {
    // SAFETY: the connection is live.
    let version =
        unsafe { openssl_sys::SSL_version(foreign_types_shared::ForeignTypeRef::as_ptr(ssl)) };
    u16::try_from(version).unwrap_or(0)
}

fn ensure<M: Into<String>>(holds: bool, message: impl FnOnce() -> M) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(Failure::failed(message()))
    }
}
