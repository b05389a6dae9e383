use std::time::Duration;

use netbench_model::ScanPlan;

use crate::cost::{Reached, times};

/// The time for certificates, servers and the stacks' hellos.
const SET_UP: Duration = Duration::from_secs(3);

/// Number of connections of a site's enumeration, number of connections of each other part, and CPU time of a
/// connection.
const CONNECTIONS: f64 = 20.0;
const OF_A_PART: f64 = 6.0;
const CPU: Duration = Duration::from_micros(400);

/// Number of consecutive connections to a site, and number of round trips of each.
const IN_A_ROW: f64 = 25.0;
const ROUND_TRIPS: f64 = 2.5;

/// The time of a handshake that confirms a prediction.
const HANDSHAKE: Duration = Duration::from_millis(20);

/// The round-trip time to an unknown host.
const UNKNOWN: Duration = Duration::from_millis(80);

pub(super) fn time(plan: &ScanPlan) -> Duration {
    let sites = plan.sites.len() as f64;
    let connections = CONNECTIONS + OF_A_PART * plan.parts.len() as f64;
    let cores = times(CPU, sites * connections);
    let row = match Reached::of(plan.place, plan.link.as_deref()) {
        Reached::Links => {
            let slowest = plan.sites.iter().map(|site| site.lab.link.rtt()).max();
            times(slowest.unwrap_or_default(), IN_A_ROW * ROUND_TRIPS)
        }
        // There is only one connection at a time to each site.
        Reached::Network => times(UNKNOWN, connections * ROUND_TRIPS),
        Reached::Loopback => Duration::ZERO,
    };
    let turns = (sites / f64::from(plan.jobs.max(1))).ceil();
    let paced = plan.rate.map_or(0.0, |rate| sites * connections / rate);
    let paced = Duration::try_from_secs_f64(paced).unwrap_or(Duration::MAX);
    let scanned = cores.max(times(row, turns)).max(paced);
    let confirmed = plan.confirm.saturating_add(plan.confirm_reached);
    let handshakes = f64::from(confirmed).min(sites) * plan.against.len() as f64;
    SET_UP + scanned + times(HANDSHAKE, handshakes)
}
