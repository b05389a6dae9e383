//! Settings of network interfaces that netlink has no message for.

use std::{
    io,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
};

use crate::capability::check;

/// The ethtool commands (linux/ethtool.h) that turn off what a packet forwarded byte by byte
/// cannot have: checksums left to the hardware, and packets larger than the MTU.
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

/// Turns off the offloads of interface `name` in this thread's namespace. Which of them the
/// kernel keeps on does not matter one by one, so only losing transmit checksums is an error.
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

/// The index of interface `name` in this thread's namespace.
pub(crate) fn index(name: &str) -> io::Result<u32> {
    let socket = datagram_socket()?;
    let mut request = request(name)?;
    // SAFETY: the request names the interface; the kernel writes the index into it.
    check(unsafe {
        libc::ioctl(
            socket.as_raw_fd(),
            libc::SIOCGIFINDEX as _,
            &raw mut request,
        )
    })?;
    // SAFETY: the kernel has set this field of the union.
    let index = unsafe { request.ifr_ifru.ifru_ifindex };
    Ok(index.unsigned_abs())
}

/// A request about interface `name`, all else zero.
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

fn datagram_socket() -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor, or returns −1.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(socket)?;
    // SAFETY: the descriptor is open and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}
