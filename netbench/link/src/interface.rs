//! Settings of network interfaces that netlink has no message for.

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::capability::check;

/// The ethtool commands (linux/ethtool.h) that turn off the offloads that packets forwarded by a
/// program cannot have: checksums computed by the hardware, and packets larger than the MTU.
const OFFLOADS: [(u32, &str); 6] = [
    (0x17, "tx-checksumming"),
    (0x15, "rx-checksumming"),
    (0x1f, "tcp-segmentation"),
    (0x24, "generic-segmentation"),
    (0x2c, "generic-receive"),
    (0x19, "scatter-gather"),
];

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Turns off the offloads of interface `name` in this thread's namespace. It does not matter which
/// of them the kernel keeps on, except for transmit checksums, so only a failure to turn those off
/// is an error.
pub(crate) fn turn_off_offloads(name: &str) -> io::Result<()> {
    let socket = datagram_socket()?;
    for (command, offload) in OFFLOADS {
        let mut value = EthtoolValue { command, data: 0 };
        let mut request = request(name)?;
        request.ifr_ifru.ifru_data = (&raw mut value).cast();
        // SAFETY: the request names the interface and points to a value that outlives the call.
        let result = check(unsafe {
            libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &raw mut request)
        });
        if let (Err(error), "tx-checksumming") = (result, offload) {
            return Err(error);
        }
    }
    Ok(())
}

/// Returns the index of interface `name` in this thread's namespace.
pub(crate) fn index(name: &str) -> io::Result<u32> {
    Ok(rustix::net::netdevice::name_to_index(
        datagram_socket()?,
        name,
    )?)
}

/// Returns a request about interface `name` with all other fields zero.
pub(crate) fn request(name: &str) -> io::Result<libc::ifreq> {
    // SAFETY: `ifreq` is plain data, for which zeros are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}

/// Returns the value of a socket's option.
///
/// # Safety
/// The value is of type `T`, for which zeros are valid.
pub(crate) unsafe fn socket_option<T>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
) -> io::Result<T> {
    // SAFETY: zeros are valid, as the caller guarantees.
    let mut value: T = unsafe { std::mem::zeroed() };
    let mut length = size_of::<T>() as libc::socklen_t;
    let (place, length) = ((&raw mut value).cast(), &raw mut length);
    // SAFETY: the pointers are to a value and its length.
    check(unsafe { libc::getsockopt(socket.as_raw_fd(), level, option, place, length) })?;
    Ok(value)
}

fn datagram_socket() -> io::Result<OwnedFd> {
    let (kind, flags) = (SocketType::DGRAM, SocketFlags::CLOEXEC);
    Ok(socket_with(AddressFamily::INET, kind, flags, None)?)
}
