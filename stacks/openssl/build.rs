//! Tells the worker which libssl it is linked with: not what its features ask for, but what openssl-sys
//! did, which `OPENSSL_NO_VENDOR` in the environment or another package can change; and which of
//! OpenSSL's options it was built without, as its headers say. Which release it was to be, the worker compares with what it is.

use std::env;

use openssl_src::Release;

/// OpenSSL 3.0.0, as openssl-sys tells versions.
const OPENSSL_3: u64 = 0x3000_0000;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(libssl_from_source)");
    if env::var_os("DEP_OPENSSL_VENDORED").is_some() {
        println!("cargo::rustc-cfg=libssl_from_source");
    }
    println!("cargo::rustc-env=LIBSSL_WITHOUT={}", without());
    println!("cargo::rustc-check-cfg=cfg(before_openssl_3)");
    let number = env::var("DEP_OPENSSL_VERSION_NUMBER").unwrap_or_default();
    if u64::from_str_radix(&number, 16).is_ok_and(|number| number < OPENSSL_3) {
        println!("cargo::rustc-cfg=before_openssl_3");
    }
    match Release::asked() {
        Ok(release) => println!("cargo::rustc-env=OPENSSL_RELEASE={}", release.version),
        Err(error) => println!("cargo::error={error}"),
    }
    let line = env::var(Release::VARIABLE).map(|line| format!("@{line}"));
    let line = line.unwrap_or_default();
    println!("cargo::rustc-env=OPENSSL_STACK=openssl{line}");
    println!("cargo::rerun-if-env-changed={}", Release::VARIABLE);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=options.h");
}

/// The options of `Configure` that are off, in lower case, as `OPENSSL_NO_…` names them.
fn without() -> String {
    let mut macros = cc::Build::new();
    if let Some(folder) = env::var_os("DEP_OPENSSL_INCLUDE") {
        macros.include(folder);
    }
    let macros = macros.file("options.h").flag("-dM").expand();
    let off: Vec<_> = String::from_utf8_lossy(&macros)
        .lines()
        .filter_map(|line| line.strip_prefix("#define OPENSSL_NO_"))
        .filter_map(|rest| rest.split_whitespace().next())
        .map(str::to_ascii_lowercase)
        .collect();
    off.join(" ")
}
