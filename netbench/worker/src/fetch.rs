use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Empty;
use netbench_protocol::Connect;
use netbench_tls::{
    Condition, Failure, FailureClass, FailureReason, FailureWord, HostName, Measured, Phases, Role,
    ServerView, authority, sanitize,
};

use crate::{
    BoxFuture, Probe, Stack,
    clock::{nanos, thread_cpu},
    explain::explain,
};

/// An error of hyper or of a layer below it.
pub type FetchError = Box<dyn std::error::Error + Send + Sync>;

/// A connector with hyper's client on top. One call makes one connection, one request and one response.
pub trait Fetch: Send {
    /// Returns the probe that records the figures of connections.
    fn probe(&self) -> &Probe;

    /// Sends `request` with the client's own headers on a separate connection, and reads the response to its end.
    fn fetch(&self, request: Request<Empty<Bytes>>) -> BoxFuture<'_, Result<Fetched, FetchError>>;
}

/// A response read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// Size of the body, in bytes.
    pub body_bytes: u64,
    /// The lab server's report on the connection.
    pub server: Option<ServerView>,
}

/// Makes one connection through `client` and measures it.
///
/// # Errors
/// Any result other than a finished handshake and a response read to its end.
pub(crate) fn measure(
    stack: &dyn Stack,
    client: &dyn Fetch,
    connector: Option<Duration>,
    request: &Connect,
) -> Result<Measured, Failure> {
    let probe = client.probe();
    let asked = http_request(request)
        .map_err(|why| Failure::new(FailureClass::Setup, FailureWord::Host, sanitize(&why)))?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|e| Failure::new(FailureClass::Setup, FailureWord::Runtime, e.to_string()))?;
    probe.aim(request.address, request.resolve);
    if request.condition == Condition::EarlyData && request.role == Role::Measured {
        probe.keeps_first_flight();
    }
    let limit = Duration::from_millis(request.timeout_ms);
    let (cpu, start) = (thread_cpu(), Instant::now());
    let (fetched, end, cpu) = runtime.block_on(async {
        let fetched = tokio::time::timeout(limit, client.fetch(asked)).await;
        let (end, cpu) = (Instant::now(), thread_cpu().saturating_sub(cpu));
        probe.keep_tcp_info();
        if matches!(fetched, Ok(Ok(_))) {
            close(probe).await;
        }
        (fetched, end, cpu)
    });
    let phase = probe.phase();
    // Dropping the runtime ends the tasks of a failed connection.
    drop(runtime);
    let failure = match fetched {
        Ok(Ok(fetched)) => {
            let phases = phases(probe, connector, start, end, cpu);
            let marks = probe.marks();
            return Ok(Measured {
                phases,
                client: marks.negotiated.clone().unwrap_or_default(),
                server: fetched.server,
                transfer: marks.transfer.clone(),
                http_status: fetched.status,
                body_bytes: fetched.body_bytes,
                process: None,
            });
        }
        Ok(Err(error)) => {
            let explained = explain(stack, probe, phase, error.as_ref());
            if explained.class == FailureClass::EchRejected {
                probe.ech_rejected(explained.retry_configs);
            }
            let said = probe.marks().certificate_fault.take();
            let chain = crate::explain::chain(error.as_ref());
            let detail = match said {
                Some((_, words)) => format!("{}: {chain}", sanitize(&words)),
                None => chain,
            };
            Failure::new(explained.class, explained.reason, detail)
        }
        Err(_) => {
            let detail = format!("no end within {} ms", request.timeout_ms);
            Failure::new(FailureClass::Timeout, FailureReason::In(phase), detail)
        }
    };
    Err(Failure {
        phase: Some(phase),
        after_ns: Some(nanos(end - start)),
        ..failure
    })
}

/// Lets hyper close the connection as it does for its users, with a close_notify. OpenSSL discards the session of a
/// connection that ends without one (required by RFC 2246 section 7.2.1).
async fn close(probe: &Probe) {
    const LIMIT: Duration = Duration::from_millis(200);
    const PAUSE: Duration = Duration::from_micros(100);
    let begun = Instant::now();
    while probe.marks().socket.is_some() && begun.elapsed() < LIMIT {
        tokio::task::yield_now().await;
        if probe.marks().socket.is_some() {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Builds the request for hyper. Error messages do not contain header values, which may be secrets.
fn http_request(request: &Connect) -> Result<Request<Empty<Bytes>>, String> {
    let host: HostName = request.host.parse()?;
    let uri = Uri::builder()
        .scheme("https")
        .authority(authority(&host, request.port))
        .path_and_query(&request.request.path)
        .build()
        .map_err(|e| e.to_string())?;
    let mut asked = Request::new(Empty::new());
    *asked.uri_mut() = uri;
    *asked.method_mut() =
        Method::from_bytes(request.request.method.as_bytes()).map_err(|e| e.to_string())?;
    for (name, value) in &request.request.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        let mut value = HeaderValue::from_str(value).map_err(|e| e.to_string())?;
        value.set_sensitive(true);
        asked.headers_mut().append(name, value);
    }
    Ok(asked)
}

fn phases(
    probe: &Probe,
    connector: Option<Duration>,
    start: Instant,
    end: Instant,
    cpu: Duration,
) -> Phases {
    let marks = probe.marks();
    Phases {
        connector_ns: connector.map(nanos),
        dns_ns: marks.dns.map_or(0, nanos),
        tcp_ns: since(marks.resolved, marks.connected),
        tls_ns: since(marks.connected, marks.handshake),
        client_hello_ns: since(marks.connected, marks.client_hello),
        verify_ns: marks.verify.map(nanos),
        first_byte_ns: since(marks.handshake, marks.head),
        rejected_ns: None,
        total_ns: nanos(end - start),
        cpu_ns: nanos(cpu),
    }
}

/// Returns the time between two marks, or 0 if one was not reached.
fn since(from: Option<Instant>, to: Option<Instant>) -> u64 {
    match (from, to) {
        (Some(from), Some(to)) => nanos(to.saturating_duration_since(from)),
        _ => 0,
    }
}
