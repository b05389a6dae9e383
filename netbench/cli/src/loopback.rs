//! Finds the hosts on this machine, without asking a name server: the query itself would leave the machine.

use std::{
    fs,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream},
    time::Duration,
};

use netbench_model::HostName;

/// The system's table of names.
const HOSTS_FILE: &str = "/etc/hosts";

/// The longest time in which a server on this machine must accept.
const ACCEPT_LIMIT: Duration = Duration::from_millis(500);

/// Returns the addresses of a host that is on this machine's loopback according to its name or the table of names, IPv4
/// first. The list is empty if the host is not on this machine, or also elsewhere.
pub(crate) fn addresses(host: &HostName) -> Vec<IpAddr> {
    if let Some(address) = host.address() {
        return Vec::from_iter(Some(address).filter(IpAddr::is_loopback));
    }
    let table = fs::read(HOSTS_FILE).unwrap_or_default();
    by_table(host, &String::from_utf8_lossy(&table))
}

/// Returns whether a host is on this machine by its name alone: an address of loopback, or `localhost`.
pub(crate) fn is_by_form(host: &HostName) -> bool {
    let address = host.address();
    address.is_some_and(|address| address.is_loopback()) || is_localhost(host)
}

/// A name under which the lab emulates a host of this machine; any other host as it is.
pub(crate) fn emulated_name(host: &HostName) -> HostName {
    if !is_by_form(host) {
        return host.clone();
    }
    let name = match host.address() {
        Some(IpAddr::V4(address)) => address.to_string().replace('.', "-"),
        Some(IpAddr::V6(_)) => "ip6-localhost".to_owned(),
        None => host.as_str().to_owned(),
    };
    // A label more never makes a host name invalid that is this short.
    format!("{name}.test")
        .parse()
        .unwrap_or_else(|_| host.clone())
}

/// The names of RFC 6761 section 6.3.
fn is_localhost(host: &HostName) -> bool {
    let name = host.as_str();
    name == "localhost" || name.ends_with(".localhost")
}

fn by_table(host: &HostName, table: &str) -> Vec<IpAddr> {
    let name = host.as_str();
    let mut found = Vec::new();
    for line in table.lines() {
        let entry = line.split('#').next().unwrap_or_default();
        let mut words = entry.split_whitespace();
        let address = words.next().and_then(|word| word.parse::<IpAddr>().ok());
        if let Some(address) = address
            && words.any(|word| word.eq_ignore_ascii_case(name))
            && !found.contains(&address)
        {
            found.push(address);
        }
    }
    if found.is_empty() && is_localhost(host) {
        found = vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    }
    if !found.iter().all(IpAddr::is_loopback) {
        return Vec::new();
    }
    found.sort_by_key(IpAddr::is_ipv6);
    found
}

/// Returns the first of a host's loopback addresses at which a server accepts, or else its first address.
pub(crate) fn reachable(host: &HostName, port: u16) -> Option<SocketAddr> {
    let addresses = addresses(host);
    let mut sockets = addresses.iter().map(|ip| SocketAddr::new(*ip, port));
    let first = sockets.clone().next();
    if addresses.len() < 2 {
        return first;
    }
    sockets
        .find(|address| TcpStream::connect_timeout(address, ACCEPT_LIMIT).is_ok())
        .or(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_this_machine_is_emulated_under_another_name() {
        for (host, name) in [
            ("127.0.0.1", "127-0-0-1.test"),
            ("::1", "ip6-localhost.test"),
            ("localhost", "localhost.test"),
            ("a.localhost", "a.localhost.test"),
            ("a.test", "a.test"),
            ("192.0.2.1", "192.0.2.1"),
        ] {
            let emulated = emulated_name(&host.parse().unwrap());
            assert_eq!(emulated.as_str(), name);
            assert!(!is_by_form(&emulated));
        }
    }

    #[test]
    fn only_what_is_on_loopback_alone_needs_no_leave() {
        let table = "127.0.0.1 localhost\n::1 localhost ip6-localhost # \n127.0.1.1\tmine.test Other.Test\n\
                     10.0.0.1 far.test both.test\n127.0.0.1 both.test #comment.test\nnonsense x.test\n";
        let cases: [(&str, &[&str]); 9] = [
            ("localhost", &["127.0.0.1", "::1"]),
            ("x.localhost", &["127.0.0.1", "::1"]),
            ("mine.test", &["127.0.1.1"]),
            ("other.test", &["127.0.1.1"]),
            ("far.test", &[]),
            ("both.test", &[]),
            ("comment.test", &[]),
            ("x.test", &[]),
            ("notlocalhost", &[]),
        ];
        for (host, due) in cases {
            let found = by_table(&host.parse().unwrap(), table);
            let found: Vec<String> = found.iter().map(ToString::to_string).collect();
            assert_eq!(found, due, "{host}");
        }
    }

    #[test]
    fn addresses_and_localhost_are_known_by_their_form() {
        let cases = [
            ("127.9.9.9", true),
            ("::1", true),
            ("localhost", true),
            ("x.localhost", true),
            ("10.0.0.1", false),
            ("fe80::1", false),
            ("2001:db8::1", false),
            ("0.0.0.0", false),
            ("mine.test", false),
        ];
        for (host, due) in cases {
            let host: HostName = host.parse().unwrap();
            assert_eq!(is_by_form(&host), due, "{host}");
            assert!(
                host.address().is_none() || addresses(&host).is_empty() != due,
                "{host}"
            );
        }
    }
}
