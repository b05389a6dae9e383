use std::{
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use netbench_model::{StackName, SuitePlan, SuiteSample};

use crate::{Materials, Workers};

/// The trials of one session: the plan of the run, and the material and tools of this machine.
#[derive(Debug)]
pub struct SuiteTrials<'a> {
    /// The plan.
    pub plan: &'a SuitePlan,
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// A flag that ends the run when it becomes true.
    pub stop: &'a AtomicBool,
    /// Certificates, keys and trust roots.
    pub materials: &'a Materials,
    /// The time after which no further round begins.
    pub deadline: Option<Instant>,
    /// The library that counts allocations, if it could be built.
    pub heap_library: Option<PathBuf>,
    /// valgrind, if it is installed.
    pub valgrind: Option<PathBuf>,
    /// Number of processes under valgrind at the same time.
    pub jobs: u32,
}

impl SuiteTrials<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
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
