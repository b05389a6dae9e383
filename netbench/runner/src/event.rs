use netbench_model::{Sample, StackName};

/// What happens during a run, as it happens.
#[derive(Debug, Clone)]
pub enum Event {
    /// Trials are about to begin.
    Begin {
        /// Samples that this session will take; warm-ups and primes are not counted.
        samples: u64,
        /// Of these, how many an earlier session has taken.
        done: u64,
    },
    /// A sample has been taken and appended.
    Sampled(Box<Sample>),
    /// So many measured samples more are to be taken: trials are made again.
    Again(u64),
    /// A server of the lab died, which is no site's fault.
    ServerDied {
        /// Which.
        server: String,
        /// How, and whether it could be started again.
        why: String,
    },
    /// A worker died, did not answer in time, or wrote what is no answer, and a new one takes its place.
    WorkerLost {
        /// Whose worker.
        stack: StackName,
        /// What happened, with its last lines on stderr.
        why: String,
    },
}

/// Who is told of events; called from many threads.
pub type Listener<'a> = dyn Fn(Event) + Sync + 'a;
