use netbench_protocol::Clocks;
use netbench_tls::{FailureWord, Timing};

use super::{Endpoint, HandshakeState, Session, SessionError, meter::Meter};

/// Maximum number of flights. A handshake with more flights does not end.
const MOST_FLIGHTS: usize = 10;

/// Bytes in transit between two sides. The buffers are kept between sessions, so that the harness makes no allocations
/// during a measurement.
#[derive(Debug, Default)]
pub(crate) struct Wires {
    pub(crate) to_server: Vec<u8>,
    pub(crate) to_client: Vec<u8>,
}

/// Two sides of a session whose handshake is done.
pub(crate) struct Pair {
    pub(crate) client: Box<dyn Session>,
    pub(crate) server: Box<dyn Session>,
    pub(crate) client_time: Meter,
    pub(crate) server_time: Meter,
}

impl Pair {
    /// Performs the handshake of a new session. A side's time is that of its steps: the creation of the session unless
    /// `timing` leaves it out, and all work from a flight read to the next flight written; the client's last step reads
    /// the server's tickets.
    pub(crate) fn handshake(
        client: &dyn Endpoint,
        server: &dyn Endpoint,
        wires: &mut Wires,
        clocks: Clocks,
        timing: Timing,
    ) -> Result<Self, SessionError> {
        let (mut client_time, mut server_time) = (Meter::default(), Meter::default());
        wires.to_client.clear();
        wires.to_server.clear();
        let (made_client, made_server) = match timing {
            Timing::Whole => (None, None),
            Timing::Bench => (Some(client.session()?), Some(server.session()?)),
        };
        let begun = client_time.first(clocks, || {
            let mut session = made_client.map_or_else(|| client.session(), Ok)?;
            let state = session.handshake(&mut wires.to_client, &mut wires.to_server)?;
            Ok::<_, SessionError>((session, state))
        });
        let (mut client, mut client_state) = ran(begun)?;
        let begun = server_time.second(clocks, || {
            let mut session = made_server.map_or_else(|| server.session(), Ok)?;
            let state = session.handshake(&mut wires.to_server, &mut wires.to_client)?;
            Ok::<_, SessionError>((session, state))
        });
        let (mut server, mut server_state) = ran(begun)?;
        for _ in 0..MOST_FLIGHTS {
            if !wires.to_client.is_empty() {
                let step = client_time.first(clocks, || match client_state {
                    HandshakeState::Going => {
                        client.handshake(&mut wires.to_client, &mut wires.to_server)
                    }
                    HandshakeState::Done => {
                        let none = client.receive(&mut wires.to_client, &mut [0; 64])?;
                        only_tickets(none)
                    }
                });
                client_state = ran(step)?;
            }
            if !wires.to_server.is_empty() {
                let step = server_time.second(clocks, || {
                    server.handshake(&mut wires.to_server, &mut wires.to_client)
                });
                server_state = ran(step)?;
            }
            let quiet = wires.to_client.is_empty() && wires.to_server.is_empty();
            match (client_state, server_state) {
                (HandshakeState::Done, HandshakeState::Done) if quiet => {
                    return Ok(Self {
                        client,
                        server,
                        client_time,
                        server_time,
                    });
                }
                _ if quiet => break,
                _ => {}
            }
        }
        Err(SessionError::new(
            FailureWord::Handshake,
            "the two sides wait for one another",
        ))
    }
}

fn only_tickets(plaintext: usize) -> Result<HandshakeState, SessionError> {
    if plaintext == 0 {
        Ok(HandshakeState::Done)
    } else {
        Err(SessionError::new(
            FailureWord::Handshake,
            "data where none was sent",
        ))
    }
}

/// Returns a step's result. The marks always run the step.
pub(crate) fn ran<T>(step: Option<Result<T, SessionError>>) -> Result<T, SessionError> {
    step.unwrap_or_else(|| Err(SessionError::new(FailureWord::Step, "it was not run")))
}

#[cfg(test)]
mod tests {
    use std::{hint::black_box, time::Duration};

    use netbench_tls::Negotiated;

    use super::*;
    use crate::clock;

    /// CPU time of the creation of a session.
    const CREATION: Duration = Duration::from_millis(30);

    /// A session whose handshake is done at once.
    struct Done;

    impl Session for Done {
        fn handshake(
            &mut self,
            input: &mut Vec<u8>,
            _: &mut Vec<u8>,
        ) -> Result<HandshakeState, SessionError> {
            input.clear();
            Ok(HandshakeState::Done)
        }

        fn send(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), SessionError> {
            Ok(())
        }

        fn receive(&mut self, _: &mut Vec<u8>, _: &mut [u8]) -> Result<usize, SessionError> {
            Ok(0)
        }

        fn negotiated(&self) -> Negotiated {
            Negotiated::default()
        }

        fn resumed(&self) -> bool {
            false
        }
    }

    fn slow() -> Result<Box<dyn Session>, SessionError> {
        let begun = clock::thread_cpu();
        while clock::thread_cpu().saturating_sub(begun) < CREATION {
            black_box(0);
        }
        Ok(Box::new(Done))
    }

    #[test]
    fn the_creation_of_sessions_is_timed_unless_the_timing_leaves_it_out() {
        for (timing, is_timed) in [(Timing::Whole, true), (Timing::Bench, false)] {
            let mut wires = Wires::default();
            let pair = Pair::handshake(&slow, &slow, &mut wires, Clocks::Cpu, timing);
            let pair = pair.map_err(|e| e.to_string()).unwrap();
            for meter in [pair.client_time, pair.server_time] {
                let took = Duration::from_nanos(meter.ns());
                assert_eq!(took >= CREATION, is_timed, "{timing}: {took:?}");
            }
        }
    }
}
