use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use netbench_protocol::{Clocks, Slice, SliceLimit, Sliced};
use netbench_tls::{FailureWord, Measure, Timing, burst_bytes};

use super::{
    SessionError,
    alone::VerifiedChain,
    handshake::Handshakes,
    meter::Meter,
    pair::{Pair, Wires, ran},
    turn::goes_on,
};

/// Size of one write of every thread, in bytes.
const WRITE: u32 = 16 << 10;

/// Initial capacity of a thread's timings, with which a thread seldom allocates in a turn.
const ROOM: usize = 1 << 14;

/// The same work on many threads that share what it needs.
pub(crate) struct Threads {
    work: ThreadWork,
    threads: u16,
}

/// The work of each thread.
pub(crate) enum ThreadWork {
    /// Handshakes.
    Handshakes(Handshakes),
    /// Data over one session of each thread.
    Bulk(Handshakes),
    /// Verification of a chain by one verifier.
    Verify(VerifiedChain),
}

/// The result of one thread.
struct Done {
    sliced: Sliced,
    took: Duration,
}

impl Threads {
    pub(crate) fn new(work: ThreadWork, threads: u16) -> Self {
        Self {
            work,
            threads: threads.max(1),
        }
    }

    /// Runs every thread until the turn ends. The timing of `both` is that of an operation at the throughput of all threads
    /// together; every operation is timed as well, each side by itself.
    pub(crate) fn slice(&self, slice: Slice) -> Result<Sliced, SessionError> {
        let barrier = Barrier::new(usize::from(self.threads));
        let done: Vec<Result<Done, SessionError>> = thread::scope(|scope| {
            let running: Vec<_> = (0..self.threads)
                .map(|_| scope.spawn(|| self.one(slice, &barrier)))
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
            let Done { sliced: one, took } = done?;
            per_ns += f64::from(one.operations) / took.as_nanos().max(1) as f64;
            sliced.operations += one.operations;
            sliced.handshakes += one.handshakes;
            sliced.client_resumed += one.client_resumed;
            sliced.server_resumed += one.server_resumed;
            for (measure, timings) in one.timings_ns {
                sliced
                    .timings_ns
                    .entry(measure)
                    .or_default()
                    .extend(timings);
            }
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive number of nanoseconds"
        )]
        let ns = (1.0 / per_ns).round() as u64;
        sliced.timings_ns.insert(Measure::Both, vec![ns]);
        Ok(sliced)
    }

    /// Performs the work of one thread. Every thread waits at the barrier, also one whose session fails.
    fn one(&self, slice: Slice, barrier: &Barrier) -> Result<Done, SessionError> {
        let mut wires = Wires::default();
        match &self.work {
            ThreadWork::Handshakes(handshakes) => {
                barrier.wait();
                Done::repeat(slice.limit, [Measure::Client, Measure::Server], |done| {
                    let (client, server) = (handshakes.client.as_ref(), handshakes.server.as_ref());
                    let pair =
                        Pair::handshake(client, server, &mut wires, slice.clocks, Timing::Whole)?;
                    done.handshakes += 1;
                    done.client_resumed += u32::from(pair.client.resumed());
                    done.server_resumed += u32::from(pair.server.resumed());
                    Ok([pair.client_time, pair.server_time])
                })
            }
            ThreadWork::Bulk(handshakes) => {
                let (client, server) = (handshakes.client.as_ref(), handshakes.server.as_ref());
                let pair = Pair::handshake(client, server, &mut wires, Clocks::Wall, Timing::Whole);
                let (write, mut plaintext) = (vec![7; WRITE as usize], vec![0; WRITE as usize]);
                barrier.wait();
                let mut pair = pair?;
                Done::repeat(slice.limit, [Measure::Send, Measure::Receive], |_| {
                    let (mut send, mut receive) = (Meter::default(), Meter::default());
                    let writes = burst_bytes(WRITE) / u64::from(WRITE);
                    ran(send.first(slice.clocks, || {
                        (0..writes).try_for_each(|_| pair.server.send(&write, &mut wires.to_client))
                    }))?;
                    ran(receive.second(slice.clocks, || {
                        pair.client.receive(&mut wires.to_client, &mut plaintext)
                    }))?;
                    Ok([send, receive])
                })
            }
            ThreadWork::Verify(chain) => {
                barrier.wait();
                Done::repeat(slice.limit, [Measure::Whole], |_| {
                    let mut meter = Meter::default();
                    ran(meter.first(slice.clocks, || chain.verify()))?;
                    Ok([meter])
                })
            }
        }
    }
}

impl Done {
    /// Repeats an operation until the limit, and records the time of each of its measures.
    fn repeat<const N: usize>(
        limit: SliceLimit,
        measures: [Measure; N],
        mut operation: impl FnMut(&mut Sliced) -> Result<[Meter; N], SessionError>,
    ) -> Result<Self, SessionError> {
        let mut sliced = Sliced::default();
        let mut timings = measures.map(|_| Vec::with_capacity(ROOM));
        let begun = Instant::now();
        while goes_on(limit, begun, sliced.operations) {
            let meters = operation(&mut sliced)?;
            for (all, meter) in timings.iter_mut().zip(meters) {
                all.push(meter.ns());
            }
            sliced.operations += 1;
        }
        let took = begun.elapsed();
        sliced.timings_ns = measures.into_iter().zip(timings).collect();
        Ok(Self { sliced, took })
    }
}
