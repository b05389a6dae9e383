//! Collects the files `stacks/*/stack.toml`, which the command contains: an installed command has no source tree.

use std::{env, fs, path::Path};

fn main() {
    let here = env::var("CARGO_MANIFEST_DIR").expect("Cargo sets it");
    let root = Path::new(&here).join("../..");
    let folders = fs::read_dir(root.join("stacks")).expect("the folder of stacks");
    let mut files: Vec<String> = folders
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let file = folder.join("stack.toml");
            let name = folder.file_name()?.to_str()?;
            let file = file.is_file().then(|| file.to_str())??;
            println!("cargo::rerun-if-changed={file}");
            Some(format!("({name:?}, include_str!({file:?})),"))
        })
        .collect();
    files.sort_unstable();
    let out = env::var("OUT_DIR").expect("Cargo sets it");
    let list = format!("[{}]", files.join("\n"));
    fs::write(Path::new(&out).join("stack_files.rs"), list).expect("the list is written");
    // The first lists the packages of stacks. A directory would be searched with all sources in it.
    for file in ["Cargo.lock", "Cargo.toml", "netbench/stacks/build.rs"] {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
}
