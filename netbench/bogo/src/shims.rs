use std::path::{Path, PathBuf};

use crate::{BogoError, OutcomesIn, ShimConfig};

/// A shim that the source tree has, or that BoringSSL's has.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownShim {
    /// Its name, by which the command line calls it.
    pub name: &'static str,
    /// The stack whose library it drives.
    pub stack: Option<&'static str>,
    /// Its executable; none where BoringSSL's own build makes it.
    pub executable: Option<ShimExecutable>,
    /// The file of its configuration.
    config: Option<&'static str>,
    /// What differs from that, where the configuration is another shim's too.
    exceptions: Option<&'static str>,
    /// Rows of the matrix that its library has and the shim does not show, with the reason of each.
    pub(crate) beyond: &'static [(&'static str, &'static str)],
}

/// What libssl has, and its shim does not show.
const BEYOND_OPENSSL: &[(&str, &str)] = &[
    (
        "Session ticket callbacks",
        "libssl has callbacks for ticket keys, and the shim does not set them",
    ),
    (
        "Certificate compression",
        "libssl compresses with zlib, brotli and zstd, and takes no algorithm of a test's own",
    ),
    (
        "Certificate transparency (SCT)",
        "libssl validates lists itself, and does not show them as the tests want",
    ),
    (
        "External PSK",
        "libssl has external PSKs, and the tests use imported ones (RFC 9258)",
    ),
];

/// What Cargo builds a shim as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShimExecutable {
    /// The binary target of [`SHIMS_PACKAGE`].
    pub name: &'static str,
    /// The feature that it needs.
    pub feature: Option<&'static str>,
}

/// The package of the shims; its folder has [`SHIMS_FOLDER`]'s name.
pub const SHIMS_PACKAGE: &str = "netbench-bogo-shims";

/// Where the shims are, below the source tree.
pub const SHIMS_FOLDER: &str = "bogo-shims";

/// The shims that can be chosen.
pub const KNOWN_SHIMS: [KnownShim; 4] = [
    KnownShim {
        name: "boringssl",
        stack: None,
        executable: None,
        config: None,
        exceptions: None,
        beyond: &[],
    },
    KnownShim {
        name: "openssl",
        stack: Some("openssl"),
        executable: Some(ShimExecutable {
            name: "netbench-bogo-openssl",
            feature: Some("openssl"),
        }),
        config: Some("openssl.json"),
        exceptions: None,
        beyond: BEYOND_OPENSSL,
    },
    KnownShim {
        name: "rustls",
        stack: Some("rustls-aws-lc"),
        executable: Some(ShimExecutable {
            name: "netbench-bogo-rustls",
            feature: Some("rustls"),
        }),
        config: Some("rustls.json"),
        exceptions: None,
        beyond: &[],
    },
    KnownShim {
        name: "rustls-ring",
        stack: Some("rustls-ring"),
        executable: Some(ShimExecutable {
            name: "netbench-bogo-rustls-ring",
            feature: Some("rustls-ring"),
        }),
        config: Some("rustls.json"),
        exceptions: Some("rustls-ring.json"),
        beyond: &[],
    },
];

/// The shim that does nothing but fail.
pub const NULL_SHIM: ShimExecutable = ShimExecutable {
    name: "netbench-bogo-null",
    feature: None,
};

impl KnownShim {
    /// By its name.
    pub fn named(name: &str) -> Option<&'static Self> {
        KNOWN_SHIMS.iter().find(|shim| shim.name == name)
    }

    /// The one that drives the library of `stack`, which has the name of a stack and not of a variant.
    pub fn of_stack(stack: &str) -> Option<&'static Self> {
        KNOWN_SHIMS.iter().find(|shim| shim.stack == Some(stack))
    }

    /// The configuration that the runner reads, if it has one: a path in the source tree.
    pub fn config_file(&self) -> Option<PathBuf> {
        self.config.map(in_configs)
    }

    /// Reads the configuration with its exceptions; the empty one if it has none.
    ///
    /// # Errors
    /// As for [`ShimConfig::read`].
    pub fn config(&self, place: &OutcomesIn) -> Result<ShimConfig, BogoError> {
        let Some(path) = self.config_file() else {
            return Ok(ShimConfig::default());
        };
        let text = place.needed(&path)?;
        let exceptions = self.exceptions.map(in_configs);
        let exceptions = exceptions
            .as_deref()
            .map(|path| Ok((path, place.needed(path)?)))
            .transpose()?;
        let exceptions = exceptions.as_ref().map(|(path, text)| (*path, &**text));
        ShimConfig::of_texts((&path, &text), exceptions)
    }
}

fn in_configs(name: &str) -> PathBuf {
    Path::new(SHIMS_FOLDER).join("configs").join(name)
}
