//! One request and its response, in HTTP/1.1 or as little of HTTP/2 (RFC 9113) as that takes.

use netbench_scan::codec::Reader;

use super::wire::Broken;
use crate::case::Response;

/// The longest request that is read.
const LONGEST: usize = 64 * 1024;

/// What every server of the catalogue sends.
pub const BODY: &[u8] = b"netbench compat\n";

/// A request as it comes.
#[derive(Debug, Default)]
pub(super) struct Request {
    bytes: Vec<u8>,
}

/// The status of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Ok,
    Forbidden,
}

impl Request {
    /// Takes bytes; true once the request is whole.
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

    /// The stream of the first HEADERS frame, once it is there.
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

    /// The response.
    pub(super) fn response(&self, is_h2: bool, status: Status, form: Response) -> Vec<u8> {
        if is_h2 {
            return h2(self.stream().unwrap_or(1), status);
        }
        let status = match status {
            Status::Ok => "200 OK",
            Status::Forbidden => "403 Forbidden",
        };
        let length = match form {
            Response::WithLength => format!("content-length: {}\r\n", BODY.len()),
            Response::UntilClose => String::new(),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\n{length}connection: close\r\n\r\n"
        );
        [head.as_bytes(), BODY].concat()
    }
}

fn h2(stream: u32, status: Status) -> Vec<u8> {
    // Entry 8 of HPACK's static table is status 200; 403 has that entry's name (RFC 7541 section 6.2.2).
    let headers: &[u8] = match status {
        Status::Ok => &[0x88],
        Status::Forbidden => &[0x08, 3, b'4', b'0', b'3'],
    };
    [
        frame(4, 0, 0, &[]),
        frame(4, 1, 0, &[]),
        frame(1, 4, stream, headers),
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
