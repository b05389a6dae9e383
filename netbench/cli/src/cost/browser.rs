use std::time::Duration;

use netbench_model::Site;

use super::{Cost, connect::transfer, times};

/// The extent of a run of `browser`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageVisits<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) browsers: usize,
    pub(crate) stacks: usize,
    pub(crate) conditions: usize,
    pub(crate) rounds: u32,
    /// The time limit of a visit.
    pub(crate) limit: Duration,
}

/// The time of a visit: a profile, a browser's start, a page and the end of all its processes.
const VISIT: Duration = Duration::from_millis(1_600);

/// The time of a stack's connection that accompanies a visit.
const CONNECTION: Duration = Duration::from_millis(250);

impl PageVisits<'_> {
    pub(crate) fn cost(self) -> Cost {
        let times_each = self.conditions as u64 * u64::from(self.rounds);
        let units = self.sites.len() as u64 * times_each;
        let of_site = |site: &Site| {
            let body = transfer(site);
            let visit = VISIT.saturating_add(body).min(self.limit.max(VISIT));
            let connection = CONNECTION
                .saturating_add(body)
                .min(self.limit.max(CONNECTION));
            times(visit, self.browsers as f64).saturating_add(times(connection, self.stacks as f64))
        };
        let one = self.sites.iter().map(of_site);
        let one = one.fold(Duration::ZERO, Duration::saturating_add);
        Cost {
            time: times(one, times_each as f64),
            pieces: units * (self.browsers + self.stacks) as u64,
            unit: "visits",
            shorter: "fewer --rounds or a --limit",
        }
    }
}

#[cfg(test)]
mod tests {
    use netbench_model::parse_sites;

    use super::*;

    #[test]
    fn long_bodies_over_slow_links_cost_time_up_to_the_limit() {
        let cost = |line: &str| {
            let sites = parse_sites(line).unwrap();
            let visits = PageVisits {
                sites: &sites,
                browsers: 2,
                stacks: 1,
                conditions: 1,
                rounds: 10,
                limit: Duration::from_secs(60),
            };
            visits.cost().time.as_secs()
        };
        assert_eq!(cost("a.example"), 34);
        // 2 MiB at 1 Mbit/s take 17 s.
        assert!((500..560).contains(&cost("a.example rate=1mbit body=2m")));
        assert_eq!(cost("a.example rate=1mbit body=200m"), 1_800);
    }
}
