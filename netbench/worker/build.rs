//! Passes the facts of the build to the worker, which reports them for every run's manifest.

use std::{env, path::Path, process::Command};

/// The setting of the release profile, which Cargo does not pass to build scripts.
const RELEASE_LTO: &str = "thin";

fn main() {
    assert!(
        profile_folder().as_deref() != Some("quick"),
        "the profile `quick` is for the command alone: workers are measured, and their libraries need optimization; use --release"
    );
    let rustc = env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .ok()
        .and_then(|out| String::from_utf8(out.stdout).ok())
        .unwrap_or_default();
    println!("cargo::rustc-env=NETBENCH_RUSTC={}", version.trim());
    for (name, from) in [
        ("NETBENCH_TARGET", "TARGET"),
        ("NETBENCH_OPT_LEVEL", "OPT_LEVEL"),
        ("NETBENCH_PROFILE", "PROFILE"),
    ] {
        println!(
            "cargo::rustc-env={name}={}",
            env::var(from).unwrap_or_default()
        );
    }
    if env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        // A variant overrides the setting.
        let lto = env::var("CARGO_PROFILE_RELEASE_LTO");
        println!(
            "cargo::rustc-env=NETBENCH_LTO={}",
            lto.as_deref().unwrap_or(RELEASE_LTO)
        );
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!(
        "cargo::rustc-env=NETBENCH_RUSTFLAGS={}",
        flags.replace('\u{1f}', " ")
    );
    println!("cargo::rerun-if-env-changed=CARGO_PROFILE_RELEASE_LTO");
    println!("cargo::rerun-if-changed=build.rs");
}

/// Returns the name of the profile's folder: `OUT_DIR` is `target/PROFILE/build/PACKAGE-HASH/out`.
fn profile_folder() -> Option<String> {
    let out = env::var("OUT_DIR").ok()?;
    let folder = Path::new(&out).ancestors().nth(3)?;
    Some(folder.file_name()?.to_str()?.to_owned())
}
