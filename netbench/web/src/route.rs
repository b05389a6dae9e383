//! The answer to a request, by its host and its path.
//!
//! | path | answer |
//! | --- | --- |
//! | a resource of the case | the page or the file |
//! | `/report` | takes the page's report |
//! | `/seen` | the record so far, as JSON |
//! | `/echo` | the request and its connection, as JSON |
//! | `/answer` | the body in the query |
//! | `/image` | an image of one pixel |
//! | `/stream` | a body in parts |
//! | `/chain/N` | N redirects, and then as `/echo` |
//! | `/loop` | a redirect to itself |
//! | `/socket` | a WebSocket |
//!
//! The query of any path chooses further properties: `status`, headers (`h`), headers of the answer to a preflight (`p`),
//! and a delay (`delay_ms`).

use std::sync::{Arc, OnceLock};

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt;
use hyper::{Request, body::Incoming};
use netbench_model::features::{PageReport, Scheme, SeenConnection, SeenRequest};
use tokio::time::sleep;

use crate::{
    answers::{self, Answer},
    cases::{Cases, Served},
    control, page,
    query::Query,
    socket,
};

/// The headers that are recorded.
const RECORDED: [&str; 14] = [
    "access-control-request-headers",
    "access-control-request-method",
    "authorization",
    "content-type",
    "cookie",
    "origin",
    "range",
    "referer",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-websocket-protocol",
    "upgrade-insecure-requests",
    "x-case",
];

/// The largest body that is read, in bytes.
const LARGEST_BODY: usize = 16 << 20;

/// The content of a request after its body was read.
pub(crate) struct Asked<'a> {
    pub(crate) connection: &'a SeenConnection,
    pub(crate) host: &'a str,
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) query: Query,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: String,
}

/// Answers a request, and records it.
pub(crate) async fn route(
    cases: &Arc<Cases>,
    connection: &SeenConnection,
    is_recorded: &OnceLock<()>,
    mut request: Request<Incoming>,
) -> Answer {
    let Some(host) = host_of(&request) else {
        return answers::status(StatusCode::BAD_REQUEST);
    };
    if host == control::HOST && connection.scheme == Scheme::Http {
        return control::answer(cases, request).await;
    }
    let Some((_, served)) = cases.of_host(&host) else {
        return answers::status(StatusCode::NOT_FOUND);
    };
    if connection.scheme == Scheme::Http && is_recorded.set(()).is_ok() {
        let mut first = connection.clone();
        first.host.clone_from(&host);
        served.connected(&first);
    }
    let path = request.uri().path().to_owned();
    let query = Query::parse(request.uri().query().unwrap_or_default());
    if path != REPORT {
        served.requested(record(connection.number, &host, &path, &request));
    }
    sleep(query.delay()).await;
    let wants_socket = path == "/socket" && request.headers().contains_key(header::UPGRADE);
    if wants_socket {
        return socket::accept(&mut request, &query);
    }
    let (parts, body) = request.into_parts();
    let body = http_body_util::Limited::new(body, LARGEST_BODY)
        .collect()
        .await;
    let body = body.map(|body| body.to_bytes()).unwrap_or_default();
    let asked = Asked {
        connection,
        host: &host,
        method: &parts.method,
        path: &path,
        query,
        headers: &parts.headers,
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    let mut answer = answer(&served, &asked);
    let named = if *asked.method == Method::OPTIONS {
        "p"
    } else {
        "h"
    };
    if let Some(status) = asked.query.number("status").filter(|_| named == "h") {
        let status = u16::try_from(status)
            .ok()
            .and_then(|it| StatusCode::from_u16(it).ok());
        *answer.status_mut() = status.unwrap_or(StatusCode::BAD_REQUEST);
    }
    set(answer.headers_mut(), asked.query.headers(named));
    answer
}

/// The path of reports.
const REPORT: &str = "/report";

fn answer(served: &Served, asked: &Asked<'_>) -> Answer {
    if *asked.method == Method::OPTIONS {
        return answers::status(StatusCode::NO_CONTENT);
    }
    match asked.path {
        REPORT => {
            let report = serde_json::from_str::<PageReport>(&asked.body);
            served.reported(report.unwrap_or_else(|error| {
                PageReport::Failed(format!("its report cannot be read: {error}"))
            }));
            answers::text("text/plain", "")
        }
        "/seen" => answers::json(&served.seen()),
        "/echo" => answers::echo(asked),
        "/answer" => {
            let kind = asked.query.get("type").unwrap_or("text/plain");
            answers::text(kind, asked.query.get("body").unwrap_or_default())
        }
        "/image" => answers::image(),
        "/stream" => answers::parts(&asked.query),
        "/loop" => answers::redirect("/loop"),
        path => match path.strip_prefix("/chain/").map(str::parse::<u32>) {
            Some(Ok(0)) => answers::echo(asked),
            Some(Ok(left)) => answers::redirect(&format!("/chain/{}", left - 1)),
            _ => match served.resource(path) {
                Some(resource) => {
                    let mut answer = page::answer(&served.case, resource, asked.host);
                    let headers = resource.headers.iter();
                    set(
                        answer.headers_mut(),
                        headers.map(|(name, value)| (name.as_str(), value.as_str())),
                    );
                    answer
                }
                None => answers::status(StatusCode::NOT_FOUND),
            },
        },
    }
}

/// Adds headers. Values of one name are all sent.
fn set<'a>(to: &mut HeaderMap, headers: impl Iterator<Item = (&'a str, &'a str)>) {
    for (name, value) in headers {
        let name = HeaderName::try_from(name);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            if name == header::CACHE_CONTROL {
                to.insert(name, value);
            } else {
                to.append(name, value);
            }
        }
    }
}

/// Returns the requested host, without its port.
fn host_of(request: &Request<Incoming>) -> Option<String> {
    let host = request.uri().host().map(str::to_owned).or_else(|| {
        let header = request.headers().get(header::HOST)?.to_str().ok()?;
        Some(header.split(':').next().unwrap_or_default().to_owned())
    });
    host.map(|host| host.to_ascii_lowercase())
}

/// Returns the value of a header. HTTP/2 may have a field for each cookie (RFC 9113 section 8.2.3).
pub(crate) fn joined(headers: &HeaderMap, name: &str) -> Option<String> {
    let values = headers.get_all(name).iter();
    let values: Vec<_> = values
        .map(|value| String::from_utf8_lossy(value.as_bytes()))
        .collect();
    let between = if name == "cookie" { "; " } else { ", " };
    (!values.is_empty()).then(|| values.join(between))
}

fn record(connection: u32, host: &str, path: &str, request: &Request<Incoming>) -> SeenRequest {
    let headers = RECORDED.iter().filter_map(|name| {
        let value = joined(request.headers(), name)?;
        Some(((*name).to_owned(), value))
    });
    SeenRequest {
        connection,
        host: host.to_owned(),
        method: request.method().to_string(),
        path: path.to_owned(),
        headers: headers.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_one_name_are_joined() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("cookie", "a=1"),
            ("cookie", "b=2"),
            ("x-case", "1"),
            ("x-case", "2"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        assert_eq!(joined(&headers, "cookie").as_deref(), Some("a=1; b=2"));
        assert_eq!(joined(&headers, "x-case").as_deref(), Some("1, 2"));
        assert_eq!(joined(&headers, "origin"), None);
    }
}
