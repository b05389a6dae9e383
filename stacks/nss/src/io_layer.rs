//! The layer below TLS: a layer of NSPR whose bytes are those of a transport.

use std::{
    ffi::{c_int, c_void},
    io::{Read, Write},
    mem, ptr,
};

use netbench_worker::{CallbackTransport, Lent, NotTransferred, Owned};

use crate::{
    ffi::{self, FileDesc, FileDescStr, InetAddress, IoMethods, SocketOption},
    library::{Error, library, made},
};

/// Makes a socket with TLS over a layer of a transport, with the settings of the model, if there is one. The socket is closed
/// before the transport is freed.
pub(crate) fn socket<T: Read + Write>(
    model: FileDesc,
    end: &Lent<CallbackTransport<T>>,
) -> Result<Owned<FileDescStr>, Error> {
    let methods = const {
        &IoMethods {
            kind: ffi::PR_DESC_LAYERED,
            close,
            from_read_to_listen: [cannot; 14],
            shutdown,
            recv: recv::<T>,
            send: send::<T>,
            from_recvfrom_to_getsockname: [cannot; 6],
            getpeername,
            reserved: [cannot; 2],
            getsocketoption,
            setsocketoption,
            from_sendfile: [cannot; 6],
        }
    };
    // SAFETY: the methods live as long as the process. Where the library makes a socket of the layer, the socket owns it.
    unsafe {
        let identity = library()?.identity;
        let layer = made(ffi::PR_CreateIOLayerStub(identity, ptr::from_ref(methods)))?;
        (*layer.pointer()).secret = end.pointer();
        let socket = made(ffi::SSL_ImportFD(model, layer.pointer()))?;
        mem::forget(layer);
        Ok(socket)
    }
}

/// Converts the result of a callback for the library.
fn reported(result: Result<usize, NotTransferred>) -> i32 {
    match result {
        Ok(count) => i32::try_from(count).unwrap_or(i32::MAX),
        Err(NotTransferred::Blocked) => fail(ffi::PR_WOULD_BLOCK_ERROR),
        Err(NotTransferred::Failed(_)) => fail(ffi::PR_IO_ERROR),
    }
}

fn fail(code: i32) -> c_int {
    ffi::PR_SetError(code, 0);
    ffi::FAILURE
}

extern "C" fn recv<T: Read>(
    fd: FileDesc,
    buffer: *mut c_void,
    bytes: i32,
    _: c_int,
    _: u32,
) -> i32 {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    // SAFETY: the pointer is to the end of the called session, and its buffer has as many bytes.
    reported(unsafe { Lent::read_into((*fd).secret, buffer, bytes, CallbackTransport::<T>::read) })
}

extern "C" fn send<T: Write>(
    fd: FileDesc,
    buffer: *const c_void,
    bytes: i32,
    _: c_int,
    _: u32,
) -> i32 {
    let bytes = usize::try_from(bytes).unwrap_or(0);
    // SAFETY: as above.
    reported(unsafe {
        Lent::write_from(
            (*fd).secret,
            buffer.cast(),
            bytes,
            CallbackTransport::<T>::write,
        )
    })
}

/// Closes the layer. Its end belongs to the session, and is freed with it.
extern "C" fn close(fd: FileDesc) -> c_int {
    // SAFETY: the layer is closed once, and its destructor belongs to the library.
    unsafe {
        (*fd).secret = ptr::null_mut();
        if let Some(destroy) = (*fd).destroy {
            destroy(fd);
        }
    }
    ffi::SUCCESS
}

/// Does nothing: the owner of the transport shuts it down.
extern "C" fn shutdown(_: FileDesc, _: c_int) -> c_int {
    ffi::SUCCESS
}

/// Returns a fixed address: the library uses the peer's address for its cache of sessions, which
/// distinguishes sessions by other properties too.
extern "C" fn getpeername(_: FileDesc, address: *mut InetAddress) -> c_int {
    let loopback = InetAddress {
        family: ffi::PR_AF_INET,
        port: 443_u16.to_be(),
        ip: [127, 0, 0, 1],
        pad: [0; 8],
    };
    // SAFETY: the library has room for an address of any kind.
    unsafe { address.write(loopback) };
    ffi::SUCCESS
}

extern "C" fn getsocketoption(_: FileDesc, data: *mut SocketOption) -> c_int {
    // SAFETY: the library has filled the structure, except for the value.
    let data = unsafe { &mut *data };
    if data.option != ffi::PR_SOCK_OPT_NONBLOCKING {
        return fail(ffi::PR_INVALID_METHOD_ERROR);
    }
    data.value.non_blocking = 1;
    ffi::SUCCESS
}

/// Does nothing: the owner of the socket sets its options.
extern "C" fn setsocketoption(_: FileDesc, _: *const SocketOption) -> c_int {
    ffi::SUCCESS
}

extern "C" fn cannot(_: FileDesc) -> c_int {
    fail(ffi::PR_INVALID_METHOD_ERROR)
}
