//! A test's expectations that every shim compares in the same way. A comparison returns an error if the test expects otherwise.

use std::fmt::Debug;

use crate::{Failure, Options, options::hex_list};

/// The parameters that every library reports of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Agreed<'a> {
    /// The code point of the version.
    pub version: Option<u16>,
    /// The code point of the suite.
    pub suite: Option<u16>,
    /// The application protocol.
    pub alpn: Option<&'a [u8]>,
    /// The name that the client sent.
    pub server_name: Option<&'a str>,
}

impl Agreed<'_> {
    /// Compares the parameters, and whether the server `accepted` early data.
    pub fn check(&self, options: &Options, accepted: bool) -> Result<(), Failure> {
        let codes = [
            ("-expect-version", self.version),
            ("-expect-cipher", self.suite),
        ];
        for (flag, got) in codes {
            if let Some(want) = options.number(flag) {
                let got = got.map(i64::from);
                ensure(got == Some(want), || format!("{flag} {want}, got {got:?}"))?;
            }
        }
        let alpn = if options.on("-server") {
            "-select-alpn"
        } else {
            "-expect-alpn"
        };
        let want = options.bytes(alpn).unwrap_or_default();
        let got = self.alpn.unwrap_or_default();
        same("protocol", got, want)?;
        let name = self.server_name;
        if let Some(want) = options.text("-expect-server-name") {
            ensure(name == Some(&*want), || format!("server name {name:?}"))?;
        }
        if options.on("-expect-no-server-name") {
            ensure(name.is_none(), || "a server name")?;
        }
        ensure(
            !options.on("-expect-accept-early-data") || accepted,
            || "early data was not accepted",
        )?;
        ensure(
            !(options.on("-expect-reject-early-data") && accepted),
            || "early data was accepted",
        )
    }
}

/// Compares whether a server has stored the session of a full handshake.
pub fn check_stored(options: &Options, stored: bool) -> Result<(), Failure> {
    ensure(
        !options.on("-expect-session-id") || stored,
        || "no session stored",
    )?;
    ensure(
        !(options.on("-expect-no-session-id") && stored),
        || "session stored",
    )
}

/// Compares the new session of a client of TLS 1.3, once data have been exchanged: the early data that it permits, in
/// bytes, or `None` without a session.
pub fn check_new_session(options: &Options, got: Option<u32>) -> Result<(), Failure> {
    let want = !options.on("-expect-no-session") && !options.on("-shim-shuts-down");
    ensure(got.is_some() == want, || {
        format!("new session {got:?}, expected {want}")
    })?;
    if let Some(early_data_bytes) = got {
        let want = options.on("-expect-ticket-supports-early-data");
        same("session for early data:", early_data_bytes > 0, want)?;
    }
    Ok(())
}

/// Compares the result of early data that a client offered.
///
/// # Errors
/// Returns [`Failure::EarlyDataRejected`] where the exchange is to be repeated without early data.
pub fn check_early_data(options: &Options, accepted: bool) -> Result<(), Failure> {
    match (accepted, options.on("-expect-reject-early-data")) {
        (true, false) => Ok(()),
        (false, true) => Err(Failure::EarlyDataRejected),
        (true, true) => Err(Failure::failed("early data was accepted")),
        (false, false) => Err(Failure::failed("early data was rejected")),
    }
}

/// Returns the expected list of authorities in a request for a certificate, if there is one.
///
/// # Errors
/// Returns an error for a list that is not hexadecimal.
pub fn authorities(options: &Options) -> Result<Option<Vec<Vec<u8>>>, Failure> {
    match options.text("-expect-client-ca-list").as_deref() {
        None => Ok(None),
        Some("<EMPTY>") => Ok(Some(Vec::new())),
        Some(list) => hex_list(list).map(Some),
    }
}

/// Returns a failure that names a property, unless it is as expected.
pub fn same<T: PartialEq + Debug>(what: &str, got: T, want: T) -> Result<(), Failure> {
    ensure(got == want, || format!("{what} {got:?}, expected {want:?}"))
}

/// Returns a failure with `message`, unless the expectation `holds`.
pub fn ensure<M: Into<String>>(holds: bool, message: impl FnOnce() -> M) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(Failure::failed(message()))
    }
}
