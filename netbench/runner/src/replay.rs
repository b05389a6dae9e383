//! Accepted early data that are sent again on another connection (RFC 8446 section 8).

use std::{net::SocketAddr, time::Duration};

use netbench_model::ReplayStatus;
use netbench_protocol::{Replay, RequestBody, ResponseBody};

use crate::{Worker, lab_targets::LabTargets};

/// The time that a worker may take beyond the time limit of the connection.
const ANSWER: Duration = Duration::from_secs(5);

/// Has a client send the first flight of its last connection again, and returns the server's treatment of it.
///
/// Without the session's secret nothing but early data finish the server's part of a handshake, so the number of
/// its handshakes tells. `None` if the server does not count them, or if the connection did not end within the limit.
pub(crate) fn replay(
    worker: &mut Worker,
    lab: &LabTargets,
    site: usize,
    address: SocketAddr,
    limit: Duration,
) -> Option<ReplayStatus> {
    let before = lab.handshakes(site)?;
    let request = RequestBody::Replay(Replay {
        address,
        timeout_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
    });
    let ResponseBody::Replayed { .. } = worker.ask(request, limit + ANSWER).ok()? else {
        return None;
    };
    match lab.handshakes(site)?.checked_sub(before)? {
        0 => Some(ReplayStatus::Rejected),
        1 => Some(ReplayStatus::Accepted),
        _ => None,
    }
}
