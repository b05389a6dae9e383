//! The forwarder's records of connections, with which a client's own times are compared: the times at which
//! packets arrive from the client and are due at it, and packets to addresses that do not exist.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::Ipv4Addr,
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use super::{Direction, exchange::Exchange, paths::Fate, segment, tls_records::TlsRecords};
use crate::sites;

/// The maximum number of connections and of addresses that are kept at one time.
const MOST: usize = 4_096;

const DNS_PORT: u16 = 53;

/// The connections and packets observed since they were last taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observed {
    /// Connections to sites, in the order in which they began.
    pub connections: Vec<ObservedConnection>,
    /// Packets of the client to any address that is neither a site's nor the link's own, which are not
    /// delivered.
    pub elsewhere: BTreeMap<Elsewhere, u64>,
    /// Names that the client requested from a DNS server. There is no such server, which the client learns at
    /// once.
    pub names: BTreeSet<String>,
}

/// A connection to a site. All times are of one clock, in nanoseconds, and from the client's view: the times
/// at which its packets arrived, and at which packets to it were due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedConnection {
    /// The site's index in the plan.
    pub site: usize,
    /// The arrival time of the first SYN.
    pub opened_ns: u64,
    /// The time at which the answer to the SYN was due at the client.
    pub accepted_ns: Option<u64>,
    /// The arrival time of the client's first protected record: its Finished in TLS 1.3, its request in
    /// earlier versions.
    pub protected_ns: Option<u64>,
    /// The data of both sides, until the client ended the connection.
    pub exchange: Exchange,
    /// Whether the client has ended the connection.
    pub is_ended: bool,
    /// Data sent by the client, in bytes, without retransmissions.
    pub bytes_up: u64,
    /// Data that passed the link to the client, in bytes.
    pub bytes_down: u64,
}

/// The destination of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Elsewhere {
    /// The address.
    pub address: Ipv4Addr,
    /// The IP protocol number: 6 for TCP, 17 for UDP.
    pub protocol: u8,
    /// The port, where the protocol has ports.
    pub port: Option<u16>,
}

/// An observer of packets, which is off until it is switched on.
#[derive(Default)]
pub(crate) struct Observer {
    is_on: AtomicBool,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    observed: Observed,
    /// The open connections by site, client's port and site's port.
    places: HashMap<(usize, u16, u16), Open>,
}

/// A connection of which packets may still arrive.
struct Open {
    /// The index among the observed connections.
    place: usize,
    client: TlsRecords,
    /// The server's records, once the server has accepted the connection.
    server: Option<TlsRecords>,
}

impl Observer {
    pub(crate) fn start(&self) {
        self.is_on.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Returns the observations since the last call. Connections that are still open are not reported again.
    pub(crate) fn take(&self) -> Observed {
        std::mem::take(&mut *self.seen.lock()).observed
    }

    /// Returns the number of connections since the last [`Self::take`] that their clients have not ended.
    pub(crate) fn open_connections(&self) -> usize {
        let seen = self.seen.lock();
        let connections = seen.observed.connections.iter();
        connections
            .filter(|connection| !connection.is_ended)
            .count()
    }

    /// Records a packet that arrived at `arrived_ns`, and its fate.
    pub(crate) fn enter(
        &self,
        direction: Direction,
        packet: &[u8],
        arrived_ns: u64,
        fate: Fate,
        sites: usize,
    ) {
        let Some(ip) = packet.first_chunk::<20>().filter(|_| self.is_on()) else {
            return;
        };
        let site_at = match direction {
            Direction::Up => [ip[16], ip[17], ip[18], ip[19]],
            Direction::Down => [ip[12], ip[13], ip[14], ip[15]],
        };
        let mut seen = self.seen.lock();
        match (sites::index_of(site_at, sites), direction) {
            (Some(site), _) => seen.enter_segment(site, direction, packet, arrived_ns, fate),
            (None, Direction::Up) => seen.enter_elsewhere(packet, site_at),
            (None, Direction::Down) => {}
        }
    }
}

impl Seen {
    fn enter_segment(
        &mut self,
        site: usize,
        direction: Direction,
        packet: &[u8],
        arrived_ns: u64,
        fate: Fate,
    ) {
        let Some(segment) = segment::parse(packet) else {
            return;
        };
        let (_, client_port, site_port) = segment.ends(direction);
        let key = (site, client_port, site_port);
        if segment.opens && direction == Direction::Up {
            self.open(key, segment.sequence, arrived_ns);
        }
        let Some(open) = self.places.get_mut(&key) else {
            return;
        };
        let Some(connection) = self.observed.connections.get_mut(open.place) else {
            return;
        };
        if connection.is_ended {
            return;
        }
        let data = segment.data;
        match direction {
            Direction::Up => {
                connection.is_ended = segment.ends;
                if data.is_empty() {
                    return;
                }
                let fresh = open.client.enter(segment.sequence, data);
                connection.bytes_up += fresh.bytes;
                if fresh.bytes > 0 {
                    connection.exchange.send(open.client.offset, arrived_ns);
                }
                if fresh.begins_protected {
                    connection.protected_ns.get_or_insert(arrived_ns);
                }
            }
            Direction::Down => {
                if segment.accepts {
                    let first = segment.sequence.wrapping_add(1);
                    open.server
                        .get_or_insert_with(|| TlsRecords::beginning(first));
                }
                if let Some(server) = open.server.as_mut().filter(|_| !data.is_empty()) {
                    for (begin, end) in server.enter(segment.sequence, data).protected {
                        connection.exchange.record(begin, end);
                    }
                }
                let Fate::Due { due_ns } = fate else { return };
                if segment.accepts {
                    connection.accepted_ns.get_or_insert(due_ns);
                }
                if let Some(server) = open.server.as_ref().filter(|_| !data.is_empty()) {
                    connection.bytes_down += data.len() as u64;
                    connection.exchange.deliver(
                        u64::from(segment.sequence.wrapping_sub(server.first)),
                        data.len() as u64,
                        u64::from(segment.acknowledged.wrapping_sub(open.client.first)),
                        due_ns,
                    );
                }
            }
        }
    }

    fn open(&mut self, key: (usize, u16, u16), sequence: u32, now_ns: u64) {
        let next = sequence.wrapping_add(1);
        // A retransmitted SYN begins no connection.
        let again = self
            .places
            .get(&key)
            .is_some_and(|open| open.client.first == next);
        if again || self.observed.connections.len() >= MOST {
            return;
        }
        let place = self.observed.connections.len();
        let open = Open {
            place,
            client: TlsRecords::beginning(next),
            server: None,
        };
        self.places.insert(key, open);
        self.observed.connections.push(ObservedConnection {
            site: key.0,
            opened_ns: now_ns,
            accepted_ns: None,
            protected_ns: None,
            exchange: Exchange::default(),
            is_ended: false,
            bytes_up: 0,
            bytes_down: 0,
        });
    }

    fn enter_elsewhere(&mut self, packet: &[u8], address: [u8; 4]) {
        let header_bytes = usize::from(packet[0] & 0x0f) * 4;
        let protocol = packet[9];
        let ports = packet
            .get(header_bytes..)
            .and_then(<[u8]>::first_chunk::<4>)
            .filter(|_| matches!(protocol, 6 | 17));
        let port = ports.map(|ports| u16::from_be_bytes([ports[2], ports[3]]));
        if protocol == 17 && port == Some(DNS_PORT) {
            let question = packet.get(header_bytes + 8..).and_then(dns_question);
            if self.observed.names.len() < MOST {
                self.observed.names.extend(question);
            }
        }
        let elsewhere = Elsewhere {
            address: address.into(),
            protocol,
            port,
        };
        let own = elsewhere.address == sites::SERVER || elsewhere.address == sites::CLIENT;
        let room = self.observed.elsewhere.len() < MOST
            || self.observed.elsewhere.contains_key(&elsewhere);
        if !own && room {
            *self.observed.elsewhere.entry(elsewhere).or_default() += 1;
        }
    }
}

/// Returns the name in the first question of a DNS message (RFC 1035 section 4.1.2).
fn dns_question(message: &[u8]) -> Option<String> {
    const HEADER_BYTES: usize = 12;
    const LONGEST: usize = 255;
    let mut rest = message.get(HEADER_BYTES..)?;
    let mut name = String::new();
    loop {
        let (length, after) = rest.split_first()?;
        let length = usize::from(*length);
        // A pointer cannot occur in the first name.
        if length == 0 || length > 63 || name.len() + length > LONGEST {
            return (length == 0 && !name.is_empty()).then_some(name);
        }
        if !name.is_empty() {
            name.push('.');
        }
        for byte in after.get(..length)? {
            name.push(match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => char::from(*byte),
                _ => '?',
            });
        }
        rest = after.get(length..)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::{
            Request, Response,
            segment::made::{ACK, FIN, SYN, packet},
        },
        *,
    };

    const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 40_000);
    const SITE: ([u8; 4], u16) = ([10, 1, 0, 1], 443);

    fn with_data(sequence: u32, data: &[u8]) -> Vec<u8> {
        let length = u16::try_from(data.len()).expect("short");
        let mut bytes = packet(CLIENT, SITE, ACK, sequence, length);
        bytes[40..].copy_from_slice(data);
        bytes
    }

    fn record(kind: u8, length: u16) -> Vec<u8> {
        let mut bytes = vec![kind, 3, 3];
        bytes.extend(length.to_be_bytes());
        bytes.resize(5 + usize::from(length), 0xAA);
        bytes
    }

    fn up(observer: &Observer, bytes: &[u8], at_ns: u64) {
        observer.enter(Direction::Up, bytes, at_ns, Fate::Pass, 1);
    }

    #[test]
    fn a_connection_has_the_times_of_the_client() {
        let observer = Observer::default();
        observer.start();
        up(&observer, &packet(CLIENT, SITE, SYN, 99, 0), 1_000);
        up(&observer, &packet(CLIENT, SITE, SYN, 99, 0), 2_000);
        let answer = packet(SITE, CLIENT, SYN | ACK, 7, 0);
        let due = Fate::Due { due_ns: 21_000 };
        observer.enter(Direction::Down, &answer, 11_000, due, 1);
        // The ClientHello is in two segments, the first of which contains a byte like the type of a protected
        // record.
        let hello = record(22, 1_500);
        let (mut head, tail) = (hello[..1_000].to_vec(), &hello[1_000..]);
        head[900] = 23;
        up(&observer, &with_data(100, &head), 22_000);
        up(&observer, &with_data(1_100, tail), 22_100);
        up(&observer, &with_data(1_100, tail), 22_200);
        let mut last = record(20, 1);
        last.extend(record(23, 53));
        up(&observer, &with_data(1_605, &last), 43_000);
        let mut body = packet(SITE, CLIENT, ACK, 8, 500);
        body[40..].copy_from_slice(&record(23, 495));
        body[28..32].copy_from_slice(&(100_u32 + 1_505 + 64).to_be_bytes());
        let due = Fate::Due { due_ns: 64_000 };
        observer.enter(Direction::Down, &body, 54_000, due, 1);
        assert_eq!(observer.open_connections(), 1);
        // Data that the server sends after the client has ended the connection belong to no response.
        up(
            &observer,
            &packet(CLIENT, SITE, ACK | FIN, 1_669, 0),
            65_000,
        );
        let late = packet(SITE, CLIENT, ACK, 508, 24);
        let due = Fate::Due { due_ns: 85_000 };
        observer.enter(Direction::Down, &late, 75_000, due, 1);
        assert_eq!(observer.open_connections(), 0);
        let mut seen = observer.take();
        let exchange = std::mem::take(&mut seen.connections[0].exchange);
        let response = exchange.response(&Request {
            sent_ns: 43_000,
            body_bytes: 400,
            record_overhead_bytes: 17,
        });
        let whole = Response {
            first_byte_ns: 64_000,
            end_ns: 64_000,
        };
        assert_eq!(response, Some(whole));
        assert_eq!(
            seen.connections,
            [ObservedConnection {
                site: 0,
                opened_ns: 1_000,
                accepted_ns: Some(21_000),
                protected_ns: Some(43_000),
                exchange: Exchange::default(),
                is_ended: true,
                bytes_up: 1_505 + 64,
                bytes_down: 500,
            }]
        );
        assert_eq!(observer.take(), Observed::default());
    }

    #[test]
    fn packets_to_other_addresses_are_reported_with_requested_names() {
        let observer = Observer::default();
        observer.start();
        let mut query = packet(CLIENT, ([10, 0, 0, 2], 53), 0, 0, 20);
        query[9] = 17;
        let mut message = vec![0; 8 + 12];
        message.extend(b"\x07updates\x07example\x00\x00\x01\x00\x01");
        query.truncate(24);
        query.extend(&message[4..]);
        up(&observer, &query, 1);
        up(
            &observer,
            &packet(CLIENT, ([192, 0, 2, 1], 443), SYN, 1, 0),
            2,
        );
        up(
            &observer,
            &packet(CLIENT, ([192, 0, 2, 1], 443), SYN, 1, 0),
            3,
        );
        let seen = observer.take();
        assert!(seen.connections.is_empty());
        assert_eq!(Vec::from_iter(&seen.names), ["updates.example"]);
        let elsewhere = Elsewhere {
            address: [192, 0, 2, 1].into(),
            protocol: 6,
            port: Some(443),
        };
        assert_eq!(seen.elsewhere, BTreeMap::from([(elsewhere, 2)]));
    }

    #[test]
    fn nothing_is_seen_before_it_is_started() {
        let observer = Observer::default();
        up(&observer, &packet(CLIENT, SITE, SYN, 99, 0), 1);
        assert_eq!(observer.take(), Observed::default());
    }

    proptest! {
        #[test]
        fn no_packet_makes_it_panic(packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..90), 0..6)) {
            let observer = Observer::default();
            observer.start();
            for bytes in packets {
                for &direction in Direction::ALL {
                    observer.enter(direction, &bytes, 1, Fate::Pass, 3);
                }
                let _ = dns_question(&bytes);
            }
        }
    }
}
