//! The in-memory suite: `suite/proof.rs`, timing and holding.

mod lies;

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicBool},
};

use netbench_model::{
    FailureClass, HeldAfter, LayoutRecord, PinRecord, Scenario, StackName, SuiteOutcome, SuitePlan,
    SuiteSample, SystemCalls,
};
use netbench_protocol::Operation;
use netbench_runner::{Materials, SuiteEvent, SuiteTrials, Workers, execute_suite};
use netbench_store::RunFolder;
use netbench_testing::Test;
use serde_json::json;

use self::lies::{
    In, client_auth, full, held_after, lies_of_agreement, lies_of_any_kind, lies_of_work, other,
    threads, ticket,
};
use crate::fake::{At, Fake, Lie, Script, What};

const HONEST: &str = "honest";
const LIAR: &str = "liar";

const ROUNDS: u32 = 2;

/// The operations of a worker that does all of the suite.
const SUITE: [Operation; 3] = [Operation::Suite, Operation::HeldAfter, Operation::HeldIdle];

/// The outcome of a sample.
#[derive(Debug, Clone, Copy)]
enum End {
    Ok,
    /// The sample failed with this class and reason, and with this text in the detail.
    Failed(FailureClass, &'static str, &'static str),
    Unsupported(&'static str),
}

use End::{Failed, Unsupported};

pub(crate) fn tests() -> Vec<Test> {
    let lies = lies_of_agreement().into_iter().chain(lies_of_work());
    let mut tests: Vec<Test> = lies
        .chain(lies_of_any_kind())
        .map(|(name, scenario, request, what, end)| {
            Test::new(format!("suite::{name}"), move || {
                about_one_scenario(scenario, request, what, end);
                Ok(())
            })
        })
        .collect();
    tests.push(Test::of("suite::no_lie", no_lie));
    tests.push(Test::of(
        "suite::a_worker_that_holds_sessions_after_the_handshake_alone",
        || {
            let sent = Unsupported("does not hold sessions after data");
            for sample in execute(
                &script(HONEST, &SUITE, None),
                &script(LIAR, &[Operation::Suite], None),
                held_after(HeldAfter::Data),
            ) {
                let is_lacking =
                    sample.stack.as_str() == LIAR && sample.name.ends_with("_after-data");
                expect(&sample, if is_lacking { sent } else { End::Ok });
            }
        },
    ));
    tests.push(Test::of(
        "suite::a_worker_that_does_not_do_the_suite",
        || {
            let sent = Unsupported("does not do the suite");
            for sample in execute(
                &script(HONEST, &SUITE, None),
                &script(LIAR, &[], None),
                full(),
            ) {
                let liar = sample.stack.as_str() == LIAR;
                expect(&sample, if liar { sent } else { End::Ok });
            }
        },
    ));
    tests.push(Test::of(
        "suite::a_worker_that_compiles_while_it_runs_is_not_timed",
        || {
            let cold = Script {
                vm_info: Some("mixed mode, sharing".to_owned()),
                ..script(LIAR, &SUITE, None)
            };
            let sent = Unsupported("needs a warmed-up virtual machine");
            let honest = script(HONEST, &SUITE, None);
            for scenario in [full(), held_after(HeldAfter::Handshake)] {
                let due = if scenario.is_timed() { sent } else { End::Ok };
                let name = scenario.to_string();
                let samples = execute(&honest, &cold, scenario);
                for sample in samples.iter().filter(|sample| sample.name == name) {
                    let is_cold = sample.stack.as_str() == LIAR;
                    expect(sample, if is_cold { due } else { End::Ok });
                }
            }
        },
    ));
    tests
}

/// Checks that the lie affects only the liar's samples of one scenario.
fn about_one_scenario(scenario: Scenario, request: In, what: What, end: End) {
    let name = scenario.to_string();
    let at = match request {
        In::Prepare => At::Prepare(name.clone()),
        In::Slice => At::Slice(name.clone()),
        In::Hold => At::Hold(name.clone()),
    };
    let liar = script(LIAR, &SUITE, Some(Lie { at, what }));
    for sample in execute(&script(HONEST, &SUITE, None), &liar, scenario) {
        let lied = sample.stack.as_str() == LIAR && sample.name == name;
        expect(&sample, if lied { end } else { End::Ok });
    }
}

fn no_lie() {
    let held = HeldAfter::ALL.iter().copied().map(held_after);
    for scenario in [full(), ticket(), client_auth(), threads()]
        .into_iter()
        .chain(held)
    {
        let liar = script(LIAR, &SUITE, None);
        for sample in execute(&script(HONEST, &SUITE, None), &liar, scenario) {
            expect(&sample, End::Ok);
            let measured = sample.outcome.ok().unwrap();
            match &measured.system_calls {
                Some(SystemCalls::Counted { operations, .. }) => assert_eq!(*operations, 100),
                other => assert_eq!(
                    (other.is_none(), sample.scenario.is_timed()),
                    (true, sample.scenario.threads().is_some()),
                    "{other:?}"
                ),
            }
        }
    }
}

/// Runs the scenario and another one; every scenario has a separate process in every round.
fn execute(honest: &Script, liar: &Script, scenario: Scenario) -> Vec<SuiteSample> {
    let folder = tempfile::tempdir().unwrap();
    let fakes =
        [honest, liar].map(|script| (script.stack.clone(), Fake::new(folder.path(), script)));
    let programs = fakes
        .iter()
        .map(|(stack, fake)| (stack.clone(), fake.program.clone().into()));
    let workers = Workers::probe(programs.collect(), None, Arc::default()).unwrap();
    let scenarios = vec![scenario, other()];
    let materials = Materials::of(&scenarios).unwrap();
    let plan = SuitePlan {
        seed: 5,
        stacks: vec![StackName::new(HONEST), StackName::new(LIAR)],
        preset: None,
        scenarios,
        rounds: ROUNDS,
        until_decided: false,
        budget_ms: None,
        trial_ms: 5,
        slice_us: 1_000,
        turn_operations: None,
        pin: PinRecord::Free,
        layout: LayoutRecord::Random,
        idle: None,
        idle_beside: BTreeMap::new(),
        pki_sha256: materials.sha256().to_owned(),
    };
    let stop = AtomicBool::new(false);
    let trials = SuiteTrials {
        plan: &plan,
        workers: &workers,
        stop: &stop,
        materials: &materials,
        deadline: None,
        heap_library: None,
        valgrind: None,
        jobs: 1,
    };
    let run = RunFolder::create(&folder.path().join("run"), &json!({})).unwrap();
    let events = RefCell::new((Vec::new(), Vec::new()));
    let appender = run.appender::<SuiteSample>().unwrap();
    execute_suite(&trials, Vec::new(), appender, None, &|event| match event {
        SuiteEvent::Sampled(sample) => events.borrow_mut().0.push(sample.clone()),
        SuiteEvent::WorkerLost { stack, .. } => events.borrow_mut().1.push(stack.to_string()),
        SuiteEvent::Begin { .. } | SuiteEvent::Decided { .. } => {}
    })
    .unwrap();
    let (samples, lost) = events.into_inner();
    assert_eq!(
        run.records::<SuiteSample>().unwrap(),
        samples,
        "the events have the stored samples"
    );
    assert_eq!(samples.len(), 2 * 2 * ROUNDS as usize);
    let failed = samples
        .iter()
        .filter(|s| matches!(s.outcome, SuiteOutcome::Failed(_)));
    assert_eq!(lost.len(), failed.count());
    assert!(lost.iter().all(|stack| stack == LIAR), "{lost:?}");
    let mut prepared = fakes[0].1.processes("prepare");
    prepared.sort_unstable();
    prepared.dedup();
    // System calls are counted in processes of their own.
    let counted = plan.scenarios.iter();
    let counted = counted.filter(|scenario| scenario.is_timed() && scenario.threads().is_none());
    assert_eq!(
        prepared.len(),
        (2 + counted.count()) * ROUNDS as usize,
        "processes of the honest stack"
    );
    samples
}

fn expect(sample: &SuiteSample, end: End) {
    match (end, &sample.outcome) {
        (End::Ok, SuiteOutcome::Ok(_)) => {}
        (Unsupported(why), SuiteOutcome::Unsupported { reason }) => {
            assert!(reason.contains(why), "{reason}");
        }
        (Failed(class, reason, detail), SuiteOutcome::Failed(failure)) => {
            assert_eq!(
                (failure.class, failure.reason.to_string().as_str()),
                (class, reason),
                "{failure:?}"
            );
            assert!(failure.detail.contains(detail), "{failure:?}");
        }
        (end, _) => panic!("{end:?} was due: {sample:?}"),
    }
}

fn script(stack: &str, operations: &[Operation], lie: Option<Lie>) -> Script {
    Script {
        stack: stack.to_owned(),
        operations: operations.iter().copied().collect(),
        body_bytes: 0,
        vm_info: None,
        lies: lie.into_iter().collect(),
    }
}
