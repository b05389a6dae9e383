use std::sync::Arc;

use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup, ring},
    server::ProducesTickets,
};

use super::{Provider, package_version};

/// ring.
#[derive(Debug, Clone, Copy)]
pub struct Ring;

impl Provider for Ring {
    fn stack(&self) -> &'static str {
        "rustls-ring"
    }

    fn library(&self) -> String {
        package_version("ring")
    }

    fn library_default(&self) -> CryptoProvider {
        ring::default_provider()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        ring::ALL_KX_GROUPS.to_vec()
    }

    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        ring::Ticketer::new().map(Some)
    }
}
