//! WebSockets (RFC 6455), from the server's side.

use std::io;

use aws_lc_rs::digest;
use base64::{Engine as _, prelude::BASE64_STANDARD};
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Empty};
use hyper::{Request, body::Incoming};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::{
    answers::{self, Answer},
    query::Query,
};

/// The text that a server appends to the key (RFC 6455 section 1.3).
const SUFFIX: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The largest message, in bytes.
const LARGEST: u64 = 64 << 20;

/// Opcodes (RFC 6455 section 5.2).
mod opcode {
    pub(super) const CONTINUATION: u8 = 0;
    pub(super) const CLOSE: u8 = 8;
    pub(super) const PING: u8 = 9;
    pub(super) const PONG: u8 = 10;
}

/// The behaviour of a WebSocket.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Behaviour {
    /// Returns each message.
    Echo,
    /// Closes with this code and reason.
    Close(u16, String),
    /// Ends the connection without a close frame, after the first message.
    Cut,
}

/// Answers a request for a WebSocket. The query chooses the behaviour: `refuse` is a status, `close` is a code, `cut` ends
/// the connection after a message, `protocol` is the protocol in the answer, and `key=wrong` breaks the server's proof.
pub(crate) fn accept(request: &mut Request<Incoming>, query: &Query) -> Answer {
    if let Some(status) = query.number("refuse") {
        let status = u16::try_from(status)
            .ok()
            .and_then(|it| StatusCode::from_u16(it).ok());
        return answers::status(status.unwrap_or(StatusCode::FORBIDDEN));
    }
    let Some(key) = request.headers().get("sec-websocket-key") else {
        return answers::status(StatusCode::BAD_REQUEST);
    };
    let mut proof = key.as_bytes().to_vec();
    proof.extend(SUFFIX.as_bytes());
    if query.get("key") == Some("wrong") {
        proof.push(b'.');
    }
    let proof = digest::digest(&digest::SHA1_FOR_LEGACY_USE_ONLY, &proof);
    let proof = BASE64_STANDARD.encode(proof);
    let code = query
        .number("close")
        .and_then(|code| u16::try_from(code).ok());
    let behaviour = match code {
        Some(code) => Behaviour::Close(code, query.get("reason").unwrap_or_default().to_owned()),
        None if query.get("cut").is_some() => Behaviour::Cut,
        None => Behaviour::Echo,
    };
    let upgrade = hyper::upgrade::on(request);
    tokio::spawn(async move {
        if let Ok(stream) = upgrade.await {
            // The page reports the end of the connection.
            let _ = behave(TokioIo::new(stream), behaviour).await;
        }
    });
    let mut answer = Response::new(Empty::new().boxed());
    *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = answer.headers_mut();
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    if let Ok(proof) = HeaderValue::from_str(&proof) {
        headers.insert("sec-websocket-accept", proof);
    }
    if let Some(protocol) = query
        .get("protocol")
        .and_then(|it| HeaderValue::from_str(it).ok())
    {
        headers.insert("sec-websocket-protocol", protocol);
    }
    answer
}

async fn behave(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    behaviour: Behaviour,
) -> io::Result<()> {
    match behaviour {
        Behaviour::Cut => {
            read(&mut stream).await?;
            return stream.shutdown().await;
        }
        Behaviour::Close(code, reason) => {
            let payload = [&code.to_be_bytes(), reason.as_bytes()].concat();
            stream.write_all(&frame(opcode::CLOSE, &payload)).await?;
            // The browser answers with another close frame.
            while read(&mut stream).await?.opcode != opcode::CLOSE {}
            return stream.shutdown().await;
        }
        Behaviour::Echo => {}
    }
    let mut message: Option<(u8, Vec<u8>)> = None;
    loop {
        let received = read(&mut stream).await?;
        match received.opcode {
            opcode::CLOSE => {
                stream
                    .write_all(&frame(opcode::CLOSE, &received.payload))
                    .await?;
                return stream.shutdown().await;
            }
            opcode::PING => {
                stream
                    .write_all(&frame(opcode::PONG, &received.payload))
                    .await?
            }
            opcode::PONG => {}
            kind => {
                let (kind, mut bytes) = match message.take() {
                    Some(begun) if kind == opcode::CONTINUATION => begun,
                    _ => (kind, Vec::new()),
                };
                bytes.extend(received.payload);
                if received.is_last {
                    stream.write_all(&frame(kind, &bytes)).await?;
                } else {
                    message = Some((kind, bytes));
                }
            }
        }
        stream.flush().await?;
    }
}

/// A frame from the browser.
struct Received {
    is_last: bool,
    opcode: u8,
    payload: Vec<u8>,
}

async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Received> {
    let (first, second) = (stream.read_u8().await?, stream.read_u8().await?);
    let length = match second & 0x7f {
        126 => u64::from(stream.read_u16().await?),
        127 => stream.read_u64().await?,
        length => u64::from(length),
    };
    // A browser masks each of its frames (RFC 6455 section 5.1).
    if second & 0x80 == 0 || length > LARGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut mask = [0; 4];
    stream.read_exact(&mut mask).await?;
    let mut payload = vec![0; usize::try_from(length).unwrap_or_default()];
    stream.read_exact(&mut payload).await?;
    for (byte, mask) in payload.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
    Ok(Received {
        is_last: first & 0x80 != 0,
        opcode: first & 0x0f,
        payload,
    })
}

/// Returns a frame with a whole message.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80 | opcode];
    match payload.len() {
        length @ ..126 => frame.extend(u8::try_from(length)),
        length => match u16::try_from(length) {
            Ok(length) => {
                frame.push(126);
                frame.extend(length.to_be_bytes());
            }
            Err(_) => {
                frame.push(127);
                frame.extend((length as u64).to_be_bytes());
            }
        },
    }
    frame.extend(payload);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_have_the_shortest_length() {
        assert_eq!(frame(1, b"ab"), [0x81, 2, b'a', b'b']);
        assert_eq!(frame(2, &[0; 126])[..4], [0x82, 126, 0, 126]);
        assert_eq!(
            frame(2, &[0; 65_536])[..10],
            [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]
        );
    }

    #[tokio::test]
    async fn masked_frames_are_read_and_unmasked_ones_refused() {
        let mut masked: &[u8] = &[0x81, 0x82, 1, 2, 3, 4, b'a' ^ 1, b'b' ^ 2];
        let received = read(&mut masked).await.unwrap();
        assert!(received.is_last);
        assert_eq!((received.opcode, &*received.payload), (1, &b"ab"[..]));
        let mut plain: &[u8] = &[0x81, 2, b'a', b'b'];
        assert!(read(&mut plain).await.is_err());
    }
}
