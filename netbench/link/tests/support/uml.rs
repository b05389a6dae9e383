//! Scenarios inside User Mode Linux, whose kernel has netem: `tests/uml-run` of the repository.

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

/// The exit status of `uml-run` where its packages are not installed.
const UNSUPPORTED: i32 = 77;

/// What is missing to run anything inside.
pub(crate) fn missing() -> Option<String> {
    match Command::new(script()).arg("-n").output() {
        Err(error) => Some(error.to_string()),
        Ok(output) if output.status.code() == Some(UNSUPPORTED) => {
            let reason = String::from_utf8_lossy(&output.stderr);
            Some(reason.trim().trim_start_matches("unsupported: ").to_owned())
        }
        // Whatever else is wrong with it, the test shall fail with.
        Ok(_) => None,
    }
}

/// Runs this executable inside with the words given, and returns its answer.
pub(crate) fn run(words: &[&str]) -> Result<Value, Box<dyn Error>> {
    let output = Command::new(script())
        .args(["-t", "120"])
        .arg(std::env::current_exe()?)
        .args(words)
        .output()?;
    let answer = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&answer).map_err(|_| {
        let complaint = String::from_utf8_lossy(&output.stderr);
        format!("{}: {}{}", output.status, answer.trim(), complaint.trim()).into()
    })
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/uml-run")
}
