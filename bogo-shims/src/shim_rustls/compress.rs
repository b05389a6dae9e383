//! The runner's mock certificate compression algorithms, for rustls.

use rustls::{
    CertificateCompressionAlgorithm,
    compress::{
        CertCompressor, CertDecompressor, CompressionFailed, CompressionLevel, DecompressionFailed,
    },
};

use super::provider::provider;
use crate::{Options, of_rustls::Mock};

/// Returns the algorithms with which this side compresses.
pub(crate) fn compressors(options: &Options) -> Vec<&'static dyn CertCompressor> {
    let installed = installed(options);
    installed
        .map(|algorithm| algorithm as &dyn CertCompressor)
        .collect()
}

/// Returns the algorithms with which this side decompresses.
pub(crate) fn decompressors(options: &Options) -> Vec<&'static dyn CertDecompressor> {
    let installed = installed(options);
    installed
        .map(|algorithm| algorithm as &dyn CertDecompressor)
        .collect()
}

#[derive(Debug)]
struct Algorithm(Mock);

static ALL: [Algorithm; 3] = [
    Algorithm(Mock::Expanding),
    Algorithm(Mock::Shrinking),
    Algorithm(Mock::Random),
];

fn installed(options: &Options) -> impl Iterator<Item = &'static Algorithm> {
    ALL.iter()
        .filter(|algorithm| algorithm.0.is_installed(options))
}

impl CertCompressor for Algorithm {
    fn compress(&self, input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        let packed = self
            .0
            .pack(&input, |byte| provider().secure_random.fill(byte).ok());
        packed.ok_or(CompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Unknown(self.0.code())
    }
}

impl CertDecompressor for Algorithm {
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressionFailed> {
        self.0.unpack(input, output).ok_or(DecompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Unknown(self.0.code())
    }
}
