use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

/// Opens a file in the user's browser, by the command that this system has for it.
pub(crate) fn open(path: &Path) -> anyhow::Result<()> {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let path = path
        .canonicalize()
        .with_context(|| format!("cannot open {}", path.display()))?;
    let ended = Command::new(opener)
        .arg(&path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => bail!(
            "{opener} found no browser here: open {} in one",
            path.display()
        ),
        Err(_) => bail!(
            "there is no {opener} here: open {} in a browser",
            path.display()
        ),
    }
}
