//! The test's expectations of a connection, compared with OpenSSL's view of it.

use netbench_tls::TlsVersion;
use openssl::{
    hash::{MessageDigest, hash},
    ssl::{NameType, SslRef},
    x509::X509VerifyResult,
};

use crate::{
    Failure, Options,
    expected::{Agreed, authorities, check_new_session, check_stored, ensure, same},
    reported::{Known, Reported, Retry, Verification},
};

use super::{
    certs, ech,
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

impl<'a> Expect<'a> {
    /// Continues with other options, after rejected early data.
    pub(crate) fn retry(&mut self, options: &'a Options) {
        state().options = options.clone();
        self.options = options;
    }

    pub(crate) fn is_server(&self) -> bool {
        self.options.on("-server")
    }

    pub(crate) fn check(&self, ssl: &SslRef) -> Result<(), Failure> {
        self.check_session(ssl)?;
        self.check_negotiated(ssl)?;
        ech::check(ssl, self.options)?;
        reported(ssl).check(self.options)?;
        self.check_peer(ssl)?;
        self.check_own(ssl)
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
            same("new session:", state.got_session, want)?;
        }
        if !self.resume && self.is_server() {
            check_stored(options, state.got_session)?;
        }
        ensure(
            !self.is_server() || state.hello_called,
            || "no early callback",
        )
    }

    fn check_negotiated(&self, ssl: &SslRef) -> Result<(), Failure> {
        let options = self.options;
        let id = ssl.current_cipher().map(|suite| suite.protocol_id());
        let agreed = Agreed {
            version: Some(version(ssl)),
            suite: id.map(u16::from_be_bytes),
            alpn: ssl.selected_alpn_protocol(),
            server_name: ssl.servername(NameType::HOST_NAME),
        };
        agreed.check(options, ffi::early_data_accepted(ssl))?;
        if options.on("-expect-next-proto") || options.on("-expect-no-next-proto") {
            let want = options.bytes("-expect-next-proto").unwrap_or_default();
            same("NPN", &*ffi::next_proto(ssl), want)?;
        }
        let extended = ssl.extms_support() == Some(true);
        let secure = ffi::control(ssl, control::RENEGOTIATION_SUPPORT, 0) == 1;
        if options.on("-expect-extended-master-secret") {
            ensure(extended, || "no extended master secret")?;
        }
        if options.on("-expect-secure-renegotiation") {
            ensure(secure, || "no secure renegotiation")?;
        }
        if options.on("-expect-no-secure-renegotiation") {
            ensure(!secure, || "secure renegotiation")?;
        }
        Ok(())
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
            same("certificate type", got, want)?;
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
        same("credential", got, want)
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
            same("messages", &state.messages, &want)?;
        }
        if self.is_server() || version(ssl) != TlsVersion::Tls13.code() {
            return Ok(());
        }
        let early_data_bytes = state
            .session
            .as_ref()
            .map_or(0, |session| session.max_early_data());
        check_new_session(options, state.got_session.then_some(early_data_bytes))
    }
}

/// Returns a traffic secret by its label (NSS key log format).
pub(crate) fn secret(label: &str) -> Option<Vec<u8>> {
    state().secrets.get(label).cloned()
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
    if authorities(options)?.is_some_and(|want| ffi::ca_names(ssl) != want) {
        return Err(Failure::failed("another list of CAs than expected"));
    }
    Ok(())
}

fn version(ssl: &SslRef) -> u16 {
    // SAFETY: the connection is live.
    let version =
        unsafe { openssl_sys::SSL_version(foreign_types_shared::ForeignTypeRef::as_ptr(ssl)) };
    u16::try_from(version).unwrap_or(0)
}
