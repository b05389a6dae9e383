use std::path::{Path, PathBuf};

use netbench_model::coverage::{Protocol, Role, Support};

use crate::{BogoError, OutcomesIn, ShimConfig};

/// A shim in the source tree, or in BoringSSL's.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownShim {
    /// The shim's name on the command line.
    pub name: &'static str,
    /// The stack whose library it drives.
    pub stack: Option<&'static str>,
    /// The builder of its program.
    pub made_by: MadeBy,
    /// The name of its configuration file.
    config: Option<&'static str>,
    /// The file with the exceptions from that, where the configuration is also another shim's.
    exceptions: Option<&'static str>,
    /// The features that its library has and the shim does not show.
    beyond: &'static [&'static [Beyond]],
}

/// Cells of the matrix of which more is known than the tests show.
#[derive(Debug, PartialEq, Eq)]
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
    const fn feature(feature: &'static str, why: &'static str) -> Self {
        Self {
            feature: Some(feature),
            role: None,
            protocol: None,
            support: Support::NotTestable,
            why,
        }
    }

    const fn protocol_is_off(protocol: Protocol, why: &'static str) -> Self {
        Self {
            feature: None,
            role: None,
            protocol: Some(protocol),
            support: Support::OffByDefault,
            why,
        }
    }

    fn is_of(&self, feature: &str, role: Role, protocol: Protocol) -> bool {
        self.feature.is_none_or(|known| known == feature)
            && self.role.is_none_or(|known| known == role)
            && self.protocol.is_none_or(|known| known == protocol)
    }
}

/// The reason for features at level 0: the shim sets the security level, which applications do not do by
/// default.
const SECURITY_LEVEL: &str = "off by default: at security level 0 alone";

/// The shim sets the least version.
const LEAST_VERSION: &str =
    "off by default: the minimal version is TLS 1.2 unless an application sets a lower one";

/// The features that libssl has, and its shim does not show.
const BEYOND_OPENSSL: &[Beyond] = &[
    Beyond::feature(
        "Session ticket callbacks",
        "libssl has callbacks for ticket keys, and the shim does not set them",
    ),
    Beyond {
        support: Support::Absent,
        ..Beyond::feature(
            "Certificate compression",
            "libssl has it since 3.2 where it is built with zlib, brotli or zstd, and this one is built without them",
        )
    },
    Beyond::protocol_is_off(Protocol::Tls10, SECURITY_LEVEL),
    Beyond::protocol_is_off(Protocol::Tls11, SECURITY_LEVEL),
    Beyond::protocol_is_off(Protocol::Dtls10, SECURITY_LEVEL),
    Beyond {
        support: Support::OffByDefault,
        ..Beyond::feature("SHA-1 signatures", SECURITY_LEVEL)
    },
    Beyond::feature(
        "Certificate transparency (SCT)",
        "libssl validates lists itself, and does not show them as the tests want",
    ),
    Beyond::feature(
        "External PSK",
        "libssl has external PSKs, and the tests use imported ones (RFC 9258)",
    ),
];

/// The features that libssl has since 4.0.
const BEYOND_OPENSSL_4: &[Beyond] = &[
    Beyond::feature(
        "Encrypted ClientHello",
        "libssl has it since 4.0, and the shim does not set it",
    ),
    Beyond::feature(
        "OCSP stapling",
        "libssl reads a response before it sends or shows it, and the tests' are none",
    ),
];

/// The features that rustls on aws-lc-rs has, and its shim does not show.
const BEYOND_RUSTLS: &[Beyond] = &[Beyond {
    feature: Some("Encrypted ClientHello"),
    role: Some(Role::Client),
    protocol: Some(Protocol::Quic),
    support: Support::NotTestable,
    why: "rustls sends it over QUIC too, and its interface for QUIC does not tell whether it was accepted",
}];

/// The features that crypto/tls has, and the shim that Go ships does not use.
const BEYOND_GO: &[Beyond] = &[
    Beyond {
        feature: None,
        role: None,
        protocol: Some(Protocol::Quic),
        support: Support::NotTestable,
        why: "crypto/tls has an interface for QUIC, and Go's shim does not use it",
    },
    Beyond::protocol_is_off(Protocol::Tls10, LEAST_VERSION),
    Beyond::protocol_is_off(Protocol::Tls11, LEAST_VERSION),
    Beyond::feature(
        "Session ticket callbacks",
        "crypto/tls has callbacks that store sessions in tickets, and Go's shim does not set them",
    ),
    Beyond::feature(
        "Extended master secret",
        "crypto/tls has it, and Go's shim does not look",
    ),
    Beyond::feature(
        "close_notify",
        "crypto/tls sends and looks for it, and Go's shim has no flag to ask for it",
    ),
    Beyond::feature(
        "Renegotiation",
        "crypto/tls renegotiates where an application permits it, and Go's shim does not",
    ),
    Beyond {
        feature: Some("OCSP stapling"),
        role: Some(Role::Client),
        protocol: None,
        support: Support::NotTestable,
        why: "crypto/tls asks for a response and shows it, and Go's shim does not look",
    },
    Beyond::feature(
        "Certificate transparency (SCT)",
        "crypto/tls has the lists of both sides, and Go's shim has no use for them",
    ),
    Beyond::feature(
        "Names of authorities",
        "crypto/tls sends and shows them, and Go's shim does neither",
    ),
    Beyond::feature(
        "Exported keys",
        "crypto/tls exports keys, and Go's shim does not ask for them",
    ),
];

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
    GoBehind(ShimExecutable),
}

/// The Cargo target of a shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShimExecutable {
    /// The binary target of [`SHIMS_PACKAGE`].
    pub name: &'static str,
    /// The feature that it requires.
    pub feature: Option<&'static str>,
    /// The release line of OpenSSL with which it is linked, where that is not the usual one.
    pub openssl: Option<&'static str>,
}

/// The package of the shims; its folder has [`SHIMS_FOLDER`]'s name.
pub const SHIMS_PACKAGE: &str = "netbench-bogo-shims";

/// The folder of the shims, below the source tree.
pub const SHIMS_FOLDER: &str = "bogo-shims";

/// The shims that can be selected.
pub const KNOWN_SHIMS: [KnownShim; 7] = [
    KnownShim {
        name: "boringssl",
        stack: None,
        made_by: MadeBy::Boringssl,
        config: None,
        exceptions: None,
        beyond: &[],
    },
    KnownShim {
        name: "openssl",
        stack: Some("openssl"),
        made_by: MadeBy::Cargo(ShimExecutable {
            name: "netbench-bogo-openssl",
            feature: Some("openssl"),
            openssl: None,
        }),
        config: Some("openssl.json"),
        exceptions: None,
        beyond: &[BEYOND_OPENSSL],
    },
    KnownShim {
        name: "rustls",
        stack: Some("rustls-aws-lc"),
        made_by: MadeBy::Cargo(ShimExecutable {
            name: "netbench-bogo-rustls",
            feature: Some("rustls"),
            openssl: None,
        }),
        config: Some("rustls.json"),
        exceptions: None,
        beyond: &[BEYOND_RUSTLS],
    },
    KnownShim {
        name: "rustls-ring",
        stack: Some("rustls-ring"),
        made_by: MadeBy::Cargo(ShimExecutable {
            name: "netbench-bogo-rustls-ring",
            feature: Some("rustls-ring"),
            openssl: None,
        }),
        config: Some("rustls.json"),
        exceptions: Some("rustls-ring.json"),
        beyond: &[],
    },
    KnownShim {
        name: "go",
        stack: Some("go"),
        made_by: MadeBy::GoBehind(ShimExecutable {
            name: "netbench-bogo-go",
            feature: None,
            openssl: None,
        }),
        config: Some("go.json"),
        exceptions: None,
        beyond: &[BEYOND_GO],
    },
    KnownShim {
        name: "openssl@4.0",
        stack: Some("openssl@4.0"),
        made_by: MadeBy::Cargo(ShimExecutable {
            name: "netbench-bogo-openssl",
            feature: Some("openssl"),
            openssl: Some("4.0"),
        }),
        config: Some("openssl.json"),
        exceptions: Some("openssl@4.0.json"),
        beyond: &[BEYOND_OPENSSL, BEYOND_OPENSSL_4],
    },
    KnownShim {
        name: "openssl-system",
        stack: Some("openssl-system"),
        made_by: MadeBy::CargoWithSystemLibrary(ShimExecutable {
            name: "netbench-bogo-openssl-system",
            feature: Some("openssl-system"),
            openssl: None,
        }),
        config: Some("openssl.json"),
        exceptions: Some("openssl-system.json"),
        beyond: &[BEYOND_OPENSSL],
    },
];

/// The shim that only fails.
pub const NULL_SHIM: ShimExecutable = ShimExecutable {
    name: "netbench-bogo-null",
    feature: None,
    openssl: None,
};

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
        self.config.map(in_configs)
    }

    /// Returns the reason why the shim shows no feature over a protocol that its library has.
    pub(crate) fn beyond_protocol(&self, protocol: Protocol) -> Option<&'static str> {
        let found = self.known().find(|one| {
            one.support == Support::NotTestable
                && one.feature.is_none()
                && one.protocol == Some(protocol)
        });
        found.map(|one| one.why)
    }

    /// Returns the support of a feature that no test of the shim shows, and the reason.
    pub(crate) fn beyond(
        &self,
        feature: &str,
        role: Role,
        protocol: Protocol,
    ) -> Option<(Support, &'static str)> {
        let mut hidden = self
            .known()
            .filter(|one| one.support != Support::OffByDefault);
        let found = hidden.find(|one| one.is_of(feature, role, protocol));
        found.map(|one| (one.support, one.why))
    }

    /// Returns the setting that enables a feature which the library has and does not offer by default.
    pub(crate) fn off_by_default(
        &self,
        feature: &str,
        role: Role,
        protocol: Protocol,
    ) -> Option<&'static str> {
        let mut off = self
            .known()
            .filter(|one| one.support == Support::OffByDefault);
        let found = off.find(|one| one.is_of(feature, role, protocol));
        found.map(|one| one.why)
    }

    fn known(&self) -> impl Iterator<Item = &'static Beyond> {
        self.beyond.iter().copied().flatten()
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
