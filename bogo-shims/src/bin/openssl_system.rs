//! The BoGo shim of the system's OpenSSL. It must be built separately: together with the shim of `openssl`,
//! Cargo links both to the library that is built from source.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_openssl::main()
}
