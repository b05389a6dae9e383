use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
};

use openssl::ssl::SslSession;

use crate::{Failure, Options};

/// The data that callbacks of the connection need, and their results. There is one connection at a
/// time.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) options: Options,
    /// The client's new session.
    pub(crate) session: Option<SslSession>,
    pub(crate) got_session: bool,
    /// The ticket of the session that a client offers.
    pub(crate) offered_ticket: Vec<u8>,
    /// Whether each asynchronous callback has already returned once that it must be called again.
    pub(crate) cert_ready: bool,
    pub(crate) hello_ready: bool,
    pub(crate) verify_ready: bool,
    pub(crate) verified: bool,
    pub(crate) hello_called: bool,
    /// Whether the server requested a certificate of this client.
    pub(crate) asked: bool,
    /// The public name of Encrypted ClientHello for which the certificate is verified, where the server rejected.
    pub(crate) public_name: Option<String>,
    /// Whether a HelloRetryRequest was sent or received.
    pub(crate) retried: bool,
    /// The messages that the message callback received, in the runner's format.
    pub(crate) messages: String,
    /// Traffic secrets by label.
    pub(crate) secrets: BTreeMap<String, Vec<u8>>,
    /// The error that a callback found; the connection has failed.
    pub(crate) wrong: Option<String>,
    /// A command of the runner between datagrams that libssl cannot execute.
    pub(crate) unsupported: Option<String>,
    /// The first timeout of a flight, in microseconds.
    pub(crate) timeout_us: u32,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);

/// Locks the state. The guard must not be held while libssl is called, which calls back.
pub(crate) fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl State {
    /// Keeps the first error that a callback found.
    pub(crate) fn found_wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert_with(|| what.into());
    }
}

/// Makes a failure with the errors of callbacks, and the library's error.
pub(crate) fn failure(said: String) -> Failure {
    let mut state = state();
    if let Some(what) = state.unsupported.take() {
        return Failure::unsupported(what);
    }
    Failure::failed(match &state.wrong {
        Some(wrong) => format!("{wrong}\n{said}"),
        None => said,
    })
}

/// Returns an error where a callback has found one.
pub(crate) fn nothing_wrong() -> Result<(), Failure> {
    let wrong = state().wrong.take();
    wrong.map_or(Ok(()), |wrong| Err(Failure::failed(wrong)))
}
