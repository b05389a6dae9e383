//! The operations that the suite calls.

use std::any::Any;

use netbench_libssl::{Keys, Sessions};
use netbench_protocol::Material;
use netbench_tls::{Aead, Group, KeyType};
use netbench_worker::{
    Endpoint, EndpointSetup, InMemory, InPlaceRecords, KeyExchange, RecordProtection, SetupError,
    Signatures, SigningPair, TrustRoots, Verifier,
};
use openssl::ssl::SslMode;

use crate::{
    exchange::exchange,
    records::RecordKeys,
    stack::{OpenSsl, Usage},
};

impl InMemory for OpenSsl {
    fn client(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        netbench_libssl::client::<Self>(setup, self.sessions())
    }

    fn server(&self, setup: &EndpointSetup<'_>) -> Result<Box<dyn Endpoint>, SetupError> {
        netbench_libssl::server::<Self>(setup, self.sessions())
    }

    fn verifier(&self, roots_pem: &str, host: &str) -> Result<Box<dyn Verifier>, SetupError> {
        netbench_libssl::verifier(roots_pem, host)
    }

    fn configuration(&self, roots: TrustRoots<'_>) -> Result<Box<dyn Any>, SetupError> {
        netbench_libssl::configuration(roots)
    }

    fn signatures(
        &self,
        key: KeyType,
        material: &Material,
    ) -> Result<Box<dyn Signatures>, SetupError> {
        self.has_cryptography_of_its_own()?;
        Ok(Box::new(SigningPair::new(Keys::new(key, material)?)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>, SetupError> {
        self.has_cryptography_of_its_own()?;
        exchange(group)
    }

    fn record_protection(&self, aead: Aead) -> Result<Box<dyn RecordProtection>, SetupError> {
        self.has_cryptography_of_its_own()?;
        Ok(Box::new(InPlaceRecords::new(RecordKeys::new(aead)?)))
    }
}

impl OpenSsl {
    fn sessions(&self) -> Sessions {
        match self.usage {
            Usage::Usual | Usage::Plain => Sessions::WithMode(SslMode::empty()),
            Usage::ReleasedBuffers => Sessions::WithMode(SslMode::RELEASE_BUFFERS),
            Usage::MemoryBios => Sessions::OverMemoryBios,
        }
    }

    fn has_cryptography_of_its_own(&self) -> Result<(), SetupError> {
        match self.usage {
            Usage::Usual | Usage::Plain => Ok(()),
            Usage::ReleasedBuffers | Usage::MemoryBios => Err(SetupError::unsupported(
                "it has the cryptography of the same stack with kept buffers",
            )),
        }
    }
}
