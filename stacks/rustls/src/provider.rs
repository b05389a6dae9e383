//! The interface of this crate for cryptography providers, and the versions of rustls.

#[cfg(feature = "aws-lc")]
mod aws_lc;
#[cfg(feature = "ring")]
mod ring;

use std::sync::Arc;

use netbench_tls::{CipherSuite, Group, SignatureScheme, TlsVersion};
use netbench_worker::{SetupError, all_of, locked_package, refused, supported};
use rustls::{
    SupportedCipherSuite, SupportedProtocolVersion,
    crypto::{CryptoProvider, SupportedKxGroup, hpke::Hpke},
    server::ProducesTickets,
    version::{TLS12, TLS13},
};
use rustls_pki_types::{PrivateKeyDer, SignatureVerificationAlgorithm};

#[cfg(feature = "aws-lc")]
pub use self::aws_lc::AwsLc;
#[cfg(feature = "ring")]
pub use self::ring::Ring;

/// A cryptography provider for rustls.
///
/// A worker describes itself by [`Self::stack`], [`Self::library`], [`Self::build`], [`Self::suites`] and
/// [`Self::groups`]: these must not initialise the library, because `cold` connections measure that.
pub trait Provider: Sync {
    /// Returns the name of the stack of rustls with this provider.
    fn stack(&self) -> &'static str;

    /// Returns the name and version of the library.
    fn library(&self) -> String;

    /// Returns the build options of the library, where it reports them.
    fn build(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the reason why the provider cannot work on this machine. It is called before every use of its
    /// cryptography.
    fn cannot_work(&self) -> Option<String> {
        None
    }

    /// Returns the same as [`netbench_worker::Stack::capabilities`].
    fn capabilities(&self) -> Option<u64> {
        None
    }

    /// Returns the same as [`netbench_worker::Stack::fips`].
    fn fips(&self) -> Option<String> {
        None
    }

    /// Returns the suites of HPKE (RFC 9180), without which there is no Encrypted ClientHello.
    fn hpke(&self) -> Vec<&'static dyn Hpke> {
        Vec::new()
    }

    /// Returns the default provider.
    fn library_default(&self) -> CryptoProvider;

    /// Returns the provider with these suites and groups.
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

    /// Returns all supported suites.
    fn suites(&self) -> Vec<SupportedCipherSuite> {
        self.library_default().cipher_suites
    }

    /// Returns all supported groups.
    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup>;

    /// Returns the producer of a server's session tickets, where the provider has one.
    ///
    /// # Errors
    /// Returns the library's error.
    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        Ok(None)
    }
}

impl dyn Provider + '_ {
    /// Returns the suites of the lab that it supports.
    pub(crate) fn can_suites(&self) -> Vec<CipherSuite> {
        let all = self.suites();
        supported(CipherSuite::SERVED, |suite| {
            all.iter().any(|s| u16::from(s.suite()) == suite.0)
        })
    }

    /// Returns the groups that it supports, among those that clients offer.
    pub(crate) fn can_groups(&self) -> Vec<Group> {
        let all = self.groups();
        supported(Group::OFFERED, |group| {
            all.iter().any(|kx| u16::from(kx.name()) == group.0)
        })
    }

    /// Returns the signature schemes that it verifies, among those that clients offer.
    pub(crate) fn can_signatures(&self) -> Vec<SignatureScheme> {
        let provider = self.library_default();
        let all = provider.signature_verification_algorithms.mapping;
        supported(&SignatureScheme::known(), |scheme| {
            all.iter().any(|(s, _)| u16::from(*s) == scheme.0)
        })
    }

    /// Returns the default provider, where it works.
    pub(crate) fn by_default(&self) -> Result<CryptoProvider, SetupError> {
        self.works()?;
        Ok(self.library_default())
    }

    /// Returns the provider restricted to `suites` and `groups`, in that order.
    ///
    /// # Errors
    /// Returns an error if the provider lacks one of them, or cannot work.
    pub fn held_to(
        &self,
        suites: &[CipherSuite],
        groups: &[Group],
    ) -> Result<CryptoProvider, SetupError> {
        self.works()?;
        let (all_suites, all_groups) = (self.suites(), self.groups());
        let suites = all_of(
            suites,
            |suite| {
                let mut all = all_suites.iter().copied();
                all.find(|s| u16::from(s.suite()) == suite.0)
            },
            |suite| self.lacks(&format!("no {suite}")),
        )?;
        let groups = all_of(
            groups,
            |group| {
                let mut all = all_groups.iter().copied();
                all.find(|kx| u16::from(kx.name()) == group.0)
            },
            |group| self.lacks(&format!("no group {group}")),
        )?;
        Ok(self.custom(suites, groups))
    }

    /// Refuses a server's key with which no suite of TLS 1.2 signs, where there is no other version.
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
        let key = key.map_err(refused("key"))?;
        let signs = self.suites().into_iter().any(|suite| match suite {
            SupportedCipherSuite::Tls12(suite) => key.choose_scheme(suite.sign).is_some(),
            SupportedCipherSuite::Tls13(_) => false,
        });
        if signs {
            return Ok(());
        }
        Err(self.lacks(&format!("no TLS 1.2 with keys of {:?}", key.algorithm())))
    }

    /// Returns the producer of a server's session tickets, where there is one.
    pub(crate) fn tickets(&self) -> Result<Option<Arc<dyn ProducesTickets>>, SetupError> {
        self.works()?;
        self.ticketer().map_err(refused("ticketer"))
    }

    /// Returns a suite of HPKE with X25519, which other libraries have alone.
    pub(crate) fn hpke_with_x25519(&self) -> Option<&'static dyn Hpke> {
        const X25519: u16 = 0x0020;
        let mut suites = self.hpke().into_iter();
        suites.find(|suite| u16::from(suite.suite().kem) == X25519)
    }

    /// Returns the error that this stack lacks a feature.
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

/// Returns a package with its version, from the packages with which this workspace is built.
pub fn package_version(package: &str) -> String {
    locked_package(include_str!("../../../Cargo.lock"), package)
}

/// A signature scheme with the algorithms that verify it, that of TLS 1.3 first.
pub(crate) type Verification = (
    rustls::SignatureScheme,
    &'static [&'static dyn SignatureVerificationAlgorithm],
);

/// Returns the algorithms that verify a scheme, where `all` have it.
pub(crate) fn verification(all: &[Verification], wanted: SignatureScheme) -> Option<Verification> {
    let mut all = all.iter().copied();
    all.find(|(scheme, _)| u16::from(*scheme) == wanted.0)
}

/// Converts versions to rustls' type.
pub(crate) fn versions(
    versions: &[TlsVersion],
) -> Result<Vec<&'static SupportedProtocolVersion>, SetupError> {
    versions
        .iter()
        .map(|version| match version {
            TlsVersion::Tls12 => Ok(&TLS12),
            TlsVersion::Tls13 => Ok(&TLS13),
            other => Err(SetupError::Unsupported(format!("no TLS {other} in rustls"))),
        })
        .collect()
}

#[cfg(all(test, feature = "aws-lc", feature = "ring"))]
mod tests {
    use std::panic::catch_unwind;

    use rustls::ClientConfig;

    /// Checks the statement of `netbench ship` about a program with two providers.
    #[test]
    fn of_two_providers_rustls_chooses_none_and_panics() {
        let panic = catch_unwind(ClientConfig::builder).unwrap_err();
        let words = panic.downcast_ref::<String>().map(String::as_str);
        let words = words.or_else(|| panic.downcast_ref::<&str>().copied());
        assert!(words.unwrap().contains("CryptoProvider"), "{words:?}");
    }
}
