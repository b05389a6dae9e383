use std::time::Duration;

use netbench_model::Site;

use super::{Cost, Reached, times};

/// The extent of a scan.
#[derive(Debug)]
pub(crate) struct Scans<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) reached: Reached,
    /// Number of parts besides the enumeration of versions, suites and groups.
    pub(crate) parts: usize,
    /// Number of sites at a time.
    pub(crate) jobs: u32,
    /// The largest number of connections per second.
    pub(crate) rate: Option<f64>,
    /// The largest number of sites that handshakes confirm for each stack.
    pub(crate) confirmed: u32,
    pub(crate) stacks: usize,
}

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

/// The round-trip time to an unknown host.
const UNKNOWN: Duration = Duration::from_millis(80);

impl Scans<'_> {
    pub(crate) fn cost(&self) -> Cost {
        let sites = self.sites.len() as f64;
        let connections = CONNECTIONS + OF_A_PART * self.parts as f64;
        let cores = times(CPU, sites * connections);
        let row = match self.reached {
            Reached::Links => {
                let slowest = self.sites.iter().map(|site| site.lab.link.rtt()).max();
                times(slowest.unwrap_or_default(), IN_A_ROW * ROUND_TRIPS)
            }
            // There is only one connection at a time to each site.
            Reached::Network => times(UNKNOWN, connections * ROUND_TRIPS),
            Reached::Loopback => Duration::ZERO,
        };
        let turns = (sites / f64::from(self.jobs.max(1))).ceil();
        let paced = self.rate.map_or(0.0, |rate| sites * connections / rate);
        let paced = Duration::try_from_secs_f64(paced).unwrap_or(Duration::MAX);
        let scanned = cores.max(times(row, turns)).max(paced);
        let confirmed = f64::from(self.confirmed).min(sites) * self.stacks as f64;
        Cost {
            time: SET_UP + scanned + times(Duration::from_millis(20), confirmed),
            pieces: self.sites.len() as u64,
            unit: "sites",
            shorter: "a --limit or fewer --parts",
        }
    }
}
