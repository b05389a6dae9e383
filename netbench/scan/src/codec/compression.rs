//! Compressed certificates (RFC 8879).

use std::{cell::Cell, rc::Rc};

use brotli_decompressor::{
    Allocator, BrotliDecompressStream, BrotliResult, BrotliState, HuffmanCode, SliceWrapper,
    SliceWrapperMut,
};
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};
use zstd::zstd_safe;

use super::{MAX_MESSAGE, Reader};

/// The algorithms that can be decompressed (RFC 8879 section 7.3).
pub(crate) const ALGORITHMS: [u16; 3] = [ZLIB, BROTLI, ZSTD];

const ZLIB: u16 = 1;
const BROTLI: u16 = 2;
const ZSTD: u16 = 3;

/// The maximum size of brotli's tables, in bytes, and of its context maps.
const BROTLI_TABLES: usize = 64 * 1024;

/// Returns the name of an algorithm, or its number.
pub(crate) fn algorithm_name(code: u16) -> String {
    match code {
        ZLIB => "zlib".to_owned(),
        BROTLI => "brotli".to_owned(),
        ZSTD => "zstd".to_owned(),
        _ => format!("algorithm {code}"),
    }
}

/// A CompressedCertificate message.
#[derive(Debug, Clone, Copy)]
pub struct CompressedCertificate<'a> {
    /// The number of the algorithm.
    pub algorithm: u16,
    /// The length of the Certificate message, as stated.
    pub length: u32,
    /// The compressed message.
    pub compressed: &'a [u8],
}

/// The reason why a certificate could not be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DecompressError {
    /// The algorithm is none of zlib, brotli and zstd.
    #[error("the algorithm is not known")]
    Algorithm,
    /// The stated length is more than [`MAX_MESSAGE`].
    #[error("a stated length of {0} bytes, which is more than any chain needs")]
    Large(u32),
    /// The data are longer than stated.
    #[error("more than the stated {0} bytes")]
    Long(u32),
    /// The data are shorter than stated.
    #[error("{found} bytes instead of the stated {stated}")]
    Short {
        /// The length of the data, in bytes.
        found: usize,
        /// The stated length.
        stated: u32,
    },
    /// The data are no stream of the algorithm.
    #[error("data that cannot be decompressed")]
    Broken,
}

impl<'a> CompressedCertificate<'a> {
    /// Parses a message's body.
    pub fn parse(body: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(body);
        let read = Self {
            algorithm: reader.u16()?,
            length: reader.u24()?,
            compressed: reader.vec24()?,
        };
        reader.is_empty().then_some(read)
    }

    /// Returns the body of the Certificate message. It has the stated length, which is at most [`MAX_MESSAGE`].
    pub fn decompress(&self) -> Result<Vec<u8>, DecompressError> {
        let stated = self.length;
        let most = usize::try_from(stated).unwrap_or(usize::MAX);
        if most > MAX_MESSAGE {
            return Err(DecompressError::Large(stated));
        }
        let body = match self.algorithm {
            ZLIB => of_zlib(self.compressed, most),
            BROTLI => of_brotli(self.compressed, most),
            ZSTD => of_zstd(self.compressed, most),
            _ => return Err(DecompressError::Algorithm),
        };
        match body {
            Ok(body) if body.len() == most => Ok(body),
            Ok(body) => Err(DecompressError::Short {
                found: body.len(),
                stated,
            }),
            Err(Fault::Long) => Err(DecompressError::Long(stated)),
            Err(Fault::Broken) => Err(DecompressError::Broken),
        }
    }
}

/// The fault of a decoder.
enum Fault {
    /// The output is longer than its limit.
    Long,
    Broken,
}

fn of_zlib(compressed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    decompress_to_vec_zlib_with_limit(compressed, most).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => Fault::Long,
        _ => Fault::Broken,
    })
}

/// The output is the window: a frame's own size of the window has no effect.
fn of_zstd(compressed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    // ZSTD_error_dstSize_tooSmall; the library returns errors as negative numbers.
    const TOO_SMALL: usize = 70_usize.wrapping_neg();
    let mut body = Vec::with_capacity(most);
    match zstd_safe::DCtx::create().decompress(&mut body, compressed) {
        Ok(_) => Ok(body),
        Err(TOO_SMALL) => Err(Fault::Long),
        Err(_) => Err(Fault::Broken),
    }
}

fn of_brotli(compressed: &[u8], most: usize) -> Result<Vec<u8>, Fault> {
    // The window is a power of two that has room for the output, and is copied to a larger one if it is too small.
    let window = Budget::new(3 * most + BROTLI_TABLES);
    let tables = Budget::new(BROTLI_TABLES);
    // Without the windows of up to 1 GiB that RFC 7932 does not have.
    let mut state = BrotliState::new_strict(window.clone(), tables.clone(), tables);
    let mut body = Vec::new();
    let (mut left, mut at, mut total) = (compressed.len(), 0, 0);
    loop {
        // Memory grows with the output.
        let mut piece = [0; 4096];
        let (mut room, mut written) = (piece.len(), 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut at,
            compressed,
            &mut room,
            &mut written,
            &mut piece,
            &mut total,
            &mut state,
        );
        if body.len() + written > most {
            return Err(Fault::Long);
        }
        body.extend_from_slice(&piece[..written]);
        match result {
            BrotliResult::ResultSuccess => return Ok(body),
            BrotliResult::NeedsMoreOutput => {}
            // A window of this size is for a longer output.
            BrotliResult::ResultFailure if window.0.is_exceeded.get() => return Err(Fault::Long),
            BrotliResult::NeedsMoreInput | BrotliResult::ResultFailure => {
                return Err(Fault::Broken);
            }
        }
    }
}

/// The memory that a decoder may allocate. An allocation beyond it fails, and with it the stream.
#[derive(Clone)]
struct Budget(Rc<Limit>);

struct Limit {
    left_bytes: Cell<usize>,
    is_exceeded: Cell<bool>,
}

impl Budget {
    fn new(bytes: usize) -> Self {
        Self(Rc::new(Limit {
            left_bytes: Cell::new(bytes),
            is_exceeded: Cell::new(false),
        }))
    }
}

/// Memory of a [`Budget`].
struct Cells<T>(Vec<T>);

impl<T> Default for Cells<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> SliceWrapper<T> for Cells<T> {
    fn slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> SliceWrapperMut<T> for Cells<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

macro_rules! allocates {
    ($($element:ty),*) => {$(
        impl Allocator<$element> for Budget {
            type AllocatedMemory = Cells<$element>;

            fn alloc_cell(&mut self, count: usize) -> Cells<$element> {
                let bytes = count.saturating_mul(size_of::<$element>());
                match self.0.left_bytes.get().checked_sub(bytes) {
                    Some(left) => {
                        self.0.left_bytes.set(left);
                        Cells(vec![<$element>::default(); count])
                    }
                    None => {
                        self.0.is_exceeded.set(true);
                        Cells::default()
                    }
                }
            }

            fn free_cell(&mut self, cells: Cells<$element>) {
                let freed = size_of_val(cells.slice());
                self.0.left_bytes.set(self.0.left_bytes.get() + freed);
            }
        }
    )*};
}

allocates!(u8, u32, HuffmanCode);

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! message {
        ($name:literal) => {
            include_bytes!(concat!("../../fuzz/corpus/compressed/", $name))
        };
    }

    fn read(bytes: &[u8]) -> CompressedCertificate<'_> {
        CompressedCertificate::parse(bytes).unwrap()
    }

    fn torn(bytes: &[u8]) -> CompressedCertificate<'_> {
        CompressedCertificate {
            compressed: &bytes[8..bytes.len() - 20],
            ..read(bytes)
        }
    }

    #[test]
    fn every_algorithm_gives_the_message_and_its_faults_have_names() {
        let body = read(message!("zlib")).decompress().unwrap();
        assert_eq!(body.len(), 812);
        let cases: [(CompressedCertificate<'_>, Result<Vec<u8>, DecompressError>); 14] = [
            (read(message!("zlib")), Ok(body.clone())),
            (read(message!("brotli")), Ok(body.clone())),
            (read(message!("zstd")), Ok(body.clone())),
            (read(message!("zstd-stream")), Ok(body)),
            (torn(message!("zlib")), Err(DecompressError::Broken)),
            (torn(message!("brotli")), Err(DecompressError::Broken)),
            (torn(message!("zstd")), Err(DecompressError::Broken)),
            (
                read(message!("bomb-zlib")),
                Err(DecompressError::Long(1_000)),
            ),
            (
                read(message!("bomb-brotli")),
                Err(DecompressError::Long(100_000)),
            ),
            (
                read(message!("bomb-zstd")),
                Err(DecompressError::Long(5_000)),
            ),
            (
                read(message!("short")),
                Err(DecompressError::Short {
                    found: 812,
                    stated: 813,
                }),
            ),
            (read(message!("unknown")), Err(DecompressError::Algorithm)),
            (
                read(message!("large")),
                Err(DecompressError::Large(0xff_ffff)),
            ),
            (
                CompressedCertificate {
                    length: 0,
                    ..read(message!("brotli"))
                },
                Err(DecompressError::Long(0)),
            ),
        ];
        for (number, (message, due)) in cases.into_iter().enumerate() {
            assert_eq!(message.decompress(), due, "case {number}");
        }
        assert!(CompressedCertificate::parse(&message!("zlib")[..700]).is_none());
    }
}
