use crate::WorkerSource;

/// A library with its licence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Licence {
    /// The library: a package of crates.io, or a name that no such package has.
    pub library: &'static str,
    /// The licence, as an SPDX expression.
    pub spdx: &'static str,
}

const AWS_LC: Licence = Licence {
    library: "aws-lc-sys",
    spdx: "ISC AND (Apache-2.0 OR ISC) AND Apache-2.0 AND MIT AND BSD-3-Clause AND \
           (Apache-2.0 OR ISC OR MIT) AND (Apache-2.0 OR ISC OR MIT-0)",
};
const BERTIE: Licence = Licence {
    library: "bertie",
    spdx: "Apache-2.0",
};
const BORINGSSL: Licence = Licence {
    library: "BoringSSL",
    spdx: "Apache-2.0",
};
const GNUTLS: Licence = Licence {
    library: "GnuTLS",
    spdx: "LGPL-2.1-or-later",
};
const GO: Licence = Licence {
    library: "Go",
    spdx: "BSD-3-Clause",
};
const GRAVIOLA: Licence = Licence {
    library: "graviola",
    spdx: "Apache-2.0 OR ISC OR MIT-0",
};
const LIBCRUX: Licence = Licence {
    library: "libcrux",
    spdx: "Apache-2.0",
};
const NATIVE_TLS: Licence = Licence {
    library: "native-tls",
    spdx: "MIT OR Apache-2.0",
};
const NETTLE: Licence = Licence {
    library: "nettle",
    spdx: "LGPL-3.0-or-later OR GPL-2.0-or-later",
};
const NSPR: Licence = Licence {
    library: "NSPR",
    spdx: "MPL-2.0",
};
const NSS: Licence = Licence {
    library: "NSS",
    spdx: "MPL-2.0",
};
const OPENJDK: Licence = Licence {
    library: "OpenJDK",
    spdx: "GPL-2.0-only WITH Classpath-exception-2.0",
};
const OPENSSL: Licence = Licence {
    library: "OpenSSL",
    spdx: "Apache-2.0",
};
const OPENSSL_1_1_1: Licence = Licence {
    library: "OpenSSL",
    spdx: "OpenSSL",
};
const REQWEST: Licence = Licence {
    library: "reqwest",
    spdx: "MIT OR Apache-2.0",
};
const RING: Licence = Licence {
    library: "ring",
    spdx: "Apache-2.0 AND ISC",
};
/// The licence of ring 0.16: its package has the text of its licences, and no expression.
const RING_0_16: Licence = Licence {
    library: "ring 0.16",
    spdx: "ISC AND OpenSSL AND MIT",
};
const RUSTLS: Licence = Licence {
    library: "rustls",
    spdx: "Apache-2.0 OR ISC OR MIT",
};
const RUSTLS_OPENSSL: Licence = Licence {
    library: "rustls-openssl",
    spdx: "MIT",
};
const RUSTLS_RUSTCRYPTO: Licence = Licence {
    library: "rustls-rustcrypto",
    spdx: "MIT OR Apache-2.0",
};
const S2N_TLS: Licence = Licence {
    library: "s2n-tls-sys",
    spdx: "Apache-2.0",
};
const SERVO_NET: Licence = Licence {
    library: "servo-net",
    spdx: "MPL-2.0",
};

/// Returns the licences of the TLS library and of the cryptography with which a stack's worker is linked; empty if
/// they are not known here.
pub fn licences(source: &WorkerSource) -> &'static [Licence] {
    let stack = source.stack.split(['+', '@']).next().unwrap_or_default();
    match stack {
        "openssl" if source.stack == "openssl@1.1.1" => &[OPENSSL_1_1_1],
        "aws-lc" => &[AWS_LC],
        "bertie" => &[BERTIE, LIBCRUX],
        "rustls" if source.stack == "rustls@0.20" => &[RUSTLS, RING_0_16, RING],
        "boringssl" => &[BORINGSSL],
        "gnutls" => &[GNUTLS, NETTLE],
        "go" => &[GO],
        "java" => &[OPENJDK],
        "native-tls" => &[NATIVE_TLS, OPENSSL],
        "nss" => &[NSS, NSPR],
        "openssl" | "openssl-system" => &[OPENSSL],
        "reqwest" => &[REQWEST, RUSTLS, AWS_LC],
        "reqwest-native-tls" => &[REQWEST, NATIVE_TLS, OPENSSL],
        "aws-lc-rs" | "rustls-aws-lc" => &[RUSTLS, AWS_LC],
        "rustls-graviola" => &[RUSTLS, GRAVIOLA],
        "rustls-openssl" => &[RUSTLS, RUSTLS_OPENSSL, OPENSSL],
        "rustls" | "rustls-ring" => &[RUSTLS, RING],
        "rustls-rustcrypto" => &[RUSTLS, RUSTLS_RUSTCRYPTO],
        "s2n-tls" => &[S2N_TLS, AWS_LC],
        "servo" => &[SERVO_NET, RUSTLS, AWS_LC],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, process::Command};

    use serde_json::Value;

    use super::*;
    use crate::{Build, known_stacks};

    /// Libraries that are not packages of crates.io.
    const NO_PACKAGES: [&str; 9] = [
        "BoringSSL",
        "GnuTLS",
        "Go",
        "nettle",
        "NSPR",
        "NSS",
        "OpenJDK",
        "OpenSSL",
        "ring 0.16",
    ];

    /// Returns the packages of the workspace in `folder` with their declared licences; `None` if some of them have
    /// not been downloaded.
    fn declared(folder: &str) -> Option<BTreeMap<String, String>> {
        let manifest = format!("{}/../../{folder}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
        let words = ["--locked", "--offline", "--format-version", "1"];
        let output = Command::new(env!("CARGO"))
            .arg("metadata")
            .args(words)
            .args(["--manifest-path", &manifest])
            .output()
            .expect("cargo metadata runs");
        if !output.status.success() {
            return None;
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata");
        let packages = metadata["packages"].as_array().expect("packages").iter();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let declared = packages.filter_map(|it| Some((text(&it["name"])?, text(&it["license"])?)));
        Some(declared.collect())
    }

    #[test]
    fn licences_are_those_that_the_packages_declare() {
        let common = declared(".").expect("what this test was built from is there");
        let mut own = BTreeMap::new();
        for source in known_stacks() {
            let declared = match source.build {
                Build::Cargo {
                    workspace: Some(folder),
                    ..
                } => match own.entry(folder).or_insert_with(|| declared(folder)) {
                    Some(declared) => declared,
                    None => continue,
                },
                _ => &common,
            };
            for licence in licences(source) {
                if NO_PACKAGES.contains(&licence.library) {
                    continue;
                }
                let spdx = declared.get(licence.library);
                assert_eq!(
                    spdx.map(String::as_str),
                    Some(licence.spdx),
                    "{}",
                    licence.library
                );
            }
        }
    }
}
