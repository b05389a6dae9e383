//! Name resolution during the scan.

use std::{
    io,
    net::{SocketAddr, ToSocketAddrs},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use super::dns::{self, NameFault};

/// Lookups at one time. One that is not answered keeps its thread for longer than it is waited for.
pub(super) const LOOKUPS: usize = 256;

/// The time limit of a lookup.
const LIMIT: Duration = Duration::from_secs(5);

/// The maximum number of addresses of a name that are reported.
const MOST_ADDRESSES: usize = 32;

/// A resolver: the addresses of a host name and a port. It may block.
pub type Lookup = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// A resolver of many names at a time, each with a time limit.
pub struct Resolver {
    lookup: Arc<Lookup>,
    limit: Duration,
    permits: Arc<Semaphore>,
}

impl Resolver {
    /// Creates a resolver that calls `lookup`, and waits at most `limit` for each result.
    pub fn new(
        lookup: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static,
        limit: Duration,
    ) -> Self {
        Self {
            lookup: Arc::new(lookup),
            limit,
            permits: Arc::new(Semaphore::new(LOOKUPS)),
        }
    }

    /// Creates a resolver that asks the system, like every other program.
    pub fn of_the_system() -> Self {
        Self::new(system_lookup, LIMIT)
    }

    /// Returns every address of a name: at least one, each once, IPv4 and IPv6 alternating, or the reason why there
    /// is none.
    pub(super) async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
        // The time of a name begins with its lookup.
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        let (lookup, name) = (Arc::clone(&self.lookup), host.to_owned());
        let asked = spawn_blocking(move || {
            let found = lookup(&name, port);
            drop(permit);
            found
        });
        match timeout(self.limit, asked).await {
            Err(_) => Err(format!("{} within {:?}", NameFault::NoAnswer, self.limit)),
            Ok(Err(_)) => Err("the resolver failed".to_owned()),
            Ok(Ok(Err(error))) => Err(error.to_string()),
            Ok(Ok(Ok(found))) if found.is_empty() => Err(NameFault::NoAddress.to_string()),
            Ok(Ok(Ok(found))) => Ok(in_turn(found)),
        }
    }
}

fn system_lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    match (host, port).to_socket_addrs() {
        Ok(found) => Ok(found.collect()),
        Err(error) => Err(dns::explained(host, error, &dns::system_servers())),
    }
}

/// Returns the addresses alternating, beginning with IPv4, which every network has.
fn in_turn(found: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let mut once: Vec<SocketAddr> = Vec::new();
    for address in found {
        if !once.contains(&address) && once.len() < MOST_ADDRESSES {
            once.push(address);
        }
    }
    let (new, old): (Vec<_>, Vec<_>) = once.into_iter().partition(SocketAddr::is_ipv6);
    let count = new.len().max(old.len());
    (0..count)
        .flat_map(|i| [old.get(i), new.get(i)])
        .flatten()
        .copied()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_take_turns_and_no_address_comes_twice() {
        let all = [
            "[::1]:1",
            "127.0.0.1:1",
            "[::1]:1",
            "127.0.0.2:1",
            "127.0.0.3:1",
        ];
        let all = all.map(|address| address.parse().unwrap()).to_vec();
        let found: Vec<String> = in_turn(all).iter().map(ToString::to_string).collect();
        let due = ["127.0.0.1:1", "[::1]:1", "127.0.0.2:1", "127.0.0.3:1"];
        assert_eq!(found, due);
    }
}
