use std::time::Duration;

use netbench_model::{Failure, Scenario, StackName, SuiteOutcome, WorkerRecord};
use netbench_protocol::{Operation, Prepare, Prepared, RequestBody, ResponseBody, Slice, Sliced};

use super::{SuiteTrials, proof::prove_prepared};
use crate::{Launch, Worker, WorkerError};

/// The time limit for the set-up of a scenario: RSA-4096 under callgrind takes seconds.
const PREPARE_LIMIT: Duration = Duration::from_secs(120);

/// The time by which a turn may exceed its given length.
pub(super) const TURN_LIMIT: Duration = Duration::from_secs(60);

/// One stack's worker with a scenario prepared in it.
pub(super) struct Ready {
    pub(super) worker: Worker,
    pub(super) prepared: Prepared,
}

/// The reason why there are no figures.
#[derive(Debug, thiserror::Error)]
pub(super) enum Lost {
    /// The worker answered that it failed, or its work was not the requested one.
    #[error("{}", .0.detail)]
    Failed(Failure),
    /// The stack does not support the scenario.
    #[error("{0}")]
    Unsupported(String),
    /// The worker is gone.
    #[error(transparent)]
    Worker(#[from] WorkerError),
}

impl Lost {
    pub(super) fn outcome(self) -> SuiteOutcome {
        match self {
            Self::Failed(failure) => SuiteOutcome::Failed(failure),
            Self::Unsupported(reason) => SuiteOutcome::Unsupported { reason },
            Self::Worker(error) => SuiteOutcome::Failed(error.failure()),
        }
    }
}

impl From<Failure> for Lost {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Starts a worker of `stack` and makes it prepare the scenario, which is proved by its first handshake.
pub(super) fn ready(
    trials: &SuiteTrials<'_>,
    stack: &StackName,
    scenario: &Scenario,
    launch: &Launch<'_>,
) -> Result<Ready, Lost> {
    if !trials.workers.does(stack.stack(), Operation::Suite) {
        let reason = format!("the worker of {stack} does not do the suite");
        return Err(Lost::Unsupported(reason));
    }
    let description = trials.workers.description(stack.stack());
    let compiles = description.is_some_and(|found| found.record.compiles_while_it_runs());
    if compiles && scenario.is_timed() {
        return Err(Lost::Unsupported(WorkerRecord::NEEDS_WARM_UP.to_owned()));
    }
    let mut worker = trials.workers.start(stack.stack(), launch)?;
    let request = RequestBody::Prepare(Box::new(Prepare {
        stack: stack.stack().to_owned(),
        scenario: *scenario,
        material: trials.materials.material(scenario),
    }));
    match ask(&mut worker, request, PREPARE_LIMIT)? {
        ResponseBody::Prepared(prepared) => {
            prove_prepared(scenario, &prepared)?;
            if prepared.timing != scenario.timing {
                let reason = format!("its worker has no {} timing", scenario.timing);
                return Err(Lost::Unsupported(reason));
            }
            Ok(Ready {
                worker,
                prepared: *prepared,
            })
        }
        other => Err(WorkerError::another_kind(&other).into()),
    }
}

impl Ready {
    pub(super) fn slice(&mut self, slice: Slice, limit: Duration) -> Result<Sliced, Lost> {
        match ask(&mut self.worker, RequestBody::Slice(slice), limit)? {
            ResponseBody::Sliced(sliced) => Ok(*sliced),
            other => Err(WorkerError::another_kind(&other).into()),
        }
    }
}

pub(super) fn ask(
    worker: &mut Worker,
    request: RequestBody,
    limit: Duration,
) -> Result<ResponseBody, Lost> {
    match worker.ask(request, limit)? {
        ResponseBody::Failed(failure) => Err(Lost::Failed(failure)),
        ResponseBody::Unsupported { reason } => Err(Lost::Unsupported(reason)),
        answer => Ok(answer),
    }
}
