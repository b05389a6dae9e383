//! The reason for which a name does not resolve. The system's resolver reports a server that fails and a silent server alike.
//! After the resolver has failed, this module therefore sends one question to the system's DNS servers.

use std::{
    fmt, fs, io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket},
    time::{Duration, Instant},
};

use crate::codec::dns::{A, HEADER_BYTES, MAX_UDP_BYTES, NO_SUCH_NAME, encoded_name};

/// The system's list of DNS servers (resolv.conf(5)).
const SERVERS_FILE: &str = "/etc/resolv.conf";

/// The port of DNS.
const PORT: u16 = 53;

/// The maximum number of servers that the C library asks.
const MOST_SERVERS: usize = 3;

/// The time limit for a DNS server's answer after the system's resolver has failed.
pub const ANSWER_LIMIT: Duration = Duration::from_secs(1);

/// The reason for which a name does not resolve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameFault {
    /// A server states that the name does not exist.
    NoSuchName,
    /// The name exists and has no address.
    NoAddress,
    /// A server does not answer the question, and returns this code (RFC 1035 section 4.1.1).
    Refused(u8),
    /// No server answered in time.
    NoAnswer,
}

impl fmt::Display for NameFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchName => f.write_str("the name does not exist (NXDOMAIN)"),
            Self::NoAddress => f.write_str("the name has no address"),
            Self::Refused(2) => f.write_str("the DNS server failed (SERVFAIL)"),
            Self::Refused(5) => f.write_str("the DNS server refused to answer (REFUSED)"),
            Self::Refused(code) => write!(f, "the DNS server answered with error {code}"),
            Self::NoAnswer => f.write_str("no DNS server answered"),
        }
    }
}

impl std::error::Error for NameFault {}

/// Returns the system's DNS servers.
pub fn system_servers() -> Vec<SocketAddr> {
    let text = fs::read(SERVERS_FILE).unwrap_or_default();
    servers_of(&String::from_utf8_lossy(&text))
}

fn servers_of(text: &str) -> Vec<SocketAddr> {
    let servers = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = (words.next() == Some("nameserver")).then(|| words.next())??;
        let address: IpAddr = address.parse().ok()?;
        Some(SocketAddr::new(address, PORT))
    });
    servers.take(MOST_SERVERS).collect()
}

/// Returns the reason that `servers` give for a `host` that does not resolve, or the error of the system's resolver if they give none.
pub fn explained(host: &str, error: io::Error, servers: &[SocketAddr]) -> io::Error {
    match fault(host, servers, ANSWER_LIMIT) {
        Some(fault) => io::Error::other(fault),
        None => error,
    }
}

/// Asks each of `servers` for an IPv4 address of `host`, until one answers. Returns `None` if the host has an
/// address, or if no server can be asked.
pub fn fault(host: &str, servers: &[SocketAddr], limit: Duration) -> Option<NameFault> {
    let question = question(host, A)?;
    let mut fault = None;
    for server in servers {
        match ask(*server, &question, limit) {
            Ok((0, 0)) => return Some(NameFault::NoAddress),
            Ok((0, _)) => return None,
            Ok((NO_SUCH_NAME, _)) => return Some(NameFault::NoSuchName),
            Ok((code, _)) => fault = Some(NameFault::Refused(code)),
            Err(_) => fault = fault.or(Some(NameFault::NoAnswer)),
        }
    }
    fault
}

/// Returns the code and the number of records of a server's answer.
fn ask(server: SocketAddr, question: &[u8], limit: Duration) -> io::Result<(u8, u16)> {
    let socket = UdpSocket::bind((any_address(server), 0))?;
    socket.connect(server)?;
    let deadline = Instant::now() + limit;
    socket.send(question)?;
    let mut answer = [0; MAX_UDP_BYTES];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        socket.set_read_timeout(Some(left))?;
        let length = socket.recv(&mut answer)?;
        let is_answer =
            length >= HEADER_BYTES && answer[..2] == question[..2] && answer[2] & 0x80 != 0;
        if is_answer {
            let records = u16::from_be_bytes([answer[6], answer[7]]);
            return Ok((answer[3] & 0x0f, records));
        }
    }
}

/// Returns the address of a socket that can reach a server.
pub(super) fn any_address(server: SocketAddr) -> IpAddr {
    match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Returns the message that asks for records of this type; `None` for a name that DNS cannot have.
pub(super) fn question(host: &str, kind: u16) -> Option<Vec<u8>> {
    // The socket receives only datagrams of this server, so the message's number need not be secret.
    let mut message = vec![0x6e, 0x62, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    message.extend(encoded_name(host)?);
    message.extend_from_slice(&kind.to_be_bytes());
    // The class IN.
    message.extend_from_slice(&[0, 1]);
    Some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_those_of_the_file() {
        let text = "# nameserver 192.0.2.9\nsearch example\nnameserver 192.0.2.1\nnameserver 2001:db8::1\n\
                    nameserver fe80::1%eth0\noptions timeout:1\nnameserver 192.0.2.2\nnameserver 192.0.2.3\n";
        let servers: Vec<String> = servers_of(text).iter().map(ToString::to_string).collect();
        let due = ["192.0.2.1:53", "[2001:db8::1]:53", "192.0.2.2:53"];
        assert_eq!(servers, due);
    }

    #[test]
    fn a_name_that_dns_cannot_have_is_not_asked_for() {
        assert_eq!(question("a..example", A), None);
        assert_eq!(question(&"a".repeat(64), A), None);
        let message = question("a.example.", A).unwrap();
        assert_eq!(message[HEADER_BYTES..], *b"\x01a\x07example\0\0\x01\0\x01");
    }
}
