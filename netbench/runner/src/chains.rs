//! Chains put to each stack's own verifier, many at a time.

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

/// What a worker that does it has among its operations.
const OPERATION: &str = "verify";

/// Chains in one request. A worker that dies in one is given them again, one at a time.
const TOGETHER: usize = 256;

/// What each chain may take of a request's time beyond the limit of the slowest: a busy machine's share.
const EACH: Duration = Duration::from_millis(20);

/// What chains are verified by.
pub struct Verifiers<'a> {
    /// The stacks' workers.
    pub workers: &'a Workers,
    /// How long a verifier may take for one chain.
    pub limit: Duration,
    /// No further chain is verified once it is true.
    pub stop: &'a AtomicBool,
}

/// Has each stack verify the chains that are `wanted` of it, all stacks at one time, and gives each sample as it comes
/// to `found`, which can end it.
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
                    // One that was stopped says nothing.
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

/// A stack's worker, which is started again when it is gone.
struct Verifier<'a> {
    verifiers: &'a Verifiers<'a>,
    stack: &'a StackName,
    worker: Option<Worker>,
}

impl Verifier<'_> {
    /// One outcome for each chain. None where the run was stopped.
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

    /// The outcome of a chain that may end the worker or never be done. None where the run was stopped.
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

    /// As many outcomes as there are chains.
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
