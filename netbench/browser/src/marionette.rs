//! Marionette, the protocol by which geckodriver drives Firefox: JSON messages over TCP, each after its
//! length and a colon.

use std::net::TcpStream;

use serde_json::{Value, json};

use crate::{Limit, connection::Connection, error::Unanswered};

/// The maximum length of a message.
const LONGEST: usize = 64 << 20;

/// A connection to a browser.
pub(crate) struct Marionette {
    connection: Connection,
    asked: u64,
}

impl Marionette {
    /// Makes a connection, and reads the browser's greeting.
    pub(crate) fn new(stream: TcpStream, limit: Limit<'_>) -> Result<Self, Unanswered> {
        let mut connection = Connection::new(stream)?;
        let greeting = connection.receive(limit, message)?;
        if greeting["marionetteProtocol"] == json!(3) {
            return Ok(Self {
                connection,
                asked: 0,
            });
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
        let request = json!([0, self.asked, command, params]).to_string();
        let request = format!("{}:{request}", request.len());
        self.connection.send(&request)?;
        loop {
            let mut answer = self.connection.receive(limit, message)?;
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
}

/// Removes the first message from the received bytes, if it is complete.
fn message(received: &mut Vec<u8>) -> Result<Option<Value>, Unanswered> {
    const LONGEST_LENGTH: usize = 9;
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

fn nonsense() -> Unanswered {
    Unanswered::Refused("its messages cannot be read".to_owned())
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
