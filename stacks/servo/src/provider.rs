use std::sync::Arc;

use netbench_stack_rustls::Provider;
use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs},
    server::ProducesTickets,
};

use crate::stack::package_version;

/// AWS-LC, as servo-net uses it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AwsLc;

impl Provider for AwsLc {
    fn stack(&self) -> &'static str {
        "servo"
    }

    fn library(&self) -> String {
        package_version("aws-lc-rs")
    }

    fn library_default(&self) -> CryptoProvider {
        aws_lc_rs::default_provider()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        aws_lc_rs::ALL_KX_GROUPS.to_vec()
    }

    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        aws_lc_rs::Ticketer::new().map(Some)
    }
}
