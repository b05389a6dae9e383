use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::atomic::{AtomicBool, AtomicU32},
    thread,
    time::Instant,
};

use netbench_model::{
    Condition, ConnectPlan, FailureClass, Outcome, Recorded, Role, Sample, Site, StackName,
};
use netbench_store::{Appender, StoreError};
use parking_lot::Mutex;

use crate::{Event, Listener, Targets, Trials, Unit, Workers, queue::Queue, schedule, slot::Slot};

/// The reason why a run ended early. All samples until then are stored.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A sample could not be stored: the disk is full, or the folder is gone.
    #[error("cannot store any more samples: {0}")]
    Store(#[from] StoreError),
    /// The machine could not start a thread.
    #[error("no thread to measure on: {0}")]
    Thread(std::io::Error),
}

/// The state that all slots share.
pub(crate) struct Shared<'a> {
    pub(crate) trials: &'a Trials<'a>,
    pub(crate) workers: &'a Workers,
    pub(crate) targets: &'a Targets,
    pub(crate) listener: &'a Listener<'a>,
    pub(crate) stop: &'a AtomicBool,
    pub(crate) queue: Queue,
    /// Number of consecutive measured connections to each site that ran into the time limit.
    pub(crate) time_outs: Vec<AtomicU32>,
    /// A lock for each site, held during a trial on it, with the end of the last trial.
    pub(crate) sites: Vec<Mutex<Option<Instant>>>,
    pub(crate) next_block: AtomicU32,
    pub(crate) appender: Mutex<Appender>,
    pub(crate) fatal: Mutex<Option<RunError>>,
}

/// Runs the rounds of the plan, continuing after the `earlier` samples of the same run.
///
/// Returns early without an error when `stop` becomes true.
///
/// # Errors
/// Returns only errors that make continuing pointless. A fault of a worker or a site becomes a failed sample.
pub fn execute(
    trials: &Trials<'_>,
    workers: &Workers,
    targets: &Targets,
    earlier: &[Sample],
    appender: Appender,
    listener: &Listener<'_>,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    let plan = trials.plan;
    let done = done(earlier, &plan.stacks);
    let all = schedule(plan, trials.shard);
    let stacks = plan.stacks.len() as u64;
    let samples = all.len() as u64 * stacks;
    let units: VecDeque<Unit> = all
        .into_iter()
        .filter(|unit| {
            let site = plan.sites[unit.site].name();
            !done.contains(&(unit.condition, unit.round, site.as_str()))
        })
        .collect();
    listener(Event::Begin {
        samples,
        done: samples - units.len() as u64 * stacks,
    });
    let next_block = earlier
        .iter()
        .map(|sample| sample.block + 1)
        .max()
        .unwrap_or(0);
    let shared = Shared {
        trials,
        workers,
        targets,
        listener,
        stop,
        queue: Queue::new(units),
        time_outs: time_outs(plan, earlier),
        sites: plan.sites.iter().map(|_| Mutex::new(None)).collect(),
        next_block: AtomicU32::new(next_block),
        appender: Mutex::new(appender),
        fatal: Mutex::new(None),
    };
    thread::scope(|scope| {
        for number in 0..plan.jobs {
            let slot = Slot::new(&shared);
            let builder = thread::Builder::new().name(format!("slot-{number}"));
            if let Err(error) = builder.spawn_scoped(scope, move || slot.work()) {
                shared.fail(RunError::Thread(error));
            }
        }
    });
    shared.fatal.into_inner().map_or(Ok(()), Err)
}

impl Shared<'_> {
    /// Stores the sample, and notifies the listener only afterwards.
    pub(crate) fn store(&self, sample: Sample) {
        let appended = self.appender.lock().append(&sample);
        match appended {
            Ok(()) => (self.listener)(Event::Sampled(Box::new(sample))),
            Err(error) => self.fail(error.into()),
        }
    }

    /// Ends the run with this error, if it is the first.
    pub(crate) fn fail(&self, error: RunError) {
        self.fatal.lock().get_or_insert(error);
    }

    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed) || self.fatal.lock().is_some()
    }
}

/// Returns for each site how many of its `earlier` connections ran into the time limit one after the other, up to the last one.
fn time_outs(plan: &ConnectPlan, earlier: &[Sample]) -> Vec<AtomicU32> {
    let mut by_site: HashMap<&str, u32> = HashMap::new();
    for sample in earlier.iter().filter(|s| s.role == Role::Measured) {
        let in_a_row = by_site.entry(&sample.site).or_default();
        *in_a_row = time_outs_after(*in_a_row, &sample.outcome);
    }
    let names = plan.sites.iter().map(Site::name);
    let counts = names.map(|name| by_site.get(name.as_str()).copied().unwrap_or(0));
    counts.map(AtomicU32::new).collect()
}

/// Returns the number of time-outs in a row after one more connection.
pub(crate) fn time_outs_after(before: u32, outcome: &Outcome) -> u32 {
    match outcome {
        Outcome::Failed(failure) if failure.class == FailureClass::Timeout => {
            before.saturating_add(1)
        }
        Outcome::Ok(_) | Outcome::Failed(_) => 0,
        Outcome::Unsupported { .. } | Outcome::Discarded { .. } => before,
    }
}

/// Returns the units that an earlier session took to their end: those that have every stack.
fn done<'a>(earlier: &'a [Sample], stacks: &[StackName]) -> HashSet<(Condition, u32, &'a str)> {
    type Unit<'a> = (u32, Condition, u32, &'a str);
    let mut seen: HashMap<Unit<'_>, HashSet<&StackName>> = HashMap::new();
    for sample in earlier.iter().filter(|s| ConnectPlan::counts(s)) {
        let (condition, round, site, stack) = sample.key();
        let unit = (sample.session, condition, round, site);
        seen.entry(unit).or_default().insert(stack);
    }
    seen.into_iter()
        .filter(|(_, those)| stacks.iter().all(|stack| those.contains(stack)))
        .map(|((_, condition, round, site), _)| (condition, round, site))
        .collect()
}
