//! The releases of OpenSSL that can be built, and the packages of crates.io that hold their source.

use std::{env, fs, io, path::Path};

use crate::BuildError;

/// The package that depends only on the usual release's package, and its lock file. The packages for other
/// releases are made from them.
const MANIFEST: &str = include_str!("../pin/Cargo.toml");
const LOCK: &str = include_str!("../pin/Cargo.lock");

/// A release of OpenSSL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The line of which it is the last release on crates.io, or the whole version of a release that a published study used.
    pub line: &'static str,
    /// The version.
    pub version: &'static str,
    /// The version of the package `openssl-src` that contains it.
    package: &'static str,
    /// The checksum of that package.
    checksum: &'static str,
    /// The options that its `Configure` does not know yet, and would refuse.
    unknown_options: &'static [&'static str],
}

/// One release per line and those of published studies, the oldest first.
pub const RELEASES: [Release; 8] = [
    Release {
        line: "1.1.1",
        version: "1.1.1w",
        package: "111.28.2",
        checksum: "bb1830e20a48a975ca898ca8c1d036a36c3c6c5cb7dabc1c216706587857920f",
        unknown_options: &["no-module", "no-docs"],
    },
    Release {
        line: "3.0",
        version: "3.0.8",
        package: "300.0.13",
        checksum: "f00789a63ec8951fcda9adb0f2258582afdcfe1b2435e332d3a859896f814f0a",
        unknown_options: &["no-docs"],
    },
    Release {
        line: "3.1",
        version: "3.1.4",
        package: "300.1.6",
        checksum: "439fac53e092cd7442a3660c85dde4643ab3b5bd39040912388dcdabf6b88085",
        unknown_options: &["no-docs"],
    },
    Release {
        line: "3.2.0",
        version: "3.2.0",
        package: "300.2.1",
        checksum: "3fe476c29791a5ca0d1273c697e96085bbabbbea2ef7afd5617e78a4b40332d3",
        unknown_options: &[],
    },
    Release {
        line: "3.2",
        version: "3.2.1",
        package: "300.2.3",
        checksum: "5cff92b6f71555b61bb9315f7c64da3ca43d87531622120fea0195fc761b4843",
        unknown_options: &[],
    },
    USUAL,
    Release {
        line: "3.6",
        version: "3.6.3",
        package: "300.6.1",
        checksum: "46eb8fb9fb3b61ce1c0f8a026c4c1a0714d3a9e138e7fbde78753ce2babc3846",
        unknown_options: &[],
    },
    Release {
        line: "4.0",
        version: "4.0.3",
        package: "400.0.2",
        checksum: "d2093956673b8dbda85c87fa4fb78e70698ce6c5978a2837d1613f661d3bef76",
        unknown_options: &[],
    },
];

/// The default release: of the line with long-term support.
const USUAL: Release = Release {
    line: "3.5",
    version: "3.5.5",
    package: "300.5.5",
    checksum: "3f1787d533e03597a7934fd0a765f0d28e94ecc5fb7789f8053b1e699a56f709",
    unknown_options: &[],
};

impl Release {
    /// The environment variable of a build that selects a line.
    pub const VARIABLE: &'static str = "NETBENCH_OPENSSL";

    /// Returns the release that the environment selects.
    ///
    /// # Errors
    /// Returns an error for a line without a known release.
    pub fn asked() -> Result<Self, BuildError> {
        let Some(asked) = env::var_os(Self::VARIABLE) else {
            return Ok(USUAL);
        };
        let asked = asked.to_string_lossy();
        RELEASES
            .into_iter()
            .find(|release| release.line == asked)
            .ok_or_else(|| BuildError::NoRelease(asked.into_owned()))
    }

    /// Returns whether its `Configure` supports an option.
    pub(crate) fn knows(&self, option: &str) -> bool {
        !self.unknown_options.contains(&option)
    }

    /// Writes the package that pins its source.
    pub(crate) fn write_pin(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let manifest = MANIFEST.replace(USUAL.package, self.package);
        fs::write(folder.join("Cargo.toml"), manifest)?;
        fs::write(folder.join("Cargo.lock"), self.lock())?;
        fs::write(folder.join("lib.rs"), "")
    }

    /// Returns the lock file of that package.
    pub(crate) fn lock(&self) -> String {
        let [usual, own] =
            [&USUAL, self].map(|release| format!("{}+{}", release.package, release.version));
        LOCK.replace(&usual, &own)
            .replace(USUAL.checksum, self.checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pinned_follows_the_table() {
        for release in RELEASES {
            let lock = release.lock();
            let full = format!("\"{}+{}\"", release.package, release.version);
            assert!(lock.contains(&full), "{lock}");
            assert!(lock.contains(release.checksum), "{lock}");
        }
        assert_eq!(USUAL.lock(), LOCK);
        assert!(MANIFEST.contains(&format!("\"={}\"", USUAL.package)));
    }

    #[test]
    fn a_release_is_of_its_line() {
        for release in RELEASES {
            let rest = release.version.strip_prefix(release.line);
            let is_patch = rest
                .is_some_and(|rest| rest.starts_with('.') || rest.chars().all(char::is_alphabetic));
            let is_whole = release.version.matches('.').count() == 2;
            assert!(is_patch && is_whole, "{release:?}");
        }
    }
}
