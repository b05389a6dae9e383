//! The stacks that have a version in their names: usual adapters, built with another version of their library.

use openssl_src::{RELEASES, Release};

use crate::{Build, BuildVariant, WorkerSource};

/// A package of crates.io, pinned to a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its name.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
}

/// The environment variable of a build that names the package of whose version the worker is.
const VERSION_OF: &str = "NETBENCH_VERSION_OF";

/// Returns all of them, each with a separate worker.
pub(crate) fn versions() -> impl Iterator<Item = WorkerSource> {
    RELEASES
        .into_iter()
        .map(of_release)
        .chain(LIBRARIES.iter().flat_map(Library::sources))
        .chain([NEXT_RUSTLS])
}

/// The next line of rustls. Its interface differs, so its worker has its own adapter and lock file.
const NEXT_RUSTLS: WorkerSource = WorkerSource {
    stack: "rustls@0.24-dev",
    about: "rustls 0.24.0-dev.2, a pre-release, with ring as the versions before it (its authors advise aws-lc-rs)",
    executable: "netbench-worker-rustls-dev",
    build: Build::Cargo {
        package: "netbench-stack-rustls-dev",
        workspace: Some("stacks/rustls-dev"),
        variant: None,
    },
    release: None,
};

/// Returns the sort key of stacks: versions are sorted by their numbers.
pub(crate) fn order(stack: &str) -> (&str, Vec<u32>) {
    let (base, version) = stack.split_once('@').unwrap_or((stack, ""));
    let numbers = version.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter_map(|number| number.parse().ok());
    (base, numbers.collect())
}

/// Returns the worker of `openssl` with another release of OpenSSL. Its name and settings live as long as the list
/// of stacks, which is made once.
fn of_release(release: Release) -> WorkerSource {
    let stack: &str = format!("openssl@{}", release.line).leak();
    WorkerSource {
        stack,
        about: format!("OpenSSL {}, otherwise as openssl", release.version).leak(),
        executable: "netbench-worker-openssl",
        build: Build::Cargo {
            package: "netbench-stack-openssl",
            workspace: None,
            variant: Some(BuildVariant {
                folder: stack,
                environment: vec![(Release::VARIABLE, release.line)].leak(),
                arguments: &[],
                pins: &[],
            }),
        },
        release: Some(release),
    }
}

/// A library with many versions on crates.io, with which one adapter compiles.
struct Library {
    /// Its package, and the first part of the names of stacks.
    package: &'static str,
    /// The description of the stacks apart from their version.
    about: &'static str,
    worker: &'static str,
    executable: &'static str,
    /// Additional arguments of Cargo.
    arguments: &'static [&'static str],
    /// The pins that all versions share and that differ from the usual lock file, in the order in which Cargo can
    /// receive them.
    pins: &'static [Pin],
    /// Other packages that must have the same version.
    together: &'static [&'static str],
    /// The tested versions, the oldest first.
    versions: &'static [Version],
}

#[derive(Clone, Copy)]
struct Version {
    /// The version in the stack's name: the whole version, or the line of which it is the last one.
    name: &'static str,
    locked: &'static str,
}

const fn version(name: &'static str) -> Version {
    Version { name, locked: name }
}

const fn last_of(line: &'static str, locked: &'static str) -> Version {
    Version { name: line, locked }
}

const fn pin(package: &'static str, version: &'static str) -> Pin {
    Pin { package, version }
}

const LINES: Library = Library {
    package: "rustls",
    about: "with ring, through tokio-rustls",
    worker: "netbench-stack-rustls-lines",
    executable: "netbench-worker-rustls-lines",
    arguments: &[],
    pins: &[],
    together: &[],
    versions: &[last_of("0.22", "0.22.4")],
};

const S2N_TLS: Library = Library {
    package: "s2n-tls",
    about: "with AWS-LC, otherwise as s2n-tls",
    worker: "netbench-stack-s2n-tls",
    executable: "netbench-worker-s2n-tls",
    arguments: &[],
    pins: &[],
    together: &["s2n-tls-sys", "s2n-tls-tokio"],
    versions: &[version("0.3.47")],
};

const LIBRARIES: [Library; 7] = [
    Library {
        about: "with ring, for the suite alone",
        arguments: &[
            "--no-default-features",
            "--features",
            "rustls-0-20,rustls/dangerous_configuration",
        ],
        // tokio-rustls is not in the program; another version of it would bring another rustls.
        pins: &[pin("tokio-rustls", "0.23.4")],
        versions: &[last_of("0.20", "0.20.9")],
        ..LINES
    },
    Library {
        arguments: &["--features", "rustls-0-21,rustls/dangerous_configuration"],
        pins: &[pin("tokio-rustls", "0.24.1")],
        versions: &[last_of("0.21", "0.21.12")],
        ..LINES
    },
    LINES,
    Library {
        package: "rustls",
        about: "with ring, otherwise as rustls-ring",
        worker: "netbench-stack-rustls",
        executable: "netbench-worker-rustls",
        arguments: &["--no-default-features", "--features", "ring"],
        pins: &[],
        together: &[],
        versions: &[version("0.23.31"), version("0.23.46")],
    },
    // With the versions of rustls and webpki that are compatible with all of them.
    Library {
        package: "aws-lc-rs",
        about: "with rustls 0.23.31, otherwise as rustls-aws-lc",
        worker: "netbench-stack-rustls",
        executable: "netbench-worker-rustls",
        arguments: &[],
        pins: &[pin("rustls", "0.23.31"), pin("rustls-webpki", "0.103.4")],
        together: &[],
        versions: &[version("1.12.0"), version("1.19.0")],
    },
    // The first version whose crate reports the signature's scheme. The worker knows policies of a few earlier
    // versions: `PATCHES` in stacks/s2n-tls/src/ffi.rs.
    Library {
        arguments: &["--features", "before-0-3-47"],
        versions: &[version("0.3.35")],
        ..S2N_TLS
    },
    S2N_TLS,
];

impl Library {
    fn sources(&self) -> impl Iterator<Item = WorkerSource> {
        self.versions.iter().map(|version| self.source(*version))
    }

    /// Returns the source of a version. Its name and settings live as long as the list of stacks.
    fn source(&self, Version { name, locked }: Version) -> WorkerSource {
        let stack: &str = format!("{}@{name}", self.package).leak();
        let own = [self.package]
            .into_iter()
            .chain(self.together.iter().copied());
        let pins = self.pins.iter().copied();
        let pins: Vec<Pin> = pins
            .chain(own.map(|package| pin(package, locked)))
            .collect();
        WorkerSource {
            stack,
            about: format!("{} {locked} {}", self.package, self.about).leak(),
            executable: self.executable,
            build: Build::Cargo {
                package: self.worker,
                workspace: None,
                variant: Some(BuildVariant {
                    folder: stack,
                    environment: vec![(VERSION_OF, self.package)].leak(),
                    arguments: self.arguments,
                    pins: pins.leak(),
                }),
            },
            release: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_sorted_by_their_numbers() {
        let sorted = [
            "a",
            "a@0.9",
            "a@0.23.5",
            "a@0.23.40",
            "a@0.24-dev",
            "a@1.1.1w",
            "b",
        ];
        assert!(sorted.is_sorted_by_key(|stack| order(stack)));
    }

    #[test]
    fn the_next_line_is_the_one_that_its_worker_asks_for() {
        let manifest = include_str!("../../../stacks/rustls-dev/Cargo.toml");
        let version = NEXT_RUSTLS.about.split([' ', ',']).nth(1).unwrap();
        let asked = format!("rustls = {{ version = \"={version}\"");
        assert!(manifest.contains(&asked), "{asked}");
        let (line, _) = version.split_once(".0-dev").unwrap();
        assert_eq!(NEXT_RUSTLS.stack, format!("rustls@{line}-dev"));
    }

    #[test]
    fn a_library_is_held_to_the_version_that_its_stack_has_in_its_name() {
        for source in LIBRARIES.iter().flat_map(Library::sources) {
            let (package, name) = source.stack.split_once('@').unwrap();
            let Build::Cargo {
                variant: Some(variant),
                ..
            } = source.build
            else {
                panic!("{}", source.stack);
            };
            let own = variant
                .pins
                .iter()
                .find(|pin| pin.package == package)
                .unwrap();
            let rest = own.version.strip_prefix(name).unwrap();
            assert!(rest.is_empty() || rest.starts_with('.'), "{own:?}");
            assert_eq!(variant.environment, [(VERSION_OF, package)]);
        }
    }
}
