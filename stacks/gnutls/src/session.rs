//! A session of the library's over any transport.

use std::{
    ffi::{CString, c_int, c_uint, c_void},
    io::{self, IoSlice},
    net::IpAddr,
    ptr, slice,
    sync::Arc,
    task::Poll,
};

use errno::{Errno, set_errno};
use netbench_model::Alert;
use netbench_worker::Probe;

use crate::{config::Config, ffi, negotiated::version, tickets::Tickets};

/// What the library says of something that failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{words}")]
pub(crate) struct Error {
    pub(crate) code: c_int,
    /// The alert that came, where that is the error.
    pub(crate) alert: Option<Alert>,
    words: String,
}

impl Error {
    pub(crate) fn of(code: c_int) -> Self {
        // SAFETY: the library's own text.
        let words = unsafe { ffi::text(ffi::gnutls_strerror(code)) };
        Self {
            code,
            alert: None,
            words: words.unwrap_or("unknown error").to_owned(),
        }
    }

    /// The library's name of the error, such as `GNUTLS_E_AGAIN`.
    pub(crate) fn name(&self) -> &'static str {
        // SAFETY: the library's own text.
        unsafe { ffi::text(ffi::gnutls_strerror_name(self.code)) }.unwrap_or("unknown")
    }
}

/// A result of the library's, of which everything below 0 is an error.
pub(crate) fn checked(code: c_int) -> Result<(), Error> {
    if code < 0 {
        Err(Error::of(code))
    } else {
        Ok(())
    }
}

/// What is below a session. Where nothing can be read or written now, the error is `WouldBlock`.
pub(crate) trait Transport {
    fn pull(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    fn push(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize>;
}

/// What callbacks find of their session.
pub(crate) struct User {
    /// The server's name; none at a server.
    pub(crate) host: Option<CString>,
    /// Where verification is timed.
    pub(crate) probe: Option<Probe>,
    /// Where a client keeps its sessions.
    pub(crate) tickets: Option<Arc<Tickets>>,
}

/// A transport and how the library got on with it.
struct End<T> {
    transport: T,
    is_blocked: bool,
    has_ended: bool,
    failed: Option<io::Error>,
}

/// One side of a session.
pub(crate) struct Session<T: Transport> {
    raw: ffi::Session,
    /// Both are given to the library as pointers, and freed after it has let go of them.
    end: *mut End<T>,
    user: *mut User,
    /// The library has pointers to what is in it.
    config: Arc<Config>,
}

// SAFETY: the library keeps nothing of a session in its threads, and what is shared between sessions is only read.
unsafe impl<T: Transport + Send> Send for Session<T> {}

impl<T: Transport> Drop for Session<T> {
    fn drop(&mut self) {
        // SAFETY: they were made by `new`, and nothing else frees them.
        unsafe {
            ffi::gnutls_deinit(self.raw);
            drop(Box::from_raw(self.end));
            drop(Box::from_raw(self.user));
        }
    }
}

impl<T: Transport> Session<T> {
    pub(crate) fn new(config: &Arc<Config>, transport: T, user: User) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        // SAFETY: the place for the result lives longer than the call.
        checked(unsafe { ffi::gnutls_init(&raw mut raw, config.flags | ffi::NONBLOCK) })?;
        let session = Self {
            raw,
            end: Box::into_raw(Box::new(End {
                transport,
                is_blocked: false,
                has_ended: false,
                failed: None,
            })),
            user: Box::into_raw(Box::new(user)),
            config: Arc::clone(config),
        };
        // SAFETY: the pointers are valid until the session is dropped.
        unsafe {
            ffi::gnutls_session_set_ptr(raw, session.user.cast());
            ffi::gnutls_transport_set_ptr(raw, session.end.cast());
            ffi::gnutls_transport_set_pull_function(raw, pull::<T>);
            ffi::gnutls_transport_set_vec_push_function(raw, push::<T>);
            ffi::gnutls_transport_set_pull_timeout_function(raw, there_may_be_something);
        }
        config.set(raw)?;
        session.set_name()?;
        Ok(session)
    }

    /// The name is sent where it is none of an address (RFC 6066 section 3), and sessions with that server are resumed.
    fn set_name(&self) -> Result<(), Error> {
        // SAFETY: the user lives as long as the session, and callbacks have it only meanwhile.
        let user = unsafe { &*self.user };
        let Some(host) = &user.host else {
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
                    self.raw,
                    ffi::NAME_DNS,
                    name.as_ptr().cast(),
                    name.len(),
                )
            })?;
        }
        match &user.tickets {
            Some(tickets) => {
                Tickets::watch(self.raw);
                tickets.resume(self.raw, name)
            }
            None => Ok(()),
        }
    }

    pub(crate) fn raw(&self) -> ffi::Session {
        self.raw
    }

    pub(crate) fn transport(&self) -> &T {
        // SAFETY: the end lives as long as the session, and the library uses it in calls alone, which take the session mutably.
        unsafe { &(*self.end).transport }
    }

    pub(crate) fn transport_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut (*self.end).transport }
    }

    /// Goes on with the handshake, and then with what a side does right after it.
    pub(crate) fn handshake(&mut self) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        let done = self.call(|raw| unsafe { ffi::gnutls_handshake(raw) as isize });
        match done {
            Poll::Ready(Err(error)) => {
                self.send_alert(&error);
                Poll::Ready(Err(error))
            }
            Poll::Ready(Ok(_)) => self.after_handshake(),
            Poll::Pending => Poll::Pending,
        }
    }

    fn after_handshake(&mut self) -> Poll<io::Result<()>> {
        let tickets = self.config.tickets_to_send(self.raw);
        if tickets > 0 {
            let send = |raw| {
                // SAFETY: the session is alive.
                (unsafe { ffi::gnutls_session_ticket_send(raw, tickets, 0) }) as isize
            };
            if self.call(send)?.is_pending() {
                return Poll::Pending;
            }
        }
        // SAFETY: as in `set_name`.
        let user = unsafe { &*self.user };
        if let (Some(tickets), Some(host)) = (&user.tickets, &user.host) {
            tickets.keep_old(self.raw, host.to_bytes());
        }
        Poll::Ready(Ok(()))
    }

    /// Tells the other side what was wrong, as far as it can be told at once. The library leaves that to its users.
    fn send_alert(&mut self, error: &io::Error) {
        let own = error.get_ref().and_then(|own| own.downcast_ref::<Error>());
        let Some(Error { code, .. }) = own else {
            return;
        };
        // SAFETY: the session is alive.
        let version = version(unsafe { ffi::gnutls_protocol_get_version(self.raw) });
        let has_version = version.is_some_and(|version| self.config.versions.contains(&version));
        // SAFETY: as above. A server of TLS 1.3 alone does not notice that a client has no such version, but for the suites.
        let _ = unsafe {
            if has_version {
                ffi::gnutls_alert_send_appropriate(self.raw, *code)
            } else {
                let alert = c_int::from(Alert::PROTOCOL_VERSION.0);
                ffi::gnutls_alert_send(self.raw, ffi::AL_FATAL, alert)
            }
        };
    }

    /// Calls the library until it is done, has failed, or waits for the transport. It also stops after each message that
    /// is no data, and then wants to be called again.
    pub(crate) fn call(
        &mut self,
        mut function: impl FnMut(ffi::Session) -> isize,
    ) -> Poll<io::Result<usize>> {
        loop {
            // SAFETY: the end lives as long as the session, and nothing else uses it between calls.
            unsafe { (*self.end).is_blocked = false };
            let result = function(self.raw);
            // SAFETY: as above.
            let end = unsafe { &mut *self.end };
            let code = match usize::try_from(result) {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(_) => c_int::try_from(result).unwrap_or(c_int::MIN),
            };
            // SAFETY: a call that only looks at the number.
            let is_fatal = unsafe { ffi::gnutls_error_is_fatal(code) } != 0;
            if matches!(code, ffi::E_AGAIN | ffi::E_INTERRUPTED) && end.is_blocked {
                return Poll::Pending;
            }
            if is_fatal {
                return Poll::Ready(Err(self.error(code)));
            }
        }
    }

    fn error(&mut self, code: c_int) -> io::Error {
        // SAFETY: as in `call`.
        let end = unsafe { &mut *self.end };
        if let Some(failed) = end.failed.take()
            && matches!(code, ffi::E_PULL_ERROR | ffi::E_PUSH_ERROR)
        {
            return failed;
        }
        if code == ffi::E_PREMATURE_TERMINATION || end.has_ended {
            return io::ErrorKind::UnexpectedEof.into();
        }
        let mut error = Error::of(code);
        if code == ffi::E_FATAL_ALERT_RECEIVED {
            // SAFETY: the session is alive.
            let alert = unsafe { ffi::gnutls_alert_get(self.raw) };
            error.alert = u8::try_from(alert).ok().map(Alert);
        }
        io::Error::other(error)
    }
}

extern "C" fn pull<T: Transport>(end: *mut c_void, buffer: *mut c_void, bytes: usize) -> isize {
    // SAFETY: it is the end of the session that is being called, and its buffer has as many bytes.
    let (end, buffer) = unsafe {
        (
            &mut *end.cast::<End<T>>(),
            slice::from_raw_parts_mut(buffer.cast::<u8>(), bytes),
        )
    };
    let pulled = end.transport.pull(buffer);
    end.has_ended |= bytes > 0 && matches!(pulled, Ok(0));
    end.told(pulled)
}

extern "C" fn push<T: Transport>(
    end: *mut c_void,
    slices: *const libc::iovec,
    count: c_int,
) -> isize {
    // SAFETY: it is the end of the session that is being called; IoSlice has the layout of iovec.
    let (end, slices) = unsafe {
        (
            &mut *end.cast::<End<T>>(),
            slice::from_raw_parts(
                slices.cast::<IoSlice<'_>>(),
                usize::try_from(count).unwrap_or(0),
            ),
        )
    };
    let pushed = end.transport.push(slices);
    end.told(pushed)
}

/// The library asks so before it reads where it waits for a while. Reading says whether there is anything.
extern "C" fn there_may_be_something(_: *mut c_void, _: c_uint) -> c_int {
    1
}

impl<T> End<T> {
    /// What a callback gives the library.
    fn told(&mut self, result: io::Result<usize>) -> isize {
        match result {
            Ok(count) => isize::try_from(count).unwrap_or(isize::MAX),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.is_blocked = true;
                set_errno(Errno(libc::EAGAIN));
                -1
            }
            Err(error) => {
                set_errno(Errno(error.raw_os_error().unwrap_or(libc::EIO)));
                self.failed = Some(error);
                -1
            }
        }
    }
}
