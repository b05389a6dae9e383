//! Search for programs, and their versions.

use std::{
    env,
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The time limit for a program to print its version.
const VERSION_LIMIT: Duration = Duration::from_secs(20);

/// Searches for a program on the search path.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Returns a program's version output, without control characters for terminals.
pub(crate) fn says(command: &mut Command) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < VERSION_LIMIT => {
                std::thread::sleep(Duration::from_millis(10));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it does not report its version".to_owned());
            }
        }
    };
    if !status.success() {
        return Err(format!("asked for its version, it ended with {status}"));
    }
    let mut said = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        use std::io::Read;
        let _ = stdout.take(4_096).read_to_end(&mut said);
    }
    let said = String::from_utf8_lossy(&said);
    let lines: Vec<_> = said.lines().map(netbench_model::sanitize).collect();
    Ok(lines.join("\n"))
}
