use netbench_tls::{FailureWord, Measure, burst_bytes};

use super::{
    SessionError,
    handshake::Handshakes,
    meter::Meter,
    pair::{Pair, ran},
    turn::Turn,
};

/// Data from a server to a client, in bursts of whole writes.
pub(crate) struct Bulk {
    handshakes: Handshakes,
    pair: Pair,
    write: Vec<u8>,
    writes: u64,
    amount_bytes: u64,
    moved_bytes: u64,
    records: Vec<u8>,
    plaintext: Vec<u8>,
}

/// Size of the receiver's buffer: the maximum plaintext of a record.
const READ: usize = 16 << 10;

impl Bulk {
    pub(crate) fn new(
        mut handshakes: Handshakes,
        write_bytes: u32,
        amount_bytes: u64,
    ) -> Result<Self, SessionError> {
        let pair = handshakes.one()?;
        Ok(Self {
            handshakes,
            pair,
            write: (0..write_bytes).map(|i| (i % 251) as u8).collect(),
            writes: burst_bytes(write_bytes) / u64::from(write_bytes.max(1)),
            amount_bytes,
            moved_bytes: 0,
            records: Vec::new(),
            plaintext: vec![0; READ],
        })
    }

    pub(crate) fn slice(&mut self, turn: &mut Turn<'_>) -> Result<(), SessionError> {
        while turn.goes_on() {
            if self.moved_bytes >= self.amount_bytes {
                self.pair = self.handshakes.one()?;
                self.moved_bytes = 0;
            }
            let clocks = turn.slice.clocks;
            let (mut send, mut receive) = (Meter::default(), Meter::default());
            let sent = send.first(clocks, || {
                (0..self.writes)
                    .try_for_each(|_| self.pair.server.send(&self.write, &mut self.records))
            });
            ran(sent)?;
            let received = receive.second(clocks, || {
                self.pair
                    .client
                    .receive(&mut self.records, &mut self.plaintext)
            });
            let received = ran(received)? as u64;
            let expected = self.writes * self.write.len() as u64;
            if received != expected {
                let why = format!("{received} bytes arrived of {expected}");
                return Err(SessionError::new(FailureWord::Bulk, why));
            }
            self.moved_bytes += received;
            turn.record([(Measure::Send, send.ns()), (Measure::Receive, receive.ns())]);
        }
        Ok(())
    }
}
