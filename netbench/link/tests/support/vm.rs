//! Scenarios in an emulated machine, whose kernel has netem: `vm/vm-run`.

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use serde_json::Value;

/// One machine at a time: each emulates two processors.
static ONE: Mutex<()> = Mutex::new(());

/// Runs this executable in the machine with the words given, and returns its answer.
pub(crate) fn run(words: &[&str]) -> Result<Value, Box<dyn Error>> {
    let _turn = ONE.lock().map_err(|_| "another test has panicked")?;
    let output = Command::new(script())
        .args(["-t", "180"])
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vm/vm-run")
}
