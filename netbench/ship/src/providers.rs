//! The cryptography providers that rustls has in a program. With two of them, rustls chooses none, and a
//! program that has not chosen a provider panics.

use serde::Deserialize;

/// The crates of the providers, each with the corresponding feature of rustls.
const PROVIDERS: [(&str, &str); 2] = [("aws-lc-rs", "aws_lc_rs"), ("ring", "ring")];

#[derive(Deserialize)]
struct Lock {
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Deserialize)]
struct Locked {
    name: String,
    #[serde(default)]
    dependencies: Vec<String>,
}

/// Returns the providers among rustls' features.
pub(crate) fn of_features(features: &[&str]) -> Vec<String> {
    let found = PROVIDERS
        .iter()
        .filter(|(_, feature)| features.contains(feature));
    found.map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the providers that rustls depends on in a Cargo.lock. A program can have fewer: a lock has the
/// dependencies of all platforms and of tests.
pub fn providers_of_lock(lock: &str) -> Vec<String> {
    let Ok(lock) = toml::from_str::<Lock>(lock) else {
        return Vec::new();
    };
    let rustls = lock.package.iter().filter(|of| of.name == "rustls");
    let names: Vec<&str> = rustls
        .flat_map(|of| &of.dependencies)
        .filter_map(|dependency| dependency.split(' ').next())
        .collect();
    let found = PROVIDERS.iter().filter(|(name, _)| names.contains(name));
    found.map(|(name, _)| (*name).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_what_rustls_depends_on() {
        for (dependencies, providers) in [
            ("\"subtle\"", &[][..]),
            ("\"ring 0.17.14\"", &["ring"]),
            ("\"aws-lc-rs\", \"ring\"", &["aws-lc-rs", "ring"]),
        ] {
            let lock = format!(
                "version = 4\n[[package]]\nname = \"ring\"\nversion = \"0.17.14\"\n[[package]]\nname = \"rustls\"\n\
                 version = \"0.23.46\"\ndependencies = [{dependencies}]\n"
            );
            assert_eq!(providers_of_lock(&lock), providers);
        }
        assert!(providers_of_lock("no lock").is_empty());
        assert_eq!(of_features(&["ring", "std"]), ["ring"]);
    }
}
