//! Links the system's NSS, as pkg-config finds it.

/// The minimum release, whose headers `src/ffi.rs` follows.
const OLDEST: &str = "3.87";

fn main() {
    let found = pkg_config::Config::new()
        .atleast_version(OLDEST)
        .probe("nss");
    if let Err(error) = found {
        println!("cargo::error={error}; on Debian and Ubuntu: apt-get install libnss3-dev");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
