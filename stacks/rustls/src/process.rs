//! The default provider of the process, for clients that take their cryptography from it.

use std::sync::OnceLock;

use netbench_tls::{ClientSettings, Profile, SignatureScheme, TlsVersion};
use netbench_worker::{Parameters, SetupError};
use rustls::crypto::CryptoProvider;

use crate::{provider::Provider, watch};

/// The settings of a client that the provider, and with it the process, has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Offers {
    versions: Vec<TlsVersion>,
    /// The suites, groups and signature schemes, or `None` for the provider's defaults.
    pinned: Option<Parameters>,
}

/// The installed settings. rustls accepts one default provider for the lifetime of the process.
static INSTALLED: OnceLock<Offers> = OnceLock::new();

/// Returns whether this process offers other parameters than `settings`.
pub fn is_another(settings: &ClientSettings) -> bool {
    INSTALLED
        .get()
        .is_some_and(|installed| *installed != Offers::of(settings))
}

/// Installs `provider`, restricted to `settings` and observed, as the default provider, unless it is already
/// installed. A process has one provider.
///
/// # Errors
/// Returns an error if the provider lacks a parameter, or the process has another default provider.
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
        Self {
            versions: settings.versions.clone(),
            pinned: match settings.profile {
                Profile::Library => None,
                Profile::Default | Profile::Servo => Some(settings.into()),
            },
        }
    }

    /// Returns the provider with the settings. Clients enable TLS 1.2 and 1.3, but offer no version for which
    /// the provider has no suite.
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
            return Err(SetupError::unsupported(
                "there is no suite of the versions to offer",
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
