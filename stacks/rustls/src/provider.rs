//! The cryptography of rustls, and the versions that it has.

use std::sync::Arc;

use netbench_model::{CipherSuite, Group, TlsVersion};
use netbench_worker::SetupError;
use rustls::{
    SupportedProtocolVersion,
    crypto::{CryptoProvider, SupportedKxGroup},
    server::ProducesTickets,
    version::{TLS12, TLS13},
};

/// Which cryptography rustls is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// ring.
    Ring,
    /// AWS-LC.
    AwsLc,
}

/// Whether aws-lc-sys was built without CPU jitter entropy. Its build script reads the same variable.
pub(crate) const WITHOUT_JITTER_ENTROPY: bool = match option_env!("AWS_LC_SYS_NO_JITTER_ENTROPY") {
    Some(value) => !matches!(value.as_bytes(), b"" | b"0" | b"false" | b"no" | b"off"),
    None => false,
};

const AWS_LC: &str = if WITHOUT_JITTER_ENTROPY {
    "rustls-aws-lc+nojitter"
} else {
    "rustls-aws-lc"
};

impl Provider {
    /// The name of the stack that uses it.
    pub(crate) fn stack_name(self) -> &'static str {
        match self {
            Self::Ring => "rustls-ring",
            Self::AwsLc => AWS_LC,
        }
    }

    /// The provider as the library itself gives it.
    pub(crate) fn library_default(self) -> CryptoProvider {
        match self {
            Self::Ring => rustls::crypto::ring::default_provider(),
            Self::AwsLc => rustls::crypto::aws_lc_rs::default_provider(),
        }
    }

    /// The provider held to `suites` and `groups`, in that order.
    pub(crate) fn held_to(
        self,
        suites: &[CipherSuite],
        groups: &[Group],
    ) -> Result<CryptoProvider, SetupError> {
        let mut provider = self.library_default();
        let offered = provider.cipher_suites.clone();
        provider.cipher_suites = suites
            .iter()
            .map(|suite| {
                let found = offered.iter().find(|s| u16::from(s.suite()) == suite.0);
                found
                    .copied()
                    .ok_or_else(|| SetupError::Unsupported(format!("no {suite} in rustls")))
            })
            .collect::<Result<_, _>>()?;
        provider.kx_groups = groups
            .iter()
            .map(|group| self.group(*group))
            .collect::<Result<_, _>>()?;
        Ok(provider)
    }

    /// What makes a server's tickets.
    pub(crate) fn ticketer(self) -> Result<Arc<dyn ProducesTickets>, rustls::Error> {
        match self {
            Self::Ring => rustls::crypto::ring::Ticketer::new(),
            Self::AwsLc => rustls::crypto::aws_lc_rs::Ticketer::new(),
        }
    }

    /// A group as the provider has it.
    pub(crate) fn group(self, group: Group) -> Result<&'static dyn SupportedKxGroup, SetupError> {
        let all = match self {
            Self::Ring => rustls::crypto::ring::ALL_KX_GROUPS,
            Self::AwsLc => rustls::crypto::aws_lc_rs::ALL_KX_GROUPS,
        };
        all.iter()
            .copied()
            .find(|kx| u16::from(kx.name()) == group.0)
            .ok_or_else(|| {
                SetupError::Unsupported(format!("no group {group} in {}", self.stack_name()))
            })
    }
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
