//! The segments of a server's first flight.

/// Data of a segment on Ethernet: 1,500 bytes without the headers of IPv4 and TCP, and TCP's timestamps.
pub const SEGMENT_BYTES: u32 = 1448;

/// Returns the number of segments of data that are written at once.
pub fn segments(bytes: u32) -> u32 {
    bytes.div_ceil(SEGMENT_BYTES)
}

/// The sizes of a server's first flight, which OpenSSL writes in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlightSizes {
    /// Bytes of the whole flight.
    pub bytes: u32,
    /// Bytes before the Certificate message.
    pub before_bytes: u32,
    /// Bytes after the Certificate message.
    pub after_bytes: u32,
}

/// The buffer through which OpenSSL writes a handshake (`BIO_f_buffer`).
const BUFFER_BYTES: u32 = 4096;
/// The data of a record (RFC 8446 section 5.1), and its header, content type and tag.
const RECORD_BYTES: u32 = 16_384;
const AROUND_RECORD_BYTES: u32 = 22;

impl FlightSizes {
    /// Returns the sizes of a flight with a key share or key exchange of `public_bytes` and a signature of
    /// `signature_bytes`; headers and extensions have their usual sizes.
    pub fn new(bytes: u32, public_bytes: u32, signature_bytes: u32) -> Self {
        Self {
            bytes,
            before_bytes: public_bytes + 140,
            after_bytes: signature_bytes + 100,
        }
    }

    /// Returns the number of segments in which OpenSSL sends the flight with `TCP_NODELAY` and a congestion window of
    /// `window` segments. The end of each piece is a segment that is not full, but for pieces that wait in the kernel's queue,
    /// which become full segments.
    pub fn segments_of_openssl(self, window: u32) -> u32 {
        let (mut sent, mut sent_bytes) = (0, 0);
        for piece in self.pieces() {
            let due = segments(piece);
            if sent + due > window {
                let waiting = self.bytes - sent_bytes - (window - sent) * SEGMENT_BYTES;
                return window + segments(waiting);
            }
            sent += due;
            sent_bytes += piece;
        }
        sent
    }

    /// Returns the sizes of OpenSSL's writes. A record that does not fit into the rest of the buffer fills it, and what is left
    /// is written at once if it is larger than the buffer.
    fn pieces(self) -> Vec<u32> {
        let beside = self.before_bytes + self.after_bytes;
        let mut left = self.bytes.saturating_sub(beside);
        let mut buffered = self.before_bytes.min(self.bytes);
        let mut pieces = Vec::new();
        while left > 0 {
            let mut record = left.min(RECORD_BYTES + AROUND_RECORD_BYTES);
            left -= record;
            if buffered > 0 && record > BUFFER_BYTES - buffered {
                record -= BUFFER_BYTES - buffered;
                pieces.push(BUFFER_BYTES);
                buffered = 0;
            }
            if record >= BUFFER_BYTES {
                pieces.push(record);
            } else {
                buffered += record;
            }
        }
        let rest = self.bytes - pieces.iter().sum::<u32>();
        match rest {
            0..BUFFER_BYTES => pieces.push(rest),
            _ => pieces.extend([BUFFER_BYTES, rest - BUFFER_BYTES]),
        }
        pieces
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
        // After a first window of 10, the second has 20: the rest is sent in full segments.
        assert!(flight(42_717).segments_of_openssl(10) <= 30);
        assert!(flight(44_165).segments_of_openssl(10) > 30);
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
