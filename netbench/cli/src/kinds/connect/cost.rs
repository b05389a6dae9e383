use std::{collections::HashMap, time::Duration};

use netbench_model::{
    Condition, ConnectPlan, EarlyDataPolicy, EchPolicy, FailureClass, Fault, Outcome, Sample, Site,
};
use netbench_runner::TIME_OUTS;

use crate::{
    cost::{Cost, Piece, Reached, times, transfer},
    pipeline::Listed,
};

/// The time of a run of `connect`, computed from its plan.
#[derive(Debug)]
pub(super) struct Connections<'a> {
    plan: &'a ConnectPlan,
    reached: Reached,
    sites: HashMap<String, &'a Site>,
}

/// The time for certificates, servers and the check of the links.
const SET_UP: Duration = Duration::from_secs(5);

/// Number of round trips of a connection, from its first packet to the end of the response.
const ROUND_TRIPS: f64 = 3.8;

/// The time of a connection besides its round trips, with other connections at the same time.
const CONNECTION: Duration = Duration::from_millis(25);

/// The time of a new process, including its configuration.
const PROCESS: Duration = Duration::from_millis(60);

/// The time of a connection to an unknown host.
const UNKNOWN: Duration = Duration::from_millis(250);

impl<'a> Connections<'a> {
    pub(super) fn of(plan: &'a ConnectPlan) -> Self {
        Self {
            plan,
            reached: Reached::of(plan.target, plan.link.as_deref()),
            sites: plan.sites.iter().map(|site| (site.name(), site)).collect(),
        }
    }

    pub(super) fn time(&self) -> Duration {
        let rounds = f64::from(self.plan.rounds);
        let round = self.processes().saturating_add(self.samples());
        times(round, rounds).saturating_add(self.set_up())
    }

    /// Returns the time of the remaining work, after `done` of `samples` samples.
    pub(super) fn left(&self, samples: u64, done: u64) -> Duration {
        let all = Cost {
            time: times(self.samples(), self.plan.rounds.into()),
            pieces: samples,
            ..self.plan.cost()
        };
        all.after(done).time
    }

    pub(super) fn piece(&self, sample: &Sample) -> Piece {
        let condition = sample.condition;
        let Some(site) = self.sites.get(&sample.site) else {
            return Piece::Done(Duration::ZERO);
        };
        let (answers, estimated) = (!self.never_answers(site), self.share(site, condition));
        let at_a_time = if answers {
            self.sites_at_a_time(condition)
        } else {
            self.silent_at_a_time()
        };
        let waited = times(self.plan.timeout(), 1.0 / at_a_time);
        match (&sample.outcome, answers) {
            (Outcome::Failed(failure), true) if failure.class == FailureClass::Timeout => {
                Piece::TimedOut { estimated, waited }
            }
            (Outcome::Failed(failure), false) if failure.class == FailureClass::Timeout => {
                Piece::Done(waited)
            }
            // The site's share of the time was spent on the connections before the run gave up the site.
            (Outcome::Unsupported { .. }, false) => Piece::Done(Duration::ZERO),
            (Outcome::Unsupported { .. }, true) => Piece::Skipped(estimated),
            _ => Piece::Done(estimated),
        }
    }

    fn set_up(&self) -> Duration {
        match self.reached {
            Reached::Links => SET_UP,
            Reached::Loopback | Reached::Network => Duration::ZERO,
        }
    }

    /// Returns the time of the new processes at the beginning of a round, with a first connection of each.
    fn processes(&self) -> Duration {
        times(PROCESS + CONNECTION, self.plan.stacks.len() as f64)
    }

    /// Returns the time of a round's samples.
    fn samples(&self) -> Duration {
        let samples = self.plan.sites.iter().flat_map(|site| {
            self.plan
                .conditions
                .iter()
                .map(|condition| self.share(site, *condition))
        });
        let one_stack = samples.fold(Duration::ZERO, Duration::saturating_add);
        times(one_stack, self.plan.stacks.len() as f64)
    }

    /// Returns the share of a sample in the run's time, which several concurrent trials share.
    fn share(&self, site: &Site, condition: Condition) -> Duration {
        if !is_tried(site, condition) {
            return Duration::ZERO;
        }
        if self.never_answers(site) {
            // The run gives up the site: of all its samples, only the first reach the time limit.
            let conditions = self.plan.conditions.iter();
            let tried = conditions.filter(|condition| is_tried(site, **condition));
            let units = f64::from(self.plan.rounds.max(1)) * tried.count().max(1) as f64;
            let time_outs = (f64::from(TIME_OUTS) / units).min(1.0);
            return times(self.plan.timeout(), time_outs / self.silent_at_a_time());
        }
        let one = self.connection(site).saturating_add(self.plan.pause());
        let sample = one.saturating_mul(condition.connections());
        let sample = match (condition, site.lab.early_data) {
            (Condition::Clean | Condition::Resumed, _) => sample,
            (Condition::Cold, _) => sample.saturating_add(PROCESS),
            // An accepted request saves a round trip, and is sent again on a connection of two.
            (Condition::EarlyData, Some(EarlyDataPolicy::Reject) | None) => sample,
            (Condition::EarlyData, Some(_)) => sample.saturating_add(self.round_trip(site)),
        };
        let sample = match site.lab.ech {
            // The rejected connection ends without a request.
            Some(policy) if policy.is_rejected() => sample
                .saturating_mul(2)
                .saturating_sub(self.round_trip(site)),
            _ => sample,
        };
        times(sample, 1.0 / self.sites_at_a_time(condition))
    }

    /// Returns the emulated round-trip time of a site.
    fn round_trip(&self, site: &Site) -> Duration {
        match self.reached {
            Reached::Links => site.lab.link.rtt(),
            Reached::Loopback | Reached::Network => Duration::ZERO,
        }
    }

    /// Returns whether every connection to a site reaches the time limit.
    fn never_answers(&self, site: &Site) -> bool {
        let fault = site.lab.fault;
        self.reached == Reached::Links && matches!(fault, Some(Fault::Silent | Fault::SlowResponse))
    }

    /// Returns the number of silent sites that are waited for at the same time. The other trials of a round end long
    /// before, so that they share none of this time.
    fn silent_at_a_time(&self) -> f64 {
        let silent = self
            .plan
            .sites
            .iter()
            .filter(|site| self.never_answers(site));
        (silent.count() as f64)
            .min(f64::from(self.plan.jobs))
            .max(1.0)
    }

    /// Returns the number of concurrent trials, with one connection at a time to each site.
    fn sites_at_a_time(&self, condition: Condition) -> f64 {
        let most = u32::try_from(self.plan.sites.len())
            .unwrap_or(u32::MAX)
            .max(1);
        self.at_a_time(condition).min(most.into())
    }

    /// Returns the number of concurrent trials. New processes keep the cores busy.
    fn at_a_time(&self, condition: Condition) -> f64 {
        let jobs = f64::from(self.plan.jobs.max(1));
        match condition {
            Condition::Cold => jobs.min(4.0),
            Condition::Clean | Condition::Resumed | Condition::EarlyData => jobs,
        }
    }

    fn connection(&self, site: &Site) -> Duration {
        let usual = match self.reached {
            Reached::Links => {
                let round_trips = CONNECTION + times(self.round_trip(site), ROUND_TRIPS);
                round_trips.saturating_add(transfer(site))
            }
            Reached::Loopback | Reached::Network if self.plan.pause().is_zero() => CONNECTION,
            Reached::Loopback | Reached::Network => UNKNOWN,
        };
        usual.min(self.plan.timeout())
    }
}

/// Returns whether the condition is tried at a site: early data only where the tickets allow it, and resumption only where
/// Encrypted ClientHello is not rejected.
fn is_tried(site: &Site, condition: Condition) -> bool {
    let has_early_data = condition != Condition::EarlyData || site.lab.early_data.is_some();
    let is_rejected = site.lab.ech.is_some_and(EchPolicy::is_rejected);
    has_early_data && !(condition.resumes() && is_rejected)
}

#[cfg(test)]
mod tests {
    use netbench_model::{
        ClientSettings, Failure, FailureWord, Profile, Role, SCHEMA_VERSION, StackName, Target,
        parse_sites,
    };
    use serde_json::json;

    use super::*;
    use crate::cost::Eta;

    const SITES: &str = "near.example rtt=5ms\nfar.example rtt=300ms\nmute.example fault=silent\n";

    fn plan(sites: &str) -> ConnectPlan {
        let plan = json!({
            "seed": 1, "stacks": ["a", "b"], "conditions": Condition::ALL, "rounds": 10, "jobs": 6, "target": "lab",
            "sites_file": "", "sites_sha256": "", "sites": parse_sites(sites).unwrap(),
            "client": ClientSettings::undecided(Profile::Default),
            "roots": {"source": "mozilla", "count": 0, "sha256": ""}, "timeout_ms": 10_000,
        });
        serde_json::from_value(plan).unwrap()
    }

    #[test]
    fn what_samples_take_is_what_the_run_takes() {
        let plan = plan(SITES);
        let connections = Connections::of(&plan);
        let cost = plan.cost();
        assert_eq!(cost.pieces, 3 * 4 * 2 * 10);
        let each = plan.sites.iter().flat_map(|site| {
            let conditions = plan.conditions.iter();
            conditions.map(|condition| connections.share(site, *condition))
        });
        let all = each.sum::<Duration>() * 2 * 10;
        let left = connections.left(cost.pieces, 0);
        assert!((all.as_secs_f64() / left.as_secs_f64() - 1.0).abs() < 1e-6);
        assert!(left < cost.time);
        assert_eq!(connections.left(cost.pieces, cost.pieces), Duration::ZERO);
    }

    #[test]
    fn rates_bodies_and_losses_cost_time() {
        let plan = ConnectPlan {
            timeout_ms: 100_000,
            ..plan(
                "usual.example rtt=50ms\n\
             slow.example rtt=50ms rate=1mbit body=500k\n\
             long.example rtt=50ms body=10m\n\
             lossy.example rtt=50ms body=500k loss=10%\n\
             endless.example rtt=50ms rate=8kbit body=10m\n",
            )
        };
        let connections = Connections::of(&plan);
        let due = [
            0.0..=0.3,
            // Four megabits at one megabit per second.
            4.0..=4.6,
            // From ten segments to ten megabytes the window doubles nine times.
            0.6..=0.9,
            // 345 segments, at four per round trip.
            4.0..=6.0,
            100.0..=100.0,
        ];
        assert_eq!(plan.sites.len(), due.len());
        for (site, due) in plan.sites.iter().zip(due) {
            let seconds = connections.connection(site).as_secs_f64();
            assert!(due.contains(&seconds), "{}: {seconds}", site.name());
        }
    }

    fn share(plan: &ConnectPlan, site: usize) -> Duration {
        Connections::of(plan).share(&plan.sites[site], Condition::Clean)
    }

    #[test]
    fn early_data_save_a_round_trip_and_are_sent_again() {
        let plan = plan(
            "a.example rtt=100ms early-data=accept\nt.example rtt=100ms early-data=retry\n\
             r.example rtt=100ms early-data=reject\nn.example rtt=100ms\n",
        );
        let connections = Connections::of(&plan);
        let [accepted, retried, rejected, none] = [0, 1, 2, 3].map(|site| {
            let site = &plan.sites[site];
            let resumed = connections.share(site, Condition::Resumed);
            let early = connections.share(site, Condition::EarlyData);
            (resumed.as_secs_f64() - early.as_secs_f64())
                * connections.sites_at_a_time(Condition::Clean)
        });
        // The copy of accepted early data on another connection takes two round trips.
        assert!((accepted + 0.1).abs() < 1e-6, "{accepted}");
        assert!((retried + 0.1).abs() < 1e-6, "{retried}");
        assert!(rejected.abs() < 1e-6, "{rejected}");
        assert!(none > 0.5, "{none}");
    }

    #[test]
    fn pauses_silence_and_far_sites_cost_time() {
        let usual = plan(SITES);
        assert!(share(&usual, 1) > 10 * share(&usual, 0));
        // Two of each stack's thirty connections reach the time limit, after all others have ended.
        assert_eq!(share(&usual, 2), times(usual.timeout(), 1.0 / 15.0));
        let paused = ConnectPlan {
            target: Target::Live,
            ..plan(SITES)
        };
        assert_eq!(paused.pause(), Duration::from_secs(1));
        assert!(share(&paused, 0) > Duration::from_millis(400));
        assert_eq!(share(&paused, 0), share(&paused, 2));
        let endless = ConnectPlan {
            rounds: u32::MAX,
            timeout_ms: u64::MAX,
            ..plan("endless.example rtt=1s rate=8kbit body=200m\n")
        };
        assert!(endless.time() > Duration::from_secs(1 << 48));
    }

    fn sample(site: &Site, condition: Condition, outcome: Outcome) -> Sample {
        Sample {
            schema: SCHEMA_VERSION,
            session: 0,
            trial: 0,
            site: site.name(),
            stack: StackName::new("openssl"),
            condition,
            round: 0,
            block: 0,
            role: Role::Measured,
            started_unix_ms: 0,
            outcome,
            losses: Vec::new(),
            packets: None,
            replay: None,
        }
    }

    fn failed(class: FailureClass) -> Outcome {
        Outcome::Failed(Failure {
            class,
            reason: FailureWord::Failed.into(),
            detail: String::new(),
            phase: None,
            after_ns: None,
        })
    }

    /// Simulates a run in which every connection takes its estimated time, and which gives up a site that never answers
    /// after two time-outs of every stack. Returns the smallest and the largest predicted end, as fractions of the
    /// run's time.
    fn predictions(connections: &Connections<'_>, silent: &str) -> (f64, f64) {
        let mut eta = Eta::new(connections.left(connections.plan.pieces(), 0));
        let (mut now, mut time_outs) = (Duration::ZERO, 0);
        let mut ends = Vec::new();
        for _ in 0..connections.plan.rounds {
            for condition in &connections.plan.conditions {
                let given_up = time_outs >= TIME_OUTS;
                for site in &connections.plan.sites {
                    for _ in &connections.plan.stacks {
                        let outcome = match (site.name() == silent, given_up) {
                            (false, _) => failed(FailureClass::Closed),
                            (true, false) => failed(FailureClass::Timeout),
                            (true, true) => Outcome::Unsupported {
                                reason: "given up".to_owned(),
                            },
                        };
                        now += match (site.name() == silent, given_up) {
                            (false, _) => connections.share(site, *condition),
                            (true, false) => connections.plan.timeout(),
                            (true, true) => Duration::ZERO,
                        };
                        eta.advance(connections.piece(&sample(site, *condition, outcome)), now);
                        ends.push((now + eta.left(now)).as_secs_f64());
                    }
                }
                time_outs += 1;
            }
        }
        let parts = ends.iter().map(|end| end / now.as_secs_f64());
        let smallest = parts.clone().fold(f64::MAX, f64::min);
        (smallest, parts.fold(0.0, f64::max))
    }

    #[test]
    fn time_outs_of_a_site_that_is_given_up_tell_nothing_of_the_others() {
        let good = "modern.example\ntls12.example\ndhe.example\nrsa.example\nmixed.example\ncbc.example\nname.example\n";
        // A site that is known to be silent, and one whose silence no estimate can predict.
        for (line, smallest, largest) in [("fault=silent", 0.9, 1.1), ("", 0.0, 1.6)] {
            let plan = ConnectPlan {
                rounds: 6,
                ..plan(&format!("{good}silent.example {line}\n"))
            };
            let (first, last) = predictions(&Connections::of(&plan), "silent.example");
            assert!(
                first > smallest && last < largest,
                "{line}: {first} to {last}"
            );
        }
    }
}
