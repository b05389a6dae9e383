//! The DevTools protocol over a pipe: JSON messages, each terminated by a zero byte.

use std::{
    collections::VecDeque,
    process::{ChildStdin, ChildStdout},
};

use serde_json::{Value, json};

use crate::{Limit, error::Unanswered, pipe::Pipe};

/// A connection to a browser, with the browser's events.
pub(crate) struct DevTools {
    pipe: Pipe<Value>,
    events: VecDeque<Value>,
    asked: u64,
}

impl DevTools {
    pub(crate) fn new(stdin: ChildStdin, stdout: ChildStdout) -> Self {
        Self {
            pipe: Pipe::new(stdin, stdout, 0),
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
        self.pipe.send(&message)?;
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

    pub(crate) fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Returns the next message. One that is no JSON ends the connection.
    fn receive(&mut self, limit: Limit<'_>) -> Result<Value, Unanswered> {
        self.pipe.receive(limit).map_err(|error| match error {
            Unanswered::Refused(_) => Unanswered::Ended,
            error => error,
        })
    }
}
