//! The segments of a server's first flight.

/// Data of a segment on Ethernet: 1,500 bytes without the headers of IPv4 and TCP, and TCP's timestamps.
pub const SEGMENT_BYTES: u32 = 1448;

/// Returns the number of segments of data that are written at once.
pub fn segments(bytes: u32) -> u32 {
    bytes.div_ceil(SEGMENT_BYTES)
}

/// Returns the number of segments in which these writes are sent with `TCP_NODELAY` and a congestion window of `window`
/// segments. The end of each write is a segment that is not full, but for writes that wait in the kernel's queue, which become
/// full segments.
pub fn segments_of_writes(writes: &[u32], window: u32) -> u32 {
    let bytes: u32 = writes.iter().sum();
    let (mut sent, mut sent_bytes) = (0, 0);
    for write in writes {
        let due = segments(*write);
        if sent + due > window {
            let waiting = bytes - sent_bytes - (window - sent) * SEGMENT_BYTES;
            return window + segments(waiting);
        }
        sent += due;
        sent_bytes += write;
    }
    sent
}

/// Returns the sizes of OpenSSL's writes of a ClientHello of `bytes`: one for each record, none of which is encrypted.
pub fn openssl_hello_writes(bytes: u32) -> Vec<u32> {
    const HEADER_BYTES: u32 = 5;
    let record = RECORD_BYTES + HEADER_BYTES;
    let (full, rest) = (bytes / record, bytes % record);
    let full = std::iter::repeat_n(record, full as usize);
    full.chain((rest > 0).then_some(rest)).collect()
}

/// The sizes of a server's first flight, or of a client's certificates, which OpenSSL writes in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlightSizes {
    /// Bytes of the whole flight.
    pub bytes: u32,
    /// Bytes before the Certificate message.
    pub before_bytes: u32,
    /// Bytes of the record after the Certificate message, which has the signature.
    pub signed_bytes: u32,
}

/// The buffer through which OpenSSL writes a handshake (`BIO_f_buffer`).
const BUFFER_BYTES: u32 = 4096;
/// The data of a record (RFC 8446 section 5.1), and its header, content type and tag.
const RECORD_BYTES: u32 = 16_384;
const AROUND_RECORD_BYTES: u32 = 22;
/// The record of the Finished message, of 36 or 52 bytes by the suite.
const FINISHED_BYTES: u32 = 70;

impl FlightSizes {
    /// Returns the sizes of a flight with a key share or key exchange of `public_bytes` and a signature of
    /// `signature_bytes`; headers and extensions have their usual sizes.
    pub fn new(bytes: u32, public_bytes: u32, signature_bytes: u32) -> Self {
        Self {
            bytes,
            before_bytes: public_bytes + 140,
            signed_bytes: signature_bytes + 30,
        }
    }

    /// Returns the number of segments in which OpenSSL sends the flight ([`segments_of_writes`]).
    pub fn segments_of_openssl(self, window: u32) -> u32 {
        segments_of_writes(&self.pieces(), window)
    }

    /// Returns the bytes that OpenSSL writes before it signs: those that do not wait in its buffer for the signature.
    pub fn unsigned_bytes(self) -> u32 {
        let before = self
            .bytes
            .saturating_sub(self.signed_bytes + FINISHED_BYTES);
        let written = self.pieces().into_iter().scan(0, |written, piece| {
            *written += piece;
            Some(*written)
        });
        written
            .take_while(|written| *written <= before)
            .last()
            .unwrap_or(0)
    }

    /// Returns the sizes of OpenSSL's writes.
    pub fn pieces(self) -> Vec<u32> {
        let beside = self.before_bytes + self.signed_bytes + FINISHED_BYTES;
        let mut left = self.bytes.saturating_sub(beside);
        let mut buffer = Buffer::default();
        buffer.write(self.before_bytes.min(self.bytes));
        while left > 0 {
            let record = left.min(RECORD_BYTES + AROUND_RECORD_BYTES);
            left -= record;
            buffer.write(record);
        }
        let rest = self.bytes - buffer.written();
        buffer.write(rest.saturating_sub(FINISHED_BYTES));
        buffer.write(rest.min(FINISHED_BYTES));
        buffer.flush();
        buffer.pieces
    }
}

/// OpenSSL's buffer, with the sizes of the writes that left it.
#[derive(Debug, Default)]
struct Buffer {
    buffered: u32,
    pieces: Vec<u32>,
}

impl Buffer {
    /// Adds a record. One that does not fit into the rest of the buffer fills it, and what is left is written at once if it
    /// is as large as the buffer.
    fn write(&mut self, mut record: u32) {
        if self.buffered + record > BUFFER_BYTES {
            if self.buffered > 0 {
                record -= BUFFER_BYTES - self.buffered;
                self.buffered = BUFFER_BYTES;
                self.flush();
            }
            if record >= BUFFER_BYTES {
                self.pieces.push(record);
                return;
            }
        }
        self.buffered += record;
    }

    fn flush(&mut self) {
        if self.buffered > 0 {
            self.pieces.push(self.buffered);
        }
        self.buffered = 0;
    }

    /// Returns the bytes of all records so far.
    fn written(&self) -> u32 {
        self.pieces.iter().sum::<u32>() + self.buffered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The size of a flight with the hybrid group and a signature of RSA-2048.
    fn flight(bytes: u32) -> FlightSizes {
        FlightSizes::new(bytes, 1120, 256)
    }

    #[test]
    fn openssl_writes_a_large_flight_in_pieces() {
        // A packet capture showed these pieces of 13,572 bytes.
        assert_eq!(flight(13_572).pieces(), [4096, 9120, 356]);
        assert_eq!(flight(3000).pieces(), [3000]);
        assert_eq!(flight(6000).pieces(), [4096, 1904]);
        assert_eq!(flight(30_000).pieces(), [4096, 13_570, 11_978, 356]);
        // The signature of ML-DSA-87 is larger than the buffer.
        let large = FlightSizes::new(13_000, 65, 4627);
        assert_eq!(large.pieces(), [4096, 4177, 4657, 70]);
    }

    #[test]
    fn openssl_writes_what_does_not_fit_into_its_buffer_before_it_signs() {
        assert_eq!(flight(13_572).unsigned_bytes(), 4096 + 9120);
        assert_eq!(flight(6000).unsigned_bytes(), 4096);
        assert_eq!(flight(3000).unsigned_bytes(), 0);
        // The first 4,096 bytes end with a part of the signature.
        assert_eq!(FlightSizes::new(5634, 65, 2420).unsigned_bytes(), 0);
        let large = FlightSizes::new(13_000, 65, 4627);
        assert_eq!(large.unsigned_bytes(), 4096 + 4177);
    }

    /// The sizes between which a connection over an emulated link took another round trip.
    #[test]
    fn measured_steps_are_predicted() {
        for (window, without, with) in [
            (10, 12_265, 13_713),
            (20, 25_319, 26_767),
            (32, 42_717, 44_165),
        ] {
            assert!(flight(without).segments_of_openssl(window) <= window);
            assert!(flight(with).segments_of_openssl(window) > window);
        }
        // ML-DSA, of whose signatures that of ML-DSA-87 does not fit into the buffer.
        for (signature, public, without, with) in [
            (2420, 65, 13_539, 13_937),
            (2420, 1120, 13_814, 14_216),
            (3309, 65, 13_228, 13_627),
            (3309, 1120, 13_103, 13_504),
            (4627, 65, 12_546, 12_946),
            (4627, 1120, 12_422, 12_819),
        ] {
            let [without, with] =
                [without, with].map(|bytes| FlightSizes::new(bytes, public, signature));
            assert!(without.segments_of_openssl(10) <= 10, "{without:?}");
            assert!(with.segments_of_openssl(10) > 10, "{with:?}");
        }
        // After a first window of 10, the second has 20: the rest is sent in full segments.
        assert!(flight(42_717).segments_of_openssl(10) <= 30);
        assert!(flight(44_165).segments_of_openssl(10) > 30);
    }

    /// The sizes of a client's certificates of ECDSA P-256 between which a connection over an emulated link took another round
    /// trip. Three small writes follow, the preface of HTTP/2, its SETTINGS and the request.
    #[test]
    fn measured_steps_of_clients_are_predicted() {
        let request = [24, 100, 144];
        let openssl = |bytes| {
            let flight = FlightSizes {
                bytes,
                before_bytes: 6,
                signed_bytes: 134,
            };
            [&flight.pieces()[..], &request].concat()
        };
        let rustls = |bytes| [&[bytes][..], &request].concat();
        // With ChangeCipherSpec by itself.
        let rustls_early = |bytes: u32| [&[6, bytes - 6][..], &request].concat();
        // The first window, the segments until the end of the last one that is counted, and the sizes.
        let steps: [(u32, u32, [Vec<u32>; 2]); 8] = [
            (10, 10, [8_413, 9_112].map(openssl)),
            (10, 10, [9_867, 10_365].map(rustls)),
            (10, 10, [7_408, 8_856].map(rustls_early)),
            (20, 20, [21_955, 23_402].map(openssl)),
            (20, 20, [21_913, 23_359].map(rustls_early)),
            (32, 32, [37_905, 39_353].map(openssl)),
            (32, 32, [39_309, 40_757].map(rustls_early)),
            // After a first window of 10, the second has 20.
            (10, 30, [40_757, 42_204].map(rustls_early)),
        ];
        for (number, (window, until, [without, with])) in steps.iter().enumerate() {
            assert!(segments_of_writes(without, *window) <= *until, "{number}");
            assert!(segments_of_writes(with, *window) > *until, "{number}");
        }
        for (bytes, waits) in [(42_248, false), (43_696, true)] {
            assert_eq!(segments_of_writes(&openssl(bytes), 10) > 30, waits);
        }
    }

    /// The sizes of ClientHellos with a ticket between which a connection over an emulated link took another round trip.
    #[test]
    fn measured_steps_of_hellos_are_predicted() {
        for (window, without, with) in [
            (4, 5_645, 5_949),
            (10, 14_349, 14_637),
            // Two records, each of which ends with a segment that is not full.
            (20, 14_637, 28_754),
        ] {
            let [without, with] = [without, with].map(openssl_hello_writes);
            assert!(segments_of_writes(&without, window) <= window);
            assert!(segments_of_writes(&with, window) > window);
        }
        // rustls writes all records together.
        assert!(segments_of_writes(&[28_741], 20) <= 20);
        assert!(segments_of_writes(&[29_141], 20) > 20);
    }

    #[test]
    fn pieces_add_up_to_the_flight() {
        for bytes in (0..70_000).step_by(97) {
            let flight = flight(bytes);
            assert_eq!(flight.pieces().iter().sum::<u32>(), bytes);
            let sent = flight.segments_of_openssl(10);
            assert!(
                sent >= segments(bytes) && sent <= segments(bytes) + 5,
                "{bytes}"
            );
        }
    }
}
