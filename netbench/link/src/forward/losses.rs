//! The packets that the seed dropped, and their digest.

use sha2::{Digest, Sha256};

use super::{Direction, trials::ConnectionName};

/// A packet with SYN or data that the seed dropped. Bare packets are left out: their number depends
/// on timing, so that two equal runs would differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loss {
    pub(crate) site: u32,
    pub(crate) connection: ConnectionName,
    pub(crate) direction: Direction,
    pub(crate) packet: u32,
}

/// Returns the SHA-256 in hexadecimal over the losses in the order of their fields, each as
/// little-endian bytes with one byte for the direction. The times of losses do not matter.
pub(crate) fn digest(losses: &[Loss]) -> String {
    let mut losses = losses.to_vec();
    losses.sort_unstable();
    let mut hash = Sha256::new();
    for loss in losses {
        hash.update(loss.site.to_le_bytes());
        hash.update(loss.connection.key.0.to_le_bytes());
        hash.update(loss.connection.occurrence.to_le_bytes());
        hash.update(loss.connection.connection.to_le_bytes());
        hash.update([loss.direction as u8]);
        hash.update(loss.packet.to_le_bytes());
    }
    format!("{:x}", hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TrialKey;

    fn loss(site: u32, packet: u32) -> Loss {
        Loss {
            site,
            connection: ConnectionName {
                key: TrialKey(1),
                ..ConnectionName::default()
            },
            direction: Direction::Down,
            packet,
        }
    }

    #[test]
    fn the_digest_knows_no_order_of_time() {
        let digests = [
            digest(&[loss(0, 1), loss(1, 4)]),
            digest(&[loss(1, 4), loss(0, 1)]),
            digest(&[loss(0, 1)]),
            digest(&[Loss {
                direction: Direction::Up,
                ..loss(0, 1)
            }]),
        ];
        assert_eq!(digests[0], digests[1]);
        assert_ne!(digests[0], digests[2]);
        assert_ne!(digests[2], digests[3]);
        let of_nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(digest(&[]), of_nothing);
    }
}
