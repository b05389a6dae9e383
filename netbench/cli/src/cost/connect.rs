use std::{collections::HashMap, time::Duration};

use netbench_model::{Condition, Fault, Sample, Site};
use netbench_runner::TIME_OUTS;

use super::{Cost, times};

/// What is known of a run of connections before it begins.
#[derive(Debug)]
pub(crate) struct Connections<'a> {
    pub(crate) sites: &'a [Site],
    pub(crate) conditions: &'a [Condition],
    pub(crate) stacks: usize,
    pub(crate) rounds: u32,
    pub(crate) jobs: u32,
    pub(crate) timeout: Duration,
    /// Between two connections to one site.
    pub(crate) pause: Duration,
    pub(crate) reached: Reached,
}

/// How sites are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Over emulated links.
    Links,
    /// On this machine.
    Loopback,
    /// Over a real network.
    Network,
}

/// Certificates, servers and the check of the links.
const SET_UP: Duration = Duration::from_secs(5);

/// Round trips of a connection, from its first packet to the end of the response.
const ROUND_TRIPS: f64 = 3.8;

/// What a connection takes beside its round trips, with others at the same time.
const CONNECTION: Duration = Duration::from_millis(25);

/// A fresh process, configured.
const PROCESS: Duration = Duration::from_millis(60);

/// A connection to a host of which nothing is known.
const UNKNOWN: Duration = Duration::from_millis(250);

impl Connections<'_> {
    pub(crate) fn cost(&self) -> Cost {
        let kinds = [self.conditions.len() as u64, self.stacks as u64];
        let samples = kinds
            .iter()
            .fold(self.sites.len() as u64, |all, n| all.saturating_mul(*n))
            .saturating_mul(self.rounds.into());
        Cost {
            time: times(
                self.processes().saturating_add(self.samples()),
                self.rounds.into(),
            )
            .saturating_add(self.set_up()),
            pieces: samples,
            unit: "samples",
            shorter: "fewer --rounds or a --limit",
        }
    }

    /// What each sample takes of the run's time.
    pub(crate) fn work(&self) -> Work {
        let of = |site: &Site| {
            let each = |condition: &Condition| (*condition, self.share(site, *condition));
            (site.name(), self.conditions.iter().map(each).collect())
        };
        Work {
            all: Cost {
                time: times(self.samples(), self.rounds.into()),
                ..self.cost()
            },
            samples: self.sites.iter().map(of).collect(),
        }
    }

    fn set_up(&self) -> Duration {
        match self.reached {
            Reached::Links => SET_UP,
            Reached::Loopback | Reached::Network => Duration::ZERO,
        }
    }

    /// The new processes that a round begins with, and a first connection of each.
    fn processes(&self) -> Duration {
        times(PROCESS + CONNECTION, self.stacks as f64)
    }

    /// The samples of a round.
    fn samples(&self) -> Duration {
        let samples = self.sites.iter().flat_map(|site| {
            let each = |condition: &Condition| self.share(site, *condition);
            self.conditions.iter().map(each)
        });
        let one_stack = samples.fold(Duration::ZERO, Duration::saturating_add);
        times(one_stack, self.stacks as f64)
    }

    /// What a sample takes of the run's time, which many trials at a time share.
    fn share(&self, site: &Site, condition: Condition) -> Duration {
        let one = self.connection(site).saturating_add(self.pause);
        let sample = one.saturating_mul(condition.connections())
            + match condition {
                Condition::Cold => PROCESS,
                Condition::Clean | Condition::Resumed => Duration::ZERO,
            };
        // One connection at a time to each site.
        let most = u32::try_from(self.sites.len()).unwrap_or(u32::MAX).max(1);
        times(sample, 1.0 / self.at_a_time(condition).min(most.into()))
    }

    /// How many trials go on at a time. Fresh processes keep the cores busy.
    fn at_a_time(&self, condition: Condition) -> f64 {
        let jobs = f64::from(self.jobs.max(1));
        match condition {
            Condition::Cold => jobs.min(4.0),
            Condition::Clean | Condition::Resumed => jobs,
        }
    }

    fn connection(&self, site: &Site) -> Duration {
        let usual = match self.reached {
            Reached::Links => {
                let round_trips = CONNECTION + times(site.lab.link.rtt(), ROUND_TRIPS);
                round_trips.saturating_add(transfer(site))
            }
            Reached::Loopback | Reached::Network if self.pause.is_zero() => CONNECTION,
            Reached::Loopback | Reached::Network => UNKNOWN,
        };
        match (self.reached, site.lab.fault) {
            (Reached::Links, Some(Fault::Silent | Fault::SlowResponse)) => {
                // A site that never answers is given up.
                let units = f64::from(self.rounds.max(1)) * self.conditions.len().max(1) as f64;
                times(self.timeout, (f64::from(TIME_OUTS) / units).min(1.0))
            }
            _ => usual.min(self.timeout),
        }
    }
}

/// Returns how long a site's body takes beyond the round trips of a connection: at the link's rate, or at the one that TCP reaches where
/// packets are lost (Mathis et al.: The macroscopic behavior of the TCP congestion avoidance algorithm, 1997). What is lost before
/// costs a second (RFC 6298 section 2.1).
fn transfer(site: &Site) -> Duration {
    const SEGMENT_BYTES: f64 = 1_448.0;
    const FIRST_WINDOW_BYTES: f64 = 10.0 * SEGMENT_BYTES;
    const FIRST_PACKETS: f64 = 3.0;
    let link = &site.lab.link;
    let (bytes, rtt_s) = (site.lab.body_bytes as f64, link.rtt().as_secs_f64());
    let loss = f64::from(link.loss.parts_per_million) / 1e6;
    let at_rate_s = link
        .rate
        .map_or(0.0, |rate| bytes * 8.0 / rate.bits_per_second.max(1) as f64);
    let slow_start_s = rtt_s * (bytes / FIRST_WINDOW_BYTES).max(1.0).log2();
    let lossy_s = bytes / SEGMENT_BYTES * rtt_s * (2.0 * loss / 3.0).sqrt();
    let seconds = at_rate_s.max(slow_start_s).max(lossy_s) + FIRST_PACKETS * loss;
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

/// What samples take of a run's time.
pub(crate) struct Work {
    all: Cost,
    /// By site.
    samples: HashMap<String, Vec<(Condition, Duration)>>,
}

impl Work {
    pub(crate) fn of(&self, sample: &Sample) -> Duration {
        let conditions = self.samples.get(&sample.site).into_iter().flatten();
        let mut of = conditions.filter(|(condition, _)| *condition == sample.condition);
        of.next().map_or(Duration::ZERO, |(_, time)| *time)
    }

    /// What is left of so many samples.
    pub(crate) fn left(&self, samples: u64, done: u64) -> Duration {
        let all = Cost {
            pieces: samples,
            ..self.all
        };
        all.after(done).time
    }
}

#[cfg(test)]
mod tests {
    use netbench_model::parse_sites;

    use super::*;

    const SITES: &str = "near.example rtt=5ms\nfar.example rtt=300ms\nmute.example fault=silent\n";

    fn connections(sites: &[Site]) -> Connections<'_> {
        Connections {
            sites,
            conditions: Condition::ALL,
            stacks: 2,
            rounds: 10,
            jobs: 6,
            timeout: Duration::from_secs(10),
            pause: Duration::ZERO,
            reached: Reached::Links,
        }
    }

    #[test]
    fn what_samples_take_is_what_the_run_takes() {
        let sites = parse_sites(SITES).unwrap();
        let connections = connections(&sites);
        let (cost, work) = (connections.cost(), connections.work());
        assert_eq!(cost.pieces, 3 * 3 * 2 * 10);
        let each = work.samples.values().flatten().map(|(_, time)| *time);
        let all = each.sum::<Duration>() * 2 * 10;
        let left = work.left(cost.pieces, 0);
        assert!((all.as_secs_f64() / left.as_secs_f64() - 1.0).abs() < 1e-6);
        assert!(left < cost.time);
        assert_eq!(work.left(cost.pieces, cost.pieces), Duration::ZERO);
    }

    #[test]
    fn rates_bodies_and_losses_cost_time() {
        let sites = parse_sites(
            "usual.example rtt=50ms\n\
             slow.example rtt=50ms rate=1mbit body=500k\n\
             long.example rtt=50ms body=10m\n\
             lossy.example rtt=50ms body=500k loss=10%\n\
             endless.example rtt=50ms rate=8kbit body=10m\n",
        )
        .unwrap();
        let connections = Connections {
            timeout: Duration::from_secs(100),
            ..connections(&sites)
        };
        let seconds = |site: usize| connections.connection(&sites[site]).as_secs_f64();
        assert!(seconds(0) < 0.3, "{}", seconds(0));
        // Four megabits at one megabit per second.
        assert!((4.0..4.6).contains(&seconds(1)), "{}", seconds(1));
        // From ten segments to ten megabytes the window doubles nine times.
        assert!((0.6..0.9).contains(&seconds(2)), "{}", seconds(2));
        // 345 segments at four in a round trip.
        assert!((4.0..6.0).contains(&seconds(3)), "{}", seconds(3));
        assert_eq!(seconds(4), 100.0);
    }

    #[test]
    fn pauses_silence_and_far_sites_cost_time() {
        let sites = parse_sites(SITES).unwrap();
        let usual = connections(&sites);
        let share = |of: &Connections<'_>, site: usize| of.share(&sites[site], Condition::Clean);
        assert!(share(&usual, 1) > 10 * share(&usual, 0));
        // Three sites, one connection at a time to each; of thirty connections of each stack two run into the time limit.
        assert_eq!(share(&usual, 2), usual.timeout / 3 / 15);
        let paused = Connections {
            pause: Duration::from_secs(1),
            reached: Reached::Network,
            ..connections(&sites)
        };
        assert!(share(&paused, 0) > Duration::from_millis(400));
        assert_eq!(share(&paused, 0), share(&paused, 2));
        let endless = Connections {
            rounds: u32::MAX,
            stacks: usize::MAX,
            ..connections(&sites)
        };
        assert!(endless.cost().time > Duration::from_secs(u64::MAX / 2));
    }
}
