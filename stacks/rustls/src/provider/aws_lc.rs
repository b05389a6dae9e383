use std::sync::Arc;

#[cfg(feature = "fips")]
use rustls::{ALL_VERSIONS, ClientConfig, RootCertStore};
use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup, aws_lc_rs, hpke::Hpke},
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

#[cfg(target_arch = "x86_64")]
unsafe extern "C" {
    /// The capabilities of the processor that AWS-LC found, without those that `OPENSSL_ia32cap` hides:
    /// `crypto/fipsmodule/cpucap/internal.h`. AWS-LC has no interface that reports them. The name contains
    /// its version.
    #[link_name = env!("AWS_LC_CAPABILITIES")]
    static AWS_LC_CAPABILITIES: [u32; 4];
}

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
        if cfg!(feature = "fips") {
            format!("{version} with {}", package_version("aws-lc-fips-sys"))
        } else if WITHOUT_JITTER_ENTROPY {
            format!("{version} without CPU jitter entropy")
        } else {
            version
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn capabilities(&self) -> Option<u64> {
        let library_default: fn() -> CryptoProvider = aws_lc_rs::default_provider;
        // This makes the linker keep the library, and with it the symbol.
        let _linked = std::hint::black_box(library_default);
        // SAFETY: AWS-LC writes the value before `main`, and it is constant afterwards.
        let [_, _, ebx, ecx] = unsafe { AWS_LC_CAPABILITIES };
        Some(u64::from(ecx) << 32 | u64::from(ebx))
    }

    /// Returns the module, if every part of a configuration of rustls reports FIPS mode.
    #[cfg(feature = "fips")]
    fn fips(&self) -> Option<String> {
        let all = self.custom(self.suites(), self.groups());
        let builder = ClientConfig::builder_with_provider(all.into())
            .with_protocol_versions(ALL_VERSIONS)
            .ok()?;
        let config = builder
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        config.fips().then(|| package_version("aws-lc-fips-sys"))
    }

    fn hpke(&self) -> Vec<&'static dyn Hpke> {
        aws_lc_rs::hpke::ALL_SUPPORTED_SUITES.to_vec()
    }

    fn library_default(&self) -> CryptoProvider {
        aws_lc_rs::default_provider()
    }

    /// Returns the groups: with the FIPS module, only those that it approves. So are the suites of the
    /// default provider.
    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        let mut groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
        groups.retain(|group| cfg!(not(feature = "fips")) || group.fips());
        groups
    }

    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        aws_lc_rs::Ticketer::new().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use rustls::NamedGroup;

    use super::*;

    #[test]
    fn it_has_a_fips_module_where_it_is_built_with_one() {
        let built = cfg!(feature = "fips");
        assert_eq!(AwsLc.fips().is_some(), built);
        assert_eq!(AwsLc.library_default().fips(), built);
        let groups = AwsLc.groups();
        let has_x25519 = groups.iter().any(|it| it.name() == NamedGroup::X25519);
        assert_eq!(has_x25519, !built);
    }
}
