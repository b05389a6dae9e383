//! A session of the library over any transport.

use std::{
    ffi::{CString, c_int, c_void},
    io::{self, Read, Write},
    ptr,
    sync::Arc,
    task::{Poll, ready},
};

use netbench_tls::{Alert, Negotiated};
use netbench_worker::{CallbackTransport, DrivenSession, Lent, Owned, Probe, SocketSession};

use crate::{
    config::Config,
    ech,
    ffi::{self, AlertStr, FileDesc, FileDescStr},
    io_layer::socket,
    library::{Error, checked, library},
    negotiated::{alpn, is_resumed, is_tls13, negotiated},
    tickets::{self, Tickets},
    verify::{KeyUsage, verify},
};

/// The data of a session that the library's callbacks use.
#[derive(Clone, Default)]
pub(crate) struct User {
    /// The server's name; `None` at a server.
    pub(crate) host: Option<CString>,
    /// The probe that times verification.
    pub(crate) probe: Option<Probe>,
    /// The store of a client's sessions.
    pub(crate) tickets: Option<Arc<Tickets>>,
    pub(crate) key_usage: KeyUsage,
    /// The fatal alert that the session has received.
    pub(crate) alert: Option<Alert>,
}

/// One side of a session.
pub(crate) struct Session<T> {
    socket: Owned<FileDescStr>,
    /// The transport and the user data. Both are passed to the library as pointers, and freed after
    /// it has released them.
    end: Lent<CallbackTransport<T>>,
    user: Lent<User>,
    /// The configuration, to whose contents the library has pointers.
    config: Arc<Config>,
    /// Whether the end of the data was announced to the peer.
    has_said_goodbye: bool,
}

impl<T: Read + Write> Session<T> {
    pub(crate) fn new(config: &Arc<Config>, transport: T, user: User) -> Result<Self, Error> {
        let end = Lent::new(CallbackTransport::new(transport));
        let session = Self {
            socket: socket(config.model(), &end)?,
            end,
            user: Lent::new(user),
            config: Arc::clone(config),
            has_said_goodbye: false,
        };
        session.set()?;
        Ok(session)
    }

    /// Sets the parameters that only this session has.
    fn set(&self) -> Result<(), Error> {
        let (fd, user) = (self.socket.pointer(), self.user.pointer());
        // SAFETY: the session is alive, and the values to which the library keeps pointers live longer.
        unsafe {
            checked(ffi::SSL_AlertReceivedCallback(fd, alert_came, user))?;
            checked(ffi::SSL_AuthCertificateHook(fd, verify, user))?;
            checked(ffi::SSL_ResetHandshake(
                fd,
                c_int::from(self.config.is_server()),
            ))?;
        }
        if let Some(host) = &self.user.host {
            // SAFETY: the library copies the name, which it sends unless it is an address (RFC 6066 section
            // 3).
            checked(unsafe { ffi::SSL_SetURL(fd, host.as_ptr()) })?;
            if let Some(tickets) = &self.user.tickets {
                tickets::watch(fd, user)?;
                tickets::resume(tickets, fd, host.to_bytes())?;
            }
        }
        Ok(())
    }

    /// Calls the library until it is done, has failed, or waits for the transport.
    fn call(&mut self, mut function: impl FnMut(FileDesc) -> c_int) -> Poll<io::Result<usize>> {
        loop {
            self.end.begin_call();
            if let Ok(count) = usize::try_from(function(self.socket.pointer())) {
                return Poll::Ready(Ok(count));
            }
            let error = Error::last();
            if error.code != ffi::PR_WOULD_BLOCK_ERROR {
                return Poll::Ready(Err(self.error(error)));
            }
            if self.end.is_blocked() {
                return Poll::Pending;
            }
        }
    }

    fn error(&mut self, mut error: Error) -> io::Error {
        if let Some(failed) = self.end.take_error() {
            return failed;
        }
        if error.code == ffi::PR_END_OF_FILE_ERROR || self.end.has_ended() {
            return io::ErrorKind::UnexpectedEof.into();
        }
        if let Some(probe) = &self.user.probe {
            ech::watch(&error, self.socket.pointer(), probe);
        }
        error.alert = self.user.alert;
        io::Error::other(error)
    }
}

impl<T: Read + Write> DrivenSession for Session<T> {
    type Transport = T;

    fn transport_mut(&mut self) -> &mut T {
        self.end.transport_mut()
    }

    /// Continues the handshake, and then sends the tickets that a server sends directly after it.
    fn handshake(&mut self) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        ready!(self.call(|fd| unsafe { ffi::SSL_ForceHandshake(fd) }))?;
        for _ in 0..self.config.further_tickets(is_tls13(self.socket.pointer())) {
            let send = library().map_err(io::Error::other)?.send_ticket;
            // SAFETY: as above; a ticket contains no data of this process. The library keeps data that cannot
            // be sent now.
            let _ = self.call(|fd| unsafe { send(fd, ptr::null(), 0) })?;
        }
        Poll::Ready(Ok(()))
    }

    fn read(&mut self, plaintext: &mut [u8]) -> Poll<io::Result<usize>> {
        let (start, bytes) = (plaintext.as_mut_ptr(), length(plaintext.len()));
        // SAFETY: the session is alive, and the buffer has as many bytes.
        self.call(|fd| unsafe { ffi::PR_Read(fd, start.cast(), bytes) })
    }

    /// Writes data. The library keeps the data that the transport does not accept, except for the last byte,
    /// which must be passed again.
    fn write(&mut self, plaintext: &[u8]) -> Poll<io::Result<usize>> {
        let (start, bytes) = (plaintext.as_ptr(), length(plaintext.len()));
        // SAFETY: the session is alive, and the buffer has as many bytes.
        self.call(|fd| unsafe { ffi::PR_Write(fd, start.cast(), bytes) })
    }

    fn has_plaintext(&self) -> bool {
        // SAFETY: the session is alive.
        unsafe { ffi::SSL_DataPending(self.socket.pointer()) > 0 }
    }

    fn negotiated(&self) -> Negotiated {
        negotiated(self.socket.pointer())
    }

    fn resumed(&self) -> bool {
        is_resumed(self.socket.pointer())
    }
}

impl<T: Read + Write> SocketSession for Session<T> {
    fn alpn(&self) -> Option<Vec<u8>> {
        alpn(self.socket.pointer())
    }

    fn flush(&mut self) -> Poll<io::Result<()>> {
        if self.has_said_goodbye {
            return Poll::Ready(Ok(()));
        }
        // SAFETY: the session is alive; without data, the library sends its buffer.
        let rest = self.call(|fd| unsafe { ffi::PR_Write(fd, ptr::null(), 0) });
        rest.map_ok(drop)
    }

    fn close(&mut self) -> Poll<io::Result<()>> {
        if self.has_said_goodbye {
            return Poll::Ready(Ok(()));
        }
        self.has_said_goodbye = true;
        // SAFETY: the session is alive.
        let bye = self.call(|fd| unsafe { ffi::PR_Shutdown(fd, ffi::PR_SHUTDOWN_SEND) });
        bye.map_ok(drop)
    }
}

/// Returns the maximum number of bytes that the library accepts at a time.
fn length(bytes: usize) -> i32 {
    i32::try_from(bytes).unwrap_or(i32::MAX)
}

extern "C" fn alert_came(_: FileDesc, user: *mut c_void, alert: *const AlertStr) {
    // SAFETY: every session has user data, and the alert lives during this call.
    let (user, alert) = unsafe { (&mut *user.cast::<User>(), &*alert) };
    if alert.level == ffi::ALERT_LEVEL_FATAL {
        user.alert = Some(Alert(alert.description));
    }
}
