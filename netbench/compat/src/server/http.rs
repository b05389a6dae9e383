//! A request and its response, in HTTP/1.1 or in the necessary subset of HTTP/2 (RFC 9113).

use netbench_scan::codec::{Reader, put_vec8};

use super::{Caching, wire::Broken};
use crate::case::Response;

/// The longest request that is read.
const LONGEST: usize = 64 * 1024;

/// The header value that permits a client to keep a response.
const KEPT: &str = "max-age=3600";

/// The body that every server of the catalogue sends.
pub const BODY: &[u8] = b"netbench compat\n";

/// A request that is being received.
#[derive(Debug, Default)]
pub(super) struct Request {
    bytes: Vec<u8>,
}

/// The status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Forbidden,
    /// The response to a request for another protocol, over HTTP/1.1.
    Switching,
    /// The response to a request that should ask for another protocol and does not, or cannot: HTTP/2 has no
    /// upgrade (RFC 9113 section 8.6).
    BadRequest,
}

impl Status {
    /// Returns its number.
    pub(super) fn code(self) -> u16 {
        match self {
            Self::Switching => 101,
            Self::Ok => 200,
            Self::BadRequest => 400,
            Self::Forbidden => 403,
        }
    }
}

impl Request {
    /// Adds bytes. Returns true once the request is complete.
    pub(super) fn take(&mut self, bytes: &[u8], is_h2: bool) -> Result<bool, Broken> {
        self.bytes.extend(bytes);
        if self.bytes.len() > LONGEST {
            return Err(Broken::Unreadable);
        }
        Ok(if is_h2 {
            self.stream().is_some()
        } else {
            self.bytes.windows(4).any(|end| end == b"\r\n\r\n")
        })
    }

    /// Returns the stream of the first HEADERS frame, once it has arrived.
    fn stream(&self) -> Option<u32> {
        const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
        let mut reader = Reader::new(self.bytes.strip_prefix(PREFACE)?);
        loop {
            let length = usize::try_from(reader.u24()?).ok()?;
            let kind = reader.u8()?;
            let _flags = reader.u8()?;
            let stream = reader.u32()?;
            reader.take(length)?;
            if kind == 1 {
                return Some(stream);
            }
        }
    }

    /// Returns whether it requests a WebSocket over HTTP/1.1 (RFC 6455 section 4.1).
    pub(super) fn wants_upgrade(&self) -> bool {
        let text = String::from_utf8_lossy(&self.bytes).to_ascii_lowercase();
        has_field(&text, "connection", "upgrade") && has_field(&text, "upgrade", "websocket")
    }

    /// Returns the response.
    pub(super) fn response(
        &self,
        is_h2: bool,
        status: Status,
        form: Response,
        caching: Caching,
    ) -> Vec<u8> {
        if is_h2 {
            return h2(self.stream().unwrap_or(1), status, caching);
        }
        let line = match status {
            Status::Ok => "200 OK",
            Status::Forbidden => "403 Forbidden",
            Status::BadRequest => "400 Bad Request",
            Status::Switching => {
                let head = "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n";
                return head.as_bytes().to_vec();
            }
        };
        let length = match form {
            Response::WithLength | Response::Upgrade => {
                format!("content-length: {}\r\n", BODY.len())
            }
            Response::UntilClose => String::new(),
        };
        let caching = match caching {
            Caching::NotTold => String::new(),
            Caching::Allowed => format!("cache-control: {KEPT}\r\n"),
        };
        let head = format!(
            "HTTP/1.1 {line}\r\ncontent-type: text/plain\r\n{length}{caching}connection: close\r\n\r\n"
        );
        [head.as_bytes(), BODY].concat()
    }
}

fn has_field(text: &str, name: &str, word: &str) -> bool {
    text.lines().any(|line| {
        let field = line.split_once(':').filter(|(field, _)| *field == name);
        field.is_some_and(|(_, value)| value.split(',').any(|part| part.trim() == word))
    })
}

fn h2(stream: u32, status: Status, caching: Caching) -> Vec<u8> {
    // Entries 8 and 12 of HPACK's static table are the statuses 200 and 400; 403 uses the name of that entry
    // (RFC 7541 section 6.2.2).
    let headers: &[u8] = match status {
        Status::Ok => &[0x88],
        Status::BadRequest | Status::Switching => &[0x8c],
        Status::Forbidden => &[0x08, 3, b'4', b'0', b'3'],
    };
    let mut headers = headers.to_vec();
    if caching == Caching::Allowed {
        // Entry 24 is the name cache-control; the number continues after the four bits, into which it does not
        // fit.
        headers.extend([0x0f, 24 - 15]);
        put_vec8(&mut headers, KEPT.as_bytes());
    }
    [
        frame(4, 0, 0, &[]),
        frame(4, 1, 0, &[]),
        frame(1, 4, stream, &headers),
        frame(0, 1, stream, BODY),
    ]
    .concat()
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len())
        .unwrap_or_default()
        .to_be_bytes();
    let mut out = length[1..].to_vec();
    out.extend([kind, flags]);
    out.extend(stream.to_be_bytes());
    out.extend(payload);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_that_may_be_kept_says_so_in_both_versions() {
        for (is_h2, said) in [
            (false, b"\r\ncache-control: max-age=3600\r\n".as_slice()),
            // A literal whose name has the index 24 (RFC 7541 section 6.2.2), after the status 200.
            (true, b"\x88\x0f\x09\x0cmax-age=3600"),
        ] {
            for (caching, is_said) in [(Caching::Allowed, true), (Caching::NotTold, false)] {
                let request = Request::default();
                let response = request.response(is_h2, Status::Ok, Response::WithLength, caching);
                let mut parts = response.windows(said.len());
                assert_eq!(parts.any(|part| part == said), is_said, "h2: {is_h2}");
            }
        }
    }
}
