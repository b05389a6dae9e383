//! The sizes of Certificate messages, plain and compressed (RFC 8879).

use std::io;

use brotli::enc::BrotliEncoderParams;
use miniz_oxide::deflate::compress_to_vec_zlib;

/// The levels at which OpenSSL compresses: the defaults of each library.
const ZLIB_LEVEL: u8 = 6;
const BROTLI_QUALITY: i32 = 11;
const ZSTD_LEVEL: i32 = 3;

/// A Certificate message, compressed with each algorithm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedMessage {
    /// The message without compression.
    pub plain: Vec<u8>,
    /// The message with zlib.
    pub zlib: Vec<u8>,
    /// The message with brotli.
    pub brotli: Vec<u8>,
    /// The message with zstd.
    pub zstd: Vec<u8>,
}

impl CompressedMessage {
    /// Compresses the message of a server with these certificates, the leaf first, and this OCSP response.
    pub(crate) fn new(chain: &[&[u8]], staple: Option<&[u8]>) -> io::Result<Self> {
        let plain = message(chain, staple);
        let params = BrotliEncoderParams {
            quality: BROTLI_QUALITY,
            ..BrotliEncoderParams::default()
        };
        let mut brotli = Vec::new();
        brotli::BrotliCompress(&mut plain.as_slice(), &mut brotli, &params)?;
        Ok(Self {
            zlib: compress_to_vec_zlib(&plain, ZLIB_LEVEL),
            brotli,
            zstd: zstd::bulk::compress(&plain, ZSTD_LEVEL)?,
            plain,
        })
    }
}

/// Returns a server's Certificate message (RFC 8446 section 4.4.2) without its header. The leaf has the response as an
/// extension (section 4.4.2.1).
fn message(chain: &[&[u8]], staple: Option<&[u8]>) -> Vec<u8> {
    const STATUS_REQUEST: [u8; 2] = [0, 5];
    const OCSP: u8 = 1;
    let mut staple = staple.map(|response| {
        let status = [&[OCSP], &with_length::<3>(response)[..]].concat();
        [&STATUS_REQUEST, &with_length::<2>(&status)[..]].concat()
    });
    let entries = chain.iter().map(|certificate| {
        let extensions = staple.take().unwrap_or_default();
        [with_length::<3>(certificate), with_length::<2>(&extensions)].concat()
    });
    let entries: Vec<u8> = entries.flatten().collect();
    // A server's message has no context.
    [with_length::<1>(&[]), with_length::<3>(&entries)].concat()
}

/// Returns the bytes after their length, which has `N` bytes.
pub(crate) fn with_length<const N: usize>(bytes: &[u8]) -> Vec<u8> {
    let length = (bytes.len() as u64).to_be_bytes();
    [&length[length.len() - N..], bytes].concat()
}

#[cfg(test)]
mod tests {
    use miniz_oxide::inflate::decompress_to_vec_zlib;

    use super::*;

    /// Certificates, the leaf first; an OCSP response; and the message.
    type Case<'a> = (&'a [&'a [u8]], Option<&'a [u8]>, &'a [u8]);

    #[test]
    fn a_message_has_the_lengths_of_its_parts() {
        let cases: [Case<'_>; 3] = [
            (&[&[7, 8]], None, &[0, 0, 0, 7, 0, 0, 2, 7, 8, 0, 0]),
            (
                &[&[7], &[8, 9]],
                None,
                &[0, 0, 0, 13, 0, 0, 1, 7, 0, 0, 0, 0, 2, 8, 9, 0, 0],
            ),
            // The response belongs to the leaf.
            (
                &[&[7], &[8]],
                Some(&[3, 3]),
                &[
                    0, 0, 0, 22, 0, 0, 1, 7, 0, 10, 0, 5, 0, 6, 1, 0, 0, 2, 3, 3, 0, 0, 1, 8, 0, 0,
                ],
            ),
        ];
        for (chain, staple, due) in cases {
            assert_eq!(message(chain, staple), due);
        }
    }

    #[test]
    fn every_algorithm_gives_the_message_back() {
        // Bytes that repeat, as names do, and bytes that do not, as keys.
        let names = b"www1.example.com".repeat(200);
        let keys: Vec<u8> = (0..2000u32).map(|n| ((n * n * 31) >> 7) as u8).collect();
        let chain = [names.as_slice(), keys.as_slice()];
        let message = CompressedMessage::new(&chain, Some(&keys)).unwrap();
        assert_eq!(
            decompress_to_vec_zlib(&message.zlib).unwrap(),
            message.plain
        );
        let mut plain = Vec::new();
        brotli::BrotliDecompress(&mut message.brotli.as_slice(), &mut plain).unwrap();
        assert_eq!(plain, message.plain);
        let plain = zstd::bulk::decompress(&message.zstd, message.plain.len()).unwrap();
        assert_eq!(plain, message.plain);
        for compressed in [&message.zlib, &message.brotli, &message.zstd] {
            assert!(compressed.len() < message.plain.len() - names.len() / 2);
        }
    }
}
