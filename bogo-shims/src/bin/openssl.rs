//! The BoGo shim of OpenSSL.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_openssl::main()
}
