//! Makes the certificates of the in-memory suite again: `cargo run -p netbench-lab --example
//! make_suite_pki -- netbench/lab/pki`. Earlier runs cannot be compared with later ones.

use std::{env, error::Error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.ok_or("which folder? For example netbench/lab/pki")?;
    for (name, text) in netbench_lab::make_suite_pki()? {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
