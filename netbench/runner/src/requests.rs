use std::{net::SocketAddr, time::Duration};

use netbench_model::{Condition, LinkPackets, Measured, Outcome, Role, Site};
use netbench_protocol::{Connect, HttpRequest, RequestBody, Resolve, ResponseBody};

use crate::{
    Worker, WorkerError,
    clock::millis,
    proof::{Expected, prove},
};

/// The time beyond the limit of a connection after which a worker counts as hung.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// Returns the request for a connection to a site that asks for its first page.
pub(crate) fn connect_request(
    site: &Site,
    address: SocketAddr,
    (condition, role): (Condition, Role),
    timeout: Duration,
) -> Connect {
    Connect {
        host: site.host.to_string(),
        port: site.port,
        address,
        resolve: Resolve::Given,
        condition,
        role,
        timeout_ms: millis(timeout),
        request: HttpRequest::default(),
    }
}

/// Makes a worker connect, and proves its account of the connection with the link's packets, if the link sees them.
pub(crate) fn connect(
    worker: &mut Worker,
    request: Connect,
    expected: &Expected<'_>,
    packets: impl FnOnce(&Measured) -> Option<LinkPackets>,
) -> Result<Outcome, WorkerError> {
    let limit = Duration::from_millis(request.timeout_ms) + GRACE;
    Ok(
        match worker.ask(RequestBody::Connect(Box::new(request)), limit)? {
            ResponseBody::Connected(measured) => {
                match prove(expected, &measured, packets(&measured).as_ref()) {
                    Ok(()) => Outcome::Ok(measured),
                    Err(failure) => Outcome::Failed(failure),
                }
            }
            ResponseBody::Failed(failure) => Outcome::Failed(failure),
            ResponseBody::EchRejected(rejected) => Outcome::Failed(rejected.failure),
            ResponseBody::Unsupported { reason } => Outcome::Unsupported { reason },
            other => return Err(WorkerError::another_kind(&other)),
        },
    )
}
