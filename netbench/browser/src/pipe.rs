//! A program that is driven over its standard streams: JSON messages, one a line.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{ChildStdin, ChildStdout},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};

use crate::{Limit, error::Unanswered};

/// The interval at which a wait checks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// The maximum length of a message.
const LONGEST: u64 = 64 << 20;

/// The streams of a program.
pub(crate) struct Pipe<A> {
    stdin: ChildStdin,
    answers: Receiver<Result<A, String>>,
}

impl<A: DeserializeOwned + Send + 'static> Pipe<A> {
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let (sender, answers) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut line = Vec::new();
            loop {
                line.clear();
                let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                if !read.is_ok_and(|count| count > 0) {
                    return;
                }
                let answer = serde_json::from_slice(&line).map_err(|error| error.to_string());
                if sender.send(answer).is_err() {
                    return;
                }
            }
        });
        Self { stdin, answers }
    }

    /// Sends a command, and waits for its answer.
    pub(crate) fn ask(
        &mut self,
        command: &impl Serialize,
        limit: Limit<'_>,
    ) -> Result<A, Unanswered> {
        let mut line =
            serde_json::to_vec(command).map_err(|error| Unanswered::Refused(error.to_string()))?;
        line.push(b'\n');
        // A command has a few kilobytes: the pipe accepts them at once.
        self.stdin.write_all(&line).map_err(|_| Unanswered::Ended)?;
        self.receive(limit)
    }

    /// Waits for the next message.
    pub(crate) fn receive(&mut self, limit: Limit<'_>) -> Result<A, Unanswered> {
        loop {
            match self.answers.recv_timeout(limit.left().min(LOOK)) {
                Ok(answer) => return answer.map_err(Unanswered::Refused),
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Ended),
                Err(RecvTimeoutError::Timeout) => limit.check()?,
            }
        }
    }
}
