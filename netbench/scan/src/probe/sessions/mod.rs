//! Whole handshakes: tickets, resumption, early data, renegotiation, the head of the HTTP response.

mod tls12;
mod tls13;

use std::time::Duration;

use netbench_model::tls::TlsVersion;

use super::{prober::Prober, wire::Wire};
use crate::{
    codec::{HelloSpec, Record},
    enumeration::{Enumeration, Stop},
    session::{Method, ResponseHead},
};

/// A close_notify alert (RFC 5246 section 7.2.1).
const CLOSE_NOTIFY: [u8; 2] = [1, 0];

/// The time limit for the response to HEAD, beyond the time of some round trips. Some servers never answer it, and
/// serve no other client meanwhile; slow ones are asked by GET.
const RESPONSE_TO_HEAD: Duration = Duration::from_millis(250);

/// The same time limit for GET, after which no further request is sent.
const RESPONSE_TO_GET: Duration = Duration::from_millis(1_500);

/// The maximum length of a response's head that is read.
const MOST_HEAD: usize = 16 * 1024;

pub(super) async fn sessions(prober: &Prober<'_>, found: &Enumeration) -> Result<(), Stop> {
    if let Some(newest) = found.spoken_version(TlsVersion::Tls13) {
        tls13::sessions13(prober, newest).await?;
    }
    if let Some(older) = found.spoken_version(TlsVersion::Tls12) {
        tls12::sessions12(prober, &older.suite_codes()).await?;
    }
    Ok(())
}

/// Requests a renegotiation. No other request should follow: `openssl s_server` then pauses for a second.
pub(super) async fn renegotiation(prober: &Prober<'_>, found: &Enumeration) -> Result<(), Stop> {
    if let Some(older) = found.spoken_version(TlsVersion::Tls12) {
        tls12::renegotiation12(prober, &older.suite_codes()).await?;
    }
    Ok(())
}

/// Returns whether to read more of a response: it may be HTTP, and its head is incomplete.
fn needs_more(response: &[u8]) -> bool {
    response.len() <= MOST_HEAD
        && ResponseHead::may_be(response)
        && ResponseHead::parse(response).is_none()
}

/// Reads records until one of them is the last, or the connection ends.
async fn read_records(
    prober: &Prober<'_>,
    wire: &mut Wire,
    mut is_last: impl FnMut(&Record) -> bool,
) {
    while let Some(record) = wire.record(&prober.counts).await {
        if is_last(&record) {
            return;
        }
    }
}

fn keep(head: Option<ResponseHead>, features: &mut netbench_model::scan::Features) {
    if let Some(head) = head {
        features.http_status = head.status;
        features.strict_transport_security = head.strict_transport_security;
        features.alt_svc = head.alt_svc;
    }
}

/// Returns only HTTP/1.1, or `None` if the site refuses ALPN.
fn http1(spec: &HelloSpec) -> Option<Vec<Vec<u8>>> {
    spec.alpn.as_ref().map(|_| vec![b"http/1.1".to_vec()])
}

impl Prober<'_> {
    /// Returns whether the head of a response may still be obtained.
    fn lacks_head(&self) -> bool {
        if self.target.start_tls.is_some() {
            return false;
        }
        let known = self.findings.borrow().features.http_status.is_some();
        !known && self.method.get() != Some(Method::Get)
    }

    fn asked(&self, method: Method) {
        self.method.set(Some(method));
    }

    fn response_limit(&self, method: Method) -> Duration {
        let fastest = self.counts.borrow().connect_us.iter().min().copied();
        let round_trips = Duration::from_micros(fastest.unwrap_or(0)) * 4;
        let response = match method {
            Method::Head => RESPONSE_TO_HEAD,
            Method::Get => RESPONSE_TO_GET,
        };
        self.limits.timeout.min(response + round_trips)
    }
}
