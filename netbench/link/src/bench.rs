//! The accuracy and speed of the link on this machine: `netbench setup link bench`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read, Write},
    net::{Ipv4Addr, TcpStream},
    time::{Duration, Instant},
};

use netbench_model::{LinkKind, LinkProfile};
use parking_lot::Mutex;
use serde::Serialize;

use crate::{
    Link, LinkChoice, LinkError, LinkPlan, LinkSite,
    check::{self, Listener},
    forward::THREAD,
};

/// Measurements of the link, beside the values of an ideal link.
#[derive(Debug, Clone, Serialize)]
pub struct LinkBench {
    /// The kind of link that was measured.
    pub kind: LinkKind,
    /// The reason for this kind.
    pub why: String,
    /// The idle TCP connects.
    pub connects: Vec<ConnectBench>,
    /// The lateness with which packets were released during the connects, in nanoseconds at
    /// quantiles; only a link in user space records it.
    pub lateness_ns: BTreeMap<String, u64>,
    /// A transfer over a path with a delay.
    pub transfer: TransferBench,
    /// Throughput of a long transfer over a path without delay, in bits of data per second.
    pub throughput_bits_per_second: u64,
    /// The time of the link's thread during that transfer; `None` for a link in the kernel.
    pub throughput_thread: Option<ThreadTime>,
    /// Packets forwarded and dropped in all of it.
    pub packets: BTreeMap<String, u64>,
    /// Kernel settings made in the namespaces.
    pub settings: BTreeMap<String, String>,
}

/// The time of the link's thread during a transfer (`/proc/PID/task/TID/schedstat`). A thread that always runs limits the transfer
/// by the cost of a packet on one core; for a thread that waits for a core, other programs limit it; otherwise, the two hosts do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ThreadTime {
    /// The duration of the transfer, in nanoseconds.
    pub elapsed_ns: u64,
    /// The time that the thread ran, in nanoseconds.
    pub running_ns: u64,
    /// The time that it could have run and had no core, in nanoseconds.
    pub waiting_ns: u64,
    /// Packets that it forwarded.
    pub packets: u64,
}

/// Idle TCP connects at one round-trip time, one after the other.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectBench {
    /// The configured round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Number of connects.
    pub connects: usize,
    /// The shortest time, in nanoseconds.
    pub min_ns: u64,
    /// The median time, in nanoseconds.
    pub median_ns: u64,
    /// The longest time, in nanoseconds.
    pub max_ns: u64,
    /// The median round-trip time of the same handshakes by the kernel, in nanoseconds. The rest of a connect is the client's: its
    /// system call, and the wait for a core.
    pub kernel_rtt_ns: Option<u64>,
}

/// A transfer: a connect, a question, and the whole answer.
#[derive(Debug, Clone, Serialize)]
pub struct TransferBench {
    /// The configured round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Size of the answer, in bytes.
    pub bytes: u64,
    /// The time of a transfer in slow start with an initial window of ten segments (RFC 6928) if
    /// only the delay takes time, in nanoseconds.
    pub ideal_ns: u64,
    /// The median time of several transfers, in nanoseconds.
    pub median_ns: u64,
    /// The shortest time, in nanoseconds.
    pub min_ns: u64,
}

const CONNECTS: [(Duration, usize); 3] = [
    (Duration::from_millis(1), 101),
    (Duration::from_millis(20), 51),
    (Duration::from_millis(100), 15),
];
const TRANSFER_RTT: Duration = Duration::from_millis(20);
const TRANSFER_BYTES: u64 = 1_000_000;
const TRANSFERS: usize = 9;
const THROUGHPUT_BYTES: u64 = 256_000_000;
const PORT: u16 = 5001;
/// Data in a full segment: an MTU of 1500 without the headers and the timestamp option.
const SEGMENT_BYTES: u64 = 1448;
const INITIAL_SEGMENTS: u64 = 10;
/// The maximum time for which a transfer may stall.
const STALLED: Duration = Duration::from_secs(20);

/// Opens a link of the given kind and measures it, in about ten seconds.
///
/// # Errors
/// Returns the errors of [`Link::open`], or an error if a connection through the link fails.
pub fn run_bench(choice: LinkChoice) -> Result<LinkBench, LinkError> {
    // The last round-trip time is zero.
    let rtts = CONNECTS
        .map(|(rtt, _)| rtt)
        .into_iter()
        .chain([Duration::ZERO]);
    let sites = rtts.map(|rtt| LinkSite {
        name: format!("rtt-{rtt:?}"),
        profile: LinkProfile {
            rtt_ns: check::ns(rtt),
            ..LinkProfile::default()
        },
    });
    let link = Link::open(LinkPlan {
        choice,
        sites: sites.collect(),
        seed: 1,
    })?;
    let listen = match link.kind() {
        LinkKind::None => Ipv4Addr::LOCALHOST,
        _ => Ipv4Addr::UNSPECIFIED,
    };
    let listener = Listener::start(
        &link.server_namespace(),
        (listen, link.listen_port(PORT)).into(),
        |stream| {
            // A client that disconnects early has failed itself.
            let _ = answer(stream);
        },
    )?;
    let port = listener.port();
    let client = link.client_namespace();

    let mut connects = Vec::new();
    let awake = Mutex::new(());
    for (site, (rtt, times)) in CONNECTS.into_iter().enumerate() {
        let address = address(&link, site);
        let found = client.run(|| check::connect_times(address, port, rtt, times, &awake))??;
        let times = found.elapsed;
        connects.push(ConnectBench {
            rtt_ns: check::ns(rtt),
            connects: times.len(),
            min_ns: times.iter().min().copied().map_or(0, check::ns),
            max_ns: times.iter().max().copied().map_or(0, check::ns),
            median_ns: check::ns(check::median(times)),
            kernel_rtt_ns: found.kernel_rtt.map(check::ns),
        });
    }
    let lateness_ns = link.record().lateness_ns;
    let near = address(&link, 1);
    let times = (0..TRANSFERS)
        .map(|_| client.run(|| transfer(near, port, TRANSFER_RTT, TRANSFER_BYTES))?)
        .collect::<Result<Vec<_>, _>>()?;
    let transfer_bench = TransferBench {
        rtt_ns: check::ns(TRANSFER_RTT),
        bytes: TRANSFER_BYTES,
        ideal_ns: check::ns(slow_start_ideal(TRANSFER_BYTES, TRANSFER_RTT)),
        min_ns: times.iter().min().copied().map_or(0, check::ns),
        median_ns: check::ns(check::median(times)),
    };
    let site = address(&link, CONNECTS.len());
    let (before, packets) = (schedstat(THREAD), forwarded(&link));
    let long = client.run(|| transfer(site, port, Duration::ZERO, THROUGHPUT_BYTES))??;
    let spent = before.zip(schedstat(THREAD));
    let throughput_thread = spent.map(|((ran, waited), (ran_ns, waited_ns))| ThreadTime {
        elapsed_ns: check::ns(long),
        running_ns: ran_ns.saturating_sub(ran),
        waiting_ns: waited_ns.saturating_sub(waited),
        packets: forwarded(&link) - packets,
    });
    let record = link.record();
    Ok(LinkBench {
        kind: record.kind,
        why: record.why,
        connects,
        lateness_ns,
        transfer: transfer_bench,
        throughput_bits_per_second: bits_per_second(THROUGHPUT_BYTES, long),
        throughput_thread,
        packets: record.packets,
        settings: record.settings,
    })
}

/// Returns the address at which the listener serves a site.
fn address(link: &Link, site: usize) -> Ipv4Addr {
    match link.kind() {
        LinkKind::None => Ipv4Addr::LOCALHOST,
        _ => link.address(site),
    }
}

fn forwarded(link: &Link) -> u64 {
    let packets = link.record().packets;
    packets.get("forwarded").copied().unwrap_or(0)
}

/// Returns the nanoseconds that this process' thread of that name has run, and those that it has waited for a core.
fn schedstat(name: &str) -> Option<(u64, u64)> {
    let mut tasks = fs::read_dir("/proc/self/task").ok()?.flatten();
    let task = tasks.find(|task| {
        let found = fs::read_to_string(task.path().join("comm"));
        found.is_ok_and(|found| found.trim_end() == name)
    })?;
    let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
    let mut numbers = text.split_whitespace().map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// One round trip to connect, half of one for the question, half of one for the last bytes, and
/// one for each doubling of the window before the last flight.
fn slow_start_ideal(bytes: u64, rtt: Duration) -> Duration {
    let segments = bytes.div_ceil(SEGMENT_BYTES);
    let (mut window, mut sent, mut flights) = (INITIAL_SEGMENTS, 0, 0);
    while sent < segments {
        sent += window;
        window *= 2;
        flights += 1;
    }
    rtt * (1 + flights)
}

/// Measures the time from the connect to the last byte.
fn transfer(
    address: Ipv4Addr,
    port: u16,
    rtt: Duration,
    bytes: u64,
) -> Result<Duration, LinkError> {
    let start = Instant::now();
    let (stream, _) = check::connect(address, port, rtt)?;
    let received = ask(stream, bytes).map_err(|source| LinkError::Check {
        what: format!("no {bytes} bytes from {address}"),
        limit: STALLED,
        source,
    })?;
    if received != bytes {
        let source = io::ErrorKind::UnexpectedEof.into();
        let what = format!("{received} of {bytes} bytes from {address}");
        return Err(LinkError::Check {
            what,
            limit: STALLED,
            source,
        });
    }
    Ok(start.elapsed())
}

fn ask(mut stream: TcpStream, bytes: u64) -> io::Result<u64> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(STALLED))?;
    stream.write_all(&bytes.to_be_bytes())?;
    let mut buffer = vec![0; 256 * 1024];
    let mut received = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(received),
            length => received += length as u64,
        }
    }
}

fn answer(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(STALLED))?;
    stream.set_write_timeout(Some(STALLED))?;
    let mut question = [0; 8];
    // A connect that is only timed sends no question.
    if stream.read_exact(&mut question).is_err() {
        return Ok(());
    }
    let zeros = io::repeat(0).take(u64::from_be_bytes(question));
    io::copy(
        &mut io::BufReader::with_capacity(256 * 1024, zeros),
        &mut stream,
    )?;
    Ok(())
}

fn bits_per_second(bytes: u64, time: Duration) -> u64 {
    let bits = u128::from(bytes) * 8 * 1_000_000_000 / time.as_nanos().max(1);
    u64::try_from(bits).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_every_round_trip() {
        let rtt = Duration::from_millis(20);
        for (bytes, ms) in [
            (1, 40),
            (14_480, 40),
            (14_481, 60),
            (1_000_000, 160),
            (1_048_576, 160),
        ] {
            assert_eq!(
                slow_start_ideal(bytes, rtt),
                Duration::from_millis(ms),
                "{bytes} bytes"
            );
        }
    }
}
