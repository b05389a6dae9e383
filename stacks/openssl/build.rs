//! Reports to the worker the libssl with which it is linked: not by its features, but by openssl-sys' choice,
//! which `OPENSSL_NO_VENDOR` in the environment or another package can change; and the options without which
//! OpenSSL was built, by its headers. The worker compares the expected release with the actual one.

use std::env;

use openssl_src::Release;

/// OpenSSL 3.0.0, in openssl-sys' format of versions.
const OPENSSL_3: u64 = 0x3000_0000;

/// OpenSSL 4.0.0, the first with Encrypted ClientHello.
const OPENSSL_4: u64 = 0x4000_0000;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(libssl_from_source)");
    if env::var_os("DEP_OPENSSL_VENDORED").is_some() {
        println!("cargo::rustc-cfg=libssl_from_source");
    }
    println!("cargo::rustc-env=LIBSSL_WITHOUT={}", without());
    println!("cargo::rustc-check-cfg=cfg(before_openssl_3)");
    let number = env::var("DEP_OPENSSL_VERSION_NUMBER").unwrap_or_default();
    let number = u64::from_str_radix(&number, 16);
    if number.as_ref().is_ok_and(|number| *number < OPENSSL_3) {
        println!("cargo::rustc-cfg=before_openssl_3");
    }
    println!("cargo::rustc-check-cfg=cfg(before_openssl_4)");
    if number.is_ok_and(|number| number < OPENSSL_4) {
        println!("cargo::rustc-cfg=before_openssl_4");
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

/// Returns the disabled options of `Configure`, in lowercase, as named by `OPENSSL_NO_…`.
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
