use std::collections::BTreeMap;

use netbench_lab::{Roots, RootsError, suite_pki};
use netbench_model::{Primitive, RootsForm, RootsSource, Scenario, Work};
use netbench_protocol::Material;
use sha2::{Digest, Sha256};

/// Certificates, keys and trust roots of the suite's scenarios, the same in every run.
#[derive(Debug)]
pub struct Materials {
    /// Sets of trust roots, by their number.
    roots: BTreeMap<u32, Roots>,
    native_path: Option<String>,
    sha256: String,
}

/// An error that prevents material from being made.
#[derive(Debug, thiserror::Error)]
#[error("trust roots of the suite: {0}")]
pub struct MaterialError(#[from] RootsError);

impl Materials {
    /// Returns the material that `scenarios` need.
    ///
    /// # Errors
    /// Returns an error if trust roots could not be made.
    pub fn of(scenarios: &[Scenario]) -> Result<Self, MaterialError> {
        let mut roots = BTreeMap::new();
        for scenario in scenarios {
            let wanted = match scenario.work {
                // The number includes the chain's own root.
                Work::Verify { roots, .. } | Work::ParallelVerify { roots, .. } => {
                    roots.saturating_sub(1)
                }
                Work::Connector { roots, .. } => roots.unwrap_or(0),
                _ => 0,
            };
            if wanted > 0 && !roots.contains_key(&wanted) {
                let set = Roots::load(&RootsSource::Mozilla)?.resized(wanted)?;
                roots.insert(wanted, set);
            }
        }
        let mut materials = Self {
            roots,
            native_path: native_path(),
            sha256: String::new(),
        };
        let mut digest = Sha256::new();
        for scenario in scenarios {
            // Roots that fill a set up are made anew in every run.
            let material = materials.material(scenario);
            digest.update(&material.chain_pem);
            digest.update(&material.key_pem);
            digest.update(&material.client_chain_pem);
        }
        materials.sha256 = format!("{:x}", digest.finalize());
        Ok(materials)
    }

    /// Returns the SHA-256 of all chains, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Returns the material of `scenario`.
    pub fn material(&self, scenario: &Scenario) -> Material {
        match &scenario.work {
            Work::Handshake { settings, .. }
            | Work::Bulk { settings, .. }
            | Work::Memory { settings, .. }
            | Work::Threads { settings, .. } => suite_pki(settings.key, settings.chain_length),
            Work::Verify {
                key,
                chain_length,
                roots,
            }
            | Work::ParallelVerify {
                key,
                chain_length,
                roots,
                ..
            } => {
                let mut material = suite_pki(*key, *chain_length);
                material.roots_pem += self.roots_pem(roots.saturating_sub(1));
                material
            }
            Work::Crypto { primitive } => match primitive {
                Primitive::Sign { key } | Primitive::Verify { key } => suite_pki(*key, 1),
                Primitive::KeyShare { .. }
                | Primitive::Respond { .. }
                | Primitive::Agree { .. }
                | Primitive::Seal { .. }
                | Primitive::Open { .. } => Material::default(),
            },
            Work::Connector { form, roots } => Material {
                roots_pem: self.roots_pem(roots.unwrap_or(0)).to_owned(),
                native_path: self
                    .native_path
                    .clone()
                    .filter(|_| *form == RootsForm::Native),
                ..Material::default()
            },
        }
    }

    fn roots_pem(&self, count: u32) -> &str {
        let roots = self.roots.get(&count);
        roots.map_or("", |roots| roots.pem.as_str())
    }
}

/// Returns the path of the operating system's bundle: the usual places of distributions, the most frequent first.
fn native_path() -> Option<String> {
    [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]
    .into_iter()
    .find(|path| std::fs::metadata(path).is_ok_and(|file| file.is_file()))
    .map(str::to_owned)
}
