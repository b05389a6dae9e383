//! Cargo looks at build dependencies only where there is a build script.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
}
