//! The test's expectations of a connection, compared with rustls' view of it.

use std::sync::Arc;

use super::{
    Line,
    choices::{RAW, X509, chain},
    observed::Observed,
};
use crate::{
    Failure, Options,
    expected::{Agreed, authorities, check_new_session, check_stored, ensure, same},
    reported::{Known, Reported, Retry, Verification},
};

const TLS12: u16 = 0x0303;
const TLS13: u16 = 0x0304;

/// The expectations of one connection.
pub(super) struct Expect<'a> {
    pub(super) options: &'a Options,
    pub(super) resume: bool,
    pub(super) observed: Arc<Observed>,
}

/// The properties that rustls reports of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties<'a> {
    /// The parameters that every library reports.
    pub agreed: Agreed<'a>,
    /// Whether the session was resumed.
    pub resumed: bool,
    /// Whether a HelloRetryRequest preceded the handshake.
    pub retry: Known<Retry>,
    /// The code point of the group.
    pub group: Option<u16>,
    /// The peer's chain, or its raw public key.
    pub peer: Option<Vec<&'a [u8]>>,
    /// Whether the server accepted this client's encrypted ClientHello.
    pub ech_accepted: bool,
}

impl Expect<'_> {
    /// Checks the properties that are known once the handshake is done.
    pub(super) fn check<L: Line>(
        &self,
        is: &Properties<'_>,
        early_accepted: bool,
    ) -> Result<(), Failure> {
        self.check_session(is)?;
        self.check_negotiated(is, early_accepted)?;
        self.reported(is).check(self.options)?;
        self.check_peer::<L>(is)
    }

    /// Returns the properties that rustls shows of this connection. Values that callbacks received in a full
    /// handshake are neither kept with the session nor shown again.
    fn reported(&self, is: &Properties<'_>) -> Reported {
        let observed = self.observed.get();
        let options = self.options;
        let group = is.group;
        if is.resumed {
            return Reported {
                verification: Known::Unreported(
                    "the result of the verification on a resumed connection",
                ),
                signature: Known::Unreported(
                    "the scheme of the peer's signature on a resumed connection",
                ),
                retry: is.retry,
                staple: Known::Unreported("the stapled response on a resumed connection"),
                group: match group {
                    None => Known::Unreported("the group of a session that is resumed"),
                    group => Known::Is(group),
                },
            };
        }
        // A refusal by the verifier fails the handshake, and no result is kept for a handshake that
        // continues.
        let goes_on = options.on("-expect-verify-result") && options.on("-verify-fail");
        Reported {
            verification: if observed.verified && !goes_on {
                Known::Is(Verification::Accepted)
            } else {
                Known::Unreported(
                    "the result of a verification that it did not ask for, or that failed",
                )
            },
            signature: Known::Is(observed.signature),
            retry: is.retry,
            staple: Known::Is(observed.ocsp.clone().unwrap_or_default()),
            group: Known::Is(group),
        }
    }

    /// Checks the properties that are known before the answer to early data, which are sent with the
    /// session's parameters.
    pub(super) fn check_offered(&self) -> Result<(), Failure> {
        if let Some(suite) = self.observed.get().offered_suite
            && let Some(want) = self.options.number("-expect-cipher")
        {
            let got = i64::from(suite);
            ensure(got == want, || format!("early data with suite {got:#06x}"))?;
        }
        Ok(())
    }

    /// Returns a secret by its label (NSS key log format).
    pub(super) fn secret(&self, label: &str) -> Option<Vec<u8>> {
        self.observed.get().secrets.get(label).cloned()
    }

    pub(super) fn is_server(&self) -> bool {
        self.options.on("-server")
    }

    fn check_session(&self, is: &Properties<'_>) -> Result<(), Failure> {
        let options = self.options;
        let reused = is.resumed;
        let want = self.resume && !options.on("-expect-session-miss");
        same("session reused:", reused, want)?;
        let observed = self.observed.get();
        let old = is.agreed.version == Some(TLS12);
        if !self.is_server() && old && !reused {
            let want = !options.on("-expect-no-session");
            same("new session:", observed.new_session.is_some(), want)?;
        }
        if !self.resume && self.is_server() {
            check_stored(options, observed.stored)?;
        }
        Ok(())
    }

    fn check_negotiated(&self, is: &Properties<'_>, early_accepted: bool) -> Result<(), Failure> {
        let options = self.options;
        is.agreed.check(options, early_accepted)?;
        let observed = self.observed.get();
        if let Some(want) = options.bytes("-expect-advertised-alpn") {
            let got = match observed.client_alpn.as_deref() {
                None if is.resumed => {
                    return Err(Failure::unsupported(
                        "the library does not tell which protocols a client offered that resumes",
                    ));
                }
                got => got.unwrap_or_default(),
            };
            same("offered", got, want)?;
        }
        if options.on("-expect-no-ech-name-override") {
            let want = options.text("-host-name");
            ensure(observed.verified_name == want, || {
                format!("verified {:?}", observed.verified_name)
            })?;
        }
        if !self.is_server() {
            let want = options.on("-expect-ech-accept");
            same("ECH accepted:", is.ech_accepted, want)?;
        }
        Ok(())
    }

    fn check_peer<L: Line>(&self, is: &Properties<'_>) -> Result<(), Failure> {
        let options = self.options;
        if let Some([shown, ..]) = is.peer.as_deref()
            && let Some(want) = options.number("-expect-peer-certificate-type")
        {
            // rustls does not report the negotiated type. The peer's message shows it.
            let got = i64::from(if L::is_certificate(shown) { X509 } else { RAW });
            same("certificate type", got, want)?;
        }
        if options.on("-expect-no-peer-cert") {
            ensure(is.peer.is_none(), || "a peer certificate")?;
        } else if !self.is_server() || options.on("-require-any-client-certificate") {
            ensure(is.peer.is_some(), || "no peer certificate")?;
        }
        if let Some(file) = options.text("-expect-peer-cert-file") {
            let want = chain(&file)?;
            ensure(
                is.peer.as_ref().is_some_and(|peer| {
                    let want = want.iter().map(AsRef::as_ref);
                    want.eq(peer.iter().copied())
                }),
                || "another chain than expected",
            )?;
        }
        if let Some([key]) = is.peer.as_deref()
            && let Some(want) = options.bytes("-expect-peer-rpk-sha256")
        {
            ensure(
                L::sha256(key)? == want,
                || "another raw public key than expected",
            )?;
        }
        let observed = self.observed.get();
        if let Some(want) = options.number("-expect-selected-credential") {
            let chosen = options.credentials().len().min(1);
            let got = if observed.asked && chosen == 1 { 0 } else { -1 };
            same("credential", got, want)?;
        }
        if let Some(want) = authorities(options)? {
            let got = observed.ca_names.as_deref().unwrap_or_default();
            ensure(got == want, || "another list of CAs than expected")?;
        }
        Ok(())
    }

    /// Checks the properties that are known only when data have been exchanged.
    pub(super) fn check_end(&self, version: Option<u16>) -> Result<(), Failure> {
        let options = self.options;
        if let Some(want) = options.number("-expect-total-renegotiations") {
            ensure(want == 0, || format!("no renegotiations, expected {want}"))?;
        }
        if self.is_server() && options.on("-use-ticket-callback") {
            ensure(
                self.observed.get().tickets_called,
                || "the ticket callback was not called",
            )?;
        }
        if self.is_server() || version != Some(TLS13) {
            return Ok(());
        }
        check_new_session(options, self.observed.get().new_session)
    }

    /// Checks the properties that must hold after a failed connection, where the test expects a kind of
    /// failure.
    pub(super) fn check_failed(&self) -> Result<(), Failure> {
        let name = self.observed.get().verified_name.clone();
        if let Some(want) = self.options.text("-expect-ech-name-override") {
            ensure(name.as_deref() == Some(&*want), || {
                format!("verified {name:?}")
            })?;
        }
        Ok(())
    }
}
