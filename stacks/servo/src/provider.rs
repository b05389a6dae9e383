//! The default provider of the process, which Servo's TLS configuration is made with.

use std::sync::{Arc, OnceLock};

use netbench_model::{CipherSuite, ClientSettings, Group, Profile, SignatureScheme, TlsVersion};
use netbench_stack_rustls::Provider;
use netbench_worker::SetupError;
use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs},
    server::ProducesTickets,
};

use crate::{stack::package_version, watch};

/// AWS-LC, as servo-net asks for it.
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

/// What of a client's settings the provider has, and the process with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offers {
    versions: Vec<TlsVersion>,
    /// None for what AWS-LC has by default.
    pinned: Option<Pinned>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pinned {
    suites: Vec<CipherSuite>,
    groups: Vec<Group>,
    signatures: Vec<SignatureScheme>,
}

/// What is installed. rustls takes one default provider for as long as the process lives.
static INSTALLED: OnceLock<Offers> = OnceLock::new();

/// Whether this process offers something other than `settings`.
pub(crate) fn is_another(settings: &ClientSettings) -> bool {
    INSTALLED
        .get()
        .is_some_and(|installed| *installed != Offers::of(settings))
}

/// Installs the default provider, unless it is there.
pub(crate) fn install(settings: &ClientSettings) -> Result<(), SetupError> {
    let offers = Offers::of(settings);
    match INSTALLED.get() {
        Some(installed) if *installed == offers => return Ok(()),
        Some(_) => {
            return Err(SetupError::Refused(
                "this process offers another".to_owned(),
            ));
        }
        None => {}
    }
    let provider = offers.provider()?;
    provider
        .install_default()
        .map_err(|_| SetupError::Refused("this process has another default provider".to_owned()))?;
    // No other thread makes connectors.
    let _ = INSTALLED.set(offers);
    Ok(())
}

impl Offers {
    fn of(settings: &ClientSettings) -> Self {
        let pinned = || Pinned {
            suites: settings.suites.clone(),
            groups: settings.groups.clone(),
            signatures: settings.signatures.clone(),
        };
        Self {
            versions: settings.versions.clone(),
            pinned: (settings.profile != Profile::Library).then(pinned),
        }
    }

    /// Servo enables TLS 1.2 and 1.3, but offers no version that the provider has no suite for.
    fn provider(&self) -> Result<CryptoProvider, SetupError> {
        let aws_lc: &dyn Provider = &AwsLc;
        let mut provider = match &self.pinned {
            Some(pinned) => aws_lc.held_to(&pinned.suites, &pinned.groups)?,
            None => aws_lc.library_default(),
        };
        provider.cipher_suites.retain(|suite| {
            TlsVersion::of(suite.version().version.into())
                .is_some_and(|version| self.versions.contains(&version))
        });
        if provider.cipher_suites.is_empty() {
            return Err(SetupError::Unsupported(
                "there is no suite of the versions to offer".to_owned(),
            ));
        }
        let verified = &mut provider.signature_verification_algorithms;
        let schemes = match &self.pinned {
            Some(pinned) => pinned.signatures.clone(),
            None => {
                let all = verified.mapping.iter();
                all.map(|(scheme, _)| SignatureScheme(u16::from(*scheme)))
                    .collect()
            }
        };
        verified.mapping = watch::mapping(verified.mapping, &schemes)?;
        Ok(provider)
    }
}
