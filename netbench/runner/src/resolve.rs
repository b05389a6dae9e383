use std::{
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use netbench_model::HostName;

/// How long each of a host's addresses may take to accept, where it has several.
const ACCEPT_LIMIT: Duration = Duration::from_secs(1);

/// Asks the system for one address of every host and port, at most eight at a time, each within `limit`. Of several
/// addresses it is the first at which a server accepts.
pub fn resolve(hosts: &[(HostName, u16)], limit: Duration) -> Vec<Option<SocketAddr>> {
    const AT_ONCE: usize = 8;
    let mut found = Vec::with_capacity(hosts.len());
    for some in hosts.chunks(AT_ONCE) {
        let deadline = Instant::now() + limit;
        let asked: Vec<_> = some
            .iter()
            .map(|(host, port)| ask(host.to_string(), *port))
            .collect();
        found.extend(asked.into_iter().map(|answer| {
            let left = deadline.saturating_duration_since(Instant::now());
            answer.recv_timeout(left).ok().flatten()
        }));
    }
    found
}

/// The C library's resolver has no time limit that a program can set: it is left on its thread.
fn ask(host: String, port: u16) -> mpsc::Receiver<Option<SocketAddr>> {
    let (sender, answer) = mpsc::channel();
    let asking = thread::Builder::new().spawn(move || {
        let mut addresses: Vec<SocketAddr> = (host.as_str(), port)
            .to_socket_addrs()
            .map(Iterator::collect)
            .unwrap_or_default();
        // IPv4 first: every network has it, and stacks must meet the same.
        addresses.sort_by_key(SocketAddr::is_ipv6);
        let _ = sender.send(first_that_accepts(&addresses));
    });
    drop(asking);
    answer
}

/// The first address at which a server accepts, or else the first one. One alone is taken as it is.
fn first_that_accepts(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let accepts = |address: &&SocketAddr| TcpStream::connect_timeout(address, ACCEPT_LIMIT).is_ok();
    let accepting = match addresses {
        [] | [_] => None,
        several => several.iter().find(accepts),
    };
    accepting.or(addresses.first()).copied()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;

    #[test]
    fn an_address_at_which_nobody_listens_is_passed_over() {
        let listening = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let alive = listening();
        let alive_at = alive.local_addr().unwrap();
        let dead_at = listening().local_addr().unwrap();
        assert_eq!(first_that_accepts(&[dead_at, alive_at]), Some(alive_at));
        assert_eq!(first_that_accepts(&[dead_at]), Some(dead_at));
        assert_eq!(first_that_accepts(&[dead_at, dead_at]), Some(dead_at));
        assert_eq!(first_that_accepts(&[]), None);
    }
}
