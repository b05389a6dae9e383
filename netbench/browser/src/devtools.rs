//! The DevTools protocol over a pipe: JSON messages, each terminated by a zero byte.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    process::{ChildStdin, ChildStdout},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Limit, error::Unanswered};

/// The interval at which a wait checks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// The maximum length of a message.
const LONGEST: u64 = 64 << 20;

/// A connection to a browser, with the browser's events.
pub(crate) struct DevTools {
    stdin: ChildStdin,
    messages: Receiver<Value>,
    events: VecDeque<Value>,
    asked: u64,
}

impl DevTools {
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        let (sender, messages) = channel();
        thread::spawn(move || {
            let mut reader = BufReader::new(stdout);
            let mut bytes = Vec::new();
            loop {
                bytes.clear();
                let mut limited = std::io::Read::take(&mut reader, LONGEST);
                let read = limited.read_until(0, &mut bytes);
                if !read.is_ok_and(|count| count > 0) || bytes.pop() != Some(0) {
                    return;
                }
                let Ok(message) = serde_json::from_slice(&bytes) else {
                    return;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin,
            messages,
            events: VecDeque::new(),
            asked: 0,
        }
    }

    /// Sends a request to the browser, or to the session of one of its pages, and waits for the
    /// answer.
    pub(crate) fn ask(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: Value,
        limit: Limit<'_>,
    ) -> Result<Value, Unanswered> {
        self.asked += 1;
        let mut message = json!({"id": self.asked, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        // A request has a few hundred bytes: the pipe accepts them at once.
        self.stdin
            .write_all(&bytes)
            .map_err(|_| Unanswered::Ended)?;
        loop {
            let message = self.receive(limit)?;
            if message["id"] != json!(self.asked) {
                self.events.push_back(message);
                continue;
            }
            return match message["error"]["message"].as_str() {
                None => Ok(message["result"].clone()),
                Some(why) => Err(Unanswered::Refused(format!("{method}: {why}"))),
            };
        }
    }

    /// Returns the next event of a session, including events that arrived during a request.
    pub(crate) fn event(
        &mut self,
        session: &str,
        limit: Limit<'_>,
    ) -> Result<(String, Value), Unanswered> {
        loop {
            let mut message = match self.events.pop_front() {
                Some(message) => message,
                None => self.receive(limit)?,
            };
            if message["sessionId"].as_str() == Some(session)
                && let Some(method) = message["method"].as_str()
            {
                return Ok((method.to_owned(), message["params"].take()));
            }
        }
    }

    /// Discards the events so far.
    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    fn receive(&mut self, limit: Limit<'_>) -> Result<Value, Unanswered> {
        loop {
            match self.messages.recv_timeout(limit.left().min(LOOK)) {
                Ok(message) => return Ok(message),
                Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Ended),
                Err(RecvTimeoutError::Timeout) => limit.check()?,
            }
        }
    }
}
