//! The libssl with which the shim is linked.

use std::collections::BTreeSet;

/// The argument that requests the library's version and files.
pub(crate) const ASKED: &str = "-which-library";

/// Prints the library's version, and its files where it was not linked into the program, one per line.
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
