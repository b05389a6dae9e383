//! Memory over the life of a connection, and the time of an operation by number of threads.

use std::collections::BTreeMap;

use netbench_model::{
    Aead, Distribution, HandshakeKind, HeapUse, Held, HeldAfter, KeyType, Measure, ParallelWork,
    SCHEMA_VERSION, Scenario, SessionSettings, StackName, SuiteManifest, SuiteMeasured,
    SuiteOutcome, SuiteSample, TlsVersion, Work,
};
use netbench_report::{SuiteReport, summarize_suite};

use crate::support::{
    formats::{assert_has, render, terminal},
    suite_made::Fixture,
};

#[test]
fn a_life_has_each_side_in_each_state_and_the_function_that_releases_buffers() {
    let states = [
        (HeldAfter::Handshake, 10_000, 5_000),
        (HeldAfter::Data, 40_000, 36_000),
        (HeldAfter::Idle, 12_000, 6_000),
    ];
    let made = states.map(|(after, client, server)| {
        let of_idle = (after == HeldAfter::Idle).then(|| "free_all".to_owned());
        let measured = SuiteMeasured {
            held: Some(held(client, server, of_idle)),
            ..SuiteMeasured::default()
        };
        (memory(after), "openssl", measured)
    });
    // One state alone is no life.
    let one = SuiteMeasured {
        held: Some(held(1_000, 1_000, None)),
        ..SuiteMeasured::default()
    };
    let made = made.into_iter();
    let made = made.chain([(memory(HeldAfter::Handshake), "rustls-ring", one)]);
    let (manifest, samples) = run(made);
    let summary = summarize_suite(&manifest, &samples);
    let [life] = summary.lives.as_slice() else {
        panic!("{:?}", summary.lives);
    };
    assert_eq!(life.sessions, memory(HeldAfter::Handshake).to_string());
    assert_eq!(life.stack.as_str(), "openssl");
    assert_eq!(life.released_by.as_deref(), Some("free_all"));
    let found = life.states.iter();
    let found = found.map(|state| (state.after, state.client_bytes, state.server_bytes));
    let due =
        states.map(|(after, client, server)| (after, Some(client as f64), Some(server as f64)));
    assert_eq!(found.collect::<Vec<_>>(), due);
    let report = SuiteReport::new(manifest, &samples);
    let text = terminal(&report, 240);
    let (_, table) = text.split_once("Memory over the life").unwrap();
    for (state, found) in [
        ("  data", "40.0 kB  36.0 kB"),
        ("  idle", "12.0 kB  6.00 kB"),
        ("  idle", "free_all"),
    ] {
        let row = table.lines().find(|line| line.contains(state)).unwrap();
        assert_has(row, found);
    }
    let csv = render(&report, "csv");
    let name = memory(HeldAfter::Handshake);
    let line = format!("lives.states,idle,openssl,,{name},client_bytes,12000.0,bytes,");
    assert_has(&csv, &line);
}

#[test]
fn the_threads_at_which_the_99th_percentile_doubles_are_those_of_the_side_and_the_stack() {
    // The client's tail doubles at four threads, and the server's at two.
    let times = [(1, 100, 100), (2, 150, 200), (4, 200, 900)];
    let made = times.map(|(threads, client, server)| {
        let measured = timed(
            [(Measure::Client, client), (Measure::Server, server)],
            2_000,
        );
        (handshakes(threads), "openssl", measured)
    });
    let few = timed([(Measure::Client, 100), (Measure::Server, 100)], 999);
    let made = made
        .into_iter()
        .chain([(handshakes(1), "rustls-ring", few)]);
    let (manifest, samples) = run(made);
    let summary = summarize_suite(&manifest, &samples);
    let found = summary.latencies.iter().map(|latency| {
        let p99 = latency.by_threads.iter().map(|of| of.p99_ns);
        (
            latency.stack.as_str(),
            latency.measure,
            latency.p99_doubles_at_threads,
            p99.collect::<Vec<_>>(),
        )
    });
    let due = [
        (
            "openssl",
            Measure::Client,
            Some(4),
            vec![Some(100.0), Some(150.0), Some(200.0)],
        ),
        ("rustls-ring", Measure::Client, None, vec![None]),
        (
            "openssl",
            Measure::Server,
            Some(2),
            vec![Some(100.0), Some(200.0), Some(900.0)],
        ),
        ("rustls-ring", Measure::Server, None, vec![None]),
    ];
    assert_eq!(found.collect::<Vec<_>>(), due);
    let report = SuiteReport::new(manifest, &samples);
    let text = terminal(&report, 240);
    assert_has(&text, "by number of threads");
    assert!(
        text.contains("4 threads") && text.contains("2 threads"),
        "{text}"
    );
    let work = "handshake-full_1.3_ECDHE_ECDSA_AES128-GCM_SHA256_server";
    let line = format!("latencies.by_threads,4,openssl,,{work},p99_ns,900.0,ns,");
    let csv = render(&report, "csv");
    assert_has(&csv, &line);
}

/// Returns a run of these scenarios and stacks with one round.
fn run<'a>(
    made: impl Iterator<Item = (Scenario, &'a str, SuiteMeasured)>,
) -> (SuiteManifest, Vec<SuiteSample>) {
    let mut manifest = Fixture::default().manifest();
    manifest.plan.scenarios.clear();
    let mut samples = Vec::new();
    for (scenario, stack, measured) in made {
        if !manifest.plan.scenarios.contains(&scenario) {
            manifest.plan.scenarios.push(scenario);
        }
        samples.push(SuiteSample {
            schema: SCHEMA_VERSION,
            name: scenario.to_string(),
            scenario,
            stack: StackName::new(stack),
            round: 0,
            started_unix_ms: 1,
            outcome: SuiteOutcome::Ok(Box::new(measured)),
        });
    }
    (manifest, samples)
}

fn settings() -> SessionSettings {
    SessionSettings::usual(TlsVersion::Tls13, KeyType::EcdsaP256, Aead::Aes128Gcm)
}

fn memory(after: HeldAfter) -> Scenario {
    Scenario::timed(Work::Memory {
        settings: settings(),
        sessions: 1_000,
        after,
    })
}

fn handshakes(threads: u16) -> Scenario {
    Scenario::timed(Work::Threads {
        threads,
        work: ParallelWork::Handshake(HandshakeKind::Full),
        settings: settings(),
    })
}

/// Returns the memory of a thousand sessions, by the bytes of one of each side.
fn held(client: u64, server: u64, released_by: Option<String>) -> Held {
    Held {
        sessions: 1_000,
        peak_bytes: 100_000_000,
        before_bytes: 5_000_000,
        after_bytes: 6_000_000,
        ticket_bytes: 0,
        client_data_bytes: 0,
        server_data_bytes: 0,
        released_by,
        heap: Some(HeapUse {
            allocations: 1_000,
            held_bytes: 500 * (client + server),
            peak_bytes: 500 * (client + server),
            client_bytes: Some(500 * client),
            server_bytes: Some(500 * server),
        }),
    }
}

/// Returns equal times of operations of both sides.
fn timed(times: [(Measure, u64); 2], operations: usize) -> SuiteMeasured {
    let mut wall = BTreeMap::from([(Measure::Both, Distribution::of_ns([50]))]);
    wall.extend(times.map(|(measure, ns)| (measure, Distribution::of_ns(vec![ns; operations]))));
    SuiteMeasured {
        wall,
        ..SuiteMeasured::default()
    }
}

#[test]
fn settings_of_the_processor_are_warned_of_and_a_virtual_machine_that_hides_them_says_so_once() {
    let fixture = Fixture::default();
    let hidden = "It shows neither turbo nor the frequency governor";
    let on = [
        ("turbo", "on"),
        ("hyper_threading", "on"),
        ("thread_siblings", "0-1"),
    ];
    let [usual, hiding, text] = [&[][..], &[("turbo", "not shown")], &on].map(|facts| {
        let mut manifest = fixture.manifest();
        let facts = facts.iter().copied();
        let facts = facts.map(|(name, value): (&str, &str)| (name.to_owned(), value.to_owned()));
        manifest.environment.facts.extend(facts);
        terminal(&SuiteReport::new(manifest, &fixture.samples()), usize::MAX)
    });
    assert!(!usual.contains(hidden));
    assert_eq!(hiding.matches(hidden).count(), 1);
    // The fixture's workers are pinned to CPU 1.
    assert_has(
        &text,
        "CPU 1, on which workers run, shares its core with CPU 0",
    );
    assert!(
        text.contains("Warning: Turbo is on") && !text.contains(hidden),
        "{text}"
    );
}
