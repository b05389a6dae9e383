use std::{
    net::SocketAddr,
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use netbench_model::{
    Condition, EarlyDataStatus, LinkPackets, Outcome, Role, SCHEMA_VERSION, Sample, Target,
};
use netbench_protocol::{Connect, HttpRequest, Operation};
use parking_lot::MutexGuard;

use crate::{
    Event, Targets, Unit, WorkerError,
    clock::unix_ms,
    ech,
    execute::{Shared, time_outs_after},
    lab_targets::ServerDeath,
    proof::{Expected, is_sound, unsupported},
    replay::replay,
    requests::{connect, connect_request},
    seats::Seats,
};

/// The maximum number of attempts at a unit during which a server of the lab died.
const TAKES: u32 = 3;

/// The number of times that every stack runs into the time limit before a site is given up for the run.
pub const TIME_OUTS: u32 = 2;

/// A trial that was made, or could not be made; `None` if the run was stopped before its end.
type Trial = Option<Sample>;

/// The result of an attempt at a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    /// The unit was completed, or interrupted by the end of the run.
    Whole,
    /// Trials of the unit were discarded, because they do not characterize stack or site.
    Discarded,
}

/// One of the concurrent trials of a run, with its own workers. Workers are restarted in every round: otherwise the
/// memory layout of one process could favour a stack for a whole run.
pub(crate) struct Slot<'a> {
    shared: &'a Shared<'a>,
    seats: Seats<'a>,
    round: Option<u32>,
    block: u32,
}

impl<'a> Slot<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>) -> Self {
        Self {
            shared,
            seats: Seats::new(shared),
            round: None,
            block: 0,
        }
    }

    /// Processes units until there are none, or the run is over.
    pub(crate) fn work(mut self) {
        while let Some(unit) = self.shared.queue.take(|| self.shared.is_over()) {
            for take in 1..=TAKES {
                self.prepare(&unit);
                let whole = self.take(&unit) == Taken::Whole;
                let last = take == TAKES || self.given_up(unit.site).is_some();
                if whole || last || self.shared.is_over() {
                    break;
                }
                // All stacks are repeated: those of a pair are neighbours.
                let samples = unit.order.len() as u64;
                (self.shared.listener)(Event::Again(samples));
            }
            self.shared.queue.give_back();
        }
    }

    /// Gives every stack a worker that has made its first connection.
    fn prepare(&mut self, unit: &Unit) {
        if self.round != Some(unit.round) {
            self.round = Some(unit.round);
            self.block = self.shared.next_block.fetch_add(1, Ordering::Relaxed);
            self.seats.clear();
        }
        if unit.condition == Condition::Cold {
            return;
        }
        for &stack in &unit.order {
            let seat = self.seats.index(unit.site, stack);
            let is_ready = self.seats.has_worker(seat)
                || self.shared.is_over()
                || self.shared.offers_no_ech(unit.site, stack).is_some();
            if is_ready || !self.seats.start_anew(seat) {
                continue;
            }
            if let Some(site) = self.warmup_site(unit) {
                let warmup = Unit {
                    site,
                    condition: Condition::Clean,
                    ..unit.clone()
                };
                let guard = self.enter(site);
                let trial = self.connect(&warmup, stack, Role::Warmup);
                leave(guard);
                let _ = self.record(site, trial);
            }
        }
    }

    /// Returns the site for warm-ups: in the lab, the nearest site without fault whose clients have these settings;
    /// outside it, the unit's own site.
    fn warmup_site(&self, unit: &Unit) -> Option<usize> {
        let trials = self.shared.trials;
        let plan = trials.plan;
        if plan.target != Target::Lab {
            return Some(unit.site);
        }
        let own = trials.own_client(unit.site);
        let sound = plan.sites.iter().enumerate().filter(|(i, site)| {
            let fits = is_sound(site) && trials.own_client(*i) == own;
            fits && self.shared.targets.address(*i).is_ok()
        });
        sound
            .min_by_key(|(_, site)| site.lab.link.rtt_ns)
            .map(|(i, _)| i)
    }

    /// Tests every stack on the unit's site, in direct succession.
    fn take(&mut self, unit: &Unit) -> Taken {
        for (position, &stack) in unit.order.iter().enumerate() {
            if self.shared.is_over() {
                break;
            }
            let unit = &Unit {
                first_trial: unit.first_trial + position as u64,
                ..unit.clone()
            };
            if self.try_stack(unit, stack) == Taken::Discarded {
                return Taken::Discarded;
            }
        }
        Taken::Whole
    }

    fn try_stack(&mut self, unit: &Unit, stack: usize) -> Taken {
        let plan = self.shared.trials.plan;
        let site = &plan.sites[unit.site];
        let cannot = unsupported(unit.condition, plan.target, site);
        let cannot = cannot.or_else(|| self.shared.targets.unsupported(unit.site));
        let cannot = cannot.or_else(|| self.shared.sends_none_early(unit, stack));
        let cannot = cannot.or_else(|| self.shared.offers_no_ech(unit.site, stack));
        let given_up = self
            .never_answers(unit.site)
            .then(|| "the site was given up: every stack ran into the time limit twice".to_owned());
        let outcome = match (cannot.or(given_up), self.shared.targets) {
            (Some(reason), _) => Some(Outcome::Unsupported { reason }),
            (None, Targets::Hosts(hosts)) => {
                let unreachable = hosts[unit.site].as_ref().err();
                unreachable.cloned().map(Outcome::Failed)
            }
            (None, Targets::Lab(_)) => None,
        };
        if let Some(outcome) = outcome {
            let sample = self.sample(unit, stack, Role::Measured, unix_ms(), outcome);
            return self.record(unit.site, Some(sample));
        }
        let guard = self.enter(unit.site);
        match unit.condition {
            Condition::Clean => {
                let trial = self.connect(unit, stack, Role::Measured);
                leave(guard);
                self.record(unit.site, trial)
            }
            Condition::Resumed | Condition::EarlyData => {
                let prime = self.connect(unit, stack, Role::Prime);
                let measured = match &prime {
                    Some(sample) if sample.outcome.ok().is_some() => {
                        self.pause();
                        let measured = self.connect(unit, stack, Role::Measured);
                        measured.map(|sample| self.replayed(unit, stack, sample))
                    }
                    other => other.clone().map(|sample| Sample {
                        role: Role::Measured,
                        ..sample
                    }),
                };
                leave(guard);
                let _ = self.record(unit.site, prime);
                self.record(unit.site, measured)
            }
            Condition::Cold => {
                let seat = self.seats.index(unit.site, stack);
                let usual = self.seats.take(seat);
                let taken = self.cold(unit, stack);
                leave(guard);
                self.seats.put(seat, usual);
                taken
            }
        }
    }

    /// Adds the treatment of early data that are sent again, if the server accepted them.
    fn replayed(&mut self, unit: &Unit, stack: usize, sample: Sample) -> Sample {
        let status = sample.outcome.ok().and_then(|ok| ok.client.early_data);
        let Targets::Lab(lab) = self.shared.targets else {
            return sample;
        };
        if status != Some(EarlyDataStatus::Accepted) || self.shared.is_over() {
            return sample;
        }
        let seat = self.seats.index(unit.site, stack);
        let address = self.shared.targets.address(unit.site);
        let replay = match (self.seats.worker(seat), address) {
            (Ok(worker), Ok(address)) => {
                let limit = self.shared.trials.plan.timeout();
                replay(worker, lab, unit.site, address, limit)
            }
            _ => None,
        };
        Sample { replay, ..sample }
    }

    /// Makes the first connection of a fresh process, and a second one of the same process, which shows the
    /// one-time cost. On some sites, another process measures the steps that cause it.
    fn cold(&mut self, unit: &Unit, stack: usize) -> Taken {
        let seat = self.seats.index(unit.site, stack);
        self.seats.start_anew(seat);
        let first = self.connect(unit, stack, Role::Measured);
        let went_well = first
            .as_ref()
            .is_some_and(|sample| sample.outcome.ok().is_some());
        let taken = self.record(unit.site, first);
        if !went_well || self.shared.is_over() {
            return taken;
        }
        self.pause();
        let again = self.connect(unit, stack, Role::Again);
        let _ = self.record(unit.site, again);
        if unit.takes_steps() && self.shared.can(stack, Operation::SetUp) && !self.shared.is_over()
        {
            self.pause();
            self.seats.start_anew(seat);
            let stepped = self.connect(unit, stack, Role::Stepped);
            let _ = self.record(unit.site, stepped);
        }
        taken
    }

    /// Waits until the site is free, and for its due pause.
    fn enter(&self, site: usize) -> MutexGuard<'a, Option<Instant>> {
        let guard = self.shared.sites[site].lock();
        if let Some(last) = *guard {
            self.wait_until(last + self.shared.trials.plan.pause());
        }
        guard
    }

    fn pause(&self) {
        self.wait_until(Instant::now() + self.shared.trials.plan.pause());
    }

    /// Waits until `due`, or until the run is over.
    fn wait_until(&self, due: Instant) {
        const LOOK: Duration = Duration::from_millis(20);
        while !self.shared.is_over() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::sleep(left.min(LOOK));
        }
    }

    fn connect(&mut self, unit: &Unit, stack: usize, role: Role) -> Trial {
        let (started, targets) = (unix_ms(), self.shared.targets);
        let address = match targets.address(unit.site) {
            Ok(address) => address,
            Err(failure) => {
                let outcome = Outcome::Failed(failure);
                return Some(self.sample(unit, stack, role, started, outcome));
            }
        };
        let outcome = match targets {
            Targets::Hosts(_) => self.ask(unit, stack, role, address)?,
            Targets::Lab(lab) => {
                if let Some(server) = self.given_up(unit.site) {
                    return Some(self.sample(unit, stack, role, started, discarded(server)));
                }
                let deaths = lab.deaths(unit.site);
                let outcome = self.ask(unit, stack, role, address)?;
                match &outcome {
                    Outcome::Ok(_) => lab.went_well(unit.site),
                    Outcome::Failed(_) => {
                        if let Some(death) = lab.death(unit.site, deaths) {
                            let outcome = self.server_died(death);
                            return Some(self.sample(unit, stack, role, started, outcome));
                        }
                    }
                    Outcome::Unsupported { .. } | Outcome::Discarded { .. } => {}
                }
                outcome
            }
        };
        Some(Sample {
            losses: targets.losses(unit.site),
            packets: targets.packets(unit.site),
            ..self.sample(unit, stack, role, started, outcome)
        })
    }

    /// Returns the sample of a trial that sent no packet.
    fn sample(
        &self,
        unit: &Unit,
        stack: usize,
        role: Role,
        started_unix_ms: u64,
        outcome: Outcome,
    ) -> Sample {
        let plan = self.shared.trials.plan;
        Sample {
            schema: SCHEMA_VERSION,
            session: self.shared.trials.session,
            trial: unit.first_trial,
            site: plan.sites[unit.site].name(),
            stack: plan.stacks[stack].clone(),
            condition: unit.condition,
            round: unit.round,
            block: self.block,
            role,
            started_unix_ms,
            outcome,
            losses: Vec::new(),
            packets: None,
            replay: None,
        }
    }

    /// Returns whether the site is given up because every stack ran into the time limit.
    fn never_answers(&self, site: usize) -> bool {
        let stacks = u32::try_from(self.shared.trials.plan.stacks.len()).unwrap_or(u32::MAX);
        let time_outs = self.shared.time_outs[site].load(Ordering::Relaxed);
        time_outs >= TIME_OUTS.saturating_mul(stacks)
    }

    /// Counts the consecutive connections to a site that run into the time limit.
    fn count_time_outs(&self, site: usize, outcome: &Outcome) {
        // The closure never refuses.
        let _ = self.shared.time_outs[site].fetch_update(
            Ordering::Relaxed,
            Ordering::Relaxed,
            |before| Some(time_outs_after(before, outcome)),
        );
    }

    /// Returns the site's server if it died too often to be restarted.
    fn given_up(&self, site: usize) -> Option<&'a str> {
        self.shared.targets.as_lab()?.given_up(site)
    }

    fn server_died(&self, death: ServerDeath) -> Outcome {
        let ServerDeath { server, found } = death;
        let outcome = discarded(&server);
        if let Some(why) = found {
            (self.shared.listener)(Event::ServerDied { server, why });
        }
        outcome
    }

    /// Makes the stack's worker connect. Returns `None` if the run was stopped first.
    fn ask(
        &mut self,
        unit: &Unit,
        stack: usize,
        role: Role,
        address: SocketAddr,
    ) -> Option<Outcome> {
        let plan = self.shared.trials.plan;
        let site = &plan.sites[unit.site];
        let seat = self.seats.index(unit.site, stack);
        let ech = site.lab.ech.filter(|_| plan.target == Target::Lab);
        let rejected = ech.filter(|policy| policy.is_rejected());
        let rejected = rejected.map(|policy| (policy, self.seats.settings(seat)));
        let worker = match self.seats.worker(seat) {
            Ok(worker) => worker,
            // A worker that was not started because the run is over has not failed.
            Err(_) if self.shared.is_over() => return None,
            Err(failure) => return Some(Outcome::Failed(failure.clone())),
        };
        self.shared
            .targets
            .begin_trial(unit.site, unit.key(plan.seed, role));
        // The second connection in a process is a clean one for the worker.
        let (condition, asked) = match role {
            Role::Again => (Condition::Clean, Role::Measured),
            role => (unit.condition, role),
        };
        let request = Connect {
            resolve: self.shared.targets.resolve(unit.site),
            request: HttpRequest {
                path: site.path.clone(),
                ..self.shared.trials.request.clone()
            },
            ..connect_request(site, address, (condition, asked), plan.timeout())
        };
        let expected = Expected {
            condition: unit.condition,
            role,
            target: plan.target,
            site,
            ech,
            times_verification: !self.shared.can(stack, Operation::VerificationUntimed),
            client_chain_bytes: (self.shared.targets.as_lab())
                .zip(site.lab.client_chain)
                .and_then(|(targets, chain)| targets.lab().client_chain_bytes(chain)),
        };
        let targets = self.shared.targets;
        let connected = match rejected {
            None => connect(worker, request, &expected, |measured| {
                settled_packets(targets, unit.site, measured.transfer.bytes_out)
            }),
            Some((policy, settings)) => {
                ech::connect_twice(worker, (settings, request), (policy, &expected), || {
                    targets.packets(unit.site)
                })
            }
        };
        match connected {
            Ok(outcome) => Some(outcome),
            Err(WorkerError::Stopped) => None,
            Err(error) => Some(self.seats.lost(seat, &error)),
        }
    }

    fn record(&self, site: usize, trial: Trial) -> Taken {
        let Some(sample) = trial else {
            return Taken::Whole;
        };
        if sample.role == Role::Measured {
            self.count_time_outs(site, &sample.outcome);
        }
        let taken = if sample.outcome.counts() {
            Taken::Whole
        } else {
            Taken::Discarded
        };
        self.shared.store(sample);
        taken
    }
}

/// Returns the packets of the site's last trial once the link has all that the client sent: the last segments
/// may not yet have been read from the device.
fn settled_packets(targets: &Targets, site: usize, bytes_out: u64) -> Option<LinkPackets> {
    const LIMIT: Duration = Duration::from_millis(100);
    let begun = Instant::now();
    loop {
        let packets = targets.packets(site)?;
        if packets.bytes_up >= bytes_out || begun.elapsed() >= LIMIT {
            return Some(packets);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn discarded(server: &str) -> Outcome {
    Outcome::Discarded {
        reason: format!("the lab's server {server} had died"),
    }
}

fn leave(mut guard: MutexGuard<'_, Option<Instant>>) {
    *guard = Some(Instant::now());
}
