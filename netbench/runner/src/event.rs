use netbench_model::{Sample, StackName};

/// An event of a run.
#[derive(Debug, Clone)]
pub enum Event {
    /// Trials are about to begin.
    Begin {
        /// Number of samples that this session will take; warm-ups and primes are not counted.
        samples: u64,
        /// Number of these samples that an earlier session has recorded.
        done: u64,
    },
    /// A sample was appended.
    Sampled(Box<Sample>),
    /// This many additional measured samples follow: trials are repeated.
    Again(u64),
    /// A server of the lab died, for which no site is responsible.
    ServerDied {
        /// The server.
        server: String,
        /// The way it ended, and whether it could be restarted.
        why: String,
    },
    /// A worker died, did not answer in time, or wrote a line that is not a response, and is replaced by a new one.
    WorkerLost {
        /// The stack of the worker.
        stack: StackName,
        /// The error, with the worker's last lines on stderr.
        why: String,
    },
}

/// A receiver of events, which is called from many threads.
pub type Listener<'a> = dyn Fn(Event) + Sync + 'a;
