use std::{net::SocketAddr, time::Duration};

use netbench_model::{Condition, Role, Site};
use netbench_protocol::{Connect, HttpRequest, Resolve};

use crate::clock::millis;

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
