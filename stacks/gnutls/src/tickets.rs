//! Sessions to resume: those of a client, and those that a server keeps.

use std::{
    collections::{HashMap, VecDeque},
    ffi::{c_int, c_uint, c_void},
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use netbench_worker::{KEPT_SESSIONS, TicketUse};

use crate::{
    ffi::{self, Datum},
    negotiated::{is_resumed, is_tls13},
    session::{Error, User, checked},
};

/// The sessions that a client can resume, by their host, as the library serializes them.
pub(crate) type Tickets = netbench_worker::Tickets<Vec<u8>, Vec<u8>>;

/// Makes a new session resume the newest one with its server, if there is one.
pub(crate) fn resume(tickets: &Tickets, session: ffi::Session, host: &[u8]) -> Result<(), Error> {
    let set = tickets.resume_newest(host, |data| {
        // SAFETY: the session is alive, and the library copies the data.
        checked(unsafe { ffi::gnutls_session_set_data(session, data.as_ptr().cast(), data.len()) })
    });
    set.unwrap_or(Ok(()))
}

/// Makes the library's hook keep tickets of TLS 1.3 as they arrive.
pub(crate) fn watch(session: ffi::Session) {
    // SAFETY: the session is alive.
    unsafe {
        ffi::gnutls_handshake_set_hook_function(
            session,
            ffi::HANDSHAKE_NEW_SESSION_TICKET,
            ffi::HOOK_POST,
            ticket_came,
        );
    }
}

/// Keeps a client's new session of TLS 1.2, once its handshake is done.
pub(crate) fn keep_old(user: &User, session: ffi::Session) {
    if user.tickets.is_some() && !is_resumed(session) && !is_tls13(session) {
        keep(user, session, TicketUse::Often);
    }
}

/// Keeps a client's session. One that cannot be kept is not resumed, which every sample shows.
fn keep(user: &User, session: ffi::Session, allowed: TicketUse) {
    let (Some(tickets), Some(host)) = (&user.tickets, &user.host) else {
        return;
    };
    let mut data = Datum::EMPTY;
    // SAFETY: the session is alive, and the library's data are copied and freed.
    let data = unsafe {
        if ffi::gnutls_session_get_data2(session, &raw mut data) < 0 {
            return;
        }
        data.into_vec()
    };
    tickets.keep(host.to_bytes().to_vec(), allowed, data);
}

extern "C" fn ticket_came(
    session: ffi::Session,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: *const Datum,
) -> c_int {
    // SAFETY: every session has user data.
    let user = unsafe { &*ffi::gnutls_session_get_ptr(session).cast::<User>() };
    if is_tls13(session) {
        keep(user, session, TicketUse::Once);
    }
    0
}

/// The sessions that a server keeps. The oldest is removed for a new one.
#[derive(Default)]
pub(crate) struct ServerSessions(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    sessions: HashMap<Vec<u8>, Vec<u8>>,
    order: VecDeque<Vec<u8>>,
}

impl ServerSessions {
    /// Makes the library store and find a server's session here.
    pub(crate) fn set(self: &Arc<Self>, session: ffi::Session) {
        // SAFETY: the session is alive, and its configuration keeps this alive.
        unsafe {
            ffi::gnutls_db_set_ptr(session, Arc::as_ptr(self).cast_mut().cast());
            ffi::gnutls_db_set_store_function(session, store);
            ffi::gnutls_db_set_retrieve_function(session, retrieve);
            ffi::gnutls_db_set_remove_function(session, remove);
        }
    }
}

extern "C" fn store(kept: *mut c_void, id: Datum, data: Datum) -> c_int {
    // SAFETY: the pointer is the one from `set`, and the library's data live during this call.
    let (kept, id, data) = unsafe { (&*kept.cast::<ServerSessions>(), id.bytes(), data.bytes()) };
    let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.order.len() == KEPT_SESSIONS
        && let Some(oldest) = kept.order.pop_front()
    {
        kept.sessions.remove(&oldest);
    }
    kept.order.push_back(id.to_vec());
    kept.sessions.insert(id.to_vec(), data.to_vec());
    0
}

/// Returns a copy of the session, which the library frees.
extern "C" fn retrieve(kept: *mut c_void, id: Datum) -> Datum {
    // SAFETY: as above.
    let (kept, id) = unsafe { (&*kept.cast::<ServerSessions>(), id.bytes()) };
    let kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(data) = kept.sessions.get(id) else {
        return Datum::EMPTY;
    };
    // SAFETY: the new memory is as long as the data.
    unsafe {
        let copy = ffi::gnutls_malloc(data.len()).cast::<u8>();
        if copy.is_null() {
            return Datum::EMPTY;
        }
        ptr::copy_nonoverlapping(data.as_ptr(), copy, data.len());
        Datum {
            data: copy,
            ..Datum::of(data)
        }
    }
}

extern "C" fn remove(kept: *mut c_void, id: Datum) -> c_int {
    // SAFETY: as above.
    let (kept, id) = unsafe { (&*kept.cast::<ServerSessions>(), id.bytes()) };
    let mut kept = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    kept.sessions.remove(id);
    kept.order.retain(|other| other != id);
    0
}
