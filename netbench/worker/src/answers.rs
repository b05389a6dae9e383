//! The worker's stdout, reserved for its answers, because some libraries print to stdout.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsRawFd, FromRawFd},
};

use netbench_protocol::Response;

/// The stdout of the worker at its start.
pub(crate) struct Answers(File);

impl Answers {
    /// Reserves stdout for answers. Later prints go to stderr.
    pub(crate) fn take_stdout() -> io::Result<Self> {
        // SAFETY: the call only affects descriptors.
        let kept = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
        if kept < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was just opened and has no other owner.
        let answers = Self(unsafe { File::from_raw_fd(kept) });
        replace_stdout(libc::STDERR_FILENO)?;
        Ok(answers)
    }

    /// Restores stdout, for the program that this process executes next.
    pub(crate) fn give_back_stdout(&self) -> io::Result<()> {
        replace_stdout(self.0.as_raw_fd())
    }

    /// Writes an answer.
    pub(crate) fn send(&mut self, response: &Response) -> io::Result<()> {
        let mut line = serde_json::to_vec(response)?;
        line.push(b'\n');
        self.0.write_all(&line)
    }
}

fn replace_stdout(by: i32) -> io::Result<()> {
    // SAFETY: the call only affects descriptors.
    match unsafe { libc::dup2(by, libc::STDOUT_FILENO) } {
        result if result < 0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
