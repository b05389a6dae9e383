//! Compressed certificates (RFC 8879), right and wrong.
//!
//! Each format can hold data as they are, so that no encoder is needed: only bombs repeat a byte.

use netbench_scan::codec::{Reader, extension, message, message_type, put_u16, put_vec24};

use super::hello::Hello;
use crate::case::{Algorithm, CompressionFlaw, CompressionSpec};

/// A number that no algorithm has (RFC 8879 section 7.3).
const UNASSIGNED: u16 = 4;

/// The length of a bomb's contents, which is one byte more than any message can have.
const BOMB: usize = 1 << 24;

/// The maximum length of a block of zstd, and the window of its frames.
const ZSTD_BLOCK: usize = 1 << 17;

/// The reason why a case does not apply to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unsuited {
    /// The client does not support compressed certificates.
    #[error("it offers no certificate compression")]
    NoCompression,
    /// The client supports other algorithms than that of the case.
    #[error("it does not offer certificate compression with the algorithm of the case")]
    OtherAlgorithms,
    /// The client supports compressed certificates, and the case is for clients that do not.
    #[error("it offers certificate compression, and the case is for clients that do not")]
    Compression,
    /// The client offers Encrypted ClientHello, or GREASE in its place, and the case is for clients that do not.
    #[error("it offers Encrypted ClientHello, and the case is for clients that do not")]
    Ech,
}

/// A format of compressed data (RFC 8879 section 7.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Zlib,
    Brotli,
    Zstd,
}

impl Format {
    const ALL: [Self; 3] = [Self::Zlib, Self::Brotli, Self::Zstd];

    fn code(self) -> u16 {
        match self {
            Self::Zlib => 1,
            Self::Brotli => 2,
            Self::Zstd => 3,
        }
    }

    /// Returns a stream of these bytes that repeats the last one this many times.
    fn stream(self, bytes: &[u8], repeats: usize) -> Vec<u8> {
        match self {
            Self::Zlib => zlib(bytes, repeats),
            Self::Brotli => brotli(bytes, repeats),
            Self::Zstd => zstd(bytes, repeats),
        }
    }
}

/// The number that a message has, and the format of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChosenCompression {
    code: u16,
    format: Format,
}

/// Returns the compression of a case for a client.
pub(super) fn choose(algorithm: Algorithm, hello: &Hello) -> Result<ChosenCompression, Unsuited> {
    let Some(offered) = offered(hello) else {
        return match algorithm {
            Algorithm::Unasked => Ok(Format::Zlib.into()),
            _ => Err(Unsuited::NoCompression),
        };
    };
    let all = Format::ALL.into_iter();
    let (known, other): (Vec<Format>, Vec<Format>) =
        all.partition(|format| offered.contains(&format.code()));
    let format = match algorithm {
        Algorithm::Unasked => return Err(Unsuited::Compression),
        Algorithm::Zlib => Some(&Format::Zlib),
        Algorithm::Brotli => Some(&Format::Brotli),
        Algorithm::Zstd => Some(&Format::Zstd),
        Algorithm::Offered => known.first(),
        Algorithm::NotOffered => {
            return Ok(other.first().map_or(
                ChosenCompression {
                    code: UNASSIGNED,
                    format: Format::Zlib,
                },
                |format| (*format).into(),
            ));
        }
    };
    format
        .filter(|format| known.contains(format))
        .map(|format| (*format).into())
        .ok_or(Unsuited::OtherAlgorithms)
}

impl From<Format> for ChosenCompression {
    fn from(format: Format) -> Self {
        Self {
            code: format.code(),
            format,
        }
    }
}

/// Returns the algorithms of the extension `compress_certificate`, if the client sent it.
fn offered(hello: &Hello) -> Option<Vec<u16>> {
    let body = hello.extension(extension::COMPRESS_CERTIFICATE)?;
    Reader::new(Reader::new(body).vec8()?).u16s()
}

/// Returns a CompressedCertificate message for the body of a Certificate message.
pub(super) fn compressed_certificate(
    spec: CompressionSpec,
    chosen: ChosenCompression,
    body: &[u8],
) -> Vec<u8> {
    let whole = body.len();
    let most = BOMB - 1;
    let (length, repeats) = match spec.flaw {
        Some(CompressionFlaw::LengthLess) => (whole - 1, 0),
        Some(CompressionFlaw::LengthMore) => (whole + 1, 0),
        Some(CompressionFlaw::Bomb) => (whole, BOMB.saturating_sub(whole)),
        Some(CompressionFlaw::BombAsStated) => (most, most.saturating_sub(whole)),
        None | Some(CompressionFlaw::Garbage | CompressionFlaw::Empty) => (whole, 0),
    };
    let compressed = match spec.flaw {
        // No format begins with this byte.
        Some(CompressionFlaw::Garbage) => vec![0x11; 64],
        Some(CompressionFlaw::Empty) => Vec::new(),
        _ => chosen.format.stream(body, repeats),
    };
    let mut message_body = Vec::new();
    put_u16(&mut message_body, chosen.code);
    let length = u32::try_from(length).unwrap_or(u32::MAX);
    message_body.extend_from_slice(&length.to_be_bytes()[1..]);
    put_vec24(&mut message_body, &compressed);
    message(message_type::COMPRESSED_CERTIFICATE, &message_body)
}

/// Returns a stream of zlib (RFC 1950): stored blocks of deflate (RFC 1951), and a block of copies.
fn zlib(bytes: &[u8], repeats: usize) -> Vec<u8> {
    const LONGEST_BLOCK: usize = 0xffff;
    /// The longest copy.
    const COPY: usize = 258;
    let last = bytes.last().copied().unwrap_or_default();
    let mut stored = bytes.to_vec();
    stored.resize(bytes.len() + repeats % COPY, last);
    let mut stream = Bits::new(vec![0x78, 0x01]);
    for block in stored.chunks(LONGEST_BLOCK) {
        stream.put(0, 3);
        let mut to = stream.aligned();
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        to.extend(length.to_le_bytes());
        to.extend((!length).to_le_bytes());
        to.extend_from_slice(block);
        stream = Bits::new(to);
    }
    put_deflate_codes(&mut stream);
    for _ in 0..repeats / COPY {
        // The length, and the distance 1.
        stream.put(0b01, 2);
    }
    // The end of the block.
    stream.put(0, 1);
    let mut to = stream.aligned();
    to.extend(adler32(bytes, repeats).to_be_bytes());
    to
}

/// Writes the beginning of a last block of deflate whose codes have one bit (RFC 1951 section 3.2.7): 0 for the end of the
/// block, 1 for the longest copy, and 0 for the distance 1. Streams with the fixed codes have seven times the length, which
/// is more than some clients allow a message.
fn put_deflate_codes(stream: &mut Bits) {
    /// The code for a series of zeros, with its shortest length.
    const ZEROS: u32 = 1;
    const SHORTEST: u32 = 11;
    stream.put(0b101, 3);
    // The codes of 286 literals and lengths, of 1 distance, and of 18 lengths of codes.
    stream.put(286 - 257, 5);
    stream.put(0, 5);
    stream.put(18 - 4, 4);
    // The third of these stands for a series of zeros, the last for a code of one bit.
    for number in 1..=18 {
        stream.put(u32::from(matches!(number, 3 | 18)), 3);
    }
    for zeros in [138, 118] {
        stream.put(ZEROS, 1);
        stream.put(zeros - SHORTEST, 7);
    }
    // The end of the block, number 256.
    stream.put(0, 1);
    stream.put(ZEROS, 1);
    stream.put(28 - SHORTEST, 7);
    // The longest copy, number 285, and the distance.
    stream.put(0, 2);
}

/// Returns the checksum of RFC 1950 of these bytes, the last of which is repeated.
fn adler32(bytes: &[u8], repeats: usize) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1, 0);
    let last = bytes.last().into_iter().cycle().take(repeats);
    for byte in bytes.iter().chain(last) {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    high << 16 | low
}

/// Returns a stream of brotli (RFC 7932): an uncompressed meta-block, and one with a single copy.
fn brotli(bytes: &[u8], repeats: usize) -> Vec<u8> {
    // A window of 64 kilobytes.
    let mut stream = Bits::new(Vec::new());
    stream.put(0, 1);
    if !bytes.is_empty() {
        put_brotli_length(&mut stream, bytes.len());
        stream.put(1, 1);
        let mut to = stream.aligned();
        to.extend_from_slice(bytes);
        stream = Bits::new(to);
    }
    if repeats > 0 {
        put_brotli_copy(&mut stream, repeats);
    }
    // The last meta-block, which is empty.
    stream.put(0b11, 2);
    stream.aligned()
}

/// Writes the beginning of a meta-block that is not the last (RFC 7932 section 9.2).
fn put_brotli_length(stream: &mut Bits, length: usize) {
    let less = u32::try_from(length - 1).unwrap_or(u32::MAX);
    let nibbles = match less {
        ..0x1_0000 => 4,
        0x1_0000..0x10_0000 => 5,
        _ => 6,
    };
    stream.put(0, 1);
    stream.put(nibbles - 4, 2);
    stream.put(less, 4 * nibbles);
}

/// Writes a meta-block that repeats the last byte: each of its prefix codes has one symbol, which takes no bits.
fn put_brotli_copy(stream: &mut Bits, repeats: usize) {
    /// No literals, and the longest of copies (RFC 7932 section 5).
    const SYMBOL: u32 = 391;
    const SHORTEST: usize = 2118;
    /// The last distance, which is 4 at first, less 3 (section 4).
    const DISTANCE: u32 = 8;
    put_brotli_length(stream, repeats);
    // It is compressed; one type of blocks of each kind.
    stream.put(0, 1 + 3);
    // No postfix and no direct distances; the mode of contexts; one tree each for literals and distances.
    stream.put(0, 2 + 4 + 2 + 1 + 1);
    for (symbol, bits) in [(0, 8), (SYMBOL, 10), (DISTANCE, 6)] {
        // A simple code with one symbol (section 3.4).
        stream.put(1, 2);
        stream.put(0, 2);
        stream.put(symbol, bits);
    }
    let extra = u32::try_from(repeats.saturating_sub(SHORTEST)).unwrap_or(u32::MAX);
    stream.put(extra, 24);
}

/// Returns a frame of zstd (RFC 8878): raw blocks, and blocks of one byte. The frame does not have its length.
fn zstd(bytes: &[u8], repeats: usize) -> Vec<u8> {
    const RAW: usize = 0;
    const REPEATED: usize = 1;
    let mut stream = vec![0x28, 0xb5, 0x2f, 0xfd];
    // A window of 128 kilobytes, and no checksum.
    stream.extend([0, 7 << 3]);
    for block in bytes.chunks(ZSTD_BLOCK) {
        put_zstd_block(&mut stream, RAW, block.len(), block);
    }
    let last = bytes.last().copied().unwrap_or_default();
    let mut left = repeats;
    while left > 0 {
        let length = left.min(ZSTD_BLOCK);
        put_zstd_block(&mut stream, REPEATED, length, &[last]);
        left -= length;
    }
    // The last block, which is empty.
    stream.extend([1, 0, 0]);
    stream
}

/// Writes a block that is not the last (RFC 8878 section 3.1.1.2).
fn put_zstd_block(stream: &mut Vec<u8>, kind: usize, length: usize, contents: &[u8]) {
    let header = length << 3 | kind << 1;
    stream.extend_from_slice(&header.to_le_bytes()[..3]);
    stream.extend_from_slice(contents);
}

/// Bits, the first of which is the least significant of its byte.
struct Bits {
    bytes: Vec<u8>,
    /// The bits that do not fill a byte yet.
    rest: u64,
    rest_bits: u32,
}

impl Bits {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            bytes,
            rest: 0,
            rest_bits: 0,
        }
    }

    /// Writes the `count` least significant bits of a value.
    fn put(&mut self, value: u32, count: u32) {
        self.rest |= u64::from(value) << self.rest_bits;
        self.rest_bits += count;
        while self.rest_bits >= 8 {
            self.bytes.push(self.rest.to_le_bytes()[0]);
            self.rest >>= 8;
            self.rest_bits -= 8;
        }
    }

    /// Returns the bytes, the last of which ends with zeros.
    fn aligned(mut self) -> Vec<u8> {
        if self.rest_bits > 0 {
            self.put(0, 8 - self.rest_bits);
        }
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use netbench_scan::codec::{
        ClientHello, CompressedCertificate, DecompressError, Message, put_extension, put_vec8,
        put_vec16,
    };

    use super::*;

    const FLAWS: [Option<CompressionFlaw>; 7] = [
        None,
        Some(CompressionFlaw::LengthLess),
        Some(CompressionFlaw::LengthMore),
        Some(CompressionFlaw::Bomb),
        Some(CompressionFlaw::BombAsStated),
        Some(CompressionFlaw::Garbage),
        Some(CompressionFlaw::Empty),
    ];

    /// Returns a hello with this extension.
    fn hello(codes: Option<&[u16]>) -> Hello {
        let mut extensions = Vec::new();
        if let Some(codes) = codes {
            let codes: Vec<u8> = codes.iter().flat_map(|code| code.to_be_bytes()).collect();
            let mut body = Vec::new();
            put_vec8(&mut body, &codes);
            put_extension(&mut extensions, extension::COMPRESS_CERTIFICATE, &body);
        }
        let mut body = vec![3, 3];
        body.extend([0; 32]);
        put_vec8(&mut body, &[]);
        put_vec16(&mut body, &[0x13, 1]);
        put_vec8(&mut body, &[0]);
        put_vec16(&mut body, &extensions);
        let message = Message {
            kind: 1,
            whole: message(1, &body),
        };
        assert!(ClientHello::of_message(&message).is_some());
        Hello::of_message(message).ok().unwrap()
    }

    #[test]
    fn the_algorithm_is_chosen_by_the_offer() {
        use Algorithm::{Brotli, NotOffered, Offered, Unasked, Zlib, Zstd};
        let all: Option<&[u16]> = Some(&[1, 2, 3]);
        let other = Some(Unsuited::OtherAlgorithms);
        for (algorithm, offer, due) in [
            (Zlib, all, Ok(1)),
            (Brotli, all, Ok(2)),
            (Zstd, all, Ok(3)),
            (Offered, all, Ok(1)),
            (Offered, Some(&[3, 2]), Ok(2)),
            (Offered, Some(&[9]), Err(other)),
            (Zlib, Some(&[2]), Err(other)),
            (NotOffered, all, Ok(UNASSIGNED)),
            (NotOffered, Some(&[2]), Ok(1)),
            (NotOffered, Some(&[1, 2]), Ok(3)),
            (Zlib, None, Err(Some(Unsuited::NoCompression))),
            (NotOffered, None, Err(Some(Unsuited::NoCompression))),
            (Unasked, None, Ok(1)),
            (Unasked, all, Err(Some(Unsuited::Compression))),
        ] {
            let chosen = choose(algorithm, &hello(offer)).map(|chosen| chosen.code);
            assert_eq!(chosen.map_err(Some), due, "{algorithm}, {offer:?}");
        }
    }

    #[test]
    fn every_stream_is_read_and_every_flaw_is_found() {
        let body: Vec<u8> = (0..131_000_u32).map(|byte| byte.to_le_bytes()[0]).collect();
        for short in [&body[..3], &body[..65_536], &body] {
            let whole = u32::try_from(short.len()).unwrap();
            for format in Format::ALL {
                for flaw in FLAWS {
                    let spec = CompressionSpec {
                        algorithm: Algorithm::Offered,
                        flaw,
                    };
                    let message = compressed_certificate(spec, format.into(), short);
                    assert_eq!(message[0], message_type::COMPRESSED_CERTIFICATE);
                    let read = CompressedCertificate::parse(&message[4..]).unwrap();
                    assert_eq!(read.algorithm, format.code());
                    let due = match flaw {
                        None => Ok(short.to_vec()),
                        Some(CompressionFlaw::LengthLess) => Err(DecompressError::Long(whole - 1)),
                        Some(CompressionFlaw::LengthMore) => Err(DecompressError::Short {
                            found: short.len(),
                            stated: whole + 1,
                        }),
                        Some(CompressionFlaw::Bomb) => Err(DecompressError::Long(whole)),
                        Some(CompressionFlaw::BombAsStated) => {
                            Err(DecompressError::Large(0xff_ffff))
                        }
                        // To zstd, no frame is a stream without contents.
                        Some(CompressionFlaw::Empty) if format == Format::Zstd => {
                            Err(DecompressError::Short {
                                found: 0,
                                stated: whole,
                            })
                        }
                        Some(CompressionFlaw::Garbage | CompressionFlaw::Empty) => {
                            Err(DecompressError::Broken)
                        }
                    };
                    assert_eq!(read.decompress(), due, "{format:?}, {flaw:?}");
                }
            }
        }
    }

    #[test]
    fn repeated_bytes_are_read() {
        for format in Format::ALL {
            for repeats in [2_118, 2_580, 120_000] {
                let compressed = format.stream(b"netbench", repeats);
                let mut due = b"netbench".to_vec();
                due.resize(due.len() + repeats, b'h');
                let read = CompressedCertificate {
                    algorithm: format.code(),
                    length: u32::try_from(due.len()).unwrap(),
                    compressed: &compressed,
                };
                assert!(compressed.len() < 500, "{format:?}");
                assert_eq!(read.decompress(), Ok(due), "{format:?}, {repeats}");
            }
        }
    }
}
