//! Verification of chains by each stack's own verifier, many at a time.

use std::{
    ops::ControlFlow,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use netbench_compat::chains::Chain;
use netbench_model::{
    SCHEMA_VERSION, StackName,
    chains::{ChainOutcome, ChainSample},
};
use netbench_protocol::{RequestBody, ResponseBody, Verified, Verify};

use crate::{Worker, WorkerError, Workers};

/// The name of the operation of workers that verify chains.
const OPERATION: &str = "verify";

/// Number of chains in one request. A worker that dies during a request receives its chains again, one at a time.
const TOGETHER: usize = 256;

/// The time that each chain adds to a request's limit, beyond the limit of the slowest chain, for a busy machine.
const EACH: Duration = Duration::from_millis(20);

/// The verifiers of chains.
pub struct Verifiers<'a> {
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// The time limit of a verifier for one chain.
    pub limit: Duration,
    /// A flag that stops further verification when it becomes true.
    pub stop: &'a AtomicBool,
}

/// Makes each stack verify its `wanted` chains, all stacks at the same time, and passes each sample to `found`,
/// which can end the run.
pub fn verify_chains(
    verifiers: &Verifiers<'_>,
    stacks: &[StackName],
    chains: &[Chain],
    wanted: impl Fn(&StackName, &Chain) -> bool + Sync,
    mut found: impl FnMut(ChainSample) -> ControlFlow<()>,
) {
    let (sender, samples) = mpsc::channel();
    let ended = AtomicBool::new(false);
    let goes_on = || !verifiers.stop.load(Ordering::Relaxed) && !ended.load(Ordering::Relaxed);
    thread::scope(|scope| {
        for stack in stacks {
            let (sender, wanted, goes_on) = (sender.clone(), &wanted, &goes_on);
            scope.spawn(move || {
                let mut verifier = Verifier {
                    verifiers,
                    stack,
                    worker: None,
                };
                let left: Vec<&Chain> = chains.iter().filter(|c| wanted(stack, c)).collect();
                for together in left.chunks(TOGETHER) {
                    // A stopped verifier has no outcome.
                    let Some(outcomes) = goes_on().then(|| verifier.all(together)).flatten() else {
                        return;
                    };
                    for (chain, outcome) in together.iter().zip(outcomes) {
                        let sample = ChainSample {
                            schema: SCHEMA_VERSION,
                            case: chain.case.name.clone(),
                            stack: stack.clone(),
                            outcome,
                        };
                        if sender.send(sample).is_err() {
                            return;
                        }
                    }
                }
            });
        }
        drop(sender);
        for sample in samples {
            if found(sample).is_break() {
                ended.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
}

/// A stack's worker, which is restarted when it is gone.
struct Verifier<'a> {
    verifiers: &'a Verifiers<'a>,
    stack: &'a StackName,
    worker: Option<Worker>,
}

impl Verifier<'_> {
    /// Returns one outcome for each chain, or `None` if the run was stopped.
    fn all(&mut self, chains: &[&Chain]) -> Option<Vec<ChainOutcome>> {
        let workers = self.verifiers.workers;
        if !workers.does(self.stack.stack(), OPERATION) {
            let reason = format!("its worker does not do \"{OPERATION}\"");
            return Some(vec![ChainOutcome::Unsupported { reason }; chains.len()]);
        }
        match self.ask(chains) {
            Ok(outcomes) => Some(outcomes),
            Err(WorkerError::Stopped) => None,
            Err(WorkerError::Refused(reason)) => {
                Some(vec![ChainOutcome::Unsupported { reason }; chains.len()])
            }
            Err(_) => chains.iter().map(|chain| self.alone(chain)).collect(),
        }
    }

    /// Returns the outcome of a chain that may crash the worker or make it hang, or `None` if the run was stopped.
    fn alone(&mut self, chain: &Chain) -> Option<ChainOutcome> {
        Some(match self.ask(&[chain]) {
            Ok(mut outcomes) => outcomes.remove(0),
            Err(WorkerError::Stopped) => return None,
            Err(WorkerError::Refused(reason)) => ChainOutcome::Unsupported { reason },
            Err(WorkerError::Hung { limit, .. }) => ChainOutcome::Hang {
                after_ms: u64::try_from(limit.as_millis()).unwrap_or(u64::MAX),
            },
            Err(error) => ChainOutcome::Crash {
                detail: error.to_string(),
            },
        })
    }

    /// Returns one outcome for each chain.
    fn ask(&mut self, chains: &[&Chain]) -> Result<Vec<ChainOutcome>, WorkerError> {
        let answered = self.answer(chains);
        if !matches!(answered, Ok(_) | Err(WorkerError::Refused(_))) {
            self.worker = None;
        }
        match answered? {
            ResponseBody::Verified {
                chains: verified, ..
            } if verified.len() == chains.len() => Ok(verified.into_iter().map(outcome).collect()),
            ResponseBody::Unsupported { reason } => {
                Ok(vec![ChainOutcome::Unsupported { reason }; chains.len()])
            }
            other => Err(WorkerError::another_kind(&other)),
        }
    }

    fn answer(&mut self, chains: &[&Chain]) -> Result<ResponseBody, WorkerError> {
        let workers = self.verifiers.workers;
        let request = RequestBody::Verify(Verify {
            stack: self.stack.stack().to_owned(),
            trust: None,
            chains: chains.iter().map(|chain| chain.question.clone()).collect(),
        });
        let worker = match &mut self.worker {
            Some(worker) => worker,
            None => {
                let program = workers.program(self.stack.stack());
                let program = program.ok_or_else(|| {
                    WorkerError::Refused(format!("stack {}: no worker", self.stack))
                })?;
                self.worker
                    .insert(Worker::start(program, &workers.launch(None))?)
            }
        };
        let each = EACH * u32::try_from(chains.len()).unwrap_or(u32::MAX);
        worker.ask(request, self.verifiers.limit + each)
    }
}

pub(crate) fn outcome(verified: Verified) -> ChainOutcome {
    match verified {
        Verified::Accepted => ChainOutcome::Accepted,
        Verified::Rejected { reason, detail } => ChainOutcome::Rejected { reason, detail },
        Verified::Unsupported { reason } => ChainOutcome::Unsupported { reason },
    }
}
