use std::time::Duration;

use netbench_model::Site;

use super::{Cost, Reached, times};

/// What is known of a scan before it begins.
#[derive(Debug)]
pub(crate) struct Scans<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) reached: Reached,
    /// Parts beside the enumeration of versions, suites and groups.
    pub(crate) parts: usize,
    /// Sites at a time.
    pub(crate) jobs: u32,
    /// Connections begun in a second, at most.
    pub(crate) rate: Option<f64>,
    /// Sites that are confirmed by handshakes, at most, for each of so many stacks.
    pub(crate) confirmed: u32,
    pub(crate) stacks: usize,
}

/// Certificates, servers and the stacks' hellos.
const SET_UP: Duration = Duration::from_secs(3);

/// Connections that the enumeration of a site takes, those of each other part, and what one takes of this machine.
const CONNECTIONS: f64 = 20.0;
const OF_A_PART: f64 = 6.0;
const CPU: Duration = Duration::from_micros(400);

/// Connections to a site that wait for one another, and round trips of each.
const IN_A_ROW: f64 = 25.0;
const ROUND_TRIPS: f64 = 2.5;

/// A round trip to a host of which nothing is known.
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
            // One connection at a time to each.
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
