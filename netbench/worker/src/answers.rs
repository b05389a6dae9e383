//! The worker's stdout, kept for its answers: some libraries print to stdout by themselves.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::{AsRawFd, FromRawFd},
};

use netbench_protocol::Response;

/// What was stdout when the worker started.
pub(crate) struct Answers(File);

impl Answers {
    /// Takes stdout for answers. What is printed from now on goes to stderr.
    pub(crate) fn take_stdout() -> io::Result<Self> {
        // SAFETY: it touches descriptors alone.
        let kept = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3) };
        if kept < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: it was opened just now, and nobody else has it.
        let answers = Self(unsafe { File::from_raw_fd(kept) });
        replace_stdout(libc::STDERR_FILENO)?;
        Ok(answers)
    }

    /// Gives stdout back, for the program that this process runs next.
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
    // SAFETY: it touches descriptors alone.
    match unsafe { libc::dup2(by, libc::STDOUT_FILENO) } {
        result if result < 0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
