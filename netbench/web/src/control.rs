//! The requests of netbench itself: the cases to serve, and the record of a case.

use std::{sync::Arc, time::Duration};

use http::{Method, StatusCode};
use http_body_util::BodyExt;
use hyper::{Request, body::Incoming};
use netbench_model::features::{WebServing, WebSetup};

use crate::{
    answers::{self, Answer},
    cases::Cases,
    certificates::Certificates,
    query::Query,
};

/// The host of these requests, which no page has.
pub(crate) const HOST: &str = "127.0.0.1";

/// Answers `POST /serve` with the root of the certificates, `POST /forget?case=NAME` after a new record of a case was
/// begun, and `GET /seen?case=NAME&wait_ms=N` with the record of a
/// case, after its report or the limit.
pub(crate) async fn answer(cases: &Arc<Cases>, request: Request<Incoming>) -> Answer {
    let query = Query::parse(request.uri().query().unwrap_or_default());
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/serve") => match request.into_body().collect().await {
            Ok(body) => serve(cases, &body.to_bytes()),
            Err(_) => answers::status(StatusCode::BAD_REQUEST),
        },
        (&Method::POST, "/forget") => {
            if let Some(served) = query.get("case").and_then(|name| cases.of_name(name)) {
                served.forget();
            }
            answers::json(&())
        }
        (&Method::GET, "/seen") => match query.get("case").and_then(|name| cases.of_name(name)) {
            Some(served) => {
                let limit = Duration::from_millis(query.number("wait_ms").unwrap_or_default());
                answers::json(&served.wait(limit).await)
            }
            None => answers::status(StatusCode::NOT_FOUND),
        },
        _ => answers::status(StatusCode::NOT_FOUND),
    }
}

fn serve(cases: &Cases, body: &[u8]) -> Answer {
    let setup: WebSetup = match serde_json::from_slice(body) {
        Ok(setup) => setup,
        Err(error) => return refused(StatusCode::BAD_REQUEST, &error.to_string()),
    };
    match Certificates::new() {
        Ok(certificates) => {
            let roots_pem = certificates.roots_pem().to_owned();
            cases.set(setup.cases, certificates);
            answers::json(&WebServing { roots_pem })
        }
        Err(error) => refused(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn refused(status: StatusCode, why: &str) -> Answer {
    let mut answer = answers::text("text/plain", why);
    *answer.status_mut() = status;
    answer
}
