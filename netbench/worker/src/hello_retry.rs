//! The HelloRetryRequest of TLS 1.3, which libraries do not report for resumed handshakes.

use netbench_tls::wire::{RETRY_RANDOM, content::HANDSHAKE, handshake::SERVER_HELLO};

/// The bytes before the random value: the header of a record, the header of a message, and the version.
const BEFORE: usize = 5 + 4 + 2;

/// The number of first bytes of a connection that have to be known.
pub(crate) const HEAD_BYTES: usize = BEFORE + RETRY_RANDOM.len();

/// Returns whether the bytes of a server begin with a HelloRetryRequest.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let Some((before, random)) = bytes.split_first_chunk::<BEFORE>() else {
        return false;
    };
    before[0] == HANDSHAKE && before[5] == SERVER_HELLO && random.starts_with(&RETRY_RANDOM)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server_hello(random: [u8; 32]) -> Vec<u8> {
        let before = [22, 3, 3, 0, 88, 2, 0, 0, 84, 3, 3];
        [&before[..], &random, &[0; 46]].concat()
    }

    #[test]
    fn the_random_tells() {
        let retry = server_hello(RETRY_RANDOM);
        assert!(begins(&retry));
        assert!(begins(&retry[..HEAD_BYTES]));
        assert!(!begins(&retry[..HEAD_BYTES - 1]));
        assert!(!begins(&server_hello([7; 32])));
        let alert = [&[21][..], &retry[1..]].concat();
        assert!(!begins(&alert));
    }
}
