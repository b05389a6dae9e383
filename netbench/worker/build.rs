//! Passes the facts of the build to the worker, which reports them for every run's manifest.

use std::{env, process::Command};

fn main() {
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
    // The settings that override the profile in Cargo, and the compiler's flags.
    if let Ok(lto) = env::var("CARGO_PROFILE_RELEASE_LTO") {
        println!("cargo::rustc-env=NETBENCH_LTO={lto}");
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!(
        "cargo::rustc-env=NETBENCH_RUSTFLAGS={}",
        flags.replace('\u{1f}', " ")
    );
    println!("cargo::rerun-if-env-changed=CARGO_PROFILE_RELEASE_LTO");
    println!("cargo::rerun-if-changed=build.rs");
}
