use std::sync::{Mutex, MutexGuard, PoisonError};

use openssl::ssl::SslSession;

use crate::{Failure, Options};

/// What callbacks of the connection need and leave. There is one connection at a time.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) options: Options,
    /// The client's new session.
    pub(crate) session: Option<SslSession>,
    pub(crate) got_session: bool,
    /// The ticket of the session that a client offers.
    pub(crate) offered_ticket: Vec<u8>,
    /// Asynchronous callbacks that have been told to come again once.
    pub(crate) cert_ready: bool,
    pub(crate) hello_ready: bool,
    pub(crate) verify_ready: bool,
    pub(crate) verified: bool,
    pub(crate) hello_called: bool,
    pub(crate) handshake_done: bool,
    /// As a client: the server asked for a certificate.
    pub(crate) asked: bool,
    /// A HelloRetryRequest was sent or received.
    pub(crate) retried: bool,
    /// What the message callback was told, in the runner's words.
    pub(crate) messages: String,
    /// Traffic secrets by label.
    pub(crate) secrets: Vec<(String, Vec<u8>)>,
    /// What a callback found wrong; the connection has failed.
    pub(crate) wrong: Option<String>,
    /// What the runner asked for between datagrams, and libssl has no way to do.
    pub(crate) unsupported: Option<String>,
    /// The first timeout of a flight, in microseconds.
    pub(crate) timeout_us: u32,
}

static STATE: Mutex<Option<State>> = Mutex::new(None);

/// The state of the connection.
pub(crate) struct Current(MutexGuard<'static, Option<State>>);

impl std::ops::Deref for Current {
    type Target = State;

    fn deref(&self) -> &State {
        static NONE: std::sync::LazyLock<State> = std::sync::LazyLock::new(State::default);
        self.0.as_ref().unwrap_or(&NONE)
    }
}

impl std::ops::DerefMut for Current {
    fn deref_mut(&mut self) -> &mut State {
        self.0.get_or_insert_default()
    }
}

/// Must not be held while libssl is called, which calls back.
pub(crate) fn state() -> Current {
    Current(STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

impl State {
    /// Keeps what a callback found wrong, the first of it.
    pub(crate) fn found_wrong(&mut self, what: impl Into<String>) {
        self.wrong.get_or_insert_with(|| what.into());
    }
}

/// A failure with what callbacks have found, and what the library said.
pub(crate) fn told(said: String) -> Failure {
    let mut state = state();
    if let Some(what) = state.unsupported.take() {
        return Failure::unsupported(what);
    }
    Failure::failed(match &state.wrong {
        Some(wrong) => format!("{wrong}\n{said}"),
        None => said,
    })
}

/// Fails where a callback has found something wrong.
pub(crate) fn nothing_wrong() -> Result<(), Failure> {
    let wrong = state().wrong.take();
    wrong.map_or(Ok(()), |wrong| Err(Failure::failed(wrong)))
}
