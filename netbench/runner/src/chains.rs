//! Verification of chains by each stack's own verifier, many at a time.

use std::{convert::Infallible, ops::ControlFlow, sync::atomic::AtomicBool, time::Duration};

use netbench_compat::chains::Chain;
use netbench_model::{
    SCHEMA_VERSION, StackName,
    chains::{ChainOutcome, ChainSample},
};
use netbench_protocol::{Operation, RequestBody, ResponseBody, Verified, Verify};

use crate::{
    WorkerError, Workers,
    clock::millis,
    restarted::Restarted,
    side_by_side::{Outlet, side_by_side},
};

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
    found: impl FnMut(ChainSample) -> ControlFlow<()>,
) {
    let Ok(()) = side_by_side(
        stacks,
        verifiers.stop,
        |stack, outlet: &Outlet<'_, _, Infallible>| {
            let mut verifier = Verifier {
                verifiers,
                stack,
                worker: Restarted::new(verifiers.workers, stack),
            };
            let left: Vec<&Chain> = chains.iter().filter(|c| wanted(stack, c)).collect();
            for together in left.chunks(TOGETHER).take_while(|_| !outlet.is_over()) {
                // A stopped verifier has no outcome.
                let Some(outcomes) = verifier.all(together) else {
                    break;
                };
                for (chain, outcome) in together.iter().zip(outcomes) {
                    // The outcomes of a request are kept, even if the run is to stop.
                    let _ = outlet.pass(ChainSample {
                        schema: SCHEMA_VERSION,
                        case: chain.case.name.clone(),
                        stack: stack.clone(),
                        outcome,
                    });
                }
            }
            Ok(())
        },
        found,
    );
}

/// The verifier of a stack.
struct Verifier<'a> {
    verifiers: &'a Verifiers<'a>,
    stack: &'a StackName,
    worker: Restarted<'a>,
}

impl Verifier<'_> {
    /// Returns one outcome for each chain, or `None` if the run was stopped.
    fn all(&mut self, chains: &[&Chain]) -> Option<Vec<ChainOutcome>> {
        let workers = self.verifiers.workers;
        if !workers.does(self.stack.stack(), Operation::Verify) {
            let reason = format!("its worker does not do \"{}\"", Operation::Verify);
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
                after_ms: millis(limit),
            },
            Err(error) => ChainOutcome::Crash {
                detail: error.to_string(),
            },
        })
    }

    /// Returns one outcome for each chain.
    fn ask(&mut self, chains: &[&Chain]) -> Result<Vec<ChainOutcome>, WorkerError> {
        let request = RequestBody::Verify(Verify {
            stack: self.stack.stack().to_owned(),
            trust: None,
            chains: chains.iter().map(|chain| chain.question.clone()).collect(),
        });
        let each = EACH * u32::try_from(chains.len()).unwrap_or(u32::MAX);
        match self.worker.ask(request, self.verifiers.limit + each)? {
            ResponseBody::Verified {
                chains: verified, ..
            } if verified.len() == chains.len() => Ok(verified.into_iter().map(outcome).collect()),
            ResponseBody::Unsupported { reason } => {
                Ok(vec![ChainOutcome::Unsupported { reason }; chains.len()])
            }
            other => Err(WorkerError::another_kind(&other)),
        }
    }
}

pub(crate) fn outcome(verified: Verified) -> ChainOutcome {
    match verified {
        Verified::Accepted => ChainOutcome::Accepted,
        Verified::Rejected { reason, detail } => ChainOutcome::Rejected { reason, detail },
        Verified::Unsupported { reason } => ChainOutcome::Unsupported { reason },
    }
}
