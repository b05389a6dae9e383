use std::sync::Arc;

use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs},
    server::ProducesTickets,
};

use super::{Provider, package_version};

/// AWS-LC.
#[derive(Debug, Clone, Copy)]
pub struct AwsLc;

/// Whether aws-lc-sys was built without CPU jitter entropy. Its build script reads the same variable.
const WITHOUT_JITTER_ENTROPY: bool = match option_env!("AWS_LC_SYS_NO_JITTER_ENTROPY") {
    Some(value) => !matches!(value.as_bytes(), b"" | b"0" | b"false" | b"no" | b"off"),
    None => false,
};

impl Provider for AwsLc {
    fn stack(&self) -> &'static str {
        if WITHOUT_JITTER_ENTROPY {
            "rustls-aws-lc+nojitter"
        } else {
            "rustls-aws-lc"
        }
    }

    fn library(&self) -> String {
        let version = package_version("aws-lc-rs");
        if WITHOUT_JITTER_ENTROPY {
            format!("{version} without CPU jitter entropy")
        } else {
            version
        }
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
