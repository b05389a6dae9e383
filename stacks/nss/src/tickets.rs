//! The sessions that a client can resume. They are kept outside of the library, whose cache is the whole process's.

use std::{
    ffi::{c_int, c_uchar, c_uint, c_void},
    slice,
    sync::{Mutex, PoisonError},
};

use crate::{
    ffi::{self, FileDesc},
    library::{Error, checked, library},
    negotiated::is_tls13,
    session::Told,
};

/// Tickets that a client keeps, at most: as many as rustls'.
const KEPT: usize = 8;

#[derive(Default)]
pub(crate) struct Tickets(Mutex<Vec<Ticket>>);

struct Ticket {
    host: Vec<u8>,
    use_: Use,
    /// A session with its ticket, as the library has it written.
    token: Vec<u8>,
}

/// A ticket of TLS 1.3 is for one use (RFC 8446 appendix C.4), a session of TLS 1.2 for many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Once,
    Often,
}

impl Tickets {
    /// Has a new session resume the newest one with its server, if there is one.
    pub(crate) fn resume(&self, fd: FileDesc, host: &[u8]) -> Result<(), Error> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(at) = kept.iter().rposition(|ticket| ticket.host == host) else {
            return Ok(());
        };
        let once;
        let token = match kept[at].use_ {
            Use::Once => {
                once = kept.remove(at);
                &once.token
            }
            Use::Often => &kept[at].token,
        };
        let len = c_uint::try_from(token.len()).unwrap_or(c_uint::MAX);
        // SAFETY: the session is alive, and the library copies the token.
        checked(unsafe { (library()?.set_token)(fd, token.as_ptr(), len) })
    }

    /// Has tickets kept as they come. `told` is the session's.
    pub(crate) fn watch(fd: FileDesc, told: *mut c_void) -> Result<(), Error> {
        // SAFETY: the session is alive, and what it is told lives longer.
        checked(unsafe { (library()?.set_token_callback)(fd, ticket_came, told) })
    }

    fn keep(&self, ticket: Ticket) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(ticket);
    }
}

extern "C" fn ticket_came(
    fd: FileDesc,
    token: *const c_uchar,
    len: c_uint,
    told: *mut c_void,
) -> c_int {
    // SAFETY: every session has what its callbacks are told, and the token is the library's for this call.
    let (told, token) = unsafe {
        (
            &*told.cast::<Told>(),
            slice::from_raw_parts(token, len as usize),
        )
    };
    if let (Some(tickets), Some(host)) = (&told.user.tickets, &told.user.host) {
        tickets.keep(Ticket {
            host: host.to_bytes().to_vec(),
            // The library tells of a session of TLS 1.2 before its handshake is done.
            use_: if is_tls13(fd) { Use::Once } else { Use::Often },
            token: token.to_vec(),
        });
    }
    ffi::SUCCESS
}
