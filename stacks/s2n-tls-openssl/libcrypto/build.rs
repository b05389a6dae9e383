//! Builds OpenSSL as for the stack `openssl`, links its libcrypto, and tells s2n-tls-sys where its headers are.

use openssl_src::{Build, Release};

fn main() {
    let openssl = Build::new().build();
    println!(
        "cargo::rustc-link-search=native={}",
        openssl.lib_dir().display()
    );
    println!("cargo::rustc-link-lib=static=crypto");
    // These are the keys of aws-lc-rs that s2n-tls-sys reads.
    println!(
        "cargo::metadata=include={}",
        openssl.include_dir().display()
    );
    println!("cargo::metadata=root={}", openssl.lib_dir().display());
    println!("cargo::metadata=libcrypto=crypto");
    match Release::asked() {
        Ok(release) => println!("cargo::rustc-env=OPENSSL_RELEASE={}", release.version),
        Err(error) => println!("cargo::error={error}"),
    }
    println!("cargo::rerun-if-changed=build.rs");
}
