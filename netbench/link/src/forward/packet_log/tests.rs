use super::{super::segment::parse, *};
use crate::forward::segment::made::{ACK, SYN, packet};

const MS: u64 = 1_000_000;
const RTT_MS: u64 = 20;
const CLIENT: ([u8; 4], u16) = ([10, 0, 0, 1], 40_000);
const SITE: ([u8; 4], u16) = ([10, 1, 0, 1], 443);

/// The segments of a connection over a path of 20 ms.
#[derive(Default)]
struct Connection {
    log: PacketLog,
    sent: [u32; 2],
}

impl Connection {
    /// Returns a connection whose TCP handshake is over: at 20 ms both sides may send.
    fn opened() -> Self {
        let mut connection = Self::default();
        connection.log.open();
        connection.segment(Direction::Up, SYN, 0, &[], 0, true);
        connection.segment(Direction::Down, SYN | ACK, 0, &[], 10, true);
        connection.segment(Direction::Up, ACK, 0, &[], 20, true);
        connection
    }

    /// Sends further data whose first byte is `first`.
    fn data(&mut self, direction: Direction, first: u8, length: usize, at_ms: u64) {
        let mut data = vec![first];
        data.resize(length, 0xAA);
        self.next(direction, &data, at_ms);
    }

    fn next(&mut self, direction: Direction, data: &[u8], at_ms: u64) {
        let begin = self.sent[direction as usize];
        self.segment(direction, ACK, 1 + begin, data, at_ms, true);
        self.sent[direction as usize] += u32::try_from(data.len()).expect("short");
    }

    fn ack(&mut self, direction: Direction, at_ms: u64) {
        self.segment(direction, ACK, 0, &[], at_ms, true);
    }

    fn segment(
        &mut self,
        direction: Direction,
        flags: u8,
        sequence: u32,
        data: &[u8],
        at_ms: u64,
        passes: bool,
    ) {
        let (from, to) = match direction {
            Direction::Up => (CLIENT, SITE),
            Direction::Down => (SITE, CLIENT),
        };
        // Sequence numbers wrap around within the connection.
        let sequence = (u32::MAX - 100).wrapping_add(sequence);
        let length = u16::try_from(data.len()).expect("short");
        let bytes = packet(from, to, flags, sequence, length);
        let entry = Entry {
            direction,
            segment: Segment {
                data,
                ..parse(&bytes).expect("a segment")
            },
            arrived_ns: at_ms * MS,
            due_ns: passes.then_some((at_ms + RTT_MS / 2) * MS),
        };
        self.log.enter(&entry, RTT_MS * MS);
    }

    fn waits(&self) -> Vec<(Direction, u64, u64)> {
        let waits = self.log.packets().waits.iter();
        waits
            .map(|wait| (wait.direction, wait.wait_ns / MS, wait.ack_delay_ns / MS))
            .collect()
    }

    fn turn_ms(&self) -> Option<u64> {
        let packets = self.log.packets();
        packets.longest_client_turn_ns.map(|ns| ns / MS)
    }
}

#[test]
fn data_is_counted_once_and_retransmissions_are_reported() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.data(Direction::Down, 22, 1_000, 30);
    connection.segment(Direction::Up, ACK, 1, &[0; 300], 240, true);
    connection.segment(Direction::Down, ACK, 1, &[0; 500], 250, true);
    connection.segment(Direction::Down, SYN | ACK, 0, &[], 1_000, true);
    connection.segment(Direction::Up, SYN, 0, &[], 1_000, true);
    let packets = connection.log.packets();
    let expected = LinkPackets {
        connections: 1,
        syns: 2,
        connect_ns: Some(20 * MS),
        resent_up: 1,
        resent_down: 2,
        bytes_up: 300,
        bytes_down: 1_000,
        ..LinkPackets::default()
    };
    assert_eq!(packets, &expected);
}

/// Checks that a wait is reported: Nagle's algorithm holds a request back until the server's timer
/// acknowledges the client's Finished.
#[test]
fn data_that_waited_for_a_delayed_acknowledgement_is_reported() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.data(Direction::Down, 22, 1_000, 30);
    connection.data(Direction::Up, 20, 80, 40);
    // The Finished is due at 50 ms, and acknowledged 41 ms later; the acknowledgement arrives at 101 ms.
    connection.ack(Direction::Down, 91);
    connection.data(Direction::Up, 23, 100, 101);
    assert_eq!(connection.waits(), [(Direction::Up, 61, 41)]);
    assert!(connection.log.packets().waits[0].is_of_delayed_ack());
}

#[test]
fn a_client_that_computes_for_as_long_has_not_waited() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.data(Direction::Down, 22, 1_000, 30);
    connection.data(Direction::Up, 20, 80, 40);
    // The acknowledgement is sent at once, and arrives at 60 ms.
    connection.ack(Direction::Down, 50);
    connection.data(Direction::Up, 23, 100, 101);
    assert_eq!(connection.waits(), []);
    // The acknowledgement is delayed, and the data answer the server's data.
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.ack(Direction::Down, 71);
    connection.data(Direction::Down, 22, 1_000, 71);
    connection.data(Direction::Up, 20, 80, 81);
    assert_eq!(connection.waits(), []);
}

/// Checks a server that has sent a full congestion window and sends the rest when the first segments are
/// acknowledged.
#[test]
fn data_that_waited_for_room_in_the_window_is_no_delayed_acknowledgement() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 23, 300, 20);
    for _ in 0..10 {
        connection.data(Direction::Down, 23, 1_448, 30);
    }
    for _ in 0..10 {
        connection.ack(Direction::Up, 40);
    }
    connection.data(Direction::Down, 23, 1_448, 50);
    connection.data(Direction::Down, 23, 1_448, 50);
    assert_eq!(connection.waits(), [(Direction::Down, 20, 0)]);
    assert!(!connection.log.packets().waits[0].is_of_delayed_ack());
}

#[test]
fn an_acknowledgement_that_was_lost_releases_nothing() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.segment(Direction::Down, ACK, 0, &[], 80, false);
    connection.data(Direction::Up, 23, 100, 90);
    assert_eq!(connection.waits(), []);
}

#[test]
fn the_longest_turn_of_the_client_in_the_handshake_is_reported() {
    // In TLS 1.3, change_cipher_spec leaves before the certificate has arrived, and data after the Finished
    // are no handshake.
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    assert_eq!(connection.turn_ms(), None);
    connection.data(Direction::Down, 22, 100, 30);
    connection.next(Direction::Up, &[20, 3, 3, 0, 1, 1], 41);
    connection.data(Direction::Down, 23, 1_448, 42);
    connection.data(Direction::Up, 23, 60, 55);
    assert_eq!(connection.turn_ms(), Some(15));
    connection.data(Direction::Down, 23, 400, 65);
    connection.data(Direction::Up, 23, 60, 175);
    assert_eq!(connection.turn_ms(), Some(15));

    // In TLS 1.2, change_cipher_spec and Finished are in the segment of the second flight.
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    connection.data(Direction::Down, 22, 1_448, 30);
    connection.data(Direction::Down, 22, 1_448, 31);
    connection.next(Direction::Up, &[20, 3, 3, 0, 1, 1, 22, 3, 3, 0, 40], 44);
    connection.data(Direction::Down, 20, 51, 54);
    connection.data(Direction::Up, 23, 100, 66);
    assert_eq!(connection.turn_ms(), Some(4));
}

/// Checks that a lost segment, the server's only one, counts when it arrives after its retransmission.
#[test]
fn a_flight_that_was_lost_begins_the_clients_turn_when_it_is_sent_again() {
    let mut connection = Connection::opened();
    connection.data(Direction::Up, 22, 300, 20);
    let flight = [22; 900];
    connection.segment(Direction::Down, ACK, 1, &flight, 30, false);
    connection.segment(Direction::Down, ACK, 1, &flight, 260, true);
    connection.sent[Direction::Down as usize] = 900;
    connection.data(Direction::Up, 23, 60, 290);
    // Tickets, and later data of the client, are no part of the handshake.
    connection.data(Direction::Down, 23, 400, 300);
    connection.data(Direction::Up, 23, 60, 311);
    let packets = connection.log.packets();
    assert_eq!(packets.longest_client_turn_ns, Some(20 * MS));
}
