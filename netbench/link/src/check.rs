//! Checks of the link by connects through it.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{LinkError, Namespace, interface::socket_option};

/// The time limit of a connect beyond the round-trip time.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time that both kernels need to become idle.
const REST: Duration = Duration::from_millis(3);

/// A listener that accepts connections until it is dropped.
pub(crate) struct Listener {
    stop: Arc<AtomicBool>,
    local: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    /// Listens in `namespace` on `address`, and passes every connection to `serve` in turn.
    pub(crate) fn start(
        namespace: &Namespace,
        address: SocketAddr,
        mut serve: impl FnMut(TcpStream) + Send + 'static,
    ) -> Result<Self, LinkError> {
        let failed = LinkError::device(format!("listen on {address}"));
        // Sockets keep the namespace that they were made in: only making them requires its thread.
        let (listener, local) = namespace
            .run(|| {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let local = listener.local_addr()?;
                Ok((listener, local))
            })?
            .map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("netbench-check".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Acquire) {
                    wait_readable(listener.as_fd());
                    if let Ok((stream, _)) = listener.accept() {
                        serve(stream);
                    }
                }
            })
            .map_err(LinkError::device("start a thread"))?;
        Ok(Self {
            stop,
            local,
            thread: Some(thread),
        })
    }

    pub(crate) fn port(&self) -> u16 {
        self.local.port()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has already been printed.
            let _ = thread.join();
        }
    }
}

/// Waits until the descriptor is readable, for at most 50 ms.
fn wait_readable(descriptor: BorrowedFd<'_>) {
    const MOMENT: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 50_000_000,
    };
    // Whatever the call returns, the caller checks again.
    let _ = poll(
        &mut [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)],
        Some(&MOMENT),
    );
}

/// The durations of idle connects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Connects {
    /// Until the calling thread ran again.
    pub(crate) elapsed: Vec<Duration>,
    /// The median round-trip time of SYN and SYN-ACK by the kernel's `TCP_INFO`, if the kernel reports each.
    pub(crate) kernel_rtt: Option<Duration>,
}

/// Returns the durations of `times` idle connects from the calling thread. The connections stay open until all
/// are done. Each connect waits until the preceding one has come to rest, whose last packet would otherwise
/// be on the way just before the first packet of the next one. Of several threads, one at a time is `awake` to begin.
pub(crate) fn connect_times(
    address: Ipv4Addr,
    port: u16,
    rtt: Duration,
    times: usize,
    awake: &Mutex<()>,
) -> Result<Connects, LinkError> {
    let mut held = Vec::with_capacity(times);
    let connects = (0..times).map(|_| {
        rest(awake);
        let (stream, elapsed) = connect(address, port, rtt)?;
        let kernel_rtt = kernel_rtt(&stream);
        held.push(stream);
        thread::sleep(rtt / 2);
        Ok((elapsed, kernel_rtt))
    });
    let connects = connects.collect::<Result<Vec<_>, LinkError>>()?;
    let (elapsed, kernel_rtts): (_, Vec<_>) = connects.into_iter().unzip();
    let kernel_rtts: Option<Vec<_>> = kernel_rtts.into_iter().collect();
    Ok(Connects {
        elapsed,
        kernel_rtt: kernel_rtts.map(median),
    })
}

/// Returns the smoothed round-trip time of a connection without data: that of its only sample, SYN and SYN-ACK.
fn kernel_rtt(stream: &TcpStream) -> Option<Duration> {
    // SAFETY: the option's value is plain integers, for which zero is a value.
    let info: io::Result<libc::tcp_info> =
        unsafe { socket_option(stream.as_fd(), libc::IPPROTO_TCP, libc::TCP_INFO) };
    let rtt = Duration::from_micros(info.ok()?.tcpi_rtt.into());
    (!rtt.is_zero()).then_some(rtt)
}

/// Stays awake for a moment, as a client does that has just made its connector: the time to wake a processor
/// from sleep is not the link's. Two threads that do so at once would delay the work of others.
fn rest(awake: &Mutex<()>) {
    let _turn = awake.lock();
    let rested = Instant::now() + REST;
    while Instant::now() < rested {
        std::hint::spin_loop();
    }
}

/// Connects, with a time limit that leaves room for the link's delay.
pub(crate) fn connect(
    address: Ipv4Addr,
    port: u16,
    rtt: Duration,
) -> Result<(TcpStream, Duration), LinkError> {
    let limit = PATIENCE + rtt * 2;
    let start = Instant::now();
    match TcpStream::connect_timeout(&(address, port).into(), limit) {
        Ok(stream) => Ok((stream, start.elapsed())),
        Err(source) => Err(LinkError::Check {
            what: format!("no TCP connection to {address}"),
            limit,
            source,
        }),
    }
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Converts a time to nanoseconds.
pub(crate) fn ns(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
