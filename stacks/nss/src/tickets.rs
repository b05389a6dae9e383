//! The sessions that a client can resume. They are kept outside of the library, whose cache is shared by the
//! whole process.

use std::{
    ffi::{c_int, c_uchar, c_uint, c_void},
    slice,
};

use netbench_worker::TicketUse;

use crate::{
    ffi::{self, FileDesc, length},
    library::{Error, checked, library},
    negotiated::is_tls13,
    session::User,
};

/// The sessions with their tickets by their host, as the library serializes them.
pub(crate) type Tickets = netbench_worker::Tickets<Vec<u8>, Vec<u8>>;

/// Makes a new session resume the newest one with its server, if there is one.
pub(crate) fn resume(tickets: &Tickets, fd: FileDesc, host: &[u8]) -> Result<(), Error> {
    let set_token = library()?.set_token;
    let set = tickets.resume_newest(host, |token| {
        // SAFETY: the session is alive, and the library copies the token.
        checked(unsafe { set_token(fd, token.as_ptr(), length(token.len())) })
    });
    set.unwrap_or(Ok(()))
}

/// Makes the library's callback keep tickets as they arrive. `user` is the session's.
pub(crate) fn watch(fd: FileDesc, user: *mut c_void) -> Result<(), Error> {
    // SAFETY: the session is alive, and the callback's argument lives longer.
    checked(unsafe { (library()?.set_token_callback)(fd, ticket_came, user) })
}

extern "C" fn ticket_came(
    fd: FileDesc,
    token: *const c_uchar,
    len: c_uint,
    user: *mut c_void,
) -> c_int {
    // SAFETY: every session has user data, and the token lives during this call.
    let (user, token) = unsafe {
        (
            &*user.cast::<User>(),
            slice::from_raw_parts(token, len as usize),
        )
    };
    if let (Some(tickets), Some(host)) = (&user.tickets, &user.host) {
        // The library reports a session of TLS 1.2 before its handshake is done.
        let allowed = if is_tls13(fd) {
            TicketUse::Once
        } else {
            TicketUse::Often
        };
        tickets.keep(host.to_bytes().to_vec(), allowed, token.to_vec());
    }
    ffi::SUCCESS
}
