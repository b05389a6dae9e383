//! The TCP connections of this process. Servo has no call that closes them.

use std::{
    fs,
    net::Shutdown,
    os::fd::{BorrowedFd, RawFd},
};

use socket2::{Domain, SockRef, Type};

/// Closes all TCP connections of this process in both directions: the peer gets a FIN, and the reader the end of the
/// stream. Returns their number.
pub(crate) fn close() -> Result<u32, String> {
    let folder = fs::read_dir("/proc/self/fd")
        .map_err(|error| format!("cannot list file descriptors: {error}"))?;
    let numbers: Vec<RawFd> = folder
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    let closed = numbers.into_iter().filter(|fd| close_connection(*fd));
    Ok(u32::try_from(closed.count()).unwrap_or(u32::MAX))
}

/// Closes the connection of a file descriptor. Returns whether it has one.
fn close_connection(fd: RawFd) -> bool {
    // SAFETY: the descriptor may be closed by its owner meanwhile, in which case the calls below fail, or be that of a
    // newer connection, which is to be closed as well. No call reads or writes memory of the descriptor's owner.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let socket = SockRef::from(&fd);
    let is_internet = matches!(socket.domain(), Ok(Domain::IPV4 | Domain::IPV6));
    let is_stream = matches!(socket.r#type(), Ok(Type::STREAM));
    let is_connected = socket.peer_addr().is_ok();
    is_internet && is_stream && is_connected && socket.shutdown(Shutdown::Both).is_ok()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        net::{TcpListener, TcpStream},
    };

    use super::*;

    #[test]
    fn both_ends_of_a_connection_see_its_end() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let mut client = TcpStream::connect(address).expect("a connection");
        let (mut server, _) = listener.accept().expect("a connection");
        assert!(close().expect("closed") >= 2);
        for end in [&mut client, &mut server] {
            assert_eq!(end.read(&mut [0]).expect("the end"), 0);
        }
    }
}
