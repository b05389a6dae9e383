//! The forwarder's thread: it sleeps until shortly before the next release, spins for the rest, and
//! receives the packets that arrive meanwhile.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    io,
    num::NonZeroU64,
    os::fd::{AsFd, OwnedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::{
    Direction, Statistics,
    paths::{Fate, Paths},
    sleep::SleepMargins,
};
use crate::{
    clock,
    device::{Arrival, BATCH, Device, Frame, Pool},
};

/// The name of the forwarder's thread.
pub(crate) const THREAD: &str = "netbench-link";

/// The time without a release after which the kernel's code for the next one has left the caches.
const COLD_NS: u64 = 500_000;
/// The maximum time by which a cold release begins before it is due.
const LEAD_LIMIT_NS: u64 = 100_000;
/// The maximum number of packets held at one time: 50 MiB of buffers.
const HELD_LIMIT: usize = 32_768;

/// A running forwarder; dropping it ends its thread.
pub(crate) struct Forwarder {
    stop: Arc<AtomicBool>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Forwarder {
    /// Starts forwarding between the device towards the client and the device towards the servers.
    pub(crate) fn start(
        client: Box<dyn Device>,
        server: Box<dyn Device>,
        paths: Paths,
        statistics: Arc<Statistics>,
    ) -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = Arc::new(eventfd(0, flags)?);
        let stop = Arc::new(AtomicBool::new(false));
        let mut work = Loop {
            // The devices are in the order of `Direction`: upward packets come from the client's
            // device.
            devices: [client, server],
            paths,
            statistics,
            pool: Pool::default(),
            held: BinaryHeap::new(),
            order: 0,
            arrivals: Vec::with_capacity(BATCH),
            leaving: [Vec::with_capacity(BATCH), Vec::with_capacity(BATCH)],
            frames: Vec::with_capacity(BATCH),
            pace: Pace::default(),
            margins: SleepMargins::default(),
            wake: Arc::clone(&wake),
            stop: Arc::clone(&stop),
        };
        let thread = thread::Builder::new()
            .name(THREAD.to_owned())
            .spawn(move || work.run())?;
        Ok(Self {
            stop,
            wake,
            thread: Some(thread),
        })
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // The write cannot fail while the counter is not full, and if it did, the thread would
        // still see `stop` with the next packet.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed, and there is no state to save.
            let _ = thread.join();
        }
    }
}

/// Requests real-time scheduling of the calling thread and exact timers from the kernel; returns
/// the scheduling policy that the thread has.
fn sharpen_timing() -> &'static str {
    // Without this slack, sleeps end up to 50 µs late, which the lateness shows.
    let _ = rustix::thread::set_current_timer_slack(Some(NonZeroU64::MIN));
    let priority = libc::sched_param { sched_priority: 1 };
    // SAFETY: 0 is the calling thread, and the pointer is to a valid parameter.
    match unsafe { libc::sched_setscheduler(0, libc::SCHED_FIFO, &raw const priority) } {
        0 => "SCHED_FIFO",
        _ => "SCHED_OTHER",
    }
}

struct Loop {
    devices: [Box<dyn Device>; 2],
    paths: Paths,
    statistics: Arc<Statistics>,
    pool: Pool,
    held: BinaryHeap<Reverse<Held>>,
    order: u64,
    arrivals: Vec<Arrival>,
    /// The packets of one round of releases, with the time at which to begin each.
    leaving: [Vec<(u64, Frame)>; 2],
    frames: Vec<Frame>,
    pace: Pace,
    margins: SleepMargins,
    wake: Arc<OwnedFd>,
    stop: Arc<AtomicBool>,
}

/// A packet in transit. Packets are ordered by their times; of two that are due at one time, the first to arrive
/// leaves first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    due_ns: u64,
    /// The number of packets that arrived before.
    order: u64,
    direction: Direction,
    frame: Frame,
}

impl Loop {
    fn run(&mut self) {
        // Only this thread sets the value.
        let _ = self.statistics.scheduling.set(sharpen_timing());
        while !self.stop.load(Ordering::Acquire) {
            let mut came = false;
            for &direction in Direction::ALL {
                came |= self.receive(direction);
            }
            let now_ns = clock::monotonic_ns();
            self.release(now_ns);
            if came {
                continue;
            }
            match self.held.peek() {
                None => self.sleep(None),
                Some(Reverse(next)) => {
                    let begin_ns = next.due_ns.saturating_sub(self.pace.lead_ns(now_ns));
                    let left_ns = begin_ns.saturating_sub(now_ns);
                    let wait_ns = self.margins.sleep_ns(left_ns);
                    if wait_ns > 0 {
                        self.sleep(Some(wait_ns));
                        let slept_ns = clock::monotonic_ns().saturating_sub(now_ns);
                        // A shorter sleep was ended by a packet.
                        if let Some(late_ns) = slept_ns.checked_sub(wait_ns) {
                            self.margins.woke(wait_ns, late_ns);
                        }
                    } else {
                        std::hint::spin_loop();
                    }
                }
            }
        }
    }

    /// Receives the packets that have arrived in `direction`; returns whether there were any.
    fn receive(&mut self, direction: Direction) -> bool {
        let device = &mut self.devices[direction as usize];
        let header_bytes = device.header_bytes();
        // A device that fails permanently delivers no more packets; connections then time out, and
        // the lateness and packet counts of the record show the failure.
        if device.receive(&mut self.pool, &mut self.arrivals).is_err() {
            Statistics::add(&self.statistics.dropped_receive, 1);
        }
        let came = !self.arrivals.is_empty();
        for Arrival { frame, arrived_ns } in self.arrivals.drain(..) {
            let packet = frame.bytes().get(header_bytes..).unwrap_or_default();
            let counts = &self.statistics;
            let dropped = match self.paths.decide(direction, packet, arrived_ns) {
                Fate::Due { due_ns } if self.held.len() < HELD_LIMIT => {
                    let held = Held {
                        due_ns,
                        order: self.order,
                        direction,
                        frame,
                    };
                    self.held.push(Reverse(held));
                    self.order += 1;
                    continue;
                }
                Fate::Pass => {
                    Statistics::add(&counts.undelayed, 1);
                    let refused =
                        self.devices[1 - direction as usize].send(std::slice::from_ref(&frame));
                    Statistics::add(&counts.dropped_send, refused);
                    self.pool.give(frame);
                    continue;
                }
                Fate::Lost(loss) => {
                    counts.enter_loss(loss);
                    self.pool.give(frame);
                    continue;
                }
                Fate::Due { .. } => &counts.dropped_memory,
                Fate::LostBare => &counts.lost_bare,
                Fate::QueueFull => &counts.dropped_queue,
            };
            Statistics::add(dropped, 1);
            self.pool.give(frame);
        }
        came
    }

    /// Sends the packets that are due, up to a batch; the first packet after a pause is sent
    /// separately, and slightly early.
    fn release(&mut self, now_ns: u64) {
        let lead_ns = self.pace.lead_ns(now_ns);
        let batch = if lead_ns > 0 { 1 } else { BATCH };
        for _ in 0..batch {
            if self
                .held
                .peek()
                .is_none_or(|Reverse(next)| next.due_ns > now_ns + lead_ns)
            {
                break;
            }
            let Some(Reverse(held)) = self.held.pop() else {
                break;
            };
            let begin_ns = held.due_ns.saturating_sub(lead_ns);
            self.leaving[held.direction as usize].push((begin_ns, held.frame));
        }
        for &direction in Direction::ALL {
            let leaving = &mut self.leaving[direction as usize];
            if leaving.is_empty() {
                continue;
            }
            // The clock is read again: sending the other direction's packets has taken time.
            let begun_ns = clock::monotonic_ns();
            for (begin_ns, frame) in leaving.drain(..) {
                self.statistics
                    .lateness
                    .enter(begun_ns.saturating_sub(begin_ns));
                self.frames.push(frame);
            }
            let refused = self.devices[1 - direction as usize].send(&self.frames);
            self.pace.enter(begun_ns, clock::monotonic_ns());
            Statistics::add(
                &self.statistics.forwarded,
                self.frames.len() as u64 - refused,
            );
            Statistics::add(&self.statistics.dropped_send, refused);
            for frame in self.frames.drain(..) {
                self.pool.give(frame);
            }
        }
    }

    /// Sleeps until a packet arrives, `wait_ns` have passed, or the forwarder is dropped.
    fn sleep(&self, wait_ns: Option<u64>) {
        let [client, server] = &self.devices;
        let mut polled = [client.descriptor(), server.descriptor(), self.wake.as_fd()]
            .map(|descriptor| PollFd::from_borrowed_fd(descriptor, PollFlags::IN));
        let timeout = wait_ns.map(|ns| Timespec {
            tv_sec: (ns / 1_000_000_000).cast_signed(),
            tv_nsec: (ns % 1_000_000_000).cast_signed(),
        });
        // Whatever the call returns, the loop checks again.
        let _ = poll(&mut polled, timeout.as_ref());
    }
}

/// The duration of a release, by which packets are sent early so that they arrive in time: the
/// receiving kernel's work is done within the call that sends, and after a pause that call takes
/// ten times as long.
#[derive(Default)]
struct Pace {
    /// The time at which the last release ended.
    last_ns: u64,
    /// The smoothed duration of a cold release.
    cold_ns: u64,
}

impl Pace {
    /// Returns the time by which a release at `now_ns` should begin before it is due.
    fn lead_ns(&self, now_ns: u64) -> u64 {
        if self.is_cold(now_ns) {
            self.cold_ns.min(LEAD_LIMIT_NS)
        } else {
            0
        }
    }

    fn enter(&mut self, begun_ns: u64, done_ns: u64) {
        if self.is_cold(begun_ns) {
            let took_ns = done_ns.saturating_sub(begun_ns).min(LEAD_LIMIT_NS);
            self.cold_ns = (self.cold_ns * 7 + took_ns) / 8;
        }
        self.last_ns = done_ns;
    }

    fn is_cold(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.last_ns) > COLD_NS
    }
}
