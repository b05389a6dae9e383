//! A program that is driven over its standard streams: JSON messages, each followed by one byte.

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
pub(crate) struct Pipe<M> {
    stdin: ChildStdin,
    messages: Receiver<Result<M, String>>,
    end: u8,
}

impl<M: DeserializeOwned + Send + 'static> Pipe<M> {
    /// Reads messages that each end with the byte `end`.
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout, end: u8) -> Self {
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let read = reader.by_ref().take(LONGEST).read_until(end, &mut bytes);
                if !read.is_ok_and(|count| count > 0) || bytes.pop() != Some(end) {
                    return;
                }
                let message = serde_json::from_slice(&bytes).map_err(|error| error.to_string());
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin,
            messages,
            end,
        }
    }

    pub(crate) fn send(&mut self, message: &impl Serialize) -> Result<(), Unanswered> {
        let bytes = serde_json::to_vec(message);
        let mut bytes = bytes.map_err(|error| Unanswered::Refused(error.to_string()))?;
        bytes.push(self.end);
        // A message has a few kilobytes: the pipe accepts them at once.
        self.stdin.write_all(&bytes).map_err(|_| Unanswered::Ended)
    }

    pub(crate) fn receive(&mut self, limit: Limit<'_>) -> Result<M, Unanswered> {
        loop {
            match self.messages.recv_timeout(limit.left().min(LOOK)) {
                Ok(message) => return message.map_err(Unanswered::Refused),
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Ended),
                Err(RecvTimeoutError::Timeout) => limit.check()?,
            }
        }
    }
}
