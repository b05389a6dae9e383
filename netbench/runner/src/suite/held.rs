use std::time::Duration;

use netbench_model::{Held, HeldAfter, Scenario, StackName, SuiteMeasured, SuiteOutcome};
use netbench_protocol::{Hold, Operation, Prepared, RequestBody, ResponseBody};

use super::{
    SuiteTrials,
    proof::prove_held,
    workers::{Lost, ask, ready},
};
use crate::{Launch, Layout, WorkerError};

/// The time limit per session: RSA-4096 handshakes on a slow machine.
const SESSION_LIMIT: Duration = Duration::from_millis(50);

/// Holds many sessions in a fresh process, and then in another one that counts allocations.
pub(super) fn trial(
    trials: &SuiteTrials<'_>,
    stack: &StackName,
    scenario: &Scenario,
    sessions: u32,
    after: HeldAfter,
) -> SuiteOutcome {
    let needed = match after {
        HeldAfter::Handshake => None,
        HeldAfter::Tickets | HeldAfter::Data => Some(Operation::HeldAfter),
        HeldAfter::Idle => Some(Operation::HeldIdle),
    };
    if needed.is_some_and(|needed| !trials.workers.does(stack.stack(), needed)) {
        let reason = format!("its worker does not hold sessions after {after}");
        return SuiteOutcome::Unsupported { reason };
    }
    let launch = Launch {
        core: trials.plan.core(),
        layout: Layout::Fixed,
        ..trials.workers.launch(None)
    };
    let held = hold(trials, stack, scenario, sessions, &launch);
    let (prepared, mut held) = match held {
        Ok(held) => held,
        Err(lost) => return lost.outcome(),
    };
    if trials.heap_library.is_some() {
        let counted = Launch {
            preload: trials.heap_library.clone(),
            ..launch
        };
        match hold(trials, stack, scenario, sessions, &counted) {
            Ok((_, counted)) => held.heap = counted.heap,
            Err(lost) => return lost.outcome(),
        }
    }
    SuiteOutcome::Ok(Box::new(SuiteMeasured {
        handshakes: u64::from(held.sessions / 2),
        client: prepared.client,
        server: prepared.server,
        held: Some(held),
        ..SuiteMeasured::default()
    }))
}

fn hold(
    trials: &SuiteTrials<'_>,
    stack: &StackName,
    scenario: &Scenario,
    sessions: u32,
    launch: &Launch<'_>,
) -> Result<(Prepared, Held), Lost> {
    let mut ready = ready(trials, stack, scenario, launch)?;
    let limit = Duration::from_secs(60) + SESSION_LIMIT * sessions;
    let request = RequestBody::Hold(Hold { sessions });
    match ask(&mut ready.worker, request, limit)? {
        ResponseBody::Held(held) => {
            prove_held(scenario, sessions, &held)?;
            Ok((ready.prepared, *held))
        }
        other => Err(WorkerError::another_kind(&other).into()),
    }
}
