use std::path::{Path, PathBuf};

use netbench_model::coverage::{Protocol, Role, Support};

use crate::{BogoError, OutcomesIn, ShimConfig, tables::rows};

/// A shim in the source tree, or in BoringSSL's.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownShim {
    /// The shim's name on the command line.
    pub name: &'static str,
    /// The stack whose library it drives.
    pub stack: Option<&'static str>,
    /// The builder of its program.
    pub made_by: MadeBy,
    /// The shim whose configuration it has, with exceptions, and from whose outcomes its own are stored as differences.
    pub differs_from: Option<&'static str>,
    /// The parts of the table of features that its library has and the shim does not show.
    beyond: &'static [&'static str],
}

/// Cells of the matrix of which more is known than the tests show.
struct Beyond {
    /// The feature, or `None` for all.
    feature: Option<&'static str>,
    /// The role, or `None` for both.
    role: Option<Role>,
    /// The protocol, or `None` for all.
    protocol: Option<Protocol>,
    /// Not testable where the library has the feature and the shim does not show it, absent where the
    /// library's build lacks it, off by default where it must be enabled.
    support: Support,
    why: &'static str,
}

impl Beyond {
    /// Returns the cells of a library, by its name in the table.
    fn of_library(library: &str) -> impl Iterator<Item = Self> {
        let all = rows::<6>(include_str!("tables/beyond.tsv"));
        all.filter(move |[of, ..]| *of == library).filter_map(
            |[_, feature, role, protocol, support, why]| {
                Some(Self {
                    feature: Some(feature).filter(|feature| !feature.is_empty()),
                    role: role.parse().ok(),
                    protocol: protocol.parse().ok(),
                    support: support.parse().ok()?,
                    why,
                })
            },
        )
    }

    fn is_of(&self, feature: &str, role: Role, protocol: Protocol) -> bool {
        self.feature.is_none_or(|known| known == feature)
            && self.role.is_none_or(|known| known == role)
            && self.protocol.is_none_or(|known| known == protocol)
    }
}

/// The builder of a shim's program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MadeBy {
    /// BoringSSL's own build.
    Boringssl,
    /// Cargo.
    Cargo(ShimExecutable),
    /// Cargo, with a library of the system, whose version the program prints (`-which-library`).
    CargoWithSystemLibrary(ShimExecutable),
    /// Go's toolchain, which ships the shim; a program that Cargo builds starts it.
    GoBehind(ShimExecutable, GoToolchain),
}

/// The toolchain that builds Go's shim, with its own crypto/tls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoToolchain {
    /// The installed Go.
    Installed,
    /// A version, which the installed Go downloads (`go1.27.4`).
    Version(&'static str),
}

/// The Cargo target of a shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShimExecutable {
    /// The binary target of [`SHIMS_PACKAGE`].
    pub name: &'static str,
    /// The feature that it requires.
    pub feature: Option<&'static str>,
    /// The version of its library.
    pub library: LibraryVersion,
}

/// The version of a shim's library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LibraryVersion {
    /// The version of netbench's lock file.
    Locked,
    /// A release line of OpenSSL.
    OpenSsl(&'static str),
    /// A version of rustls.
    Rustls(&'static str),
    /// The version of the lock file of a workspace in this folder of [`SHIMS_FOLDER`], whose package has the
    /// executable's name.
    OwnWorkspace(&'static str),
}

/// The package of the shims; its folder has [`SHIMS_FOLDER`]'s name.
pub const SHIMS_PACKAGE: &str = "netbench-bogo-shims";

/// The folder of the shims, below the source tree.
pub const SHIMS_FOLDER: &str = "bogo-shims";

const fn executable(name: &'static str, feature: Option<&'static str>) -> ShimExecutable {
    ShimExecutable {
        name,
        feature,
        library: LibraryVersion::Locked,
    }
}

/// The shims that can be selected.
pub const KNOWN_SHIMS: [KnownShim; 10] = [
    KnownShim {
        name: "boringssl",
        stack: None,
        made_by: MadeBy::Boringssl,
        differs_from: None,
        beyond: &[],
    },
    KnownShim {
        name: "openssl",
        stack: Some("openssl"),
        made_by: MadeBy::Cargo(executable("netbench-bogo-openssl", Some("openssl"))),
        differs_from: None,
        beyond: &["libssl"],
    },
    KnownShim {
        name: "rustls",
        stack: Some("rustls-aws-lc"),
        made_by: MadeBy::Cargo(executable("netbench-bogo-rustls", Some("rustls"))),
        differs_from: None,
        beyond: &["rustls on aws-lc-rs"],
    },
    KnownShim {
        name: "rustls-ring",
        stack: Some("rustls-ring"),
        made_by: MadeBy::Cargo(executable("netbench-bogo-rustls-ring", Some("rustls-ring"))),
        differs_from: Some("rustls"),
        beyond: &[],
    },
    KnownShim {
        name: "rustls@0.23.31",
        stack: Some("rustls@0.23.31"),
        made_by: MadeBy::Cargo(ShimExecutable {
            library: LibraryVersion::Rustls("0.23.31"),
            ..executable("netbench-bogo-rustls-ring", Some("rustls-ring"))
        }),
        differs_from: Some("rustls"),
        beyond: &[],
    },
    KnownShim {
        name: "rustls@0.24-dev",
        stack: Some("rustls@0.24-dev"),
        made_by: MadeBy::Cargo(ShimExecutable {
            library: LibraryVersion::OwnWorkspace("rustls-dev"),
            ..executable("netbench-bogo-rustls-dev", None)
        }),
        differs_from: Some("rustls"),
        beyond: &[],
    },
    KnownShim {
        name: "go",
        stack: Some("go"),
        made_by: MadeBy::GoBehind(executable("netbench-bogo-go", None), GoToolchain::Installed),
        differs_from: None,
        beyond: &["crypto/tls"],
    },
    KnownShim {
        name: "go@1.27",
        stack: None,
        made_by: MadeBy::GoBehind(
            executable("netbench-bogo-go", None),
            GoToolchain::Version("go1.27.4"),
        ),
        differs_from: Some("go"),
        beyond: &["crypto/tls"],
    },
    KnownShim {
        name: "openssl@4.0",
        stack: Some("openssl@4.0"),
        made_by: MadeBy::Cargo(ShimExecutable {
            library: LibraryVersion::OpenSsl("4.0"),
            ..executable("netbench-bogo-openssl", Some("openssl"))
        }),
        differs_from: Some("openssl"),
        beyond: &["libssl", "libssl since 4.0"],
    },
    KnownShim {
        name: "openssl-system",
        stack: Some("openssl-system"),
        made_by: MadeBy::CargoWithSystemLibrary(executable(
            "netbench-bogo-openssl-system",
            Some("openssl-system"),
        )),
        differs_from: Some("openssl"),
        beyond: &["libssl"],
    },
];

/// The shim that only fails.
pub const NULL_SHIM: ShimExecutable = executable("netbench-bogo-null", None);

impl KnownShim {
    /// Returns the shim of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN_SHIMS.iter().find(|shim| shim.name == name)
    }

    /// Returns the shim that drives the library of `stack`, which is the name of a stack and not of a
    /// variant.
    pub fn of_stack(stack: &str) -> Option<&'static Self> {
        KNOWN_SHIMS.iter().find(|shim| shim.stack == Some(stack))
    }

    /// Returns the path, in the source tree, of the configuration that the runner reads, if the shim has one.
    pub fn config_file(&self) -> Option<PathBuf> {
        // BoringSSL's own shim needs none.
        let name = self.differs_from.unwrap_or(self.name);
        (self.made_by != MadeBy::Boringssl).then(|| in_configs(name))
    }

    /// Returns the reason why the shim shows no feature over a protocol that its library has.
    pub(crate) fn beyond_protocol(&self, protocol: Protocol) -> Option<&'static str> {
        let mut known = self.known();
        let found = known.find(|one| {
            one.support == Support::NotTestable
                && one.feature.is_none()
                && one.protocol == Some(protocol)
        });
        found.map(|one| one.why)
    }

    /// Returns the facts about a cell beyond the tests: the support, and the reason or the setting that enables the
    /// feature.
    pub(crate) fn beyond(
        &self,
        feature: &str,
        role: Role,
        protocol: Protocol,
    ) -> impl Iterator<Item = (Support, &'static str)> {
        let known = self.known();
        let of_cell = known.filter(move |one| one.is_of(feature, role, protocol));
        of_cell.map(|one| (one.support, one.why))
    }

    fn known(&self) -> impl Iterator<Item = Beyond> {
        self.beyond
            .iter()
            .flat_map(|library| Beyond::of_library(library))
    }

    /// Reads the configuration with its exceptions; returns an empty one if the shim has none.
    ///
    /// # Errors
    /// Returns the errors of [`ShimConfig::read`].
    pub fn config(&self, place: &OutcomesIn) -> Result<ShimConfig, BogoError> {
        let Some(path) = self.config_file() else {
            return Ok(ShimConfig::default());
        };
        let text = place.needed(&path)?;
        let exceptions = self.differs_from.map(|_| in_configs(self.name));
        let exceptions = exceptions
            .as_deref()
            .map(|path| Ok((path, place.needed(path)?)))
            .transpose()?;
        let exceptions = exceptions.as_ref().map(|(path, text)| (*path, &**text));
        ShimConfig::of_texts((&path, &text), exceptions)
    }
}

fn in_configs(name: &str) -> PathBuf {
    let configs = Path::new(SHIMS_FOLDER).join("configs");
    configs.join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_belongs_to_a_shim() {
        let text = include_str!("tables/beyond.tsv");
        let mut libraries: Vec<&str> = rows::<1>(text).map(|[library]| library).collect();
        let count = libraries.len();
        libraries.dedup();
        let read = libraries.iter().flat_map(|of| Beyond::of_library(of));
        assert_eq!(read.count(), count);
        let mut named: Vec<&str> = KNOWN_SHIMS
            .iter()
            .flat_map(|shim| shim.beyond)
            .copied()
            .collect();
        named.sort_unstable();
        named.dedup();
        libraries.sort_unstable();
        assert_eq!(named, libraries);
    }
}
