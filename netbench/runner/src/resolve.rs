use std::{
    io,
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use netbench_model::{Failure, FailureClass, FailureWord, HostName, Phase};
use netbench_scan::dns::{self, NameFault};

/// The time limit for each of a host's addresses to accept, if it has several.
const ACCEPT_LIMIT: Duration = Duration::from_secs(1);

/// Asks the system for one address of every host and port, many at a time, each within `limit`. Of several
/// addresses it is the first at which a server accepts.
///
/// # Errors
/// Of each, the reason for which its name does not resolve.
pub fn resolve(hosts: &[(HostName, u16)], limit: Duration) -> Vec<Result<SocketAddr, Failure>> {
    let servers = dns::system_servers();
    resolve_by(hosts, limit, move |host, port| {
        let found = (host, port).to_socket_addrs();
        let found = found.map_err(|error| fault_of(host, &error, &servers))?;
        Ok(found.collect())
    })
}

/// Returns the reason for which the system finds no address.
fn fault_of(host: &str, error: &io::Error, servers: &[SocketAddr]) -> Failure {
    match dns::fault(host, servers, dns::ANSWER_LIMIT) {
        Some(fault) => failed(host, fault),
        None => unresolved(host, FailureWord::NotFound, &error.to_string()),
    }
}

fn failed(host: &str, fault: NameFault) -> Failure {
    let word = match fault {
        NameFault::NoSuchName | NameFault::NoAddress => FailureWord::NotFound,
        NameFault::Refused(_) => FailureWord::ServerFailed,
        NameFault::NoAnswer => FailureWord::NoDnsAnswer,
    };
    unresolved(host, word, &fault.to_string())
}

/// Returns the failure of a host whose name does not resolve.
pub fn unresolved(host: &str, word: FailureWord, why: &str) -> Failure {
    Failure {
        class: FailureClass::Resolve,
        reason: word.into(),
        detail: format!("{host} did not resolve: {why}"),
        phase: Some(Phase::Dns),
        after_ns: None,
    }
}

fn resolve_by<L>(
    hosts: &[(HostName, u16)],
    limit: Duration,
    lookup: L,
) -> Vec<Result<SocketAddr, Failure>>
where
    L: Fn(&str, u16) -> Result<Vec<SocketAddr>, Failure> + Clone + Send + 'static,
{
    const AT_ONCE: usize = 64;
    let mut found = Vec::with_capacity(hosts.len());
    for some in hosts.chunks(AT_ONCE) {
        let deadline = Instant::now() + limit;
        let asked: Vec<_> = some
            .iter()
            .map(|(host, port)| (host, ask(host.to_string(), *port, lookup.clone())))
            .collect();
        found.extend(asked.into_iter().map(|(host, answer)| {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = answer.recv_timeout(left);
            answer.unwrap_or_else(|_| Err(failed(host.as_str(), NameFault::NoAnswer)))
        }));
    }
    found
}

/// The C library's resolver has no time limit that a program can set: it is left on its thread.
fn ask<L>(host: String, port: u16, lookup: L) -> mpsc::Receiver<Result<SocketAddr, Failure>>
where
    L: Fn(&str, u16) -> Result<Vec<SocketAddr>, Failure> + Send + 'static,
{
    let (sender, answer) = mpsc::channel();
    let asking = thread::Builder::new().spawn(move || {
        let found = lookup(&host, port).and_then(|mut addresses| {
            // IPv4 first: every network has it, and stacks must meet the same.
            addresses.sort_by_key(SocketAddr::is_ipv6);
            first_that_accepts(&addresses).ok_or_else(|| failed(&host, NameFault::NoAddress))
        });
        let _ = sender.send(found);
    });
    drop(asking);
    answer
}

/// Returns the first address at which a server accepts, or otherwise the first one. A single address is not tried.
fn first_that_accepts(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let accepting = match addresses {
        [] | [_] => None,
        several => several
            .iter()
            .find(|address| TcpStream::connect_timeout(address, ACCEPT_LIMIT).is_ok()),
    };
    accepting.or(addresses.first()).copied()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener, UdpSocket};

    use super::*;

    #[test]
    fn an_address_at_which_nobody_listens_is_passed_over() {
        let alive = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let dead = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let (alive_at, dead_at) = (alive.local_addr().unwrap(), dead.local_addr().unwrap());
        drop(dead);
        assert_eq!(first_that_accepts(&[dead_at, alive_at]), Some(alive_at));
        assert_eq!(first_that_accepts(&[dead_at]), Some(dead_at));
        assert_eq!(first_that_accepts(&[dead_at, dead_at]), Some(dead_at));
        assert_eq!(first_that_accepts(&[]), None);
    }

    /// A DNS server on loopback that answers names of `nx` with NXDOMAIN and of `fail` with SERVFAIL once `wait_for` names have been
    /// asked for, and no others.
    fn server(wait_for: usize) -> SocketAddr {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = socket.local_addr().unwrap();
        thread::spawn(move || {
            let mut waiting = Vec::new();
            loop {
                let mut message = [0; 512];
                let (length, from) = socket.recv_from(&mut message).unwrap();
                let mut answer = message[..length].to_vec();
                answer[2] |= 0x80;
                answer[3] |= match &answer[13..15] {
                    b"nx" => 3,
                    b"fa" => 2,
                    _ => continue,
                };
                waiting.push((answer, from));
                if waiting.len() >= wait_for {
                    for (answer, from) in waiting.drain(..) {
                        socket.send_to(&answer, from).unwrap();
                    }
                }
            }
        });
        address
    }

    /// The reasons and details for names of which the system's resolver does not say why it has no address.
    fn reasons(names: &[String], server: SocketAddr, limit: Duration) -> Vec<(String, String)> {
        let hosts: Vec<_> = names
            .iter()
            .map(|name| (name.parse().unwrap(), 443))
            .collect();
        let found = resolve_by(&hosts, Duration::from_secs(60), move |host, _| {
            let fault = dns::fault(host, &[server], limit);
            Err(failed(host, fault.expect("a name without an address")))
        });
        found
            .into_iter()
            .map(|found| {
                let failure = found.unwrap_err();
                assert!(failure.reason.is_of(failure.class), "{failure:?}");
                (failure.reason.to_string(), failure.detail)
            })
            .collect()
    }

    #[test]
    fn silence_failure_and_absence_are_three_reasons() {
        let names = ["nx.test", "fail.test", "mute.test"].map(str::to_owned);
        let found = reasons(&names, server(1), Duration::from_millis(500));
        let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["not found", "DNS server failed", "no DNS answer"]);
        for ((_, detail), part) in found.iter().zip(["NXDOMAIN", "SERVFAIL", "no DNS server"]) {
            assert!(detail.contains(part), "{detail}");
        }
    }

    /// The server answers only when it has been asked for all of them.
    #[test]
    fn many_names_are_asked_for_at_a_time() {
        let names: Vec<String> = (0..64).map(|n| format!("nx{n}.test")).collect();
        let found = reasons(&names, server(64), Duration::from_secs(30));
        assert!(
            found.iter().all(|(word, _)| word == "not found"),
            "{found:?}"
        );
    }

    #[test]
    fn a_resolver_that_does_not_answer_is_not_waited_for() {
        let hosts = [("mute.test".parse().unwrap(), 443)];
        let found = resolve_by(&hosts, Duration::from_millis(50), |_, _| {
            loop {
                thread::park();
            }
        });
        let reason = found[0].as_ref().unwrap_err().reason.to_string();
        assert_eq!(reason, "no DNS answer");
    }
}
