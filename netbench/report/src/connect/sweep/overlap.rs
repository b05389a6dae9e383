//! The part of both sides' computation that takes no time of the connection, because the link transmits other packets meanwhile.

use netbench_interop::{SEGMENT_BYTES, segments};
use netbench_model::{BitRate, Measured};

use super::predicted::{HEADER_BYTES, sending_ns};

/// The packets of data between whose transmissions a client computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exchange {
    /// Packets of the server's part of the handshake.
    pub(super) handshake: u64,
    /// Tickets and frames before the response. They arrive separately, so none is transmitted while the client computes for another.
    pub(super) frames: u64,
    /// Packets of the response.
    pub(super) response: u64,
    /// Writes from the client's Finished message to the end of its request.
    pub(super) request: u64,
    /// Average size of the request's packets, with headers.
    pub(super) request_packet_bytes: u64,
}

/// Size of a full packet, with headers.
const FULL_PACKET_BYTES: u64 = SEGMENT_BYTES as u64 + HEADER_BYTES;

/// The rates of a link in both directions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rates {
    /// The rate from the server to the client.
    pub(super) down: Option<BitRate>,
    /// The rate from the client to the server.
    pub(super) up: Option<BitRate>,
}

impl Exchange {
    /// Returns the CPU time that a client uses while the link transmits other packets, of the `cpu_ns` that it uses in total.
    pub(super) fn overlap_ns(&self, rates: Rates, cpu_ns: f64, measured: &Measured) -> f64 {
        let turn_ns = self.turn_ns(cpu_ns, measured);
        let down_ns = sending_ns(FULL_PACKET_BYTES, rates.down);
        let up_ns = sending_ns(self.request_packet_bytes, rates.up);
        pipelined_ns(self.handshake, down_ns, turn_ns)
            + pipelined_ns(self.response, down_ns, turn_ns)
            + pipelined_ns(self.request, up_ns, turn_ns)
    }

    /// Returns the CPU time that a client uses for one packet. The times of its ClientHello and of the verification are known; the
    /// rest is divided evenly by the packets, and TCP's handshake.
    fn turn_ns(&self, cpu_ns: f64, measured: &Measured) -> f64 {
        let phases = &measured.phases;
        let handshakes = 1 + u64::from(phases.rejected_ns.is_some());
        let turns = handshakes * (1 + self.handshake) + self.request + self.frames + self.response;
        let known_ns = phases.client_hello_ns + phases.verify_ns.unwrap_or(0);
        (cpu_ns - known_ns as f64).max(0.0) / turns as f64
    }
}

/// Returns the CPU time that a server uses for its signature while the link transmits the first `unsigned_bytes` of its flight, which
/// it has written before. The `server_ns` of its handshake are divided evenly between the time before its first write and afterwards.
pub(super) fn signing_overlap_ns(unsigned_bytes: u32, rates: Rates, server_ns: f64) -> f64 {
    let headers = u64::from(segments(unsigned_bytes)) * HEADER_BYTES;
    sending_ns(u64::from(unsigned_bytes) + headers, rates.down).min(server_ns / 2.0)
}

/// Returns the time that packets save by passing through two stages as in a pipeline: while one is in the second stage, the next one
/// is in the first. The arguments are the number of packets, and the time that each takes in one stage and in the other.
fn pipelined_ns(packets: u64, one_ns: f64, other_ns: f64) -> f64 {
    packets.saturating_sub(1) as f64 * one_ns.min(other_ns)
}

#[cfg(test)]
mod tests {
    use netbench_model::{Negotiated, Phases, Transfer};

    use super::*;

    const US: f64 = 1e3;

    fn measured(client_hello_ns: u64, verify_ns: Option<u64>) -> Measured {
        Measured {
            phases: Phases {
                client_hello_ns,
                verify_ns,
                ..Phases::default()
            },
            client: Negotiated::default(),
            server: None,
            transfer: Transfer::default(),
            http_status: 200,
            body_bytes: 0,
            process: None,
        }
    }

    /// A flight of 10 packets, Finished and a request in four, and a response of 13 behind two frames: with TCP's handshake
    /// 30 turns.
    const EXCHANGE: Exchange = Exchange {
        handshake: 10,
        frames: 2,
        response: 13,
        request: 4,
        request_packet_bytes: 125,
    };

    /// Fibre: a full packet of 1,514 bytes takes 605.6 µs, and one of the request 200 µs.
    fn fibre() -> Rates {
        let rate = |bits_per_second| Some(BitRate { bits_per_second });
        Rates {
            down: rate(20_000_000),
            up: rate(5_000_000),
        }
    }

    fn assert_us(overlap_ns: f64, expected_us: f64) {
        let off = overlap_ns - expected_us * US;
        assert!(off.abs() < 1.0, "{overlap_ns} ns, not {expected_us} µs");
    }

    #[test]
    fn a_client_that_is_faster_than_the_link_hides_all_turns_but_the_last() {
        // 2,000 µs without 200 for the ClientHello and 300 for the verification: 50 in each turn.
        let measured = measured(200_000, Some(300_000));
        let overlap_ns = EXCHANGE.overlap_ns(fibre(), 2_000.0 * US, &measured);
        assert_us(overlap_ns, (9.0 + 12.0 + 3.0) * 50.0);
    }

    #[test]
    fn a_client_that_is_slower_than_the_link_hides_the_transmission() {
        // 45,000 µs in 30 turns are 1,500 in each.
        let overlap_ns = EXCHANGE.overlap_ns(fibre(), 45_000.0 * US, &measured(0, None));
        assert_us(overlap_ns, (9.0 + 12.0) * 605.6 + 3.0 * 200.0);
    }

    #[test]
    fn single_packets_and_those_of_a_link_without_a_rate_do_not_overlap() {
        let unlimited = Rates {
            down: None,
            up: None,
        };
        let measured = measured(0, None);
        assert_us(EXCHANGE.overlap_ns(unlimited, 3_000.0 * US, &measured), 0.0);
        let single = Exchange {
            handshake: 1,
            frames: 4,
            response: 1,
            request: 1,
            request_packet_bytes: 300,
        };
        assert_us(single.overlap_ns(fibre(), 3_000.0 * US, &measured), 0.0);
    }

    #[test]
    fn the_rest_of_the_cpu_time_is_never_negative() {
        let measured = measured(5_000_000, Some(5_000_000));
        assert_us(EXCHANGE.overlap_ns(fibre(), 2_000.0 * US, &measured), 0.0);
    }

    #[test]
    fn a_rejected_connection_has_turns_too() {
        let mut measured = measured(0, None);
        measured.phases.rejected_ns = Some(1);
        // 4,100 µs in 41 turns are 100 in each.
        let overlap_ns = EXCHANGE.overlap_ns(fibre(), 4_100.0 * US, &measured);
        assert_us(overlap_ns, 24.0 * 100.0);
    }

    #[test]
    fn a_server_signs_while_its_certificates_are_transmitted() {
        // 4,096 bytes in three packets take 1,717.6 µs.
        for (unsigned_bytes, server_us, overlap_us) in [
            (4096, 1000.0, 500.0),
            (4096, 8000.0, 1717.6),
            (0, 1000.0, 0.0),
        ] {
            let overlap_ns = signing_overlap_ns(unsigned_bytes, fibre(), server_us * US);
            assert_us(overlap_ns, overlap_us);
        }
    }

    /// Lets packets pass through both stages one by one.
    #[test]
    fn two_stages_end_earlier_by_the_overlap() {
        for (link_ns, client_ns) in [(605.6, 50.0), (50.0, 605.6), (100.0, 100.0)] {
            for packets in [1, 2, 10] {
                let (mut arrived, mut computed) = (0.0, 0.0_f64);
                for _ in 0..packets {
                    arrived += link_ns;
                    computed = computed.max(arrived) + client_ns;
                }
                let sequential = packets as f64 * (link_ns + client_ns);
                let saved = sequential - computed;
                assert!((pipelined_ns(packets, link_ns, client_ns) - saved).abs() < 1e-6);
            }
        }
    }
}
