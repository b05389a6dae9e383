//! Prediction of a connection's time without losses: its round trips, the computation of both sides, and the
//! transmission time of its bytes, less the computation during transmissions.

use netbench_interop::{
    FlightSizes, SEGMENT_BYTES, openssl_hello_writes, segments, segments_of_writes,
};
use netbench_model::{
    BitRate, ClientSettings, CpuShare, EarlyDataStatus, Group, KeyType, LabProfile, Measured,
    Profile, Site, StackName, TlsVersion, Window,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::overlap::{Exchange, Rates, signing_overlap_ns};

/// The predicted parts of a connection's time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predicted {
    /// Round trips until the end of the response.
    pub round_trips: f64,
    /// Time of the round trips: round-trip time and mean jitter, less the transmission that continues meanwhile.
    pub waiting_ns: f64,
    /// Measured CPU time of client and server.
    pub cpu_ns: f64,
    /// Transmission time of the bytes of both directions at the link's rates.
    pub bytes_ns: f64,
    /// The CPU time that both sides use while the link transmits other packets. It does not prolong the connection.
    #[serde(default)]
    pub overlap_ns: f64,
    /// The sum of the parts, less the overlap.
    pub total_ns: f64,
}

impl Predicted {
    /// Returns the CPU time that takes time of the connection.
    pub(super) fn computing_ns(&self) -> f64 {
        self.cpu_ns - self.overlap_ns
    }

    /// Returns the time of the connection without waiting.
    pub(super) fn working_ns(&self) -> f64 {
        self.computing_ns() + self.bytes_ns
    }
}

/// Headers of IPv4 and TCP with timestamps, and the part of Ethernet that a rate counts.
pub(super) const HEADER_BYTES: u64 = 66;

/// Packets without data that each side sends before a reply: those of TCP's own handshake.
const BARE_PACKETS: u64 = 1;

/// Predicts the time of a sample's connection. `client` has the offer of the stack, and `cpu` its CPU quota.
pub(super) fn predict(
    site: &Site,
    stack: &StackName,
    client: &ClientSettings,
    cpu: Option<CpuShare>,
    measured: &Measured,
) -> Predicted {
    let (lab, transfer) = (&*site.lab, &measured.transfer);
    let handshake = Flight::of_handshake(lab, measured);
    let response = Flight::of_response(lab, measured);
    let link = &lab.link;
    let trip_ns = (link.rtt_ns + link.jitter_ns) as f64;

    // The answer to accepted early data comes with the server's part of the handshake.
    let request_trips = match measured.client.early_data {
        Some(EarlyDataStatus::Accepted) => 0,
        Some(EarlyDataStatus::Rejected) | None => 1,
        Some(EarlyDataStatus::Retried) => 2,
    };
    let to_handshake = 1 + handshake_trips(client, measured);
    // A rejected connection ends with its handshake.
    let rejected_trips = measured.phases.rejected_ns.map_or(0, |_| to_handshake);
    let hello = f64::from(rejected_trips + to_handshake + request_trips);
    let mut sender = SlowStart::new(trip_ns, link.rate, link.window);
    sender.send(handshake);
    sender.send(response);
    let mut client_sender = SlowStart::new(trip_ns, link.rate_up.or(link.rate), link.window_up);
    client_sender.send(Flight::of_hello(lab, stack, measured));
    let after_hello = Flight::of_client(lab, stack, measured, client_sender.window);
    client_sender.send(after_hello);

    let down = transfer.bytes_in
        + HEADER_BYTES * (handshake.packets() + response.packets() + BARE_PACKETS);
    let up = transfer.bytes_out
        + HEADER_BYTES * (u64::from(segments(bytes(transfer.bytes_out))) + BARE_PACKETS);

    let rates = Rates {
        down: link.rate,
        up: link.rate_up.or(link.rate),
    };
    let share = cpu.map_or(1.0, |share| f64::from(share.percent()) / 100.0);
    let client_ns = measured.phases.cpu_ns as f64 / share;
    let bytes_ns = sending_ns(down, rates.down) + sending_ns(up, rates.up);
    let server_ns = measured
        .server
        .as_ref()
        .map_or(0, |server| server.compute_ns) as f64;
    let cpu_ns = client_ns + server_ns;

    let exchange = exchange(handshake, response, measured);
    let unsigned = openssl_flight(lab, measured).map_or(0, FlightSizes::unsigned_bytes);
    let overlap_ns = exchange.overlap_ns(rates, client_ns, measured)
        + signing_overlap_ns(unsigned, rates, server_ns);

    let waiting_ns = hello * trip_ns + sender.stalled_ns + client_sender.stalled_ns;
    Predicted {
        round_trips: hello + sender.trips + client_sender.trips,
        waiting_ns,
        cpu_ns,
        bytes_ns,
        overlap_ns,
        total_ns: waiting_ns + cpu_ns + bytes_ns - overlap_ns,
    }
}

/// Returns the packets between whose transmissions the client of this connection computes.
fn exchange(handshake: Flight, response: Flight, measured: &Measured) -> Exchange {
    let writes = u64::from(request_writes(measured));
    Exchange {
        handshake: handshake.packets(),
        frames: response.small.into(),
        response: response.full.into(),
        // The Finished message precedes the request.
        request: 1 + writes,
        request_packet_bytes: request_bytes(measured) / writes + HEADER_BYTES,
    }
}

/// Returns the number of writes of a request. hyper writes the preface of HTTP/2, its SETTINGS and the request one by one.
fn request_writes(measured: &Measured) -> u32 {
    match measured.client.alpn.as_deref() {
        Some("h2") => 3,
        _ => 1,
    }
}

/// Returns the bytes that the client wrote after its handshake.
fn request_bytes(measured: &Measured) -> u64 {
    let transfer = &measured.transfer;
    transfer
        .bytes_out
        .saturating_sub(transfer.handshake_bytes_out)
}

/// Returns the round trips of the TLS handshake, with one more if the server requested another key share.
fn handshake_trips(client: &ClientSettings, measured: &Measured) -> u32 {
    let agreed = &measured.client;
    let newest = agreed.version == Some(TlsVersion::Tls13);
    let shares = client.shares();
    // The default offer of a library is not known.
    let is_known = client.profile != Profile::Library && !shares.is_empty();
    let group = agreed.group.filter(|_| is_known && !agreed.resumed);
    match newest {
        true => 1 + u32::from(group.is_some_and(|group| !shares.contains(&group))),
        false if agreed.resumed => 1,
        false => 2,
    }
}

/// Segments that one side sends in sequence.
#[derive(Clone, Copy)]
struct Flight {
    /// Segments that are far from full; they come first.
    small: u32,
    full: u32,
}

impl Flight {
    fn full(full: u32) -> Self {
        Self { small: 0, full }
    }

    fn of_handshake(lab: &LabProfile, measured: &Measured) -> Self {
        let window = lab.link.window.unwrap_or_default().segments;
        let full = match openssl_flight(lab, measured) {
            Some(sizes) => sizes.segments_of_openssl(window),
            None => segments(bytes(measured.transfer.handshake_bytes_in)),
        };
        Self::full(full)
    }

    /// Returns the segments of a ClientHello, with early data if there are any.
    fn of_hello(lab: &LabProfile, stack: &StackName, measured: &Measured) -> Self {
        let bytes = hello_bytes(lab, stack, measured);
        let writes = match is_openssl_client(stack) {
            true => openssl_hello_writes(bytes),
            false => vec![bytes],
        };
        let window = lab.link.window_up.unwrap_or_default().segments;
        Self::full(segments_of_writes(&writes, window))
    }

    /// Returns the segments of data that a client writes after its ClientHello, with a congestion window of `window` segments: its
    /// certificates if the server requires them, its Finished message, and the request.
    fn of_client(lab: &LabProfile, stack: &StackName, measured: &Measured, window: u32) -> Self {
        let transfer = &measured.transfer;
        let hello = hello_bytes(lab, stack, measured);
        let flight = bytes(transfer.handshake_bytes_out).saturating_sub(hello);
        let mut writes = match lab.client_chain {
            _ if !is_openssl_client(stack) => writes_of_rustls(flight, transfer.handshake_bytes_in),
            Some(chain) if !measured.client.resumed => FlightSizes {
                bytes: flight,
                before_bytes: CHANGE_CIPHER_SPEC_BYTES,
                signed_bytes: signature_bytes(chain.key) + 30,
            }
            .pieces(),
            _ => vec![flight],
        };
        // None of the request's writes fills a segment.
        let small = request_writes(measured);
        let request = bytes(request_bytes(measured)) / small;
        writes.extend(std::iter::repeat_n(request, small as usize));
        Self::full(segments_of_writes(&writes, window))
    }

    /// Returns the segments of the response. It is preceded by tickets, and the SETTINGS of HTTP/2 and their
    /// acknowledgement. Each is written separately, but rustls writes its tickets together.
    fn of_response(lab: &LabProfile, measured: &Measured) -> Self {
        let (agreed, transfer) = (&measured.client, &measured.transfer);
        let tickets = match agreed.version {
            Some(TlsVersion::Tls13) if is_openssl(lab) => u32::from(lab.tickets),
            Some(TlsVersion::Tls13) => u32::from(lab.tickets.min(1)),
            _ => 0,
        };
        let frames = match agreed.alpn.as_deref() {
            Some("h2") => 2,
            _ => 0,
        };
        let response = transfer
            .bytes_in
            .saturating_sub(transfer.handshake_bytes_in);
        Self {
            small: tickets + frames,
            full: segments(bytes(response)),
        }
    }

    fn packets(self) -> u64 {
        u64::from(self.small) + u64::from(self.full)
    }
}

/// Returns the bytes of a ClientHello, with early data if there are any.
fn hello_bytes(lab: &LabProfile, stack: &StackName, measured: &Measured) -> u32 {
    /// ChangeCipherSpec and the record of the Finished message, of at most 16 bytes more by the suite.
    const REST_BYTES: u32 = CHANGE_CIPHER_SPEC_BYTES + 58;
    // Hellos without a ticket differ by far less than a segment. OpenSSL pads its shorter ones (RFC 7685).
    const HELLO_BYTES: u32 = 260;
    const OPENSSL_HELLO_BYTES: u32 = 517;
    let (agreed, transfer) = (&measured.client, &measured.transfer);
    if agreed.resumed || lab.client_chain.is_none() {
        return bytes(transfer.handshake_bytes_out).saturating_sub(REST_BYTES);
    }
    match agreed.group {
        Some(Group::X25519MLKEM768) => HELLO_BYTES + 1216,
        _ if is_openssl_client(stack) => OPENSSL_HELLO_BYTES,
        _ => HELLO_BYTES,
    }
}

/// Returns the sizes of the first flight of a server with OpenSSL.
fn openssl_flight(lab: &LabProfile, measured: &Measured) -> Option<FlightSizes> {
    if !is_openssl(lab) {
        return None;
    }
    let public_bytes = match measured.client.group {
        Some(Group::X25519MLKEM768) => 1120,
        _ => 65,
    };
    let bytes = bytes(measured.transfer.handshake_bytes_in);
    Some(FlightSizes::new(
        bytes,
        public_bytes,
        signature_bytes(lab.key),
    ))
}

/// A ChangeCipherSpec record (RFC 8446 appendix D.4).
const CHANGE_CIPHER_SPEC_BYTES: u32 = 6;

/// Returns the sizes of the writes with which rustls sends the certificates of a client. It reads 4,096 bytes at a time, and
/// sends ChangeCipherSpec at once if the server's flight is not complete then.
fn writes_of_rustls(flight: u32, received: u64) -> Vec<u32> {
    const READ_BYTES: u64 = 4096;
    match received > READ_BYTES {
        true => vec![
            CHANGE_CIPHER_SPEC_BYTES,
            flight.saturating_sub(CHANGE_CIPHER_SPEC_BYTES),
        ],
        false => vec![flight],
    }
}

/// Returns the size of a signature with such a key.
fn signature_bytes(key: KeyType) -> u32 {
    match key {
        KeyType::Rsa2048 => 256,
        KeyType::Rsa3072 => 384,
        KeyType::Rsa4096 => 512,
        KeyType::MlDsa44 => 2420,
        KeyType::MlDsa65 => 3309,
        KeyType::MlDsa87 => 4627,
        _ => 104,
    }
}

fn is_openssl_client(stack: &StackName) -> bool {
    stack.stack().starts_with("openssl")
}

fn is_openssl(lab: &LabProfile) -> bool {
    lab.server.starts_with("openssl")
}

fn bytes(of: u64) -> u32 {
    u32::try_from(of).unwrap_or(u32::MAX)
}

/// A sender whose flights wait for the acknowledgements of each window except the last.
struct SlowStart {
    trip_ns: f64,
    rate: Option<BitRate>,
    window: u32,
    trips: f64,
    stalled_ns: f64,
}

impl SlowStart {
    fn new(trip_ns: f64, rate: Option<BitRate>, window: Option<Window>) -> Self {
        Self {
            trip_ns,
            rate,
            window: window.unwrap_or_default().segments,
            trips: 0.0,
            stalled_ns: 0.0,
        }
    }

    fn send(&mut self, mut left: Flight) {
        let mut has_waited = false;
        loop {
            let small = left.small.min(self.window);
            let full = left.full.min(self.window - small);
            left.small -= small;
            left.full -= full;
            let is_last = left.packets() == 0;
            if !is_last {
                // The first acknowledgement arrives while the rest of the window is still being sent.
                let first = self.leaving_ns(small.min(1), u32::from(small == 0));
                let stalled_ns = (self.trip_ns + first - self.leaving_ns(small, full)).max(0.0);
                self.trips += if stalled_ns > 0.0 { 1.0 } else { 0.0 };
                self.stalled_ns += stalled_ns;
            }
            let sent = small + full;
            let grown = self.window.saturating_add(sent);
            // Linux lets a window that was full grow with each acknowledgement of the flight, and another one to twice of what
            // was sent (tcp_is_cwnd_limited).
            self.window = if has_waited || !is_last {
                grown
            } else {
                self.window.max(grown.min(2 * sent))
            };
            has_waited = true;
            if is_last {
                return;
            }
        }
    }

    fn leaving_ns(&self, small: u32, full: u32) -> f64 {
        let headers = u64::from(small + full) * HEADER_BYTES;
        sending_ns(
            u64::from(full) * u64::from(SEGMENT_BYTES) + headers,
            self.rate,
        )
    }
}

pub(super) fn sending_ns(bytes: u64, rate: Option<BitRate>) -> f64 {
    rate.map_or(0.0, |rate| {
        bytes as f64 * 8e9 / rate.bits_per_second.max(1) as f64
    })
}
