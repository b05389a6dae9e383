//! The runner's mock certificate compression algorithms, for rustls.

use rustls::{
    CertificateCompressionAlgorithm,
    compress::{
        CertCompressor, CertDecompressor, CompressionFailed, CompressionLevel, DecompressionFailed,
    },
};

use super::provider::provider;
use crate::of_rustls::Mock;

impl CertCompressor for Mock {
    fn compress(&self, input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        self.pack(&input, |byte| provider().secure_random.fill(byte).ok())
            .ok_or(CompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Unknown(self.code())
    }
}

impl CertDecompressor for Mock {
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressionFailed> {
        self.unpack(input, output).ok_or(DecompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm::Unknown(self.code())
    }
}
