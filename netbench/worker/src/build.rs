use std::collections::BTreeMap;

use crate::allocator;

/// Returns the facts of this worker's build, for [`netbench_tls::WorkerRecord::build`].
pub fn build_facts() -> BTreeMap<String, String> {
    let assertions = if cfg!(debug_assertions) { "on" } else { "off" };
    [
        ("profile", env!("NETBENCH_PROFILE")),
        ("opt_level", env!("NETBENCH_OPT_LEVEL")),
        ("target", env!("NETBENCH_TARGET")),
        ("rustc", env!("NETBENCH_RUSTC")),
        ("debug_assertions", assertions),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .chain([("allocator".to_owned(), allocator::found())])
    .chain(set("lto", option_env!("NETBENCH_LTO").unwrap_or_default()))
    .chain(set("rustflags", env!("NETBENCH_RUSTFLAGS")))
    .collect()
}

/// Returns the facts of this worker's build, and those of its library.
pub fn build_facts_with(
    library: impl IntoIterator<Item = (&'static str, String)>,
) -> BTreeMap<String, String> {
    let library = library.into_iter();
    let mut all = build_facts();
    all.extend(library.map(|(name, fact)| (name.to_owned(), fact)));
    all
}

/// Returns the fact if its value is set.
fn set(name: &str, value: &str) -> Option<(String, String)> {
    (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// Returns the version of `package` in the text of a `Cargo.lock`, the newest if there are several, for libraries that
/// do not report their version.
pub fn locked_version(lock: &str, package: &str) -> Option<String> {
    locked_versions(lock, package).last()
}

/// Returns a package with its version in the text of a `Cargo.lock`, as reports name it: `ring 0.17.14`.
pub fn locked_package(lock: &str, package: &str) -> String {
    let version = locked_version(lock, package).unwrap_or_default();
    format!("{package} {version}")
}

/// Returns all versions of `package` in the text of a `Cargo.lock`, in its order: the oldest first.
pub fn locked_versions(lock: &str, package: &str) -> impl Iterator<Item = String> {
    let name = format!("name = \"{package}\"");
    let lines = lock.lines().zip(lock.lines().skip(1));
    lines.filter_map(move |(line, next)| {
        let version = next.strip_prefix("version = \"").filter(|_| line == name)?;
        version.strip_suffix('"').map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        const LOCK: &str = r#"version = 4

[[package]]
name = "rustls-webpki"
version = "0.103.1"
dependencies = [
 "rustls",
]

[[package]]
name = "rustls"
version = "0.23.46"

[[package]]
name = "several"
version = "0.9.1"

[[package]]
name = "several"
version = "0.10.0"

[[package]]
name = "odd"
source = "here"
version = "1.0.0"

[[package]]
name = "last""#;
        let cases = [
            ("rustls", Some("0.23.46")),
            ("rustls-webpki", Some("0.103.1")),
            ("several", Some("0.10.0")),
            ("rust", None),
            ("odd", None),
            ("last", None),
            ("", None),
        ];
        for (package, version) in cases {
            assert_eq!(
                locked_version(LOCK, package).as_deref(),
                version,
                "{package}"
            );
        }
        let several: Vec<_> = locked_versions(LOCK, "several").collect();
        assert_eq!(several, ["0.9.1", "0.10.0"]);
    }

    #[test]
    fn a_build_says_all_that_it_is() {
        for (name, value) in build_facts() {
            assert!(!value.is_empty(), "{name}");
        }
        let rustc = &build_facts()["rustc"];
        assert!(rustc.starts_with("rustc 1."), "{rustc}");
    }
}
