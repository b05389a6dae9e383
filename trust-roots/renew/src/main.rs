//! Rewrites `trust-roots/mozilla.pem` and `trust-roots/README.md`.

use std::{fs, path::Path};

use anyhow::{Context as _, Result};
use netbench_roots_renew::{render, row, sha256_hex, source};

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let lock = folder.join("../Cargo.lock");
    let lock =
        fs::read_to_string(&lock).with_context(|| format!("cannot read {}", lock.display()))?;
    let source = source(&lock)?;
    let today = jiff::Zoned::now().strftime("%Y-%m-%d").to_string();

    // An unchanged set keeps its date, so that renewing twice changes nothing.
    let before = fs::read_to_string(folder.join("README.md")).unwrap_or_default();
    let mut files = render(&source, &today)?;
    let unchanged = row(&before, "sha256") == Some(&sha256_hex(files.pem.as_bytes()));
    if let (true, Some(date)) = (unchanged, row(&before, "date")) {
        files = render(&source, date)?;
    }
    fs::write(folder.join("mozilla.pem"), &files.pem).context("cannot write mozilla.pem")?;
    fs::write(folder.join("README.md"), &files.readme).context("cannot write README.md")?;
    Ok(())
}
