//! Responses.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Body, Frame};
use serde_json::json;
use tokio::{
    sync::mpsc::{Receiver, channel},
    time::sleep,
};

use crate::{
    query::Query,
    route::{Asked, joined},
};

/// A response.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// An image of one pixel: GIF in base64.
const IMAGE: &str = "R0lGODlhAQABAIAAAAAAAP///ywAAAAAAQABAAACAUwAOw==";

/// Returns a response without a body.
pub(crate) fn status(status: StatusCode) -> Answer {
    let mut answer = text("text/plain", "");
    *answer.status_mut() = status;
    answer
}

/// Returns a response with a text of this media type.
pub(crate) fn text(media_type: &str, body: &str) -> Answer {
    bytes(media_type, Bytes::copy_from_slice(body.as_bytes()))
}

pub(crate) fn json(value: &impl serde::Serialize) -> Answer {
    let body = serde_json::to_string(value).unwrap_or_default();
    text("application/json", &body)
}

pub(crate) fn redirect(location: &str) -> Answer {
    let mut answer = status(StatusCode::FOUND);
    if let Ok(location) = HeaderValue::from_str(location) {
        answer.headers_mut().insert(header::LOCATION, location);
    }
    answer
}

pub(crate) fn image() -> Answer {
    bytes(
        "image/gif",
        BASE64_STANDARD.decode(IMAGE).unwrap_or_default().into(),
    )
}

/// Returns the request and its connection.
pub(crate) fn echo(asked: &Asked<'_>) -> Answer {
    let names = asked.headers.keys();
    let headers =
        names.filter_map(|name| Some((name.to_string(), joined(asked.headers, name.as_str())?)));
    let headers: BTreeMap<String, String> = headers.collect();
    let connection = asked.connection;
    json(&json!({
        "method": asked.method.as_str(),
        "host": asked.host,
        "path": asked.path,
        "headers": headers,
        "body": asked.body,
        "connection": connection.number,
        "scheme": connection.scheme,
        "protocol": connection.alpn,
        "offered": connection.offered,
        "resumed": connection.resumed,
    }))
}

/// Returns a response whose body is sent in `parts` parts, one every `each_ms` milliseconds.
pub(crate) fn parts(query: &Query) -> Answer {
    let number = query.number("parts").unwrap_or(3).min(1_000);
    let each = Duration::from_millis(query.number("each_ms").unwrap_or(50).min(1_000));
    let (sender, receiver) = channel(1);
    tokio::spawn(async move {
        for part in 0..number {
            // A browser that aborts the request ends the stream.
            if sender
                .send(Bytes::from(format!("part {part}\n")))
                .await
                .is_err()
            {
                return;
            }
            sleep(each).await;
        }
    });
    with_body("text/plain", Parts(receiver).boxed())
}

fn bytes(media_type: &str, body: Bytes) -> Answer {
    with_body(media_type, Full::new(body).boxed())
}

fn with_body(media_type: &str, body: BoxBody<Bytes, Infallible>) -> Answer {
    let mut answer = Response::new(body);
    let headers = answer.headers_mut();
    if let Ok(media_type) = HeaderValue::from_str(media_type) {
        headers.insert(header::CONTENT_TYPE, media_type);
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// A body that another task sends.
struct Parts(Receiver<Bytes>);

impl Body for Parts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0
            .poll_recv(context)
            .map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}
