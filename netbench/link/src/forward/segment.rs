//! The few fields of IPv4 (RFC 791) and TCP (RFC 9293) that identify a packet's connection.

use super::{Direction, Load};

/// A TCP segment in an IPv4 packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Segment<'a> {
    pub(crate) source: [u8; 4],
    pub(crate) destination: [u8; 4],
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) sequence: u32,
    /// Whether the packet is a SYN without ACK, which begins a connection.
    pub(crate) opens: bool,
    /// Whether the packet is a SYN with ACK, by which the other side's kernel accepts.
    pub(crate) accepts: bool,
    /// Whether the packet is a FIN or RST, after which its sender sends no more.
    pub(crate) ends: bool,
    /// The sequence number of the next byte that its sender expects.
    pub(crate) acknowledged: u32,
    pub(crate) load: Load,
    /// Size of the data, of which the packet may have a part.
    pub(crate) data_bytes: usize,
    pub(crate) data: &'a [u8],
}

/// Parses a packet. Returns `None` for any other packet, and for a fragment that is not the first.
pub(crate) fn parse(packet: &[u8]) -> Option<Segment<'_>> {
    let ip = packet.first_chunk::<20>()?;
    let header_bytes = usize::from(ip[0] & 0x0f) * 4;
    let fragment_offset = u16::from_be_bytes([ip[6], ip[7]]) & 0x1fff;
    if ip[0] >> 4 != 4 || header_bytes < 20 || ip[9] != 6 || fragment_offset != 0 {
        return None;
    }
    let total_bytes = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let tcp = packet.get(header_bytes..)?.first_chunk::<20>()?;
    let tcp_header_bytes = usize::from(tcp[12] >> 4) * 4;
    let flags = tcp[13];
    let (syn, ack) = (flags & 0x02 != 0, flags & 0x10 != 0);
    let begin = header_bytes + tcp_header_bytes;
    let data_bytes = total_bytes.saturating_sub(begin);
    Some(Segment {
        source: [ip[12], ip[13], ip[14], ip[15]],
        destination: [ip[16], ip[17], ip[18], ip[19]],
        source_port: u16::from_be_bytes([tcp[0], tcp[1]]),
        destination_port: u16::from_be_bytes([tcp[2], tcp[3]]),
        sequence: u32::from_be_bytes([tcp[4], tcp[5], tcp[6], tcp[7]]),
        opens: syn && !ack,
        accepts: syn && ack,
        ends: flags & 0x05 != 0,
        acknowledged: u32::from_be_bytes([tcp[8], tcp[9], tcp[10], tcp[11]]),
        load: if syn || data_bytes > 0 {
            Load::Data
        } else {
            Load::Bare
        },
        data_bytes,
        data: packet
            .get(begin..total_bytes.min(packet.len()))
            .unwrap_or_default(),
    })
}

impl Segment<'_> {
    /// Returns the address of the site, the port of the client and that of the site.
    pub(crate) fn ends(&self, direction: Direction) -> ([u8; 4], u16, u16) {
        match direction {
            Direction::Up => (self.destination, self.source_port, self.destination_port),
            Direction::Down => (self.source, self.destination_port, self.source_port),
        }
    }
}

/// Packets for tests.
#[cfg(test)]
pub(crate) mod made {
    pub(crate) const FIN: u8 = 0x01;
    pub(crate) const SYN: u8 = 0x02;
    pub(crate) const ACK: u8 = 0x10;

    /// Returns a packet between two addresses and ports, with `data_bytes` of data.
    pub(crate) fn packet(
        (source, source_port): ([u8; 4], u16),
        (destination, destination_port): ([u8; 4], u16),
        flags: u8,
        sequence: u32,
        data_bytes: u16,
    ) -> Vec<u8> {
        let mut bytes = vec![0x45, 0];
        bytes.extend((40 + data_bytes).to_be_bytes());
        bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0]);
        bytes.extend(source);
        bytes.extend(destination);
        bytes.extend(source_port.to_be_bytes());
        bytes.extend(destination_port.to_be_bytes());
        bytes.extend(sequence.to_be_bytes());
        bytes.extend([0, 0, 0, 0, 0x50, flags, 0, 0, 0, 0, 0, 0]);
        bytes.resize(40 + usize::from(data_bytes), 0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{made::*, *};

    #[test]
    fn fields_are_found() {
        let client = ([10, 0, 0, 1], 40_000);
        let site = ([10, 1, 0, 7], 443);
        for (flags, data, opens, ends, load) in [
            (SYN, 0, true, false, Load::Data),
            (SYN | ACK, 0, false, false, Load::Data),
            (ACK, 0, false, false, Load::Bare),
            (ACK, 1, false, false, Load::Data),
            (ACK | FIN, 0, false, true, Load::Bare),
        ] {
            let bytes = packet(client, site, flags, 5, data);
            let segment = parse(&bytes).expect("a segment");
            assert_eq!(
                (segment.opens, segment.ends, segment.load),
                (opens, ends, load),
                "flags {flags:#x}"
            );
            assert_eq!((segment.source, segment.source_port), client);
            assert_eq!((segment.destination, segment.destination_port), site);
            assert_eq!(segment.sequence, 5);
        }
    }

    #[test]
    fn what_is_not_tcp_is_left_alone() {
        let good = packet(([10, 0, 0, 1], 1), ([10, 1, 0, 1], 2), ACK, 0, 0);
        assert_eq!((parse(&good[..39]), parse(&[])), (None, None));
        for (what, at, value) in [
            ("IPv6", 0, 0x60),
            ("header length under 20", 0, 0x44),
            ("header past the end", 0, 0x4f),
            ("UDP", 9, 17),
            ("later fragment", 7, 1),
        ] {
            let mut bytes = good.clone();
            bytes[at] = value;
            assert_eq!(parse(&bytes), None, "{what}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = parse(&bytes);
        }
    }
}
