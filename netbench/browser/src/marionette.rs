//! Marionette, the protocol by which geckodriver drives Firefox: JSON messages over TCP, each after its
//! length and a colon.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{Limit, error::Unanswered};

/// The interval at which a wait checks whether it was stopped.
const LOOK: Duration = Duration::from_millis(50);

/// The maximum length of a message.
const LONGEST: usize = 64 << 20;

/// A connection to a browser.
pub(crate) struct Marionette {
    stream: TcpStream,
    received: Vec<u8>,
    asked: u64,
}

impl Marionette {
    /// Makes a connection, and reads the browser's greeting.
    pub(crate) fn new(stream: TcpStream, limit: Limit<'_>) -> Result<Self, Unanswered> {
        stream
            .set_read_timeout(Some(LOOK))
            .and_then(|()| stream.set_write_timeout(Some(LOOK)))
            .map_err(|_| Unanswered::Ended)?;
        let mut marionette = Self {
            stream,
            received: Vec::new(),
            asked: 0,
        };
        let greeting = marionette.receive(limit)?;
        if greeting["marionetteProtocol"] == json!(3) {
            return Ok(marionette);
        }
        let what = format!("it speaks another protocol: {greeting}");
        Err(Unanswered::Refused(what))
    }

    /// Sends a request to the browser, and waits for the answer.
    pub(crate) fn ask(
        &mut self,
        command: &str,
        params: Value,
        limit: Limit<'_>,
    ) -> Result<Value, Unanswered> {
        self.asked += 1;
        let message = json!([0, self.asked, command, params]).to_string();
        let message = format!("{}:{message}", message.len());
        // A request has a few hundred bytes: the socket accepts them at once.
        self.stream
            .write_all(message.as_bytes())
            .map_err(|_| Unanswered::Ended)?;
        loop {
            let mut answer = self.receive(limit)?;
            if answer[1] != json!(self.asked) {
                continue;
            }
            if answer[2].is_null() {
                return Ok(answer[3].take());
            }
            let word = answer[2]["error"].as_str().unwrap_or_default();
            let said = answer[2]["message"].as_str().unwrap_or_default();
            return Err(Unanswered::Refused(format!("{word}: {said}")));
        }
    }

    fn receive(&mut self, limit: Limit<'_>) -> Result<Value, Unanswered> {
        loop {
            if let Some(message) = message(&mut self.received)? {
                return Ok(message);
            }
            if limit.stop.load(Ordering::Relaxed) {
                return Err(Unanswered::Stopped);
            }
            if Instant::now() >= limit.deadline {
                return Err(Unanswered::Late);
            }
            let mut buffer = [0; 16 << 10];
            match self.stream.read(&mut buffer) {
                Ok(0) => return Err(Unanswered::Ended),
                Ok(count) => self.received.extend_from_slice(&buffer[..count]),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(Unanswered::Ended),
                },
            }
        }
    }
}

/// Removes the first message from the received bytes, if it is complete.
fn message(received: &mut Vec<u8>) -> Result<Option<Value>, Unanswered> {
    const LONGEST_LENGTH: usize = 9;
    let nonsense = || Unanswered::Refused("its messages cannot be read".to_owned());
    let Some(colon) = received.iter().position(|byte| *byte == b':') else {
        let is_length = received.len() <= LONGEST_LENGTH;
        return if is_length { Ok(None) } else { Err(nonsense()) };
    };
    let length = std::str::from_utf8(&received[..colon]).ok();
    let length: Option<usize> = length.and_then(|digits| digits.parse().ok());
    let length = length
        .filter(|length| *length <= LONGEST)
        .ok_or_else(nonsense)?;
    let end = colon + 1 + length;
    if received.len() < end {
        return Ok(None);
    }
    let message = serde_json::from_slice(&received[colon + 1..end]).map_err(|_| nonsense())?;
    received.drain(..end);
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_as_they_come() {
        let mut received = b"10:[1,2,".to_vec();
        assert!(matches!(message(&mut received), Ok(None)));
        received.extend(b"null]2:{}");
        let whole = message(&mut received).expect("a message");
        assert_eq!(whole, Some(json!([1, 2, null])));
        assert_eq!(message(&mut received).expect("another"), Some(json!({})));
        assert!(received.is_empty());
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bytes in ["x:{}", "99999999999:", "0123456789", "2:{]", "-1:{}"] {
            let mut received = bytes.as_bytes().to_vec();
            assert!(
                matches!(message(&mut received), Err(Unanswered::Refused(_))),
                "{bytes}"
            );
        }
    }
}
