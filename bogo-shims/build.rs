//! Reports the functions of libssl to the shim of OpenSSL as cfgs, and prints an error where the shim would
//! not link: with `OPENSSL_NO_VENDOR` in the environment, openssl-sys takes the system's libssl for the shim
//! that is built from source too.

/// The minimum of the system's libssl, in the format of `OPENSSL_VERSION_NUMBER`.
const OPENSSL_3_0: u64 = 0x3000_0000;
/// The minimum of the libssl that is built from source.
const OPENSSL_3_5: u64 = 0x3050_0000;

/// Versions with functions that older ones lack, and the cfgs of the older ones.
const BEFORE: [(u64, &str); 3] = [
    (0x3020_0000, "before_openssl_3_2"),
    (OPENSSL_3_5, "before_openssl_3_5"),
    (0x4000_0000, "before_openssl_4_0"),
];

/// The variable with the version of rustls, where that is not the one of the lock file.
const RUSTLS: &str = "NETBENCH_SHIM_RUSTLS";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={RUSTLS}");
    println!("cargo::rustc-check-cfg=cfg(before_rustls_0_23_46)");
    if std::env::var_os(RUSTLS).is_some() {
        println!("cargo::rustc-cfg=before_rustls_0_23_46");
    }
    for (_, before) in BEFORE {
        println!("cargo::rustc-check-cfg=cfg({before})");
    }
    let has = |feature| std::env::var_os(feature).is_some();
    if !has("CARGO_FEATURE_LIBSSL") {
        return;
    }
    // openssl-sys passes the number to its dependents, unless libssl is not OpenSSL's.
    let number = std::env::var("DEP_OPENSSL_VERSION_NUMBER").unwrap_or_default();
    let version = u64::from_str_radix(&number, 16).unwrap_or(0);
    if has("CARGO_FEATURE_OPENSSL") && version < OPENSSL_3_5 {
        println!(
            "cargo::error=the openssl shim needs OpenSSL 3.5 or newer, for SSL_set_quic_tls_cbs; \
             openssl-sys was built with version number \"{number}\". Unset OPENSSL_NO_VENDOR"
        );
    }
    if version < OPENSSL_3_0 {
        println!(
            "cargo::error=the openssl-system shim needs OpenSSL 3.0 or newer; \
             openssl-sys found version number \"{number}\""
        );
    }
    for (release, before) in BEFORE {
        if version < release {
            println!("cargo::rustc-cfg={before}");
        }
    }
}
