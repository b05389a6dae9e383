use rustls_pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};

use crate::{SetupError, TrustRoots, refused};

/// Parses a chain in PEM. `what` is its name in an error.
///
/// # Errors
/// A section that cannot be read.
pub fn chain_of_pem(what: &str, pem: &str) -> Result<Vec<CertificateDer<'static>>, SetupError> {
    CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|e| SetupError::refused(what, e))
}

/// Returns the certificates of a PEM file, each as PEM.
pub fn certificates_of_pem(pem: &str) -> impl Iterator<Item = &str> {
    const END: &str = "-----END CERTIFICATE-----";
    pem.split_inclusive(END).filter(|text| text.ends_with(END))
}

/// Parses a private key in PEM. `what` is its name in an error.
///
/// # Errors
/// A section that cannot be read, or no key.
pub fn key_of_pem(what: &str, pem: &str) -> Result<PrivateKeyDer<'static>, SetupError> {
    PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|e| SetupError::refused(what, e))
}

impl TrustRoots<'_> {
    /// Calls `add` with each root as it is read. `add` returns whether the library can use the root; users of rustls
    /// leave out the others.
    ///
    /// # Errors
    /// A section or a file that cannot be read, or no root that can be used.
    pub fn add_each(
        self,
        mut add: impl FnMut(CertificateDer<'_>) -> bool,
    ) -> Result<(), SetupError> {
        let mut is_empty = true;
        match self {
            Self::Pem(text) => {
                for der in CertificateDer::pem_slice_iter(text.as_bytes()) {
                    is_empty &= !add(der.map_err(refused("roots"))?);
                }
            }
            Self::Der(all) => {
                for der in all {
                    is_empty &= !add(CertificateDer::from(der.as_slice()));
                }
            }
            Self::File(path) => {
                for der in CertificateDer::pem_file_iter(path).map_err(refused("roots"))? {
                    is_empty &= !add(der.map_err(refused("roots"))?);
                }
            }
        }
        if is_empty {
            return Err(SetupError::Refused(
                "roots: none that rustls can use".to_owned(),
            ));
        }
        Ok(())
    }
}
