//! A session of the library over any transport.

use std::{
    ffi::{CString, c_int, c_uint, c_void},
    io::{self, IoSlice, Read, Write},
    net::IpAddr,
    ptr,
    sync::Arc,
    task::{Poll, ready},
};

use errno::{Errno, set_errno};
use netbench_tls::{Alert, Negotiated};
use netbench_worker::{
    CObject, CallbackTransport, DrivenSession, Lent, NotTransferred, Owned, Probe, SocketSession,
};

use crate::{
    config::Config,
    ffi,
    negotiated::{alpn, is_resumed, negotiated, version},
    tickets::{self, Tickets},
};

/// An error of the library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Error {
    pub(crate) code: c_int,
    /// The received alert, where that is the error.
    pub(crate) alert: Option<Alert>,
    words: String,
}

impl Error {
    pub(crate) fn of(code: c_int) -> Self {
        let words = ffi::gnutls_strerror(code).get();
        Self {
            code,
            alert: None,
            words: words.unwrap_or("unknown error").to_owned(),
        }
    }

    /// Returns the library's name of the error, such as `GNUTLS_E_AGAIN`.
    pub(crate) fn name(&self) -> &'static str {
        let name = ffi::gnutls_strerror_name(self.code).get();
        name.unwrap_or("unknown")
    }
}

/// Converts a result of the library, where a negative value is an error.
pub(crate) fn checked(code: c_int) -> Result<(), Error> {
    if code < 0 {
        Err(Error::of(code))
    } else {
        Ok(())
    }
}

/// Returns the object that a function of the library makes.
pub(crate) fn made<T: CObject>(make: impl FnOnce(&mut *mut T) -> c_int) -> Result<Owned<T>, Error> {
    let mut object = ptr::null_mut();
    checked(make(&mut object))?;
    // SAFETY: the library has made the object for this owner.
    Ok(unsafe { Owned::new(object) })
}

/// The data of a session that its callbacks use.
#[derive(Clone, Default)]
pub(crate) struct User {
    /// The server's name; `None` at a server.
    pub(crate) host: Option<CString>,
    /// The probe that times verification.
    pub(crate) probe: Option<Probe>,
    /// The store of a client's sessions.
    pub(crate) tickets: Option<Arc<Tickets>>,
}

/// One side of a session.
pub(crate) struct Session<T> {
    session: Owned<ffi::SessionInt>,
    /// The transport and the user data. Both are passed to the library as pointers, and freed after it has
    /// released them.
    end: Lent<CallbackTransport<T>>,
    user: Lent<User>,
    /// The configuration, to whose contents the library has pointers.
    config: Arc<Config>,
    /// Whether the library still has data to send.
    is_sending: bool,
    /// Whether a server of TLS 1.2 has requested another handshake, which the library leaves to its users.
    is_renegotiating: bool,
}

impl<T: Read + Write> Session<T> {
    pub(crate) fn new(config: &Arc<Config>, transport: T, user: User) -> Result<Self, Error> {
        let session = Self {
            session: made(|session| ffi::gnutls_init(session, config.flags | ffi::NONBLOCK))?,
            end: Lent::new(CallbackTransport::new(transport)),
            user: Lent::new(user),
            config: Arc::clone(config),
            is_sending: false,
            is_renegotiating: false,
        };
        let raw = session.session.pointer();
        // SAFETY: the pointers are valid until the session is dropped.
        unsafe {
            ffi::gnutls_session_set_ptr(raw, session.user.pointer());
            ffi::gnutls_transport_set_ptr(raw, session.end.pointer());
            ffi::gnutls_transport_set_pull_function(raw, pull::<T>);
            ffi::gnutls_transport_set_vec_push_function(raw, push::<T>);
            ffi::gnutls_transport_set_pull_timeout_function(raw, there_may_be_something);
        }
        config.set(raw)?;
        session.set_name()?;
        Ok(session)
    }

    /// Sets the name, which is sent unless it is an address (RFC 6066 section 3), and resumes a session with
    /// that server.
    fn set_name(&self) -> Result<(), Error> {
        let Some(host) = &self.user.host else {
            return Ok(());
        };
        let name = host.to_bytes();
        let is_address = host
            .to_str()
            .is_ok_and(|name| name.parse::<IpAddr>().is_ok());
        if !is_address {
            // SAFETY: the library copies the name.
            checked(unsafe {
                ffi::gnutls_server_name_set(
                    self.session.pointer(),
                    ffi::NAME_DNS,
                    name.as_ptr().cast(),
                    name.len(),
                )
            })?;
        }
        match &self.user.tickets {
            Some(tickets) => {
                tickets::watch(self.session.pointer());
                tickets::resume(tickets, self.session.pointer(), name)
            }
            None => Ok(()),
        }
    }

    fn after_handshake(&mut self) -> Poll<io::Result<()>> {
        let tickets = self.config.tickets_to_send(self.session.pointer());
        if tickets > 0 {
            // SAFETY: the session is alive.
            let send = |raw| unsafe { ffi::gnutls_session_ticket_send(raw, tickets, 0) as isize };
            ready!(self.call(send))?;
        }
        tickets::keep_old(&self.user, self.session.pointer());
        Poll::Ready(Ok(()))
    }

    /// Sends the alert for an error, if it can be sent at once. The library leaves that to its users.
    fn send_alert(&mut self, error: &io::Error) {
        let own = error.get_ref().and_then(|own| own.downcast_ref::<Error>());
        let Some(Error { code, .. }) = own else {
            return;
        };
        let versions = &self.config.priority.versions;
        let has_version =
            version(self.session.pointer()).is_some_and(|version| versions.contains(&version));
        // A server with only TLS 1.3 notices only by the suites that a client lacks that version.
        // SAFETY: the session is alive.
        let _ = unsafe {
            if has_version {
                ffi::gnutls_alert_send_appropriate(self.session.pointer(), *code)
            } else {
                let alert = c_int::from(Alert::PROTOCOL_VERSION.0);
                ffi::gnutls_alert_send(self.session.pointer(), ffi::AL_FATAL, alert)
            }
        };
    }

    /// Calls the library until it is done, has failed, or waits for the transport. The library also returns
    /// after each message that contains no data, and must then be called again.
    fn call(&mut self, mut function: impl FnMut(ffi::Session) -> isize) -> Poll<io::Result<usize>> {
        loop {
            self.end.begin_call();
            let result = function(self.session.pointer());
            let code = match usize::try_from(result) {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(_) => c_int::try_from(result).unwrap_or(c_int::MIN),
            };
            if matches!(code, ffi::E_AGAIN | ffi::E_INTERRUPTED) && self.end.is_blocked() {
                return Poll::Pending;
            }
            if ffi::gnutls_error_is_fatal(code) != 0 {
                return Poll::Ready(Err(self.error(code)));
            }
        }
    }

    fn error(&mut self, code: c_int) -> io::Error {
        if let Some(failed) = self.end.take_error()
            && matches!(code, ffi::E_PULL_ERROR | ffi::E_PUSH_ERROR)
        {
            return failed;
        }
        if code == ffi::E_PREMATURE_TERMINATION || self.end.has_ended() {
            return io::ErrorKind::UnexpectedEof.into();
        }
        let mut error = Error::of(code);
        if code == ffi::E_FATAL_ALERT_RECEIVED {
            // SAFETY: the session is alive.
            let alert = unsafe { ffi::gnutls_alert_get(self.session.pointer()) };
            error.alert = u8::try_from(alert).ok().map(Alert);
        }
        io::Error::other(error)
    }
}

impl<T: Read + Write> DrivenSession for Session<T> {
    type Transport = T;

    fn transport_mut(&mut self) -> &mut T {
        self.end.transport_mut()
    }

    /// Continues the handshake, and then a side's work directly after it.
    fn handshake(&mut self) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        let done = self.call(|raw| unsafe { ffi::gnutls_handshake(raw) as isize });
        if let Poll::Ready(Err(error)) = &done {
            self.send_alert(error);
        }
        ready!(done)?;
        self.after_handshake()
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        let (start, bytes) = (plaintext.as_mut_ptr(), plaintext.len());
        let mut is_renegotiating = self.is_renegotiating;
        let read = self.call(|raw| {
            if is_renegotiating {
                // SAFETY: the session is alive.
                let done = unsafe { ffi::gnutls_handshake(raw) };
                if done < 0 {
                    return done as isize;
                }
                is_renegotiating = false;
            }
            // SAFETY: the session is alive, and the buffer has as many bytes.
            let read = unsafe { ffi::gnutls_record_recv(raw, start.cast(), bytes) };
            is_renegotiating = read == ffi::E_REHANDSHAKE as isize;
            read
        });
        self.is_renegotiating = is_renegotiating;
        read
    }

    /// Writes data. After a write that the transport has blocked, it sends the rest of that write.
    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        if plaintext.is_empty() && !self.is_sending {
            return Poll::Ready(Ok(0));
        }
        let mut is_sending = self.is_sending;
        let sent = self.call(|raw| {
            let (start, bytes) = if is_sending {
                (ptr::null(), 0)
            } else {
                (plaintext.as_ptr(), plaintext.len())
            };
            is_sending = true;
            // SAFETY: the session is alive, and the library copies the data into records before it returns;
            // without data, it continues with its buffer.
            unsafe { ffi::gnutls_record_send(raw, start.cast(), bytes) }
        });
        self.is_sending = sent.is_pending();
        sent
    }

    fn has_plaintext(&self) -> bool {
        // SAFETY: the session is alive.
        unsafe { ffi::gnutls_record_check_pending(self.session.pointer()) > 0 }
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(self.session.pointer())
    }

    fn resumed(&self) -> bool {
        is_resumed(self.session.pointer())
    }
}

impl<T: Read + Write> SocketSession for Session<T> {
    fn alpn(&self) -> Option<Vec<u8>> {
        alpn(self.session.pointer())
    }

    fn close(&mut self) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        let bye = self.call(|raw| unsafe { ffi::gnutls_bye(raw, ffi::SHUT_WR) as isize });
        bye.map_ok(drop)
    }
}

extern "C" fn pull<T: Read>(end: *mut c_void, buffer: *mut c_void, bytes: usize) -> isize {
    // SAFETY: the pointer is to the end of the called session, and its buffer has as many bytes.
    reported(unsafe { Lent::read_into(end, buffer, bytes, CallbackTransport::<T>::read) })
}

extern "C" fn push<T: Write>(end: *mut c_void, slices: *const libc::iovec, count: c_int) -> isize {
    let (slices, count) = (
        slices.cast::<IoSlice<'_>>(),
        usize::try_from(count).unwrap_or(0),
    );
    // SAFETY: as above; IoSlice has the layout of iovec.
    reported(unsafe {
        Lent::write_from(end, slices, count, CallbackTransport::<T>::write_vectored)
    })
}

/// Converts the result of a callback for the library.
fn reported(result: Result<usize, NotTransferred>) -> isize {
    let code = match result {
        Ok(count) => return isize::try_from(count).unwrap_or(isize::MAX),
        Err(NotTransferred::Blocked) => libc::EAGAIN,
        Err(NotTransferred::Failed(code)) => code.unwrap_or(libc::EIO),
    };
    set_errno(Errno(code));
    -1
}

/// Answers the library's question whether data are available, before it reads with a timeout. The read itself
/// shows it.
extern "C" fn there_may_be_something(_: *mut c_void, _: c_uint) -> c_int {
    1
}
