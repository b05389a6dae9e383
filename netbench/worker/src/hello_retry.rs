//! The HelloRetryRequest of TLS 1.3, which libraries do not report for resumed handshakes.

use netbench_tls::wire::{content::HANDSHAKE, handshake::SERVER_HELLO};

/// The value of `random` in a ServerHello that is a HelloRetryRequest: the SHA-256 of that word (RFC 8446 section 4.1.3).
const RANDOM: [u8; 32] = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
    0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];

/// The bytes before it: the header of a record, the header of a message, and the version.
const BEFORE: usize = 5 + 4 + 2;

/// The number of first bytes of a connection that have to be known.
pub(crate) const HEAD_BYTES: usize = BEFORE + RANDOM.len();

/// Returns whether the bytes of a server begin with a HelloRetryRequest.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let Some((before, random)) = bytes.split_first_chunk::<BEFORE>() else {
        return false;
    };
    before[0] == HANDSHAKE && before[5] == SERVER_HELLO && random.starts_with(&RANDOM)
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
        let retry = server_hello(RANDOM);
        assert!(begins(&retry));
        assert!(begins(&retry[..HEAD_BYTES]));
        assert!(!begins(&retry[..HEAD_BYTES - 1]));
        assert!(!begins(&server_hello([7; 32])));
        let alert = [&[21][..], &retry[1..]].concat();
        assert!(!begins(&alert));
    }
}
