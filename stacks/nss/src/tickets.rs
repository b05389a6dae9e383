//! The sessions that a client can resume. They are kept outside of the library, whose cache is shared by the
//! whole process.

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

/// The maximum number of tickets that a client keeps: the same as rustls'.
const KEPT: usize = 8;

#[derive(Default)]
pub(crate) struct Tickets(Mutex<Vec<Ticket>>);

struct Ticket {
    host: Vec<u8>,
    use_: Use,
    /// A session with its ticket, serialized by the library.
    token: Vec<u8>,
}

/// The number of uses: a ticket of TLS 1.3 is for one use (RFC 8446 appendix C.4), a session of TLS 1.2 for
/// many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Once,
    Often,
}

impl Tickets {
    /// Makes a new session resume the newest one with its server, if there is one.
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

    /// Makes the library's callback keep tickets as they arrive. `told` is the session's.
    pub(crate) fn watch(fd: FileDesc, told: *mut c_void) -> Result<(), Error> {
        // SAFETY: the session is alive, and the callback's argument lives longer.
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
    // SAFETY: every session has an argument for its callbacks, and the token lives during this call.
    let (told, token) = unsafe {
        (
            &*told.cast::<Told>(),
            slice::from_raw_parts(token, len as usize),
        )
    };
    if let (Some(tickets), Some(host)) = (&told.user.tickets, &told.user.host) {
        tickets.keep(Ticket {
            host: host.to_bytes().to_vec(),
            // The library reports a session of TLS 1.2 before its handshake is done.
            use_: if is_tls13(fd) { Use::Once } else { Use::Often },
            token: token.to_vec(),
        });
    }
    ffi::SUCCESS
}
