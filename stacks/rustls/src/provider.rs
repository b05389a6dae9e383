//! What this crate asks of a provider of cryptography, and the versions of rustls.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(feature = "ring")]
mod ring;

use std::sync::Arc;

use netbench_model::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, locked_version};
use rustls::{
    SupportedCipherSuite, SupportedProtocolVersion,
    crypto::{CryptoProvider, SupportedKxGroup},
    server::ProducesTickets,
    version::{TLS12, TLS13},
};
use rustls_pki_types::PrivateKeyDer;

#[cfg(feature = "aws-lc")]
pub use self::aws_lc::AwsLc;
#[cfg(feature = "ring")]
pub use self::ring::Ring;

/// A provider of cryptography for rustls.
///
/// A worker describes itself by [`Self::stack`], [`Self::library`], [`Self::build`], [`Self::suites`] and
/// [`Self::groups`]: these must not initialise the library, because `cold` connections measure that.
pub trait Provider: Sync {
    /// The stack that rustls makes with it.
    fn stack(&self) -> &'static str;

    /// What it is and its version.
    fn library(&self) -> String;

    /// How the library was built, where it says so.
    fn build(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Why it cannot work on this machine. Asked before everything that needs its cryptography.
    fn cannot_work(&self) -> Option<String> {
        None
    }

    /// As [`netbench_worker::Stack::capabilities`].
    fn capabilities(&self) -> Option<u64> {
        None
    }

    /// As [`netbench_worker::Stack::fips`].
    fn fips(&self) -> Option<String> {
        None
    }

    /// The provider as it is by default.
    fn library_default(&self) -> CryptoProvider;

    /// The provider with these suites and groups.
    fn custom(
        &self,
        cipher_suites: Vec<SupportedCipherSuite>,
        kx_groups: Vec<&'static dyn SupportedKxGroup>,
    ) -> CryptoProvider {
        CryptoProvider {
            cipher_suites,
            kx_groups,
            ..self.library_default()
        }
    }

    /// All suites that it has.
    fn suites(&self) -> Vec<SupportedCipherSuite> {
        self.library_default().cipher_suites
    }

    /// All groups that it has.
    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup>;

    /// What makes a server's session tickets, where it has such a thing.
    ///
    /// # Errors
    /// What the library says.
    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        Ok(None)
    }
}

impl dyn Provider + '_ {
    /// The suites of the lab that it has.
    pub(crate) fn can_suites(&self) -> Vec<CipherSuite> {
        let all = self.suites();
        let has = |suite: &CipherSuite| all.iter().any(|s| u16::from(s.suite()) == suite.0);
        CipherSuite::SERVED.iter().copied().filter(has).collect()
    }

    /// The groups that it has of those that clients offer.
    pub(crate) fn can_groups(&self) -> Vec<Group> {
        let all = self.groups();
        let has = |group: &Group| all.iter().any(|kx| u16::from(kx.name()) == group.0);
        Group::OFFERED.iter().copied().filter(has).collect()
    }

    /// The signature schemes that it verifies, of those that clients offer.
    pub(crate) fn can_signatures(&self) -> Vec<SignatureScheme> {
        let provider = self.library_default();
        let all = provider.signature_verification_algorithms.mapping;
        let has = |scheme: &SignatureScheme| all.iter().any(|(s, _)| u16::from(*s) == scheme.0);
        SignatureScheme::OFFERED
            .iter()
            .copied()
            .filter(has)
            .collect()
    }

    /// The provider as it is by default, where it works.
    pub(crate) fn by_default(&self) -> Result<CryptoProvider, SetupError> {
        self.works()?;
        Ok(self.library_default())
    }

    /// The provider held to `suites` and `groups`, in that order.
    ///
    /// # Errors
    /// It lacks one of them, or cannot work.
    pub fn held_to(
        &self,
        suites: &[CipherSuite],
        groups: &[Group],
    ) -> Result<CryptoProvider, SetupError> {
        self.works()?;
        let (all_suites, all_groups) = (self.suites(), self.groups());
        let suite = |suite: &CipherSuite| {
            let mut all = all_suites.iter().copied();
            all.find(|s| u16::from(s.suite()) == suite.0)
                .ok_or_else(|| self.lacks(&format!("no {suite}")))
        };
        let group = |group: &Group| {
            let mut all = all_groups.iter().copied();
            all.find(|kx| u16::from(kx.name()) == group.0)
                .ok_or_else(|| self.lacks(&format!("no group {group}")))
        };
        Ok(self.custom(
            suites.iter().map(suite).collect::<Result<_, _>>()?,
            groups.iter().map(group).collect::<Result<_, _>>()?,
        ))
    }

    /// Refuses a server's key that no suite of TLS 1.2 signs with, where there is no other version.
    pub(crate) fn serves_with(
        &self,
        key: &PrivateKeyDer<'_>,
        versions: &[TlsVersion],
    ) -> Result<(), SetupError> {
        if versions != [TlsVersion::Tls12] {
            return Ok(());
        }
        let provider = self.by_default()?;
        let key = provider.key_provider.load_private_key(key.clone_key());
        let key = key.map_err(|e| SetupError::refused("key", e))?;
        let signs = |suite: SupportedCipherSuite| match suite {
            SupportedCipherSuite::Tls12(suite) => key.choose_scheme(suite.sign).is_some(),
            SupportedCipherSuite::Tls13(_) => false,
        };
        if self.suites().into_iter().any(signs) {
            return Ok(());
        }
        Err(self.lacks(&format!("no TLS 1.2 with keys of {:?}", key.algorithm())))
    }

    /// What makes a server's session tickets, where there is such a thing.
    pub(crate) fn tickets(&self) -> Result<Option<Arc<dyn ProducesTickets>>, SetupError> {
        self.works()?;
        self.ticketer()
            .map_err(|e| SetupError::refused("ticketer", e))
    }

    /// That `what` is not to be had in this stack.
    pub(crate) fn lacks(&self, what: &str) -> SetupError {
        SetupError::Unsupported(format!("{what} in {}", self.stack()))
    }

    fn works(&self) -> Result<(), SetupError> {
        match self.cannot_work() {
            None => Ok(()),
            Some(reason) => Err(SetupError::Unsupported(reason)),
        }
    }
}

/// A package with its version, of those that this workspace is built with.
pub fn package_version(package: &str) -> String {
    let version = locked_version(include_str!("../../../Cargo.lock"), package);
    format!("{package} {}", version.unwrap_or_default())
}

/// The versions as rustls has them.
pub(crate) fn versions(
    versions: &[TlsVersion],
) -> Result<Vec<&'static SupportedProtocolVersion>, SetupError> {
    let of = |version: &TlsVersion| match version {
        TlsVersion::Tls12 => Ok(&TLS12),
        TlsVersion::Tls13 => Ok(&TLS13),
        other => Err(SetupError::Unsupported(format!("no TLS {other} in rustls"))),
    };
    versions.iter().map(of).collect()
}

#[cfg(all(test, feature = "aws-lc", feature = "ring"))]
mod tests {
    use std::panic::catch_unwind;

    use rustls::ClientConfig;

    /// What `netbench ship` says of a program with two providers.
    #[test]
    fn of_two_providers_rustls_chooses_none_and_panics() {
        let panic = catch_unwind(ClientConfig::builder).unwrap_err();
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        assert!(words.unwrap().contains("CryptoProvider"), "{words:?}");
    }
}
