use std::{
    net::{SocketAddr, ToSocketAddrs},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use netbench_model::HostName;

/// Asks the system for one address of every host and port, at most eight at a time, each within `limit`.
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
        let _ = sender.send(addresses.first().copied());
    });
    drop(asking);
    answer
}
