use std::fmt::Display;

use netbench_tls::FailureWord;

use crate::{SessionError, Signatures};

/// A library's private key and the public key of its certificate.
///
/// # Errors
/// Its functions return errors of the library.
pub trait SigningKey {
    /// The library's error.
    type Error: Display;

    /// Signs [`SIGNED`](crate::SIGNED) into `signature`, with the key's scheme in TLS 1.3.
    fn sign(&self, signature: &mut Vec<u8>) -> Result<(), Self::Error>;

    /// Returns whether a signature of [`SIGNED`](crate::SIGNED) is right. A library may report a wrong one as an error.
    fn verify(&self, signature: &[u8]) -> Result<bool, Self::Error>;
}

/// A key, and the last signature made with it.
#[derive(Debug)]
pub struct SigningPair<K> {
    key: K,
    signature: Vec<u8>,
}

impl<K: SigningKey> SigningPair<K> {
    /// Wraps a key.
    pub fn new(key: K) -> Self {
        Self {
            key,
            signature: Vec::new(),
        }
    }
}

impl<K: SigningKey> Signatures for SigningPair<K> {
    fn sign(&mut self) -> Result<(), SessionError> {
        self.key.sign(&mut self.signature).map_err(failed)
    }

    fn verify(&self) -> Result<(), SessionError> {
        match self.key.verify(&self.signature) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed("the signature is wrong")),
            Err(error) => Err(failed(error)),
        }
    }

    fn signature(&mut self) -> &mut [u8] {
        &mut self.signature
    }
}

fn failed(error: impl Display) -> SessionError {
    SessionError::new(FailureWord::Primitive, error)
}
