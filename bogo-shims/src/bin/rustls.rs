//! The BoGo shim of rustls on aws-lc-rs.

fn main() -> std::process::ExitCode {
    netbench_bogo_shims::shim_rustls::main()
}
