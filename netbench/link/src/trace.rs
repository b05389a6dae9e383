//! The round trips of one connection, derived from its packets.

use netbench_model::Window;

use crate::forward::{Direction, Load, Packet};

/// The maximum time by which the forwarder may deliver a packet before it is due.
const EARLY_NS: u64 = 200_000;

/// The packets of a connection, in the order in which they were sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    packets: Vec<Packet>,
    /// Number of packets that a sender may send before the first acknowledgement.
    window: usize,
}

/// A packet, with the number of packets, each sent after its predecessor had arrived, that lead to it.
#[derive(Clone, Copy)]
struct Led {
    packet: Packet,
    hops: u32,
}

impl Trace {
    /// Keeps those of the packets that belong to the first connection that begins among them: an earlier one
    /// may still be closing. `window` is the server's; a client's hello fits into any.
    pub(crate) fn new(mut packets: Vec<Packet>, window: Window) -> Self {
        let begin = packets.iter().position(|packet| packet.opens);
        packets.drain(..begin.unwrap_or(packets.len()));
        let port = packets.first().map(|packet| packet.client_port);
        packets.retain(|packet| Some(packet.client_port) == port);
        Self {
            packets,
            window: window.segments as usize,
        }
    }

    /// Reports whether a packet was lost, which requires additional round trips.
    pub fn is_lossy(&self) -> bool {
        self.packets.iter().any(|packet| packet.due_ns.is_none())
    }

    /// Returns the number of segments that the client sent before the first data of the server.
    pub fn first_flight_segments(&self) -> u32 {
        let data = self.packets.iter().filter(|packet| packet.data_bytes > 0);
        let first = data.take_while(|packet| packet.direction == Direction::Up);
        u32::try_from(first.count()).unwrap_or(u32::MAX)
    }

    /// Returns the number of round trips until the first data that the server sent after it had received more
    /// than `handshake_bytes` from the client: the length of the longest sequence of packets that ends there,
    /// each of which was sent after its predecessor had arrived. Bare acknowledgements belong to the sequence
    /// only where their receiver had sent all that it may without them. Returns `None` where the server sent
    /// no more data.
    pub fn round_trips(&self, handshake_bytes: u64) -> Option<u32> {
        let mut led: Vec<Led> = Vec::with_capacity(self.packets.len());
        // The SYN takes one sequence number.
        let first_sequence = self.packets.first()?.sequence.wrapping_add(1);
        let mut request: Option<Led> = None;
        for packet in &self.packets {
            let hops = hops(&led, packet, self.window);
            let led_here = Led {
                packet: *packet,
                hops,
            };
            led.push(led_here);
            if packet.data_bytes == 0 {
                continue;
            }
            match (packet.direction, request) {
                (Direction::Up, None) => {
                    let offset = packet.sequence.wrapping_sub(first_sequence);
                    let end = u64::from(offset) + u64::from(packet.data_bytes);
                    request = (end > handshake_bytes).then_some(led_here);
                }
                (Direction::Down, Some(request)) if hops > request.hops => {
                    return Some(hops.div_ceil(2));
                }
                _ => {}
            }
        }
        None
    }
}

fn hops(before: &[Led], packet: &Packet, window: usize) -> u32 {
    let came = before.iter().filter(|led| {
        let due_ns = led.packet.due_ns.unwrap_or(u64::MAX);
        led.packet.direction != packet.direction
            && due_ns.saturating_sub(EARLY_NS) <= packet.arrived_ns
    });
    let data = came.clone().filter(|led| led.packet.load == Load::Data);
    let hops = data.map(|led| led.hops).max().unwrap_or(0) + 1;
    let flight = before.iter().filter(|led| {
        led.packet.direction == packet.direction
            && led.packet.load == Load::Data
            && led.hops == hops
    });
    if packet.load == Load::Data && flight.count() >= window {
        return came.map(|led| led.hops).max().unwrap_or(0) + 1;
    }
    hops
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const PORT: u16 = 40_000;

    /// Returns a packet over a path of 10 ms each way.
    fn packet(direction: Direction, sequence: u32, data_bytes: u32, at_ms: u64) -> Packet {
        Packet {
            direction,
            load: if data_bytes > 0 {
                Load::Data
            } else {
                Load::Bare
            },
            opens: false,
            client_port: PORT,
            sequence,
            data_bytes,
            arrived_ns: at_ms * MS,
            due_ns: Some((at_ms + 10) * MS),
        }
    }

    fn syn(direction: Direction, at_ms: u64) -> Packet {
        Packet {
            load: Load::Data,
            opens: direction == Up,
            ..packet(direction, 0, 0, at_ms)
        }
    }

    use Direction::{Down, Up};

    #[test]
    fn a_handshake_and_a_response_are_three_round_trips() {
        let earlier = Packet {
            client_port: PORT - 1,
            ..packet(Down, 9, 900, 1)
        };
        let packets = vec![
            earlier,
            syn(Up, 0),
            syn(Down, 10),
            earlier,
            packet(Up, 1, 0, 20),
            packet(Up, 1, 1448, 20),
            packet(Up, 1449, 100, 20),
            packet(Down, 1, 0, 30),
            packet(Down, 1, 1448, 31),
            packet(Down, 1449, 1448, 31),
            packet(Down, 2897, 500, 32),
            // The client sends change_cipher_spec after the first segment; the server's data were already in
            // transit.
            packet(Up, 1549, 6, 41),
            packet(Down, 3397, 500, 42),
            // The client sends Finished and a request.
            packet(Up, 1555, 74, 53),
            packet(Up, 1629, 200, 53),
            packet(Down, 3897, 900, 64),
            // These packets follow the response's head.
            packet(Up, 1829, 50, 75),
            packet(Down, 4797, 900, 86),
        ];
        let trace = Trace::new(packets, Window::default());
        assert_eq!(trace.first_flight_segments(), 2);
        assert_eq!(trace.round_trips(1628), Some(3));
        // No data followed the last byte.
        assert_eq!(trace.round_trips(1879), None);
        assert_eq!(
            Trace::new(vec![earlier], Window::default()).round_trips(0),
            None
        );
        assert!(!trace.is_lossy());
    }

    #[test]
    fn what_goes_beyond_the_first_window_waits_for_acknowledgements() {
        // With one packet less, the acknowledgement was not waited for.
        for (segments, round_trips) in [(10, 4), (9, 3)] {
            let mut packets = vec![syn(Up, 0), syn(Down, 10), packet(Up, 1, 500, 20)];
            packets.extend((0..segments).map(|_| packet(Down, 1, 1448, 30)));
            packets.extend([packet(Up, 501, 0, 40), packet(Down, 1, 1448, 50)]);
            packets.extend([packet(Up, 501, 100, 60), packet(Down, 1, 100, 70)]);
            let trace = Trace::new(packets, Window::default());
            assert_eq!(trace.round_trips(500), Some(round_trips));
        }
    }
}
