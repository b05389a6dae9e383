//! The BoGo shim of Go's crypto/tls.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_go::main()
}
