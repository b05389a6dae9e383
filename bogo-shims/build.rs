//! Says so where the shim of OpenSSL would not link: with `OPENSSL_NO_VENDOR` in the environment,
//! openssl-sys takes the system's libssl, which may have no interface for QUIC stacks.

/// OpenSSL 3.5.0, as `OPENSSL_VERSION_NUMBER` has it.
const NEEDED: u64 = 0x3050_0000;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_OPENSSL").is_none() {
        return;
    }
    // What openssl-sys tells its dependents; no number where libssl is not OpenSSL's.
    let number = std::env::var("DEP_OPENSSL_VERSION_NUMBER").unwrap_or_default();
    if u64::from_str_radix(&number, 16).is_ok_and(|version| version >= NEEDED) {
        return;
    }
    println!(
        "cargo::error=the openssl shim needs OpenSSL 3.5 or newer, for SSL_set_quic_tls_cbs; \
         openssl-sys was built with version number \"{number}\". Unset OPENSSL_NO_VENDOR"
    );
}
