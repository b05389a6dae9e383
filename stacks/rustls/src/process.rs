//! The default provider of the process, for clients that take their cryptography from it.

use std::sync::OnceLock;

use netbench_model::{CipherSuite, ClientSettings, Group, Profile, SignatureScheme, TlsVersion};
use netbench_worker::SetupError;
use rustls::crypto::CryptoProvider;

use crate::{provider::Provider, watch};

/// What of a client's settings the provider has, and the process with it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offers {
    versions: Vec<TlsVersion>,
    /// None for what the provider has by default.
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
pub fn is_another(settings: &ClientSettings) -> bool {
    INSTALLED
        .get()
        .is_some_and(|installed| *installed != Offers::of(settings))
}

/// Installs `provider`, held to `settings` and watched, as the default provider, unless it is there. A process has one provider.
///
/// # Errors
/// The provider lacks something, or the process has another default provider.
pub fn install(provider: &dyn Provider, settings: &ClientSettings) -> Result<(), SetupError> {
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
    offers
        .of_provider(provider)?
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

    /// Clients enable TLS 1.2 and 1.3, but offer no version that the provider has no suite for.
    fn of_provider(&self, provider: &dyn Provider) -> Result<CryptoProvider, SetupError> {
        let mut offered = match &self.pinned {
            Some(pinned) => provider.held_to(&pinned.suites, &pinned.groups)?,
            None => provider.by_default()?,
        };
        offered.cipher_suites.retain(|suite| {
            TlsVersion::of(suite.version().version.into())
                .is_some_and(|version| self.versions.contains(&version))
        });
        if offered.cipher_suites.is_empty() {
            return Err(SetupError::Unsupported(
                "there is no suite of the versions to offer".to_owned(),
            ));
        }
        let verified = &mut offered.signature_verification_algorithms;
        let schemes = match &self.pinned {
            Some(pinned) => pinned.signatures.clone(),
            None => {
                let all = verified.mapping.iter();
                all.map(|(scheme, _)| SignatureScheme(u16::from(*scheme)))
                    .collect()
            }
        };
        verified.mapping = watch::mapping(provider, verified.mapping, &schemes)?;
        Ok(offered)
    }
}
