//! Observes the socket of a connection in the worker's system calls.
//!
//! reqwest gives no access to its socket. The functions here replace the C library's functions of the same
//! names: all code in the worker calls them, and they do the same work and notify the probe. Without them,
//! the phase `tcp`, the byte counts and the round trips could not be measured.

use std::{
    cell::RefCell,
    ffi::c_void,
    mem,
    net::SocketAddr,
    sync::atomic::{
        AtomicBool, AtomicPtr,
        Ordering::{Acquire, Relaxed, Release},
    },
};

use libc::{c_char, c_int, clockid_t, iovec, sockaddr, socklen_t, ssize_t, timespec};
use netbench_worker::Probe;
use socket2::SockAddr;

thread_local! {
    /// The connection that this thread makes: a worker makes one at a time, on one thread.
    static WATCHED: RefCell<Option<Watched>> = const { RefCell::new(None) };
}

/// Whether any connection was ever observed. Until then, the functions only make the system calls.
static BEGUN: AtomicBool = AtomicBool::new(false);

struct Watched {
    probe: Probe,
    /// The socket, from `connect` to `close`.
    socket: Option<c_int>,
    is_connected: bool,
}

/// Observes the next connection of this thread, until another call.
pub(crate) fn begin(probe: &Probe) {
    let watched = Watched {
        probe: probe.clone(),
        socket: None,
        is_connected: false,
    };
    WATCHED.replace(Some(watched));
    BEGUN.store(true, Release);
}

/// Returns the result of `act` for the observed connection, if there is one.
fn watched<T>(act: impl FnOnce(&mut Watched) -> Option<T>) -> Option<T> {
    if !BEGUN.load(Acquire) {
        return None;
    }
    // A thread that is ending may have no value any more.
    WATCHED
        .try_with(|watched| act(watched.try_borrow_mut().ok()?.as_mut()?))
        .ok()?
}

/// Calls `act` with the observed connection, if `socket` is its socket.
fn watched_at(socket: c_int, act: impl FnOnce(&mut Watched)) {
    watched(|watched| (watched.socket == Some(socket)).then(|| act(watched)));
}

/// Returns the address to which the connection that begins with `socket` must go: reqwest takes the port from
/// the URL, and a literal address too.
fn aim(socket: c_int) -> Option<SocketAddr> {
    watched(|watched| {
        if watched.socket.is_some() {
            return None;
        }
        let target = watched.probe.target()?;
        watched.probe.needs_no_resolving();
        watched.socket = Some(socket);
        Some(target)
    })
}

/// Returns whether `address` is an internet address.
///
/// # Safety
/// The pointer is null or to `length` bytes.
unsafe fn is_internet(address: *const sockaddr, length: socklen_t) -> bool {
    if address.is_null() || (length as usize) < mem::size_of::<sockaddr>() {
        return false;
    }
    // SAFETY: the memory has at least the size of a sockaddr.
    let family = unsafe { (*address).sa_family };
    [libc::AF_INET, libc::AF_INET6].contains(&c_int::from(family))
}

/// Replaces connect(2), and connects to the address that the request named.
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn connect(socket: c_int, address: *const sockaddr, length: socklen_t) -> c_int {
    // SAFETY: the caller guarantees it.
    let aimed = unsafe { is_internet(address, length) }
        .then(|| aim(socket))
        .flatten()
        .map(SockAddr::from);
    let (address, length) = match &aimed {
        Some(target) => (target.as_ptr().cast(), target.len()),
        None => (address, length),
    };
    // SAFETY: the caller guarantees it, or the address lives until the end.
    unsafe { status(libc::syscall(libc::SYS_connect, socket, address, length)) }
}

/// Replaces getsockopt(2). The code that waits for a connection reads its error afterwards.
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    socket: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    let call = libc::SYS_getsockopt;
    // SAFETY: the caller guarantees it.
    let result = unsafe { status(libc::syscall(call, socket, level, name, value, length)) };
    if result == 0 && (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) {
        // SAFETY: the kernel has just written this option, an int.
        let error = unsafe { value.cast::<c_int>().read_unaligned() };
        watched_at(socket, |watched| {
            if error == 0 && !watched.is_connected {
                watched.is_connected = true;
                watched.probe.connected(socket);
            }
        });
    }
    result
}

/// Replaces send(2).
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn send(
    socket: c_int,
    bytes: *const c_void,
    length: usize,
    flags: c_int,
) -> ssize_t {
    will_write(socket);
    let (call, nobody) = (libc::SYS_sendto, std::ptr::null::<sockaddr>());
    // SAFETY: the caller guarantees it.
    let sent = unsafe { libc::syscall(call, socket, bytes, length, flags, nobody, 0) };
    wrote(socket, size(sent))
}

/// Replaces writev(2).
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn writev(socket: c_int, slices: *const iovec, count: c_int) -> ssize_t {
    will_write(socket);
    // SAFETY: the caller guarantees it.
    let sent = unsafe { libc::syscall(libc::SYS_writev, socket, slices, count) };
    wrote(socket, size(sent))
}

fn will_write(socket: c_int) {
    watched_at(socket, |watched| watched.probe.writes());
}

fn wrote(socket: c_int, sent: ssize_t) -> ssize_t {
    if let Ok(bytes @ 1..) = usize::try_from(sent) {
        watched_at(socket, |watched| watched.probe.wrote(bytes));
    }
    sent
}

/// Replaces recv(2).
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn recv(
    socket: c_int,
    bytes: *mut c_void,
    length: usize,
    flags: c_int,
) -> ssize_t {
    let (call, nobody) = (libc::SYS_recvfrom, std::ptr::null_mut::<sockaddr>());
    // SAFETY: the caller guarantees it.
    let received =
        size(unsafe { libc::syscall(call, socket, bytes, length, flags, nobody, nobody) });
    if let Ok(bytes @ 1..) = usize::try_from(received)
        && flags & libc::MSG_PEEK == 0
    {
        watched_at(socket, |watched| watched.probe.read(bytes));
    }
    received
}

/// Replaces close(2).
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn close(file: c_int) -> c_int {
    watched_at(file, |watched| {
        watched.socket = None;
        watched.probe.closes();
    });
    // SAFETY: the caller guarantees it.
    unsafe { status(libc::syscall(libc::SYS_close, file)) }
}

/// Replaces clock_gettime(2). rustls reads the time directly before it verifies a chain.
///
/// # Safety
/// The caller must meet the C library's requirements.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if clock == libc::CLOCK_REALTIME
        && let Some(probe) = watched(|watched| watched.is_connected.then(|| watched.probe.clone()))
    {
        probe.verification_begins();
    }
    // SAFETY: the caller guarantees it.
    unsafe { real_clock()(clock, time) }
}

type Clock = unsafe extern "C" fn(clockid_t, *mut timespec) -> c_int;

/// Returns the C library's own function, which does not enter the kernel.
fn real_clock() -> Clock {
    const NAME: &std::ffi::CStr = c"clock_gettime";
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut found = FOUND.load(Relaxed);
    if found.is_null() {
        let name: *const c_char = NAME.as_ptr();
        // SAFETY: the name ends with a zero.
        found = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
        FOUND.store(found, Relaxed);
    }
    if found.is_null() {
        return asked_of_the_kernel;
    }
    // SAFETY: the C library's function of this name has this type.
    unsafe { mem::transmute::<*mut c_void, Clock>(found) }
}

unsafe extern "C" fn asked_of_the_kernel(clock: clockid_t, time: *mut timespec) -> c_int {
    // SAFETY: the caller guarantees it.
    unsafe { status(libc::syscall(libc::SYS_clock_gettime, clock, time)) }
}

/// Converts a system call's result, which has few bits; -1 stays -1.
#[expect(clippy::cast_possible_truncation, reason = "0, -1 or a descriptor")]
fn status(result: libc::c_long) -> c_int {
    result as c_int
}

fn size(result: libc::c_long) -> ssize_t {
    result as ssize_t
}

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{Ipv4Addr, TcpListener, TcpStream},
    };

    use super::*;

    /// Checks that without an observed connection, the functions behave as the C library's own.
    #[test]
    fn what_is_not_watched_goes_on() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        begin(&Probe::new());
        client.write_all(b"hello").unwrap();
        drop(client);
        let mut received = String::new();
        server.read_to_string(&mut received).unwrap();
        assert_eq!(received, "hello");
        let refused = TcpStream::connect((Ipv4Addr::LOCALHOST, 1)).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    }
}
