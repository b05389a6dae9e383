//! Tells the worker which libssl it is linked with: not what its features ask for, but what
//! openssl-sys did, which `OPENSSL_NO_VENDOR` in the environment or another package can change.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(libssl_from_source)");
    if std::env::var_os("DEP_OPENSSL_VENDORED").is_some() {
        println!("cargo::rustc-cfg=libssl_from_source");
    }
    println!("cargo::rerun-if-changed=build.rs");
}
