//! A session of the library over any transport.

use std::{
    ffi::{CString, c_int, c_void},
    io, ptr,
    sync::Arc,
    task::Poll,
};

use netbench_model::Alert;
use netbench_worker::Probe;

use crate::{
    config::Config,
    ffi::{self, AlertStr, FileDesc},
    io_layer::{End, Transport},
    library::{Error, checked, library, made},
    negotiated::is_tls13,
    tickets::Tickets,
    verify::{KeyUsage, verify},
};

/// The data of a session that its callbacks use.
pub(crate) struct User {
    /// The server's name; `None` at a server.
    pub(crate) host: Option<CString>,
    /// The probe that times verification.
    pub(crate) probe: Option<Probe>,
    /// The store of a client's sessions.
    pub(crate) tickets: Option<Arc<Tickets>>,
    pub(crate) key_usage: KeyUsage,
}

/// The argument of the library's callbacks.
pub(crate) struct Told {
    pub(crate) user: User,
    /// The received fatal alert.
    alert: Option<Alert>,
}

/// One side of a session.
pub(crate) struct Session<T: Transport> {
    fd: FileDesc,
    /// The end and the callbacks' argument. Both are passed to the library as pointers, and freed after it
    /// has released them.
    end: *mut End<T>,
    told: *mut Told,
    /// The configuration, to whose contents the library has pointers.
    config: Arc<Config>,
}

// SAFETY: the library locks the data that its sessions share, and keeps no state of a session in its threads.
unsafe impl<T: Transport + Send> Send for Session<T> {}

impl<T: Transport> Drop for Session<T> {
    fn drop(&mut self) {
        // SAFETY: `new` made them, and no other code frees them.
        unsafe {
            if !self.fd.is_null() {
                ffi::PR_Close(self.fd);
            }
            drop(Box::from_raw(self.end));
            drop(Box::from_raw(self.told));
        }
    }
}

impl<T: Transport> Session<T> {
    pub(crate) fn new(config: &Arc<Config>, transport: T, user: User) -> Result<Self, Error> {
        let mut session = Self {
            fd: ptr::null_mut(),
            end: Box::into_raw(Box::new(End::new(transport))),
            told: Box::into_raw(Box::new(Told { user, alert: None })),
            config: Arc::clone(config),
        };
        let layer = End::layer(session.end)?;
        // SAFETY: the session owns the layer; where the library does not take it, it is closed here.
        unsafe {
            let imported = made(ffi::SSL_ImportFD(config.model(), layer));
            session.fd = imported.inspect_err(|_| {
                ffi::PR_Close(layer);
            })?;
        }
        session.set()?;
        Ok(session)
    }

    /// Sets the parameters that only this session has.
    fn set(&self) -> Result<(), Error> {
        let (fd, user) = (self.fd, self.told.cast::<c_void>());
        // SAFETY: the session is alive, and the values to which the library keeps pointers live longer.
        unsafe {
            checked(ffi::SSL_AlertReceivedCallback(fd, alert_came, user))?;
            checked(ffi::SSL_AuthCertificateHook(fd, verify, user))?;
            checked(ffi::SSL_ResetHandshake(
                fd,
                c_int::from(self.config.is_server()),
            ))?;
        }
        // SAFETY: the callbacks' argument lives as long as the session.
        let told = unsafe { &*self.told };
        if let Some(host) = &told.user.host {
            // SAFETY: the library copies the name, which it sends unless it is an address (RFC 6066 section
            // 3).
            checked(unsafe { ffi::SSL_SetURL(fd, host.as_ptr()) })?;
            if let Some(tickets) = &told.user.tickets {
                Tickets::watch(fd, user)?;
                tickets.resume(fd, host.to_bytes())?;
            }
        }
        Ok(())
    }

    pub(crate) fn fd(&self) -> FileDesc {
        self.fd
    }

    pub(crate) fn transport(&self) -> &T {
        // SAFETY: the end lives as long as the session, and the library uses it only in calls, which borrow
        // the session mutably.
        unsafe { &(*self.end).transport }
    }

    pub(crate) fn transport_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut (*self.end).transport }
    }

    /// Continues the handshake, and then sends the tickets that a server sends directly after it.
    pub(crate) fn handshake(&mut self) -> Poll<io::Result<()>> {
        // SAFETY: the session is alive.
        let done = self.call(|fd| unsafe { ffi::SSL_ForceHandshake(fd) });
        if done?.is_pending() {
            return Poll::Pending;
        }
        for _ in 0..self.config.further_tickets(is_tls13(self.fd)) {
            let send = library().map_err(io::Error::other)?.send_ticket;
            // SAFETY: as above; a ticket contains no data of this process. The library keeps data that cannot
            // be sent now.
            let _ = self.call(|fd| unsafe { send(fd, ptr::null(), 0) })?;
        }
        Poll::Ready(Ok(()))
    }

    /// Calls the library until it is done, has failed, or waits for the transport.
    pub(crate) fn call(
        &mut self,
        mut function: impl FnMut(FileDesc) -> c_int,
    ) -> Poll<io::Result<usize>> {
        loop {
            // SAFETY: the end lives as long as the session, and no other code uses it between calls.
            unsafe { (*self.end).is_blocked = false };
            if let Ok(count) = usize::try_from(function(self.fd)) {
                return Poll::Ready(Ok(count));
            }
            let error = Error::last();
            if error.code != ffi::PR_WOULD_BLOCK_ERROR {
                return Poll::Ready(Err(self.error(error)));
            }
            // SAFETY: as above.
            if unsafe { (*self.end).is_blocked } {
                return Poll::Pending;
            }
        }
    }

    fn error(&mut self, mut error: Error) -> io::Error {
        // SAFETY: as in `call`, and the library is not calling back now.
        let (end, told) = unsafe { (&mut *self.end, &*self.told) };
        if let Some(failed) = end.failed.take() {
            return failed;
        }
        if error.code == ffi::PR_END_OF_FILE_ERROR || end.has_ended {
            return io::ErrorKind::UnexpectedEof.into();
        }
        error.alert = told.alert;
        io::Error::other(error)
    }
}

extern "C" fn alert_came(_: FileDesc, told: *mut c_void, alert: *const AlertStr) {
    // SAFETY: every session has an argument for its callbacks, and the alert lives during this call.
    let (told, alert) = unsafe { (&mut *told.cast::<Told>(), &*alert) };
    if alert.level == ffi::ALERT_LEVEL_FATAL {
        told.alert = Some(Alert(alert.description));
    }
}
