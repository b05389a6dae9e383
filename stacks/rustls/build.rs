//! Names the symbol in which AWS-LC keeps what it found in the processor. aws-lc-sys puts its version before all symbols.

use std::{env, fs, path::Path};

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock = Path::new(&folder).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = fs::read_to_string(&lock).unwrap_or_default();
    let mut lines = text
        .lines()
        .skip_while(|line| *line != "name = \"aws-lc-sys\"");
    let version = lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \""));
    let version = version.map(|version| version.trim_end_matches('"').replace('.', "_"));
    println!(
        "cargo::rustc-env=AWS_LC_CAPABILITIES=aws_lc_{}_OPENSSL_ia32cap_P",
        version.unwrap_or_default()
    );
}
