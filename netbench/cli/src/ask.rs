//! Questions on the terminal.

use std::io::{BufRead, Write, stderr, stdin};

use anyhow::Context;

/// Asks a question. The answers `y` and `yes` mean yes, and all others no.
pub(crate) fn agrees(question: &str) -> anyhow::Result<bool> {
    stderr()
        .write_all(format!("netbench: {question} [y/N] ").as_bytes())
        .context("cannot ask")?;
    let mut answer = String::new();
    stdin()
        .lock()
        .read_line(&mut answer)
        .context("cannot read the answer")?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}
