//! Makes `trust-roots/mozilla.pem` and `trust-roots/README.md` from the crate `webpki-root-certs`.
//!
//! It must never reach a network: Cargo fetches the crate and checks it, and the same crate always
//! makes the same files. Start reading at [`render`].

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use sha2::{Digest as _, Sha256};
use webpki_root_certs::TLS_SERVER_ROOT_CERTS;

const CRATE: &str = "webpki-root-certs";

/// The two files, whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// `mozilla.pem`.
    pub pem: String,
    /// `README.md`.
    pub readme: String,
}

/// The crate that the roots come from, as `Cargo.lock` pins it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its version.
    pub version: String,
    /// The SHA-256 of its archive, in hexadecimal.
    pub checksum: String,
}

/// Makes both files; `date` is that of the renewal, `2026-01-31`.
///
/// # Errors
/// A root that is not a certificate.
pub fn render(source: &Source, date: &str) -> Result<Files> {
    let pem = pem()?;
    let readme = readme(source, date, &pem);
    Ok(Files { pem, readme })
}

/// Where the roots come from, out of the text of `Cargo.lock`.
///
/// # Errors
/// No such package, or one without version or checksum.
pub fn source(cargo_lock: &str) -> Result<Source> {
    let name = format!("name = \"{CRATE}\"");
    let package = cargo_lock
        .split("[[package]]")
        .find(|package| package.lines().any(|line| line == name))
        .with_context(|| format!("Cargo.lock has no package {CRATE}"))?;
    let value = |key: &str| {
        let line = package
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \""));
        line.and_then(|line| line.strip_suffix('"'))
            .map(str::to_owned)
            .with_context(|| format!("Cargo.lock has no {key} for {CRATE}"))
    };
    Ok(Source {
        version: value("version")?,
        checksum: value("checksum")?,
    })
}

/// The value of a row of the README's table, such as `sha256` or `date`.
pub fn row<'a>(readme: &'a str, name: &str) -> Option<&'a str> {
    readme.lines().find_map(|line| {
        let (key, value) = line.strip_prefix('|')?.strip_suffix('|')?.split_once('|')?;
        (key.trim() == name).then(|| value.trim().trim_matches('`'))
    })
}

/// The SHA-256 of `bytes`, in hexadecimal.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
}

fn pem() -> Result<String> {
    let mut pem = format!(
        "# The certificates that Mozilla trusts to issue for web servers: {} of them.\n\
         # Made by `cargo run -p netbench-roots-renew`; README.md says from what. Do not edit.\n",
        TLS_SERVER_ROOT_CERTS.len()
    );
    for der in TLS_SERVER_ROOT_CERTS {
        let (rest, certificate) =
            x509_parser::parse_x509_certificate(der).context("a root is not a certificate")?;
        ensure!(rest.is_empty(), "bytes after a root");
        // A comment is one line of plain text, whatever a name holds.
        let subject = certificate.subject().to_string().escape_debug().to_string();
        let _ = write!(
            pem,
            "\n# subject: {subject}\n# sha256:  {}\n",
            sha256_hex(der)
        );
        pem.push_str("-----BEGIN CERTIFICATE-----\n");
        let text = BASE64_STANDARD.encode(der);
        for line in text.as_bytes().chunks(64) {
            pem.push_str(&String::from_utf8_lossy(line));
            pem.push('\n');
        }
        pem.push_str("-----END CERTIFICATE-----\n");
    }
    Ok(pem)
}

fn readme(source: &Source, date: &str, pem: &str) -> String {
    let Source { version, checksum } = source;
    let (count, sha256) = (TLS_SERVER_ROOT_CERTS.len(), sha256_hex(pem.as_bytes()));
    format!(
        "# Trust roots

`mozilla.pem` holds the certificates that Mozilla trusts to issue for web servers. A client of
netbench gets them, as PEM, for every connector that it makes: `--roots mozilla`, the default. Each
certificate has its subject and the SHA-256 of its DER in comments above it.

| what | value |
| --- | --- |
| certificates | {count} |
| date | {date} |
| sha256 | `{sha256}` |
| crate | [`{CRATE}`](https://crates.io/crates/{CRATE}) {version} |
| crate sha256 | `{checksum}` |
| licence | CDLA-Permissive-2.0 |

`date` is the day on which the file was made; `sha256` is that of `mozilla.pem`; `crate sha256` is that
of the crate's archive, which Cargo checks. The crate takes the set from Mozilla's report in the Common
CA Database (<https://www.ccadb.org>), under the terms of the Community Data License Agreement,
Permissive, version 2.0 (<https://cdla.dev/permissive-2-0/>).

## To renew

```sh
cargo update -p {CRATE}
cargo run -p netbench-roots-renew
```

This rewrites `mozilla.pem` and this file; with an unchanged crate both stay as they are. A test
(`cargo test -p netbench-roots-renew`) holds both to the crate in `Cargo.lock`.

## Other sizes

`--roots-count N` takes the first N of them, or adds freshly made roots of the same kind up to N.
Servo's set had 159 when its engineers compared stacks in 2017: `--roots-count 159`.
"
    )
}
