//! The BoGo shim of the system's OpenSSL. Build it alone: together with the shim of `openssl`, Cargo gives both the
//! library that is built from source.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_openssl::main()
}
