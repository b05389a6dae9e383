//! Scenarios in an emulated machine, whose kernel has netem: `vm/vm-run`.

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Command,
    sync::Mutex,
};

use serde_json::Value;

/// A lock for one machine at a time: each emulates two processors.
static ONE: Mutex<()> = Mutex::new(());

/// The clock of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Time {
    /// The outside time: two slow processors share this machine's with all other work.
    Real,
    /// The instruction count of its one processor: outside work does not change the measurements
    /// inside.
    Virtual,
}

/// Runs this executable in the machine with the given words, and returns its answer.
pub(crate) fn run(time: Time, words: &[&str]) -> Result<Value, Box<dyn Error>> {
    let _turn = ONE.lock().map_err(|_| "another test has panicked")?;
    let mut machine = Command::new(script());
    if time == Time::Virtual {
        machine.arg("-v");
    }
    let output = machine
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
