//! Execution of programs with a time limit.

use std::{
    io::Read,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};

use crate::BogoError;

/// The output of a program.
pub(crate) struct Said {
    pub(crate) well: bool,
    pub(crate) out: Vec<u8>,
    pub(crate) err: String,
}

/// A program that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The part that requires it.
    pub needed_for: &'static str,
    /// A hint for its installation.
    pub hint: &'static str,
}

/// The polling interval of a wait.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a program to its end, or kills it: after `limit`, or once `stop` is true.
pub(crate) fn run(
    command: &mut Command,
    tool: Tool,
    step: &str,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Said, BogoError> {
    command
        // The processes that it starts are in the group too.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => BogoError::NoTool(tool),
        _ => BogoError::build(step, error),
    })?;
    let out = drain(child.stdout.take());
    let err = drain(child.stderr.take());
    let begun = Instant::now();
    let well = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.success(),
            Ok(None) if stop.load(Ordering::Relaxed) => {
                end(&mut child);
                return Err(BogoError::Stopped);
            }
            Ok(None) if begun.elapsed() < limit => thread::sleep(LOOK),
            Ok(None) => {
                end(&mut child);
                return Err(BogoError::TooSlow {
                    step: step.to_owned(),
                    limit,
                });
            }
            Err(error) => {
                end(&mut child);
                return Err(BogoError::build(step, error));
            }
        }
    };
    let out = out.join().unwrap_or_default();
    let err = err.join().unwrap_or_default();
    Ok(Said {
        well,
        out,
        err: String::from_utf8_lossy(&err).into_owned(),
    })
}

/// Runs a program as [`run`] does, and requires its success.
pub(crate) fn run_well(
    command: &mut Command,
    tool: Tool,
    step: &str,
    limit: Duration,
    stop: &AtomicBool,
) -> Result<Said, BogoError> {
    let said = run(command, tool, step, limit, stop)?;
    if said.well {
        return Ok(said);
    }
    let mut all = said.err;
    if all.trim().is_empty() {
        all = String::from_utf8_lossy(&said.out).into_owned();
    }
    Err(BogoError::build(step, tail(&all)))
}

/// Kills a process and its group, and waits for it. It is no error if it has ended already.
pub(crate) fn end(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        let _ended = killpg(Pid::from_raw(group), Signal::SIGKILL);
    }
    let _ended = child.kill();
    let _status = child.wait();
}

/// Joins the last lines of a program's output.
pub(crate) fn tail(text: &str) -> String {
    const LINES: usize = 8;
    let lines: Vec<_> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let last = &lines[lines.len().saturating_sub(LINES)..];
    if last.is_empty() {
        "it printed nothing".to_owned()
    } else {
        last.join(" | ")
    }
}

fn drain<R: Read + Send + 'static>(from: Option<R>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut from) = from {
            // The data read before an error are still useful.
            let _read = from.read_to_end(&mut bytes);
        }
        bytes
    })
}
