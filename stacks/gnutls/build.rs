//! Links the system's GnuTLS, as pkg-config finds it.

/// The minimum release that has all functions of `src/ffi.rs`.
const OLDEST: &str = "3.7.4";

fn main() {
    let found = pkg_config::Config::new()
        .atleast_version(OLDEST)
        .probe("gnutls");
    if let Err(error) = found {
        println!("cargo::error={error}; on Debian and Ubuntu: apt-get install libgnutls28-dev");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
