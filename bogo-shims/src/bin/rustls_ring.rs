//! The BoGo shim of rustls on ring.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_rustls::main()
}
