//! The runner's mock certificate compression algorithms
//! (`ssl/test/runner/cert_compression_tests.go`).

use rustls::compress::{
    CertCompressor, CertDecompressor, CompressionFailed, CompressionLevel, DecompressionFailed,
};

use super::api::{CertificateCompressionAlgorithm, compression};

/// Code point and instance of each algorithm.
pub(crate) const ALL: [(u16, &dyn Both); 3] = [
    (0xff02, &Expanding),
    (0xff01, &Shrinking),
    (0xff03, &Random),
];

/// A compression algorithm and its inverse.
pub(crate) trait Both: CertCompressor + CertDecompressor {
    fn compressor(&'static self) -> &'static dyn CertCompressor;
    fn decompressor(&'static self) -> &'static dyn CertDecompressor;
}

/// An algorithm that removes two leading zero bytes.
#[derive(Debug)]
pub(crate) struct Shrinking;

/// An algorithm that prepends 1, 2, 3, 4.
#[derive(Debug)]
pub(crate) struct Expanding;

/// An algorithm that prepends a random byte, which makes results differ.
#[derive(Debug)]
pub(crate) struct Random;

macro_rules! both {
    ($name:ident, $code:literal) => {
        impl Both for $name {
            fn compressor(&'static self) -> &'static dyn CertCompressor {
                self
            }

            fn decompressor(&'static self) -> &'static dyn CertDecompressor {
                self
            }
        }

        impl CertCompressor for $name {
            fn compress(
                &self,
                input: Vec<u8>,
                _: CompressionLevel,
            ) -> Result<Vec<u8>, CompressionFailed> {
                self.pack(input).ok_or(CompressionFailed)
            }

            fn algorithm(&self) -> CertificateCompressionAlgorithm {
                compression($code)
            }
        }

        impl CertDecompressor for $name {
            fn decompress(
                &self,
                input: &[u8],
                output: &mut [u8],
            ) -> Result<(), DecompressionFailed> {
                let unpacked = self.unpack(input).ok_or(DecompressionFailed)?;
                if unpacked.len() != output.len() {
                    return Err(DecompressionFailed);
                }
                output.copy_from_slice(&unpacked);
                Ok(())
            }

            fn algorithm(&self) -> CertificateCompressionAlgorithm {
                compression($code)
            }
        }
    };
}

both!(Shrinking, 0xff01);
both!(Expanding, 0xff02);
both!(Random, 0xff03);

impl Shrinking {
    fn pack(&self, input: Vec<u8>) -> Option<Vec<u8>> {
        Some(input.strip_prefix(&[0, 0])?.to_vec())
    }

    fn unpack(&self, input: &[u8]) -> Option<Vec<u8>> {
        Some([&[0, 0], input].concat())
    }
}

impl Expanding {
    fn pack(&self, input: Vec<u8>) -> Option<Vec<u8>> {
        Some([&[1, 2, 3, 4], input.as_slice()].concat())
    }

    fn unpack(&self, input: &[u8]) -> Option<Vec<u8>> {
        Some(input.strip_prefix(&[1, 2, 3, 4])?.to_vec())
    }
}

impl Random {
    fn pack(&self, input: Vec<u8>) -> Option<Vec<u8>> {
        let mut byte = [0];
        super::provider::provider()
            .secure_random
            .fill(&mut byte)
            .ok()?;
        Some([&byte, input.as_slice()].concat())
    }

    fn unpack(&self, input: &[u8]) -> Option<Vec<u8>> {
        Some(input.get(1..)?.to_vec())
    }
}
