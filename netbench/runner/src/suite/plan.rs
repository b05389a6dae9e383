use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use netbench_model::{LayoutRecord, Scenario, StackName, SuiteSample};

use crate::Materials;

/// The measurements to make in memory: validated, complete, and not checked again.
#[derive(Debug)]
pub struct SuiteTrials {
    /// The seed of the order of scenarios and stacks.
    pub seed: u64,
    /// The stacks; the others are compared with the first.
    pub stacks: Vec<StackName>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Certificates, keys and trust roots.
    pub materials: Materials,
    /// The maximum number of rounds.
    pub rounds: u32,
    /// The time after which no further round begins.
    pub deadline: Option<Instant>,
    /// The time that each stack works on a scenario in a round.
    pub trial: Duration,
    /// The shortest time of the measured operations of a turn of the fastest stack. It raises their number for all
    /// stacks.
    pub slice: Duration,
    /// The core to which workers are pinned; those with many threads are not pinned.
    pub core: Option<u32>,
    /// The memory layout of workers whose operations are timed; the layout of all others is fixed if the system
    /// permits it.
    pub layout: LayoutRecord,
    /// The library that counts allocations, if it could be built.
    pub heap_library: Option<PathBuf>,
    /// valgrind, if it is installed.
    pub valgrind: Option<PathBuf>,
    /// Number of processes under valgrind at the same time.
    pub jobs: u32,
}

/// An event of a run of the suite.
#[derive(Debug, Clone)]
pub enum SuiteEvent<'a> {
    /// Trials are about to begin.
    Begin {
        /// Maximum number of trials: each is one scenario on one stack in one round.
        trials: u64,
        /// Number of trials that an earlier session has performed.
        done: u64,
    },
    /// A trial has been performed and appended.
    Sampled(&'a SuiteSample),
    /// Every verdict on these scenarios is decided, and they are left out of later rounds.
    Decided {
        /// Number of further trials that are saved.
        saved: u64,
        /// Number of remaining scenarios.
        left: usize,
    },
    /// A worker died, did not answer in time, or wrote a line that is not a response.
    WorkerLost {
        /// The stack of the worker.
        stack: &'a StackName,
        /// The error, with the worker's last lines on stderr.
        why: String,
    },
}

/// A receiver of events.
pub type SuiteListener<'a> = dyn Fn(SuiteEvent<'_>) + 'a;

/// A function that is asked after each round which scenarios need no more rounds: it receives the samples so far
/// and the number of rounds, and returns the indices of decided scenarios.
pub type SuiteFeedback<'a> = dyn Fn(&[SuiteSample], u32) -> Vec<usize> + 'a;
