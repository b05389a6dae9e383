//! What a connection takes where nothing is lost: its round trips, what both sides compute, and how long its bytes take
//! to leave.

use netbench_interop::{SEGMENT_BYTES, windows};
use netbench_model::{
    BitRate, ClientSettings, CpuShare, LabProfile, Measured, Profile, Site, TlsVersion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The parts of a connection's time, as they are foretold.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Foretold {
    /// Round trips until the end of the response.
    pub round_trips: f64,
    /// What they take: round-trip time and mean jitter, less what goes on leaving meanwhile.
    pub waiting_ns: f64,
    /// What client and server compute: measured.
    pub cpu_ns: f64,
    /// What the bytes of both directions take to leave at the link's rates.
    pub bytes_ns: f64,
    /// All of it.
    pub total_ns: f64,
}

/// Headers of IPv4 and TCP with timestamps, and what a rate counts of Ethernet.
const HEADER_BYTES: u64 = 66;

/// Packets without data that each side sends before it is answered: of TCP's own handshake.
const BARE_PACKETS: u64 = 1;

/// What a sample's connection was to take. `client` is what it offered, and `cpu` its share of a core.
pub(super) fn foretell(
    site: &Site,
    client: &ClientSettings,
    cpu: Option<CpuShare>,
    measured: &Measured,
) -> Foretold {
    let (lab, transfer) = (&*site.lab, &measured.transfer);
    let handshake = segments(transfer.handshake_bytes_in);
    let response = segments(
        transfer
            .bytes_in
            .saturating_sub(transfer.handshake_bytes_in),
    ) + small_segments(lab, measured);
    let sent = segments(transfer.bytes_out);
    let link = &lab.link;
    let trip_ns = (link.rtt_ns + link.jitter_ns) as f64;

    let hello = f64::from(1 + handshake_trips(client, measured) + 1);
    let flights = [handshake, response].map(|flight| Slow::start(flight, trip_ns, link.rate));
    let beyond = flights.iter().map(|flight| flight.trips).sum::<f64>();
    let stalls = flights.iter().map(|flight| flight.stalled_ns).sum::<f64>();

    let down = transfer.bytes_in + HEADER_BYTES * (u64::from(handshake + response) + BARE_PACKETS);
    let up = transfer.bytes_out + HEADER_BYTES * (u64::from(sent) + BARE_PACKETS);
    let bytes_ns = sending_ns(down, link.rate) + sending_ns(up, link.rate_up.or(link.rate));

    let share = cpu.map_or(1.0, |share| f64::from(share.percent()) / 100.0);
    let server_ns = measured
        .server
        .as_ref()
        .map_or(0, |server| server.compute_ns);
    let cpu_ns = measured.phases.cpu_ns as f64 / share + server_ns as f64;

    let waiting_ns = hello * trip_ns + stalls;
    Foretold {
        round_trips: hello + beyond,
        waiting_ns,
        cpu_ns,
        bytes_ns,
        total_ns: waiting_ns + cpu_ns + bytes_ns,
    }
}

/// Round trips of the TLS handshake, with one more where the server asked for another key share.
fn handshake_trips(client: &ClientSettings, measured: &Measured) -> u32 {
    let agreed = &measured.client;
    let newest = agreed.version == Some(TlsVersion::Tls13);
    let shares = client.shares();
    // What a library offers by itself is not known.
    let is_known = client.profile != Profile::Library && !shares.is_empty();
    let refused = |group| is_known && !shares.contains(&group);
    match newest {
        true => 1 + u32::from(!agreed.resumed && agreed.group.is_some_and(refused)),
        false if agreed.resumed => 1,
        false => 2,
    }
}

/// Segments in front of the response that are not full: tickets, and what HTTP/2 says first.
fn small_segments(lab: &LabProfile, measured: &Measured) -> u32 {
    let agreed = &measured.client;
    let tickets = agreed.version == Some(TlsVersion::Tls13) && lab.tickets > 0;
    let settings = if agreed.alpn.as_deref() == Some("h2") {
        2
    } else {
        0
    };
    u32::from(tickets) + settings
}

fn segments(bytes: u64) -> u32 {
    let segments = bytes.div_ceil(u64::from(SEGMENT_BYTES));
    u32::try_from(segments).unwrap_or(u32::MAX)
}

/// What a flight waits in slow start, for acknowledgements of each window but the last.
struct Slow {
    trips: f64,
    stalled_ns: f64,
}

impl Slow {
    fn start(segments: u32, trip_ns: f64, rate: Option<BitRate>) -> Self {
        let of_segments = |count: u32| {
            sending_ns(
                u64::from(count) * (u64::from(SEGMENT_BYTES) + HEADER_BYTES),
                rate,
            )
        };
        let mut windows = windows(segments).peekable();
        let mut slow = Self {
            trips: 0.0,
            stalled_ns: 0.0,
        };
        while let Some(window) = windows.next() {
            if windows.peek().is_some() {
                // The first acknowledgement comes while the rest of the window still leaves.
                let stalled_ns = (trip_ns + of_segments(1) - of_segments(window)).max(0.0);
                slow.trips += if stalled_ns > 0.0 { 1.0 } else { 0.0 };
                slow.stalled_ns += stalled_ns;
            }
        }
        slow
    }
}

fn sending_ns(bytes: u64, rate: Option<BitRate>) -> f64 {
    rate.map_or(0.0, |rate| {
        bytes as f64 * 8e9 / rate.bits_per_second.max(1) as f64
    })
}
