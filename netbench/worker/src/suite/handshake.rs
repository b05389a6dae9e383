use netbench_protocol::Clocks;
use netbench_tls::{Measure, Timing};

use super::{
    Endpoint, SessionError,
    pair::{Pair, Wires},
    turn::Turn,
};

/// Handshakes between two configurations, one after another.
pub(crate) struct Handshakes {
    pub(crate) client: Box<dyn Endpoint>,
    pub(crate) server: Box<dyn Endpoint>,
    /// The timed work of the handshakes of a slice.
    pub(crate) timing: Timing,
    wires: Wires,
}

impl Handshakes {
    pub(crate) fn new(client: Box<dyn Endpoint>, server: Box<dyn Endpoint>) -> Self {
        Self {
            client,
            server,
            timing: Timing::Whole,
            wires: Wires::default(),
        }
    }

    /// Performs one handshake that is not timed.
    pub(crate) fn one(&mut self) -> Result<Pair, SessionError> {
        Pair::handshake(
            self.client.as_ref(),
            self.server.as_ref(),
            &mut self.wires,
            Clocks::Wall,
            self.timing,
        )
    }

    pub(crate) fn slice(&mut self, turn: &mut Turn<'_>) -> Result<(), SessionError> {
        while turn.goes_on() {
            let pair = Pair::handshake(
                self.client.as_ref(),
                self.server.as_ref(),
                &mut self.wires,
                turn.slice.clocks,
                self.timing,
            )?;
            turn.sliced.handshakes += 1;
            turn.sliced.client_resumed += u32::from(pair.client.resumed());
            turn.sliced.server_resumed += u32::from(pair.server.resumed());
            turn.record([
                (Measure::Client, pair.client_time.ns()),
                (Measure::Server, pair.server_time.ns()),
            ]);
        }
        Ok(())
    }
}
