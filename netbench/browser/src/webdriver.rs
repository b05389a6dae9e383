//! WebDriver (W3C): HTTP/1.1 requests with JSON bodies, all over one connection.

use std::{
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use netbench_link::Namespace;
use serde_json::Value;

use crate::{Limit, connection::Connection, error::Unanswered, process::Process};

/// The interval of attempts to connect to the driver.
const TRY: Duration = Duration::from_millis(20);

/// The maximum length of an answer.
const LONGEST: usize = 64 << 20;

/// The maximum length of the head of an answer.
const LONGEST_HEAD: usize = 64 << 10;

/// A connection to a driver.
pub(crate) struct WebDriver {
    connection: Connection,
    host: String,
}

impl WebDriver {
    /// Waits until the driver listens, inside the namespace.
    pub(crate) fn connect(
        address: SocketAddr,
        process: &mut Process,
        namespace: &Namespace,
        limit: Limit<'_>,
    ) -> Result<Self, Unanswered> {
        let stream = loop {
            let tried = namespace.run(|| TcpStream::connect_timeout(&address, TRY));
            let tried = tried.map_err(|error| Unanswered::Refused(error.to_string()))?;
            if let Ok(stream) = tried {
                break stream;
            }
            if process.has_ended() {
                return Err(Unanswered::Ended);
            }
            limit.check()?;
            std::thread::sleep(TRY);
        };
        Ok(Self {
            connection: Connection::new(stream)?,
            host: address.to_string(),
        })
    }

    /// Posts to the driver, and returns the `value` of its answer.
    pub(crate) fn post(
        &mut self,
        path: &str,
        body: &Value,
        limit: Limit<'_>,
    ) -> Result<Value, Unanswered> {
        let body = body.to_string();
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.host,
            body.len()
        );
        self.connection.send(&request)?;
        let value = self.connection.receive(limit, answer)?["value"].take();
        let Some(word) = value["error"].as_str() else {
            return Ok(value);
        };
        let said = value["message"].as_str().unwrap_or_default();
        Err(Unanswered::Refused(format!("{word}: {said}")))
    }
}

/// Removes the first answer from the received bytes, if it is complete.
fn answer(received: &mut Vec<u8>) -> Result<Option<Value>, Unanswered> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(head) = received.windows(END.len()).position(|part| part == END) else {
        let may_come = received.len() <= LONGEST_HEAD;
        return if may_come { Ok(None) } else { Err(nonsense()) };
    };
    let length = std::str::from_utf8(&received[..head])
        .ok()
        .and_then(|head| {
            let mut fields = head.split("\r\n").filter_map(|line| line.split_once(':'));
            let (_, value) =
                fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
            value.trim().parse::<usize>().ok()
        })
        .filter(|length| *length <= LONGEST)
        .ok_or_else(nonsense)?;
    let body = head + END.len();
    let end = body + length;
    if received.len() < end {
        return Ok(None);
    }
    let value = serde_json::from_slice(&received[body..end]).map_err(|_| nonsense())?;
    received.drain(..end);
    Ok(Some(value))
}

fn nonsense() -> Unanswered {
    Unanswered::Refused("its answers cannot be read".to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_taken_as_they_come() {
        let mut received = b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n".to_vec();
        assert!(matches!(answer(&mut received), Ok(None)));
        received.extend(b"X: y\r\n\r\n{\"value\":");
        assert!(matches!(answer(&mut received), Ok(None)));
        received.extend(b"null}HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}");
        let first = answer(&mut received).expect("an answer");
        assert_eq!(first, Some(json!({"value": null})));
        assert_eq!(answer(&mut received).expect("another"), Some(json!({})));
        assert!(received.is_empty());
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let endless = "a".repeat(LONGEST_HEAD + 1);
        for text in [
            "HTTP/1.1 200 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{]",
            &endless,
        ] {
            let refused = answer(&mut text.as_bytes().to_vec());
            assert!(matches!(refused, Err(Unanswered::Refused(_))), "{text:.60}");
        }
    }
}
