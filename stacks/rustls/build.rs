//! Determines the name of the symbol in which AWS-LC keeps the capabilities of the processor. aws-lc-sys
//! prefixes all symbols with its version, and so does the crate with AWS-LC's FIPS module.

use std::{env, fs, path::Path};

fn main() {
    let folder = env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let lock = Path::new(&folder).join("../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let (package, prefix) = match env::var_os("CARGO_FEATURE_FIPS") {
        Some(_) => ("aws-lc-fips-sys", "aws_lc_fips"),
        None => ("aws-lc-sys", "aws_lc"),
    };
    let text = fs::read_to_string(&lock).unwrap_or_default();
    let named = format!("name = \"{package}\"");
    let mut lines = text.lines().skip_while(|line| *line != named);
    let version = lines
        .nth(1)
        .and_then(|line| line.strip_prefix("version = \""));
    let version = version.map(|version| version.trim_end_matches('"').replace('.', "_"));
    println!(
        "cargo::rustc-env=AWS_LC_CAPABILITIES={prefix}_{}_OPENSSL_ia32cap_P",
        version.unwrap_or_default()
    );
}
