use std::{collections::BTreeMap, ffi::OsString, fs, path::Path, thread, time::Duration};

use netbench_model::{
    Failure, FailureClass, FailureWord, HandshakeKind, KeyType, Measure, Scenario, StackName,
    SuiteMeasured, SuiteOutcome, Work,
};
use netbench_protocol::{Clocks, Prepared, Slice, SliceLimit};
use parking_lot::Mutex;

use super::{
    SuiteTrials,
    proof::prove_slice,
    workers::{Lost, ready},
};
use crate::{Launch, Layout};

/// The time limit of a process under valgrind, for its work and for its end.
const LIMIT: Duration = Duration::from_secs(300);

/// The functions of the worker that contain the steps of either side, as arguments for callgrind.
const MARKS: [&str; 2] = ["netbench_first_step", "netbench_second_step"];

/// The function of the worker with which a turn begins. Earlier instructions are not counted: a library may seed
/// its random generator in the first operation, by a loop whose length varies by millions of instructions.
const TURN: &str = "netbench_turn";

/// Counts a scenario's instructions on every stack: for each side, in one process with few operations and one with
/// many, so that one-time work cancels out. Once the run is stopped, the outcomes are meaningless.
pub(super) fn trial(trials: &SuiteTrials<'_>, scenario: &Scenario) -> Vec<SuiteOutcome> {
    let Some(valgrind) = &trials.valgrind else {
        let reason = "valgrind is not installed, which counts instructions".to_owned();
        let outcome = SuiteOutcome::Unsupported { reason };
        return vec![outcome; trials.plan.stacks.len()];
    };
    let runs = operations(scenario);
    let measures = scenario.measures();
    let all: Vec<Count> = (0..trials.plan.stacks.len())
        .flat_map(|stack| {
            let sides = measures.iter().zip(MARKS);
            sides.flat_map(move |(measure, mark)| {
                runs.map(|operations| Count {
                    stack,
                    measure: *measure,
                    mark,
                    operations,
                })
            })
        })
        .collect();
    let waiting = Mutex::new(all.iter());
    let counted = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..trials.jobs.max(1) {
            scope.spawn(|| {
                while !trials.is_stopped() {
                    let next = waiting.lock().next();
                    let Some(count) = next else { break };
                    let stack = &trials.plan.stacks[count.stack];
                    let result = count.run(trials, stack, scenario, valgrind);
                    let mut counted = counted.lock();
                    counted.push((*count, result));
                }
            });
        }
    });
    let counted = counted.into_inner();
    let mut by_stack: Vec<Vec<_>> = trials.plan.stacks.iter().map(|_| Vec::new()).collect();
    for (count, result) in counted {
        by_stack[count.stack].push((count, result));
    }
    by_stack
        .into_iter()
        .map(|counts| outcome(counts, runs))
        .collect()
}

/// Returns a small and a large number of operations.
fn operations(scenario: &Scenario) -> [u32; 2] {
    match scenario.work {
        Work::Handshake {
            kind: HandshakeKind::Full,
            settings,
        } if matches!(settings.key, KeyType::Rsa3072 | KeyType::Rsa4096) => [2, 12],
        Work::Handshake {
            kind: HandshakeKind::Full,
            ..
        } => [4, 44],
        _ => [20, 220],
    }
}

/// The negotiated parameters, and the instructions of all operations, or the reason why there are none.
type Counted = Result<(Prepared, u64), Lost>;

#[derive(Debug, Clone, Copy)]
struct Count {
    stack: usize,
    measure: Measure,
    mark: &'static str,
    operations: u32,
}

impl Count {
    fn run(
        &self,
        trials: &SuiteTrials<'_>,
        stack: &StackName,
        scenario: &Scenario,
        valgrind: &Path,
    ) -> Counted {
        let folder = tempfile::Builder::new().prefix("netbench-").tempdir();
        let folder = folder.map_err(|e| file_trouble(&e.to_string()))?;
        let out = folder.path().join("callgrind.out");
        let mut option = OsString::from("--callgrind-out-file=");
        option.push(&out);
        let arguments = vec![
            "--tool=callgrind".into(),
            "--quiet".into(),
            format!("--toggle-collect={}", self.mark).into(),
            format!("--zero-before={TURN}").into(),
            option,
        ];
        let launch = Launch {
            layout: Layout::Fixed,
            under: Some((valgrind.to_owned(), arguments)),
            ..trials.workers.launch(None)
        };
        let mut ready = ready(trials, stack, scenario, &launch)?;
        let slice = Slice {
            limit: SliceLimit::Operations(self.operations),
            // The reference loops run only in turns of the wall clock.
            clocks: Clocks::Cpu,
            batch: 1,
        };
        let sliced = ready.slice(slice, LIMIT)?;
        prove_slice(scenario, &slice, &sliced)?;
        let prepared = ready.prepared;
        ready.worker.finish(LIMIT).map_err(Lost::Worker)?;
        let text = fs::read_to_string(&out).map_err(|e| file_trouble(&e.to_string()))?;
        let total = totals(&text)
            .ok_or_else(|| file_trouble("callgrind wrote no total of instructions"))?;
        Ok((prepared, total))
    }
}

/// Returns the figure of `totals:`, which is the number of instructions if no other event is counted.
fn totals(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| {
        line.strip_prefix("totals:")
            .or_else(|| line.strip_prefix("summary:"))
    })?;
    line.split_whitespace().next()?.parse().ok()
}

fn outcome(counts: Vec<(Count, Counted)>, [few, many]: [u32; 2]) -> SuiteOutcome {
    let mut totals: BTreeMap<Measure, [u64; 2]> = BTreeMap::new();
    let mut agreed = Prepared::default();
    for (count, result) in counts {
        match result {
            Ok((prepared, total)) => {
                agreed = prepared;
                totals.entry(count.measure).or_default()[usize::from(count.operations == many)] =
                    total;
            }
            Err(lost) => return lost.outcome(),
        }
    }
    let instructions = totals.into_iter().map(|(measure, [of_few, of_many])| {
        let more = of_many.saturating_sub(of_few);
        (measure, more as f64 / f64::from(many - few))
    });
    SuiteOutcome::Ok(Box::new(SuiteMeasured {
        client: agreed.client,
        server: agreed.server,
        instructions: instructions.collect(),
        ..SuiteMeasured::default()
    }))
}

fn file_trouble(error: &str) -> Lost {
    let (class, word) = (FailureClass::Worker, FailureWord::Callgrind);
    Lost::Failed(Failure::new(class, word, error.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_callgrind() {
        let text = "events: Ir\nfn=(1) a\n1 5\n\ntotals: 123456\n";
        assert_eq!(totals(text), Some(123_456));
        assert_eq!(totals("events: Ir\nsummary: 77\n"), Some(77));
        assert_eq!(totals("events: Ir\n"), None);
    }
}
