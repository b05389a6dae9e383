//! Which libssl the shim is linked with.

use std::collections::BTreeSet;

/// The argument that asks for it.
pub(crate) const ASKED: &str = "-which-library";

/// Says its version, and the files that it is in where it was not linked into the program, a line each.
#[expect(clippy::print_stdout, reason = "netbench reads the answer from stdout")]
pub(crate) fn say() {
    println!("{}", openssl::version::version());
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let paths = maps
        .lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]));
    let files: BTreeSet<&str> = paths.filter(|path| is_library(path)).collect();
    for file in files {
        println!("{file}");
    }
}

fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    ["libssl.so", "libcrypto.so"]
        .iter()
        .any(|start| name.starts_with(start))
}
