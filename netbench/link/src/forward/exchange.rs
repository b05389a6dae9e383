//! The data of one connection, segment by segment, from which the times of a response are computed.

use std::collections::BTreeMap;

/// The maximum number of segments that are kept of each direction, and of records.
const MOST: usize = 65_536;

/// The maximum time by which a request may have left before the time at which the client reports to have sent
/// it.
const REQUEST_EARLY_NS: u64 = 2_000_000;

/// The maximum size of client data that are no request. Longer data are another request, as for a page's
/// icon: acknowledgements of settings and updates of windows are shorter, with their records.
const LONGEST_NO_REQUEST: u64 = 100;

/// The minimal size of a response's head.
const SHORTEST_HEAD: u64 = 64;

/// The size of a TLS record's header.
const RECORD_HEADER_BYTES: u64 = 5;

/// The segments of a connection that carry data. Offsets count the bytes of one direction from 0.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exchange {
    /// The client's segments.
    sent: Vec<Sent>,
    /// The server's segments, as far as they were delivered.
    delivered: Vec<Delivered>,
    /// The start and end offsets of the server's protected records.
    records: Vec<(u64, u64)>,
    /// Whether there were more segments or records than the maximum.
    is_cut: bool,
}

/// A request, as its client reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// The time at which the client sent the request.
    pub sent_ns: u64,
    /// The size of the response's body, with repeated parts within it, such as the headers of frames.
    pub body_bytes: u64,
    /// The bytes that protection adds to each record, beside its header.
    pub record_overhead_bytes: u64,
}

/// The times at which a response arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// The time at which the record in which the response begins was complete at the client.
    pub first_byte_ns: u64,
    /// The time at which the last record of the response was complete at the client.
    pub end_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sent {
    arrived_ns: u64,
    begin: u64,
    end: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Delivered {
    begin: u64,
    end: u64,
    /// The amount of the client's data that its sender had received.
    acknowledged: u64,
    due_ns: u64,
}

impl Exchange {
    /// Returns the times at which the response to a request arrived. The last record of the response is the
    /// last one before the answer to another request. The first record is the one from which on the records
    /// up to the end have room for the head and body: data that the server sends before the response, such as
    /// tickets and settings, are in separate records. Returns `None` if the client sent no data after the
    /// reported time, or the server too little.
    pub fn response(&self, request: &Request) -> Option<Response> {
        let from_ns = request.sent_ns.saturating_sub(REQUEST_EARLY_NS);
        let mut sent = self.sent.iter();
        self.response_to(sent.find(|sent| sent.arrived_ns >= from_ns)?, request)
    }

    fn response_to(&self, asked: &Sent, request: &Request) -> Option<Response> {
        let answers = self.delivered.iter();
        let answers = answers.filter(|segment| segment.acknowledged >= asked.end);
        let begin = answers.clone().map(|segment| segment.begin).min()?;
        let records = self.records.iter().filter(|record| record.0 >= begin);
        // Another request follows only once the response can be complete: updates of several windows together
        // are as long as a request.
        let (_, enough) = first_with_room(records.clone(), request)?;
        let enough_ns = self.whole_ns(enough)?;
        let later = self.sent.iter().filter(|sent| sent.arrived_ns > enough_ns);
        let next = { later }.find(|sent| sent.end - sent.begin > LONGEST_NO_REQUEST);
        let next = next.map_or(u64::MAX, |sent| sent.end);
        let end = answers.filter(|segment| segment.acknowledged < next);
        let end = end.map(|segment| segment.end).max()?;
        let mut backwards = records.rev().filter(|record| record.1 <= end).peekable();
        let (_, last) = **backwards.peek()?;
        let (_, first) = first_with_room(backwards, request)?;
        Some(Response {
            first_byte_ns: self.whole_ns(first)?,
            end_ns: self.whole_ns(last)?,
        })
    }

    /// Returns the time at which all of the server's first `end` bytes had arrived.
    fn whole_ns(&self, end: u64) -> Option<u64> {
        if self.is_cut {
            return None;
        }
        let mut in_time = self.delivered.clone();
        in_time.sort_by_key(|segment| segment.due_ns);
        let mut early: BTreeMap<u64, u64> = BTreeMap::new();
        let mut next = 0;
        for segment in in_time {
            let to = early.entry(segment.begin).or_default();
            *to = segment.end.max(*to);
            while let Some(first) = early.first_entry().filter(|first| *first.key() <= next) {
                next = first.remove().max(next);
            }
            if next >= end {
                return Some(segment.due_ns);
            }
        }
        None
    }

    pub(super) fn send(&mut self, end: u64, arrived_ns: u64) {
        let begin = self.sent.last().map_or(0, |sent| sent.end);
        if self.has_room(self.sent.len()) {
            self.sent.push(Sent {
                arrived_ns,
                begin,
                end,
            });
        }
    }

    pub(super) fn deliver(&mut self, begin: u64, bytes: u64, acknowledged: u64, due_ns: u64) {
        if self.has_room(self.delivered.len()) {
            self.delivered.push(Delivered {
                begin,
                end: begin + bytes,
                acknowledged,
                due_ns,
            });
        }
    }

    pub(super) fn record(&mut self, begin: u64, end: u64) {
        if self.has_room(self.records.len()) {
            self.records.push((begin, end));
        }
    }

    fn has_room(&mut self, kept: usize) -> bool {
        self.is_cut |= kept >= MOST;
        kept < MOST
    }
}

/// Returns the first record that has room for the response, together with the records before it.
fn first_with_room<'a>(
    mut records: impl Iterator<Item = &'a (u64, u64)>,
    request: &Request,
) -> Option<(u64, u64)> {
    let due_bytes = request.body_bytes + SHORTEST_HEAD;
    let added_bytes = RECORD_HEADER_BYTES + request.record_overhead_bytes;
    let mut bytes = 0;
    let record = records.find(|(begin, end)| {
        bytes += (end - begin).saturating_sub(added_bytes);
        bytes >= due_bytes
    });
    record.copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns an exchange with a request of 200 bytes at 41 ms over a path of 20 ms, and a response of 4,000
    /// bytes in two records after a ticket.
    fn exchange() -> Exchange {
        let mut exchange = Exchange::default();
        exchange.send(300, 20 * MS);
        exchange.deliver(0, 3_000, 300, 40 * MS);
        exchange.record(100, 3_000);
        exchange.send(400, 41 * MS);
        exchange.send(600, 41 * MS + 300_000);
        // The server sends a ticket at the handshake's end, settings, and the response.
        exchange.deliver(3_000, 250, 400, 61 * MS);
        exchange.record(3_000, 3_250);
        exchange.record(3_250, 3_300);
        exchange.deliver(3_250, 1_448, 600, 61 * MS + 400_000);
        exchange.record(3_300, 5_300);
        exchange.deliver(4_698, 1_448, 600, 63 * MS);
        exchange.record(5_300, 7_594);
        exchange.send(640, 64 * MS);
        exchange.deliver(6_146, 1_448, 640, 83 * MS);
        exchange
    }

    fn response(exchange: &Exchange, sent_ns: u64, body_bytes: u64) -> Option<(u64, u64)> {
        let response = exchange.response(&Request {
            sent_ns,
            body_bytes,
            record_overhead_bytes: 17,
        })?;
        Some((response.first_byte_ns, response.end_ns))
    }

    #[test]
    fn a_response_is_what_has_room_for_its_body_at_the_end() {
        let mut exchange = exchange();
        // The response is in the second record only, and in both.
        assert_eq!(
            response(&exchange, 41 * MS, 2_000),
            Some((83 * MS, 83 * MS))
        );
        assert_eq!(
            response(&exchange, 41 * MS, 4_000),
            Some((63 * MS, 83 * MS))
        );
        assert_eq!(
            response(&exchange, 32 * MS, 4_000),
            Some((63 * MS, 83 * MS))
        );
        assert_eq!(
            response(&exchange, 41 * MS, 5_000),
            None,
            "too little was sent"
        );
        assert_eq!(
            response(&exchange, 50 * MS, 4_000),
            None,
            "no request was sent then"
        );
        assert_eq!(
            response(&exchange, 64 * MS, 10),
            None,
            "settings have no answer"
        );
        // Updates of windows are sent during the response.
        let mut with_updates = exchange.clone();
        with_updates.sent.insert(
            3,
            Sent {
                arrived_ns: 62 * MS,
                begin: 600,
                end: 720,
            },
        );
        assert_eq!(
            response(&with_updates, 41 * MS, 4_000),
            Some((63 * MS, 83 * MS))
        );
        // The client requests the page's icon.
        exchange.send(860, 90 * MS);
        exchange.deliver(7_594, 1_000, 860, 111 * MS);
        exchange.record(7_594, 8_594);
        assert_eq!(
            response(&exchange, 41 * MS, 4_000),
            Some((63 * MS, 83 * MS))
        );
        assert_eq!(
            response(&exchange, 90 * MS, 900),
            Some((111 * MS, 111 * MS))
        );
    }

    #[test]
    fn a_segment_that_is_sent_again_completes_what_came_before_it() {
        let mut exchange = Exchange::default();
        exchange.send(10, 0);
        for (begin, due_ns) in [(0, 20), (2_896, 21), (1_448, 300), (0, 301)] {
            exchange.deliver(begin, 1_448, 10, due_ns);
        }
        exchange.record(0, 2_000);
        exchange.record(2_000, 4_344);
        assert_eq!(response(&exchange, 0, 4_000), Some((300, 300)));
        exchange.deliver(5_000, 10, 10, 400);
        exchange.record(5_000, 5_010);
        assert_eq!(response(&exchange, 0, 4_000), None, "bytes are missing");
    }

    proptest! {
        #[test]
        fn the_order_of_delivery_does_not_change_the_end(mut due in proptest::collection::vec(0_u64..1_000, 1..40)) {
            let mut exchange = Exchange::default();
            exchange.send(1, 0);
            for (place, due_ns) in (0..).zip(&due) {
                exchange.deliver(place * 100, 100, 1, *due_ns);
                exchange.record(place * 100, place * 100 + 100);
            }
            due.sort_unstable();
            let end_ns = response(&exchange, 0, 0).map(|(_, end_ns)| end_ns);
            prop_assert_eq!(end_ns, due.last().copied());
        }
    }
}
