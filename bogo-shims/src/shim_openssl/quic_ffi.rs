//! The callbacks of libssl for an external QUIC stack (`SSL_set_quic_tls_cbs`, since OpenSSL 3.5).

use std::{
    cell::{RefCell, RefMut},
    ffi::{c_int, c_uchar, c_void},
    ptr,
};

use foreign_types_shared::ForeignTypeRef;
use openssl::{
    error::ErrorStack,
    ssl::{ErrorCode, SslRef},
};
use openssl_sys::{SSL, SSL_CIPHER};

use crate::{
    Failure,
    quic::{Level, Stream},
};

use super::{errors::succeeded, ffi::bytes, newer::*};

unsafe extern "C" {
    fn SSL_get_pending_cipher(ssl: *const SSL) -> *const SSL_CIPHER;
}

/// `OSSL_DISPATCH` of openssl/core.h: a function with its number; the last entry has none.
#[repr(C)]
pub(super) struct Function {
    number: c_int,
    function: *const c_void,
}

impl Function {
    fn new(number: c_int, function: *const c_void) -> Self {
        Self { number, function }
    }
}

/// The state between libssl and the runner.
pub(crate) struct Between {
    pub(crate) stream: Stream,
    /// A record's handshake messages for libssl, until libssl releases them.
    pub(crate) incoming: Option<Vec<u8>>,
    /// Whether libssl is reading `incoming`.
    lent: bool,
    /// The peer's transport parameters, once they have arrived.
    pub(crate) peer_params: Option<Vec<u8>>,
    /// Whether the server may read early data.
    pub(crate) early_readable: bool,
    own_params: Vec<u8>,
}

/// One side of a connection as libssl's callbacks see it. It is never moved, and outlives the connection.
pub(crate) struct Shared(Box<RefCell<Between>>);

impl Shared {
    /// Makes `ssl` a QUIC connection, whose role must have been set.
    pub(crate) fn attach(
        ssl: &mut SslRef,
        stream: Stream,
        own_params: Option<&[u8]>,
    ) -> Result<Self, Failure> {
        let shared = Self(Box::new(RefCell::new(Between {
            stream,
            incoming: None,
            lent: false,
            peer_params: None,
            early_readable: false,
            own_params: own_params.unwrap_or_default().to_vec(),
        })));
        let functions = [
            Function::new(2001, on_send as *const c_void),
            Function::new(2002, on_receive as *const c_void),
            Function::new(2003, on_release as *const c_void),
            Function::new(2004, on_secret as *const c_void),
            Function::new(2005, on_params as *const c_void),
            Function::new(2006, on_alert as *const c_void),
            Function::new(0, ptr::null()),
        ];
        let argument = ptr::from_ref(&*shared.0).cast_mut().cast();
        // SAFETY: the list ends with zero, its functions have the types that openssl/core_dispatch.h assigns
        // to their numbers, and the argument points to a value that outlives the connection.
        let set = unsafe { SSL_set_quic_tls_cbs(ssl.as_ptr(), functions.as_ptr(), argument) };
        succeeded(set)?;
        if own_params.is_some() {
            // The parameters are in a separate allocation, which outlives the connection.
            set_params(ssl, &shared.borrow().own_params)?;
        }
        Ok(shared)
    }

    /// Borrows the state. The borrow must not be held while libssl is called, which calls back.
    pub(crate) fn borrow(&self) -> RefMut<'_, Between> {
        self.0.borrow_mut()
    }
}

/// Sets the transport parameters to send, which must outlive the connection; fails outside of QUIC.
pub(crate) fn set_params(ssl: &mut SslRef, params: &[u8]) -> Result<(), Failure> {
    // SAFETY: the connection is live, and the parameters outlive it and do not change.
    succeeded(unsafe {
        SSL_set_quic_tls_transport_params(ssl.as_ptr(), params.as_ptr(), params.len())
    })
}

/// Offers early data as a client with a session that allows it, or accepts it as a server.
pub(crate) fn enable_early_data(ssl: &mut SslRef) -> bool {
    // SAFETY: the connection is live.
    unsafe { SSL_set_quic_tls_early_data_enabled(ssl.as_ptr(), 1) == 1 }
}

/// Records in libssl that the connection was ended, which QUIC does itself: libssl makes the session of a
/// connection that was not ended unusable.
pub(crate) fn end(ssl: &mut SslRef) {
    const SENT_AND_RECEIVED: c_int = 3;
    // SAFETY: the connection is live.
    unsafe { openssl_sys::SSL_set_shutdown(ssl.as_ptr(), SENT_AND_RECEIVED) };
}

/// Makes the handshake, or afterwards processes the messages that have arrived since; the error is libssl's
/// reason to wait.
pub(crate) fn advance(ssl: &mut SslRef) -> Result<(), ErrorCode> {
    // An error of an earlier call would be mistaken for one of this call.
    drop(ErrorStack::get());
    let finished = ssl.is_init_finished();
    let ssl = ssl.as_ptr();
    // SAFETY: the connection is live, and a read of zero bytes writes none.
    let (result, code) = unsafe {
        let result = if finished {
            openssl_sys::SSL_read(ssl, ptr::null_mut(), 0)
        } else {
            openssl_sys::SSL_do_handshake(ssl)
        };
        (result, openssl_sys::SSL_get_error(ssl, result))
    };
    if result > 0 {
        Ok(())
    } else {
        Err(ErrorCode::from_raw(code))
    }
}

/// Returns the value of a callback for the connection with this argument: 1, or 0 if `act` fails or the state is borrowed.
fn answer(argument: *mut c_void, act: impl FnOnce(&mut Between) -> Option<()>) -> c_int {
    // SAFETY: the argument is the pointer from `attach`, whose target outlives the connection.
    let shared = unsafe { &*argument.cast::<RefCell<Between>>() };
    let mut between = shared.try_borrow_mut().ok();
    c_int::from(between.as_deref_mut().and_then(act).is_some())
}

extern "C" fn on_send(
    _: *mut SSL,
    data: *const c_uchar,
    length: usize,
    consumed: *mut usize,
    argument: *mut c_void,
) -> c_int {
    answer(argument, |between| {
        between.stream.write_handshake(bytes(data, length)).ok()?;
        // SAFETY: libssl provides a place.
        unsafe { ptr::write(consumed, length) };
        Some(())
    })
}

extern "C" fn on_receive(
    _: *mut SSL,
    data: *mut *const c_uchar,
    length: *mut usize,
    argument: *mut c_void,
) -> c_int {
    answer(argument, |between| {
        let give = between.incoming.as_deref().filter(|_| !between.lent);
        let give = give.unwrap_or_default();
        // SAFETY: libssl provides two places; the bytes stay until libssl releases them.
        unsafe {
            ptr::write(data, give.as_ptr());
            ptr::write(length, give.len());
        }
        between.lent = between.incoming.is_some();
        Some(())
    })
}

extern "C" fn on_release(_: *mut SSL, _: usize, argument: *mut c_void) -> c_int {
    answer(argument, |between| {
        // libssl releases a whole record at once.
        between.incoming = None;
        between.lent = false;
        Some(())
    })
}

extern "C" fn on_secret(
    ssl: *mut SSL,
    level: u32,
    direction: c_int,
    secret: *const c_uchar,
    length: usize,
    argument: *mut c_void,
) -> c_int {
    const READ: c_int = 0;
    answer(argument, |between| {
        let level = match level {
            1 => Level::EarlyData,
            2 => Level::Handshake,
            3 => Level::Application,
            _ => return None,
        };
        let suite = suite(ssl, level)?;
        let secret = bytes(secret, length);
        if direction == READ {
            between.stream.set_read_secret(level, suite, secret);
            between.stream.expect_level(level);
            between.early_readable |= level == Level::EarlyData;
        } else {
            between.stream.set_write_secret(level, suite, secret);
        }
        Some(())
    })
}

/// Returns the suite of a secret: the session's for early data, otherwise the pending one.
fn suite(ssl: *const SSL, level: Level) -> Option<u16> {
    // SAFETY: libssl calls back with a live connection, and its suites are static.
    unsafe {
        let suites = [
            SSL_get_pending_cipher(ssl),
            openssl_sys::SSL_get_current_cipher(ssl),
        ];
        let suite = match level {
            Level::EarlyData => suites[1],
            _ if suites[0].is_null() => suites[1],
            _ => suites[0],
        };
        (!suite.is_null()).then(|| openssl_sys::SSL_CIPHER_get_protocol_id(suite))
    }
}

extern "C" fn on_params(
    _: *mut SSL,
    params: *const c_uchar,
    length: usize,
    argument: *mut c_void,
) -> c_int {
    answer(argument, |between| {
        between.peer_params = Some(bytes(params, length).to_vec());
        Some(())
    })
}

extern "C" fn on_alert(_: *mut SSL, code: c_uchar, argument: *mut c_void) -> c_int {
    answer(argument, |between| {
        // The peer may have disconnected already.
        let _gone = between.stream.write_alert(code);
        Some(())
    })
}
