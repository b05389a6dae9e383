//! The worker of `rustls-graviola`: rustls with graviola.

use std::{process::ExitCode, sync::Arc};

use netbench_stack_rustls::{Provider, Rustls, package_version};
use rustls::{
    crypto::{CryptoProvider, SupportedKxGroup},
    server::ProducesTickets,
};

fn main() -> ExitCode {
    let stack = Rustls::new(&Graviola, env!("CARGO_BIN_NAME"));
    netbench_worker::run(vec![Arc::new(stack)])
}

struct Graviola;

impl Provider for Graviola {
    fn stack(&self) -> &'static str {
        "rustls-graviola"
    }

    fn library(&self) -> String {
        [
            package_version("rustls-graviola"),
            package_version("graviola"),
        ]
        .join(", ")
    }

    /// Returns the reason if the processor is unsupported: graviola has no code for other
    /// processors, and panics there.
    fn cannot_work(&self) -> Option<String> {
        if graviola::util::is_cpu_supported() {
            return None;
        }
        let lacking: Vec<_> = needed()
            .into_iter()
            .filter_map(|(name, found)| (!found).then_some(name))
            .collect();
        Some(format!(
            "graviola needs a processor with {}",
            lacking.join(" and ")
        ))
    }

    fn library_default(&self) -> CryptoProvider {
        rustls_graviola::default_provider()
    }

    fn groups(&self) -> Vec<&'static dyn SupportedKxGroup> {
        rustls_graviola::kx::ALL_KX_GROUPS.to_vec()
    }

    fn ticketer(&self) -> Result<Option<Arc<dyn ProducesTickets>>, rustls::Error> {
        rustls_graviola::Ticketer::new().map(Some)
    }
}

/// Returns the features that graviola requires, and whether this processor has them.
#[cfg(target_arch = "x86_64")]
fn needed() -> [(&'static str, bool); 6] {
    use std::arch::is_x86_feature_detected as has;
    [
        ("AES", has!("aes")),
        ("PCLMULQDQ", has!("pclmulqdq")),
        ("BMI1", has!("bmi1")),
        ("ADX", has!("adx")),
        ("AVX", has!("avx")),
        ("AVX2", has!("avx2")),
    ]
}

/// Returns the features that graviola requires, and whether this processor has them.
#[cfg(target_arch = "aarch64")]
fn needed() -> [(&'static str, bool); 4] {
    use std::arch::is_aarch64_feature_detected as has;
    [
        ("NEON", has!("neon")),
        ("AES", has!("aes")),
        ("PMULL", has!("pmull")),
        ("SHA2", has!("sha2")),
    ]
}
