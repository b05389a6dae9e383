//! Restarts the worker, for libraries that can be configured only once per process.

use std::{
    env,
    fs::File,
    io::{self, Read, Seek, Write},
    os::{
        fd::{AsRawFd, FromRawFd, RawFd},
        unix::process::CommandExt,
    },
    process::Command,
};

use crate::answers::Answers;

/// The environment variable with the descriptor of the file that holds the first request.
const VARIABLE: &str = "NETBENCH_FIRST_REQUEST";

/// Restarts this program by `exec`, with the same process ID, stdin and stdout. The new program answers `line` first.
/// Returns only on failure, with the error. No other request is lost, because netbench sends one at a time.
pub(crate) fn begin(line: &str, answers: &Answers) -> io::Error {
    replaced(line, answers).unwrap_or_else(|error| error)
}

fn replaced(line: &str, answers: &Answers) -> io::Result<io::Error> {
    // SAFETY: the name ends with a null byte.
    let descriptor = unsafe { libc::memfd_create(c"netbench-request".as_ptr(), 0) };
    if descriptor < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and has no other owner.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    file.write_all(line.as_bytes())?;
    file.rewind()?;
    answers.give_back_stdout()?;
    let mut program = Command::new("/proc/self/exe");
    program
        .args(env::args_os().skip(1))
        .env(VARIABLE, file.as_raw_fd().to_string());
    Ok(program.exec())
}

/// Returns the request that [`begin`] left for this process.
pub(crate) fn first_request() -> Option<String> {
    let descriptor: RawFd = env::var(VARIABLE).ok()?.parse().ok()?;
    // SAFETY: `begin` left the descriptor open for this process, which takes it once.
    let mut file = unsafe { File::from_raw_fd(descriptor) };
    let mut line = String::new();
    file.read_to_string(&mut line).ok()?;
    Some(line)
}
