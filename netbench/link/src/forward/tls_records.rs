//! The TLS records in the data of one side of a connection.

use netbench_model::tls::wire::content::APPLICATION_DATA;

const RECORD_HEADER_BYTES: usize = 5;

/// The positions of TLS records in one side's data.
pub(super) struct TlsRecords {
    /// The sequence number of the first byte.
    pub(super) first: u32,
    /// Number of bytes that arrived in order.
    pub(super) offset: u64,
    /// Number of remaining bytes of the record that the next byte is in.
    left: usize,
    /// The received part of the header that the next byte is in.
    header: Vec<u8>,
}

/// The new data of a segment.
#[derive(Default)]
pub(super) struct Fresh {
    /// Number of bytes that had not arrived before.
    pub(super) bytes: u64,
    /// Whether a protected record begins among them.
    pub(super) begins_protected: bool,
    /// The start and end offsets of the protected records whose headers these bytes completed.
    pub(super) protected: Vec<(u64, u64)>,
}

impl TlsRecords {
    /// Returns the records of data whose first byte has this sequence number.
    pub(super) fn beginning(first: u32) -> Self {
        Self {
            first,
            offset: 0,
            left: 0,
            header: Vec::with_capacity(RECORD_HEADER_BYTES),
        }
    }

    /// Adds a segment's data. Data that are sent again, or arrived before their predecessor, are not new.
    pub(super) fn enter(&mut self, sequence: u32, data: &[u8]) -> Fresh {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "sequence numbers wrap around"
        )]
        let next = self.first.wrapping_add(self.offset as u32);
        let mut fresh = Fresh::default();
        if sequence != next {
            return fresh;
        }
        fresh.bytes = data.len() as u64;
        let end = self.offset + fresh.bytes;
        let mut rest = data;
        while !rest.is_empty() {
            let within = self.left.min(rest.len());
            self.left -= within;
            rest = &rest[within..];
            if rest.is_empty() {
                break;
            }
            if self.header.is_empty() && rest[0] == APPLICATION_DATA {
                fresh.begins_protected = true;
            }
            let missing = (RECORD_HEADER_BYTES - self.header.len()).min(rest.len());
            self.header.extend_from_slice(&rest[..missing]);
            rest = &rest[missing..];
            if let [kind, _, _, high, low] = self.header[..] {
                self.left = usize::from(u16::from_be_bytes([high, low]));
                self.header.clear();
                if kind == APPLICATION_DATA {
                    let body = end - rest.len() as u64;
                    let begin = body - RECORD_HEADER_BYTES as u64;
                    fresh.protected.push((begin, body + self.left as u64));
                }
            }
        }
        self.offset = end;
        fresh
    }
}
