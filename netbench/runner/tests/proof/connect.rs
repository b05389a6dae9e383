//! Connections: `proof.rs` and the slots.

mod lies;
mod run;

use std::{collections::BTreeSet, fs, sync::Arc};

use netbench_model::{
    ClientSettings, Condition, ConnectPlan, FailureClass, Outcome, Profile, RequestRecord, Role,
    RootsRecord, RootsSource, Sample, StackName, Target, parse_sites,
};
use netbench_protocol::Operation;
use netbench_runner::Workers;
use netbench_testing::Test;
use serde_json::json;

use self::{
    lies::{lies, lies_about_early_data},
    run::{Run, script},
};
use crate::fake::{At, Fake, Lie, Script, What};

const HONEST: &str = "honest";
const LIAR: &str = "liar";

/// The nearest site, to which warm-ups go, and the site that lies concern.
const SITES: &str = "near.example rtt=1ms body=1000 early-data=accept\nlied.example rtt=5ms body=1000 early-data=accept\n";
const LIED: &str = "lied.example";

const ROUNDS: u32 = 2;

/// The outcome of a sample.
#[derive(Debug, Clone, Copy)]
enum End {
    Ok,
    /// The sample failed with this class and reason, and with this text in the detail.
    Failed(FailureClass, &'static str, &'static str),
    Unsupported,
}

use End::{Failed, Unsupported};
use FailureClass::{Worker, WrongWork};

pub(crate) fn tests() -> Vec<Test> {
    let mut tests = Vec::new();
    for (name, what, end) in lies() {
        let at = At::Connect(Role::Measured, LIED.to_owned());
        tests.push(test(name, move || {
            about_one_site(Condition::Clean, Lie { at, what }, end)
        }));
    }
    for condition in Condition::ALL.iter().copied() {
        tests.push(test(&format!("no_lie_when_{condition}"), move || {
            let lie = Lie {
                at: At::Connect(Role::Measured, "other.example".to_owned()),
                what: What::Death,
            };
            about_one_site(condition, lie, End::Ok);
        }));
    }
    // A connection that should have resumed: both sides agree that it did not.
    let full = json!({"client": {"resumed": false}, "server": {"negotiated": {"resumed": false}},
                      "phases": {"verify_ns": 50_000}});
    for (name, role, what, end) in [
        (
            "not_resumed",
            Role::Measured,
            What::Changed(full),
            Failed(WrongWork, "not resumed", "resumed is false"),
        ),
        (
            "a_first_visit_that_failed",
            Role::Prime,
            What::Changed(json!({"server": null})),
            Failed(WrongWork, "no server's view", ""),
        ),
        (
            "a_first_visit_that_died",
            Role::Prime,
            What::Death,
            Failed(Worker, "died", ""),
        ),
    ] {
        let at = At::Connect(role, LIED.to_owned());
        tests.push(test(name, move || {
            about_one_site(Condition::Resumed, Lie { at, what }, end)
        }));
    }
    for (name, what, end) in lies_about_early_data() {
        let at = At::Connect(Role::Measured, LIED.to_owned());
        tests.push(test(name, move || {
            about_one_site(Condition::EarlyData, Lie { at, what }, end)
        }));
    }
    let at = At::Connect(Role::Measured, LIED.to_owned());
    let death = Lie {
        at,
        what: What::Death,
    };
    tests.push(test("death_when_cold", || {
        about_one_site(Condition::Cold, death, Failed(Worker, "died", ""))
    }));
    // Warm-ups enter no comparison: measurements after a failed one remain valid.
    tests.push(test("a_warm_up_that_failed", || {
        let at = At::Connect(Role::Warmup, "near.example".to_owned());
        let what = What::Changed(json!({"server": null}));
        about_one_site(Condition::Clean, Lie { at, what }, End::Ok);
    }));
    for (name, at, what, end) in [
        (
            "death_at_start",
            At::Start,
            What::Death,
            Failed(Worker, "died", "it said: the fake worker dies"),
        ),
        (
            "settings_refused",
            At::Configure,
            What::Instead(json!({"type": "error", "message": "no such group"})),
            Failed(Worker, "refused", "no such group"),
        ),
        (
            "settings_answered_with_another_kind",
            At::Configure,
            What::Instead(json!({"type": "counted", "sites": []})),
            Failed(Worker, "refused", "an answer of another kind"),
        ),
    ] {
        for condition in [Condition::Clean, Condition::Cold] {
            let (at, what) = (at.clone(), what.clone());
            tests.push(test(&format!("{name}_when_{condition}"), move || {
                about_all_sites(condition, Some(Lie { at, what }), end)
            }));
        }
    }
    tests.extend([
        test("a_program_that_is_gone", || {
            let end = Failed(Worker, "start", "cannot start");
            about_all_sites(Condition::Clean, None, end);
        }),
        test(
            "workers_are_fresh_in_every_round",
            workers_are_fresh_in_every_round,
        ),
        test(
            "a_site_that_never_answers_is_given_up",
            a_site_that_never_answers_is_given_up,
        ),
        test("a_live_server_says_nothing", a_live_server_says_nothing),
        test(
            "early_data_is_not_tried_where_there_is_none",
            early_data_is_not_tried_where_there_is_none,
        ),
        test(
            "a_site_that_takes_no_early_data_accepts_none",
            a_site_that_takes_no_early_data_accepts_none,
        ),
    ]);
    tests
}

fn test(name: &str, check: impl FnOnce() + Send + 'static) -> Test {
    Test::new(format!("connect::{name}"), move || {
        check();
        Ok(())
    })
}

/// Checks that the lie affects only the liar's samples of one site.
fn about_one_site(condition: Condition, lie: Lie, end: End) {
    let run = Run::new(lie);
    let (samples, lost) = run.execute(&plan(condition));
    assert_eq!(samples.len(), 2 * 2 * ROUNDS as usize);
    for sample in &samples {
        let lied = sample.stack.as_str() == LIAR && sample.site == LIED;
        expect(sample, if lied { end } else { End::Ok });
    }
    let losses = match end {
        Failed(Worker, ..) => ROUNDS as usize,
        _ => 0,
    };
    assert_eq!(lost, vec![LIAR; losses], "one loss for each lie");
}

/// Checks a liar without a working worker; without a lie, its program is deleted when the run begins.
fn about_all_sites(condition: Condition, lie: Option<Lie>, end: End) {
    let gone = lie.is_none();
    let mut run = Run::new_honest();
    match lie {
        Some(lie) => run.lie(lie),
        None => fs::remove_file(&run.liar.program).unwrap(),
    }
    let (samples, lost) = run.execute(&plan(condition));
    assert_eq!(samples.len(), 2 * 2 * ROUNDS as usize, "gone: {gone}");
    for sample in &samples {
        let lied = sample.stack.as_str() == LIAR;
        expect(sample, if lied { end } else { End::Ok });
    }
    // Every unit tries again: a failed operation may succeed the next time.
    assert_eq!(lost, vec![LIAR; 2 * ROUNDS as usize]);
}

fn workers_are_fresh_in_every_round() {
    for condition in Condition::ALL.iter().copied() {
        let run = Run::new_honest();
        let (samples, _) = run.execute(&plan(condition));
        let blocks: BTreeSet<(u32, u32)> = samples.iter().map(|s| (s.round, s.block)).collect();
        assert_eq!(
            blocks.len(),
            ROUNDS as usize,
            "{condition}: one block a round: {blocks:?}"
        );
        for fake in [&run.honest, &run.liar] {
            let connected = fake.processes("connect");
            let different: BTreeSet<u32> = connected.iter().copied().collect();
            // One process for both sites of a round; in cold units, one for each first connection, with a second
            // connection.
            let (processes, connections) = match condition {
                Condition::Cold => (2 * ROUNDS, 4 * ROUNDS),
                Condition::Clean | Condition::Resumed | Condition::EarlyData => {
                    (ROUNDS, 2 * ROUNDS)
                }
            };
            assert_eq!(connected.len(), connections as usize, "{condition}");
            assert_eq!(different.len(), processes as usize, "{condition}");
            assert!(
                connected.chunks(2).all(|two| two[0] == two[1]),
                "{connected:?}"
            );
            let warm_ups = fake.processes("connect as warm-up");
            let due: Vec<u32> = match condition {
                Condition::Cold => Vec::new(),
                Condition::Clean | Condition::Resumed | Condition::EarlyData => {
                    connected.chunks(2).map(|round| round[0]).collect()
                }
            };
            assert_eq!(warm_ups, due, "{condition}");
        }
    }
}

/// A site at which every stack runs into the time limit twice is not tried any more; one stack is not enough to
/// give it up.
fn a_site_that_never_answers_is_given_up() {
    const MANY: u32 = 5;
    let time_out = Lie {
        at: At::Connect(Role::Measured, LIED.to_owned()),
        what: What::Instead(
            json!({"type": "failed", "class": "timeout", "reason": "in tls",
                                   "detail": "no end", "phase": "tls", "after_ns": 200_000_000}),
        ),
    };
    let plan = ConnectPlan {
        rounds: MANY,
        ..plan(Condition::Clean)
    };
    let mut run = Run::new(time_out.clone());
    // Once for the near site in each round.
    assert_eq!(tried(&run, &plan), (2 * MANY, 0));
    let orders = script(HONEST, vec![time_out.clone()]);
    let folder = tempfile::tempdir().unwrap();
    run.honest = Fake::new(run.folder.path(), &orders);
    run.liar = Fake::new(folder.path(), &script(LIAR, vec![time_out]));
    let programs = [(HONEST, &run.honest), (LIAR, &run.liar)];
    let programs = programs.map(|(stack, fake)| (stack.to_owned(), fake.program.clone().into()));
    run.workers = Workers::probe(programs.into(), None, Arc::default()).unwrap();
    fs::remove_dir_all(run.folder.path().join("run")).unwrap();
    let given_up = 2 * (MANY - 2) as usize;
    assert_eq!(tried(&run, &plan), (MANY + 2, given_up));
}

/// Returns the number of the liar's connections, and the number of samples that were given up.
fn tried(run: &Run, plan: &ConnectPlan) -> (u32, usize) {
    let (samples, _) = run.execute(plan);
    assert_eq!(samples.len(), 2 * 2 * plan.rounds as usize);
    for sample in samples.iter().filter(|sample| sample.site != LIED) {
        expect(sample, End::Ok);
    }
    let given_up = samples.iter().filter(|sample| match &sample.outcome {
        Outcome::Unsupported { reason } => reason.contains("given up"),
        _ => false,
    });
    let connections = run.liar.processes("connect").len();
    (connections as u32, given_up.count())
}

/// A site without early data, and a stack that sends none, have no samples of the condition.
fn early_data_is_not_tried_where_there_is_none() {
    let mut plan = plan(Condition::EarlyData);
    plan.sites =
        parse_sites("near.example body=1000 early-data=accept\nlied.example body=1000\n").unwrap();
    let mut run = Run::new_honest();
    let script = Script {
        operations: [Operation::Connect].into(),
        ..script(LIAR, Vec::new())
    };
    run.liar = Fake::new(run.folder.path(), &script);
    let programs = [(HONEST, &run.honest), (LIAR, &run.liar)];
    let programs = programs.map(|(stack, fake)| (stack.to_owned(), fake.program.clone().into()));
    run.workers = Workers::probe(programs.into(), None, Arc::default()).unwrap();
    let (samples, _) = run.execute(&plan);
    for sample in samples {
        let reason = match (sample.site.as_str(), sample.stack.as_str()) {
            (LIED, _) => {
                "the site has no early data: early-data=accept, accept-again, reject or retry"
            }
            (_, LIAR) => "the connector of liar (none) sends no early data",
            _ => {
                expect(&sample, End::Ok);
                continue;
            }
        };
        match &sample.outcome {
            Outcome::Unsupported { reason: found } => assert_eq!(found, reason),
            other => panic!("{other:?}"),
        }
    }
}

/// The fakes report that the server accepted.
fn a_site_that_takes_no_early_data_accepts_none() {
    for (policy, why) in [
        ("reject", "accepted at a site that rejects it"),
        ("retry", "accepted without a HelloRetryRequest"),
    ] {
        let mut plan = plan(Condition::EarlyData);
        let site = format!("near.example body=1000 early-data={policy}\n");
        plan.sites = parse_sites(&site).unwrap();
        let (samples, _) = Run::new_honest().execute(&plan);
        assert_eq!(samples.len(), 2 * ROUNDS as usize);
        for sample in samples {
            expect(&sample, Failed(WrongWork, "early data", why));
        }
    }
}

/// On the real network there is no server's view; the client's reports are still verified.
fn a_live_server_says_nothing() {
    for (patch, end) in [
        (json!({"server": null, "http_status": 404}), End::Ok),
        (
            json!({"server": null, "client": {"resumed": true}}),
            Failed(WrongWork, "resumed", ""),
        ),
    ] {
        let at = At::Connect(Role::Measured, LIED.to_owned());
        let what = What::Changed(patch);
        let mut plan = plan(Condition::Clean);
        plan.target = Target::Live;
        plan.rounds = 1;
        plan.sites.retain(|site| site.host.as_str() == LIED);
        let (samples, _) = Run::new(Lie { at, what }).execute(&plan);
        assert_eq!(samples.len(), 2);
        for sample in samples {
            let lied = sample.stack.as_str() == LIAR;
            expect(&sample, if lied { end } else { End::Ok });
        }
    }
}

fn expect(sample: &Sample, end: End) {
    match (end, &sample.outcome) {
        (End::Ok, Outcome::Ok(_)) | (Unsupported, Outcome::Unsupported { .. }) => {}
        (Failed(class, reason, detail), Outcome::Failed(failure)) => {
            assert_eq!(
                (failure.class, failure.reason.to_string().as_str()),
                (class, reason),
                "{failure:?}"
            );
            assert!(failure.detail.contains(detail), "{failure:?}");
            assert!(
                failure.detail.len() < 1_000,
                "{} bytes",
                failure.detail.len()
            );
        }
        (end, _) => panic!("{end:?} was due: {sample:?}"),
    }
}

fn plan(condition: Condition) -> ConnectPlan {
    ConnectPlan {
        seed: 5,
        stacks: vec![StackName::new(HONEST), StackName::new(LIAR)],
        conditions: vec![condition],
        rounds: ROUNDS,
        jobs: 1,
        cpu_percent: None,
        target: Target::Lab,
        sites_file: String::new(),
        sites_sha256: String::new(),
        sites: parse_sites(SITES).unwrap(),
        sweep: None,
        client: ClientSettings::undecided(Profile::Default),
        roots: RootsRecord {
            source: RootsSource::Mozilla,
            count: 0,
            sha256: String::new(),
        },
        timeout_ms: 200,
        pause_ms: Some(0),
        connect_to: Vec::new(),
        request: RequestRecord::default(),
        client_certificate: None,
        compression: None,
        link: None,
    }
}
