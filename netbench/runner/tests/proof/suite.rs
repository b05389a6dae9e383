//! The in-memory suite: `suite/proof.rs`, and what times and holds.

use std::{
    cell::RefCell,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use netbench_model::{
    Aead, ClientAuth, FailureClass, HandshakeKind, KeyType, LayoutRecord, ParallelWork, Scenario,
    SessionSettings, StackName, SuiteOutcome, SuiteSample, TlsVersion, Work,
};
use netbench_runner::{Materials, SuiteEvent, SuiteTrials, Workers, execute_suite};
use netbench_store::RunFolder;
use netbench_testing::Test;
use serde_json::{Value, json};

use crate::fake::{At, Fake, Lie, Script, What};

const HONEST: &str = "honest";
const LIAR: &str = "liar";

const ROUNDS: u32 = 2;

/// What becomes of a sample.
#[derive(Debug, Clone, Copy)]
enum End {
    Ok,
    /// With this class and reason, and this in the detail.
    Failed(FailureClass, &'static str, &'static str),
    Unsupported(&'static str),
}

use End::{Failed, Unsupported};
use FailureClass::{Setup, Worker, WrongWork};

fn settings() -> SessionSettings {
    SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, Aead::Aes128Gcm)
}

fn handshake(kind: HandshakeKind) -> Scenario {
    let settings = settings();
    Scenario::timed(Work::Handshake { kind, settings })
}

fn full() -> Scenario {
    handshake(HandshakeKind::Full)
}

fn ticket() -> Scenario {
    handshake(HandshakeKind::Ticket)
}

fn client_auth() -> Scenario {
    let settings = SessionSettings {
        client_auth: ClientAuth::On,
        ..settings()
    };
    let kind = HandshakeKind::Full;
    Scenario::timed(Work::Handshake { kind, settings })
}

fn memory() -> Scenario {
    let (settings, sessions) = (settings(), 10);
    Scenario::timed(Work::Memory { settings, sessions })
}

fn threads() -> Scenario {
    Scenario::timed(Work::Threads {
        threads: 2,
        work: ParallelWork::Handshake(HandshakeKind::Full),
        settings: settings(),
    })
}

/// What no lie is about.
fn other() -> Scenario {
    let settings = SessionSettings::usual(TlsVersion::Tls12, KeyType::Rsa2048, Aead::Aes256Gcm);
    let kind = HandshakeKind::Full;
    Scenario::timed(Work::Handshake { kind, settings })
}

/// In which request a lie is told.
#[derive(Clone, Copy)]
enum In {
    Prepare,
    Slice,
    Hold,
}

type Case = (&'static str, Scenario, In, What, End);

/// Lies about what the first handshake agreed on.
fn lies_of_agreement() -> Vec<Case> {
    let wrong = |name: &'static str,
                 scenario: Scenario,
                 patch: Value,
                 reason: &'static str,
                 detail: &'static str| {
        let what = What::Changed(patch);
        (
            name,
            scenario,
            In::Prepare,
            what,
            Failed(WrongWork, reason, detail),
        )
    };
    vec![
        wrong(
            "no_client",
            full(),
            json!({"client": null}),
            "agreement",
            "the client does not say",
        ),
        wrong(
            "no_server",
            full(),
            json!({"server": null}),
            "agreement",
            "the server does not say",
        ),
        wrong(
            "clients_version",
            full(),
            json!({"client": {"version": "1.2"}}),
            "version",
            "client: ",
        ),
        wrong(
            "servers_version",
            full(),
            json!({"server": {"version": "1.2"}}),
            "version",
            "server: ",
        ),
        wrong(
            "clients_suite",
            full(),
            json!({"client": {"suite": "0x5678"}}),
            "suite",
            "client: ",
        ),
        wrong(
            "servers_suite",
            full(),
            json!({"server": {"suite": "0x5678"}}),
            "suite",
            "server: ",
        ),
        wrong(
            "clients_group",
            full(),
            json!({"client": {"group": "0x5678"}}),
            "group",
            "client: ",
        ),
        wrong(
            "servers_group",
            full(),
            json!({"server": {"group": "0x5678"}}),
            "group",
            "server: ",
        ),
        wrong(
            "client_resumed",
            full(),
            json!({"client": {"resumed": true}}),
            "handshake",
            "client: ",
        ),
        wrong(
            "server_resumed",
            full(),
            json!({"server": {"resumed": true}}),
            "handshake",
            "server: ",
        ),
        wrong(
            "client_not_resumed",
            ticket(),
            json!({"client": {"resumed": false}}),
            "handshake",
            "client: ",
        ),
        wrong(
            "server_not_resumed",
            ticket(),
            json!({"server": {"resumed": false}}),
            "handshake",
            "server: ",
        ),
        wrong(
            "short_chain",
            full(),
            json!({"client": {"chain_bytes": [900]}}),
            "chain",
            "sent 1 certificates",
        ),
        wrong(
            "long_chain",
            full(),
            json!({"client": {"chain_bytes": [9, 9, 9]}}),
            "chain",
            "sent 3 certificates",
        ),
        wrong(
            "client_certificates_unasked",
            full(),
            json!({"server": {"chain_bytes": [900]}}),
            "client authentication",
            "client sent 1 certificates",
        ),
        wrong(
            "no_client_certificates",
            client_auth(),
            json!({"server": {"chain_bytes": []}}),
            "client authentication",
            "client sent 0 certificates",
        ),
        wrong(
            "sessions_of_memory",
            memory(),
            json!({"client": {"version": "1.2"}}),
            "version",
            "client: ",
        ),
        wrong(
            "sessions_of_threads",
            threads(),
            json!({"server": {"suite": "0x5678"}}),
            "suite",
            "server: ",
        ),
    ]
}

/// Lies about turns, and about sessions held.
fn lies_of_work() -> Vec<Case> {
    let wrong = |name: &'static str,
                 scenario: Scenario,
                 patch: Value,
                 reason: &'static str,
                 detail: &'static str| {
        let what = What::Changed(patch);
        (
            name,
            scenario,
            In::Slice,
            what,
            Failed(WrongWork, reason, detail),
        )
    };
    let timings = "one timing for each operation";
    let hold = |name: &'static str, patch: Value, detail: &'static str| {
        let what = What::Changed(patch);
        (
            name,
            memory(),
            In::Hold,
            what,
            Failed(WrongWork, "sessions", detail),
        )
    };
    vec![
        wrong(
            "clients_resumed",
            full(),
            json!({"client_resumed": 1}),
            "resumption",
            "1 resumed as the clients",
        ),
        wrong(
            "servers_resumed",
            full(),
            json!({"server_resumed": 1}),
            "resumption",
            "1 as the servers",
        ),
        wrong(
            "one_client_not_resumed",
            ticket(),
            json!({"client_resumed": 2}),
            "resumption",
            "2 resumed as the clients",
        ),
        wrong(
            "one_server_not_resumed",
            ticket(),
            json!({"server_resumed": 2}),
            "resumption",
            "2 as the servers",
        ),
        wrong(
            "resumed_on_threads",
            threads(),
            json!({"client_resumed": 3}),
            "resumption",
            "3 resumed as the clients",
        ),
        wrong(
            "no_timings_of_a_side",
            full(),
            json!({"timings_ns": {"server": []}}),
            "timings",
            timings,
        ),
        wrong(
            "a_timing_less",
            full(),
            json!({"timings_ns": {"client": [1, 2]}}),
            "timings",
            timings,
        ),
        wrong(
            "a_timing_more",
            full(),
            json!({"timings_ns": {"client": [1, 2, 3, 4]}}),
            "timings",
            timings,
        ),
        wrong(
            "no_operations",
            full(),
            json!({"operations": 0, "timings_ns": {"client": [], "server": []}}),
            "timings",
            timings,
        ),
        wrong(
            "no_operations_on_threads",
            threads(),
            json!({"operations": 0}),
            "timings",
            timings,
        ),
        hold("fewer_sessions", json!({"sessions": 8}), "8 sessions"),
        hold("no_sessions", json!({"sessions": 0}), "0 sessions"),
    ]
}

/// Answers that are none, and honest failures.
fn lies_of_any_kind() -> Vec<Case> {
    let another = || What::Instead(json!({"type": "configured"}));
    let kind = Failed(Worker, "refused", "an answer of another kind");
    let died = Failed(
        Worker,
        "died",
        "exited with 9; it said: the fake worker dies",
    );
    let nonsense = Failed(Worker, "nonsense", "");
    let error = || What::Instead(json!({"type": "error", "message": "no"}));
    let failed = || {
        What::Instead(
            json!({"type": "failed", "class": "setup", "reason": "key", "detail": "no such key",
                                         "phase": null, "after_ns": null}),
        )
    };
    let unsupported = || What::Instead(json!({"type": "unsupported", "reason": "no such group"}));
    vec![
        (
            "prepared_with_another_kind",
            full(),
            In::Prepare,
            another(),
            kind,
        ),
        ("a_turn_of_another_kind", full(), In::Slice, another(), kind),
        (
            "held_with_another_kind",
            memory(),
            In::Hold,
            another(),
            kind,
        ),
        (
            "death_while_preparing",
            full(),
            In::Prepare,
            What::Death,
            died,
        ),
        ("death_in_a_turn", full(), In::Slice, What::Death, died),
        ("death_while_holding", memory(), In::Hold, What::Death, died),
        ("another_id", full(), In::Slice, What::OtherId, nonsense),
        (
            "garbage",
            full(),
            In::Prepare,
            What::Line("{".to_owned()),
            nonsense,
        ),
        (
            "an_error",
            full(),
            In::Slice,
            error(),
            Failed(Worker, "refused", "refused: no"),
        ),
        (
            "a_failure_stays_as_it_is",
            full(),
            In::Prepare,
            failed(),
            Failed(Setup, "key", "no such key"),
        ),
        (
            "unsupported_stays_as_it_is",
            full(),
            In::Prepare,
            unsupported(),
            Unsupported("no such group"),
        ),
    ]
}

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
        "suite::a_worker_that_does_not_do_the_suite",
        || {
            let sent = Unsupported("does not do the suite");
            for sample in execute(
                &script(HONEST, &["suite"], None),
                &script(LIAR, &[], None),
                full(),
            ) {
                let liar = sample.stack.as_str() == LIAR;
                expect(&sample, if liar { sent } else { End::Ok });
            }
        },
    ));
    tests
}

/// The lie costs the samples of the liar about one scenario, and nothing else.
fn about_one_scenario(scenario: Scenario, request: In, what: What, end: End) {
    let name = scenario.to_string();
    let at = match request {
        In::Prepare => At::Prepare(name.clone()),
        In::Slice => At::Slice(name.clone()),
        In::Hold => At::Hold(name.clone()),
    };
    let liar = script(LIAR, &["suite"], Some(Lie { at, what }));
    for sample in execute(&script(HONEST, &["suite"], None), &liar, scenario) {
        let lied = sample.stack.as_str() == LIAR && sample.name == name;
        expect(&sample, if lied { end } else { End::Ok });
    }
}

fn no_lie() {
    for scenario in [full(), ticket(), client_auth(), memory(), threads()] {
        let liar = script(LIAR, &["suite"], None);
        for sample in execute(&script(HONEST, &["suite"], None), &liar, scenario) {
            expect(&sample, End::Ok);
        }
    }
}

/// Runs the scenario and another one; every scenario has a process of its own in every round.
fn execute(honest: &Script, liar: &Script, scenario: Scenario) -> Vec<SuiteSample> {
    let folder = tempfile::tempdir().unwrap();
    let fakes =
        [honest, liar].map(|script| (script.stack.clone(), Fake::new(folder.path(), script)));
    let programs = fakes
        .iter()
        .map(|(stack, fake)| (stack.clone(), fake.program.clone()));
    let workers = Workers::probe(programs.collect(), None, Arc::default()).unwrap();
    let scenarios = vec![scenario, other()];
    let plan = SuiteTrials {
        seed: 5,
        stacks: vec![StackName::new(HONEST), StackName::new(LIAR)],
        materials: Materials::of(&scenarios).unwrap(),
        scenarios,
        rounds: ROUNDS,
        deadline: None,
        trial: Duration::from_millis(5),
        slice: Duration::from_millis(1),
        core: None,
        layout: LayoutRecord::Random,
        heap_library: None,
        valgrind: None,
        jobs: 1,
    };
    let run = RunFolder::create(&folder.path().join("run"), &json!({})).unwrap();
    let told = RefCell::new((Vec::new(), Vec::new()));
    let listener = |event: SuiteEvent<'_>| match event {
        SuiteEvent::Sampled(sample) => told.borrow_mut().0.push(sample.clone()),
        SuiteEvent::WorkerLost { stack, .. } => told.borrow_mut().1.push(stack.to_string()),
        SuiteEvent::Begin { .. } | SuiteEvent::Decided { .. } => {}
    };
    let stop = AtomicBool::new(false);
    execute_suite(
        &plan,
        &workers,
        Vec::new(),
        run.appender::<SuiteSample>().unwrap(),
        None,
        &listener,
        &stop,
    )
    .unwrap();
    let (samples, lost) = told.into_inner();
    assert_eq!(
        run.records::<SuiteSample>().unwrap(),
        samples,
        "what is told is what is stored"
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
    assert_eq!(
        prepared.len(),
        2 * ROUNDS as usize,
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

fn script(stack: &str, operations: &[&str], lie: Option<Lie>) -> Script {
    Script {
        stack: stack.to_owned(),
        operations: operations.iter().map(|&o| o.to_owned()).collect(),
        body_bytes: 0,
        lies: lie.into_iter().collect(),
    }
}
