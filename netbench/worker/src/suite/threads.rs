use std::{
    collections::BTreeMap,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use netbench_protocol::{Clocks, Slice, SliceLimit, Sliced};
use netbench_tls::{FailureWord, Measure, ParallelWork, burst_bytes};

use super::{
    SessionError,
    handshake::Handshakes,
    pair::{Pair, Wires},
};

/// Size of one write of every thread, in bytes.
const WRITE: u32 = 16 << 10;

/// The same work on many threads that share both configurations.
pub(crate) struct Threads {
    handshakes: Handshakes,
    threads: u16,
    work: ParallelWork,
}

/// The work of one thread.
#[derive(Default)]
struct Done {
    operations: u32,
    took: Duration,
    handshakes: u32,
    client_resumed: u32,
    server_resumed: u32,
}

impl Threads {
    pub(crate) fn new(handshakes: Handshakes, threads: u16, work: ParallelWork) -> Self {
        Self {
            handshakes,
            threads: threads.max(1),
            work,
        }
    }

    /// Runs every thread until the turn ends. The only timing is that of an operation at the throughput of all threads
    /// together.
    pub(crate) fn slice(&self, slice: Slice) -> Result<Sliced, SessionError> {
        let barrier = Barrier::new(usize::from(self.threads));
        let done: Vec<Result<Done, SessionError>> = thread::scope(|scope| {
            let running: Vec<_> = (0..self.threads)
                .map(|_| scope.spawn(|| self.one(slice.limit, &barrier)))
                .collect();
            let ended = running.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| {
                    Err(SessionError::new(FailureWord::Threads, "one panicked"))
                })
            });
            ended.collect()
        });
        let mut sliced = Sliced::default();
        let mut per_ns = 0.0;
        for done in done {
            let done = done?;
            per_ns += f64::from(done.operations) / done.took.as_nanos().max(1) as f64;
            sliced.operations += done.operations;
            sliced.handshakes += done.handshakes;
            sliced.client_resumed += done.client_resumed;
            sliced.server_resumed += done.server_resumed;
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of nanoseconds"
        )]
        let ns = (1.0 / per_ns).round() as u64;
        sliced.timings_ns = BTreeMap::from([(Measure::Both, vec![ns])]);
        Ok(sliced)
    }

    fn one(&self, limit: SliceLimit, barrier: &Barrier) -> Result<Done, SessionError> {
        let (client, server) = (
            self.handshakes.client.as_ref(),
            self.handshakes.server.as_ref(),
        );
        let mut wires = Wires::default();
        let mut done = Done::default();
        let data = (self.work == ParallelWork::Bulk)
            .then(|| Pair::handshake(client, server, &mut wires, Clocks::Wall));
        barrier.wait();
        let mut data = data.transpose()?;
        let (write, mut plaintext) = (vec![7; WRITE as usize], vec![0; WRITE as usize]);
        let begun = Instant::now();
        while goes_on(limit, &done, begun) {
            match &mut data {
                Some(pair) => {
                    for _ in 0..burst_bytes(WRITE) / u64::from(WRITE) {
                        pair.server.send(&write, &mut wires.to_client)?;
                    }
                    pair.client.receive(&mut wires.to_client, &mut plaintext)?;
                }
                None => {
                    let pair = Pair::handshake(client, server, &mut wires, Clocks::Wall)?;
                    done.handshakes += 1;
                    done.client_resumed += u32::from(pair.client.resumed());
                    done.server_resumed += u32::from(pair.server.resumed());
                }
            }
            done.operations += 1;
        }
        done.took = begun.elapsed();
        Ok(done)
    }
}

fn goes_on(limit: SliceLimit, done: &Done, begun: Instant) -> bool {
    match limit {
        SliceLimit::Operations(wanted) => done.operations < wanted,
        SliceLimit::Microseconds(us) => {
            done.operations == 0 || begun.elapsed() < Duration::from_micros(us)
        }
    }
}
