//! The source of BoringSSL: it is in the package `boring-sys`, which Cargo fetches by a pinned checksum.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::AtomicBool,
    time::Duration,
};

use netbench_model::coverage::RunnerId;
use serde::Deserialize;

use crate::{
    BogoError,
    command::{Tool, run_well},
};

/// The manifest and the lock file of a package that depends only on the pinned one.
const MANIFEST: &str = include_str!("../pin/Cargo.toml");
const LOCK: &str = include_str!("../pin/Cargo.lock");
const PACKAGE: &str = "boring-sys";

const FETCH_LIMIT: Duration = Duration::from_secs(600);

const CARGO: Tool = Tool {
    name: "cargo",
    needed_for: "fetching BoringSSL's source",
    hint: "https://rustup.rs",
};

/// Returns the runner that the lock file pins.
pub(crate) fn pinned() -> Result<RunnerId, BogoError> {
    let section = LOCK
        .split("[[package]]")
        .find(|section| field(section, "name") == Some(PACKAGE));
    let pinned = section.and_then(|section| {
        Some(RunnerId {
            package: PACKAGE.to_owned(),
            version: field(section, "version")?.to_owned(),
            checksum: field(section, "checksum")?.to_owned(),
        })
    });
    pinned.ok_or_else(|| BogoError::bad("pin/Cargo.lock", "boring-sys is not pinned"))
}

fn field<'a>(section: &'a str, name: &str) -> Option<&'a str> {
    let value = section
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(" = "))?;
    value.strip_prefix('"')?.strip_suffix('"')
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

/// Makes Cargo fetch the package, unless it has already, and returns the folder of BoringSSL in it.
pub(crate) fn fetch(home: &Path, stop: &AtomicBool) -> Result<PathBuf, BogoError> {
    let pin = home.join("pin");
    fs::create_dir_all(&pin).map_err(BogoError::io(&pin))?;
    for (name, text) in [
        ("Cargo.toml", MANIFEST),
        ("Cargo.lock", LOCK),
        ("lib.rs", ""),
    ] {
        let path = pin.join(name);
        fs::write(&path, text).map_err(BogoError::io(&path))?;
    }
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(&pin);
    let said = run_well(
        &mut command,
        CARGO,
        "fetching BoringSSL's source",
        FETCH_LIMIT,
        stop,
    )?;
    let metadata: Metadata = serde_json::from_slice(&said.out)
        .map_err(|error| BogoError::bad("cargo metadata", error))?;
    let package = metadata
        .packages
        .into_iter()
        .find(|package| package.name == PACKAGE);
    let manifest = package
        .map(|package| package.manifest_path)
        .unwrap_or_default();
    let folder = manifest.with_file_name("deps").join("boringssl");
    if folder.join("ssl/test/runner/runner.go").is_file() {
        Ok(folder)
    } else {
        Err(BogoError::bad(
            folder,
            "there is no BoringSSL with its runner",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_and_checksum_are_pinned() {
        let id = pinned().unwrap();
        assert_eq!(id.checksum.len(), 64);
        assert!(MANIFEST.contains(&format!("boring-sys = \"={}\"", id.version)));
    }
}
