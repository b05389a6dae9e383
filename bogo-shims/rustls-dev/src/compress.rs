//! The runner's mock certificate compression algorithms, for rustls.

use netbench_bogo_shims::{Options, of_rustls::Mock};
use rustls::{
    compress::{
        CertCompressor, CertDecompressor, CompressionFailed, CompressionLevel, DecompressionFailed,
    },
    enums::CertificateCompressionAlgorithm,
};

use super::provider::provider;

/// Returns the algorithms that the test installs.
pub(crate) fn installed(options: &Options) -> impl Iterator<Item = &'static Algorithm> {
    // The process is short-lived.
    Mock::installed(options).map(|mock| &*Box::leak(Box::new(Algorithm(mock))))
}

#[derive(Debug)]
pub(crate) struct Algorithm(&'static Mock);

impl CertCompressor for Algorithm {
    fn compress(&self, input: Vec<u8>, _: CompressionLevel) -> Result<Vec<u8>, CompressionFailed> {
        let packed = self
            .0
            .pack(&input, |byte| provider().secure_random.fill(byte).ok());
        packed.ok_or(CompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm(self.0.code())
    }
}

impl CertDecompressor for Algorithm {
    fn decompress(&self, input: &[u8], output: &mut [u8]) -> Result<(), DecompressionFailed> {
        self.0.unpack(input, output).ok_or(DecompressionFailed)
    }

    fn algorithm(&self) -> CertificateCompressionAlgorithm {
        CertificateCompressionAlgorithm(self.0.code())
    }
}
