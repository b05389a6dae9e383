//! Makes certificates of the in-memory suite again: `cargo run -p netbench-lab --example
//! make_suite_pki -- netbench/lab/pki [KEY]...`, by default those of every key type. Earlier runs cannot be compared with
//! later ones.

use std::{env, error::Error, fs, path::PathBuf};

use netbench_model::KeyType;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let folder = words.next().map(PathBuf::from);
    let folder = folder.ok_or("which folder? For example netbench/lab/pki")?;
    let keys = words
        .map(|word| word.parse())
        .collect::<Result<Vec<KeyType>, _>>()?;
    let keys = if keys.is_empty() { KeyType::ALL } else { &keys };
    for (name, text) in netbench_lab::make_suite_pki(keys)? {
        fs::write(folder.join(name), text)?;
    }
    Ok(())
}
