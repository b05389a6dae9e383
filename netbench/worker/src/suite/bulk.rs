use netbench_protocol::Clocks;
use netbench_tls::{FailureWord, Measure, Timing, burst_bytes};

use super::{
    KeptRecords, PrepareError, Session, SessionError,
    handshake::Handshakes,
    meter::Meter,
    pair::{Pair, ran},
    turn::Turn,
};
use crate::SetupError;

/// Data from a server to a client, in bursts of whole writes.
pub(crate) struct Bulk {
    handshakes: Handshakes,
    pair: Pair,
    write: Vec<u8>,
    writes: u64,
    amount_bytes: u64,
    timing: Timing,
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
        timing: Timing,
    ) -> Result<Self, PrepareError> {
        let mut pair = handshakes.one()?;
        let room = match timing {
            Timing::Whole => READ,
            Timing::Bench if pair.server.kept_records().is_some() => write_bytes as usize,
            Timing::Bench => {
                let why = "its worker cannot leave records in the library while they are timed";
                return Err(SetupError::unsupported(why).into());
            }
        };
        Ok(Self {
            handshakes,
            pair,
            write: (0..write_bytes).map(|i| (i % 251) as u8).collect(),
            writes: burst_bytes(write_bytes) / u64::from(write_bytes.max(1)),
            amount_bytes,
            timing,
            moved_bytes: 0,
            records: Vec::new(),
            plaintext: vec![0; room],
        })
    }

    pub(crate) fn slice(&mut self, turn: &mut Turn<'_>) -> Result<(), SessionError> {
        while turn.goes_on() {
            if self.moved_bytes >= self.amount_bytes {
                self.pair = self.handshakes.one()?;
                self.moved_bytes = 0;
            }
            let clocks = turn.slice.clocks;
            let (send, receive, received) = match self.timing {
                Timing::Whole => self.copied(clocks)?,
                Timing::Bench => self.kept(clocks)?,
            };
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

    /// Sends and receives one burst, and returns the time of each side and the number of received bytes.
    fn copied(&mut self, clocks: Clocks) -> Result<(Meter, Meter, u64), SessionError> {
        let (mut send, mut receive) = (Meter::default(), Meter::default());
        let sent = send.first(clocks, || {
            (0..self.writes).try_for_each(|_| self.pair.server.send(&self.write, &mut self.records))
        });
        ran(sent)?;
        let received = receive.second(clocks, || {
            self.pair
                .client
                .receive(&mut self.records, &mut self.plaintext)
        });
        Ok((send, receive, ran(received)? as u64))
    }

    /// Does the same with [`Timing::Bench`].
    fn kept(&mut self, clocks: Clocks) -> Result<(Meter, Meter, u64), SessionError> {
        let (mut send, mut receive) = (Meter::default(), Meter::default());
        let server = kept_records(self.pair.server.as_mut())?;
        let sent = send.first(clocks, || {
            (0..self.writes).try_for_each(|_| server.encrypt(&self.write))
        });
        ran(sent)?;
        server.take(&mut self.records)?;
        let client = kept_records(self.pair.client.as_mut())?;
        client.put(&mut self.records)?;
        let received = receive.second(clocks, || {
            client.receive_in_place(&mut self.records, &mut self.plaintext)
        });
        Ok((send, receive, ran(received)? as u64))
    }
}

fn kept_records(session: &mut dyn Session) -> Result<&mut dyn KeptRecords, SessionError> {
    let kept = session.kept_records();
    kept.ok_or_else(|| SessionError::new(FailureWord::Bulk, "the library keeps no records"))
}
