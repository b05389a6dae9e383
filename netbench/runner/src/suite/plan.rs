use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use netbench_model::{LayoutRecord, Scenario, StackName, SuiteSample};

use crate::Materials;

/// What is to be measured in memory: validated, complete, not looked at again.
#[derive(Debug)]
pub struct SuiteTrials {
    /// The order of scenarios and stacks comes from it.
    pub seed: u64,
    /// The stacks; the first is what the others are compared with.
    pub stacks: Vec<StackName>,
    /// The scenarios.
    pub scenarios: Vec<Scenario>,
    /// Certificates, keys and trust roots.
    pub materials: Materials,
    /// The most rounds.
    pub rounds: u32,
    /// When no further round begins.
    pub deadline: Option<Instant>,
    /// How long each stack works on a scenario in a round.
    pub trial: Duration,
    /// The shortest time that the measured operations of a turn take the fastest stack. It raises their number for all.
    pub slice: Duration,
    /// The core that workers are pinned to; those with many threads are not.
    pub core: Option<u32>,
    /// The layout of the memory of workers whose operations are timed; all others' is fixed where the
    /// system permits it.
    pub layout: LayoutRecord,
    /// The library that counts allocations, where it could be built.
    pub heap_library: Option<PathBuf>,
    /// valgrind, where it is installed.
    pub valgrind: Option<PathBuf>,
    /// Processes under valgrind at one time.
    pub jobs: u32,
}

/// What happens during a run of the suite.
#[derive(Debug, Clone)]
pub enum SuiteEvent<'a> {
    /// Trials are about to begin.
    Begin {
        /// Trials at most: each is one scenario on one stack in one round.
        trials: u64,
        /// Of these, how many an earlier session has taken.
        done: u64,
    },
    /// A trial has been taken and appended.
    Sampled(&'a SuiteSample),
    /// Every verdict on these scenarios is decided, and they are left out of later rounds.
    Decided {
        /// How many more trials that saves.
        saved: u64,
        /// How many scenarios are left.
        left: usize,
    },
    /// A worker died, did not answer in time, or wrote what is no answer.
    WorkerLost {
        /// Whose worker.
        stack: &'a StackName,
        /// What happened, with its last lines on stderr.
        why: String,
    },
}

/// Who is told of events.
pub type SuiteListener<'a> = dyn Fn(SuiteEvent<'_>) + 'a;

/// Asked after each round which scenarios need no more: the samples so far and the number of rounds
/// are given, and the indices of what is decided come back.
pub type SuiteFeedback<'a> = dyn Fn(&[SuiteSample], u32) -> Vec<usize> + 'a;
