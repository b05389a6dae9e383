//! The costs of first connections in a summary.

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, Measured, Outcome, ProcessCost, Role, Sample, SetUpStep, Spent,
    StepCost,
};
use netbench_report::{ColdAgainst, ConnectReport, explain, summarize};

use crate::support::{
    fixture::Fixture,
    formats::{assert_has, terminal},
};

/// Returns the words of the report for a terminal, with single spaces.
fn words(manifest: &ConnectManifest, samples: &[Sample]) -> String {
    let report = ConnectReport::new(manifest.clone(), samples.to_vec());
    terminal(&report, 200).split_whitespace().join(" ")
}

/// A collector of garbage runs in the second connections of one stack, which take a millisecond more than the first.
#[test]
fn a_first_connection_that_costs_less_than_nothing_is_not_measurable() {
    let fixture = Fixture {
        conditions: vec![Condition::Cold],
        ..Fixture::default()
    };
    let manifest = fixture.manifest();
    let mut samples = cold_samples(&fixture);
    assert!(!words(&manifest, &samples).contains("ot measurable"));
    let again = samples.iter_mut().filter(|s| s.role == Role::Again);
    for sample in again.filter(|sample| sample.stack.as_str() == "openssl") {
        let Outcome::Ok(measured) = &mut sample.outcome else {
            unreachable!("it was made of one that went well");
        };
        measured.process.as_mut().unwrap().connector_cpu_ns = 5_040_000;
    }
    let summary = summarize(&manifest, &samples);
    let costs: Vec<bool> = summary
        .cold
        .iter()
        .map(|row| row.cpu.unwrap().is_measurable())
        .collect();
    assert_eq!(costs, [false, true]);
    let text = words(&manifest, &samples);
    for part in [
        "openssl not measurable",
        "Not measurable: later connections",
    ] {
        assert_has(&text, part);
    }
    assert!(
        !text.contains("-1.04 ms") && !text.contains("−1.04 ms"),
        "{text}"
    );
}

const MS: u64 = 1_000_000;

/// Returns cold connections for which rustls-ring's connector takes 33 ms of CPU time more than the second of its
/// process, 31 of them for entropy, and openssl's 3 ms more, with no known step.
fn cold_samples(fixture: &Fixture) -> Vec<Sample> {
    let mut samples = Vec::new();
    for first in fixture.samples() {
        let Outcome::Ok(figures) = &first.outcome else {
            samples.push(first);
            continue;
        };
        let ring = first.stack.as_str() == "rustls-ring";
        let steps = [(SetUpStep::Entropy, 31), (SetUpStep::TrustRoots, 1)];
        let steps = steps.map(|(step, first_ms)| {
            let [first, again] =
                [(first_ms * MS + 1, 10), (1, 0)].map(|(cpu_ns, minor_faults)| Spent {
                    wall_ns: 2 * cpu_ns,
                    cpu_ns,
                    minor_faults,
                });
            StepCost { step, first, again }
        });
        let mut connections = vec![
            (Role::Measured, if ring { 34 } else { 4 }, 400, Vec::new()),
            (Role::Again, 1, 100, Vec::new()),
        ];
        if ring {
            connections.push((Role::Stepped, 2, 200, steps.into()));
        }
        for (role, connector_ms, minor_faults, steps) in connections {
            let process = ProcessCost {
                connector_cpu_ns: connector_ms * MS,
                minor_faults,
                fault_ns: (!steps.is_empty()).then_some(5_000),
                steps,
            };
            samples.push(Sample {
                role,
                outcome: Outcome::Ok(Box::new(Measured {
                    process: Some(process),
                    ..(**figures).clone()
                })),
                ..first.clone()
            });
        }
    }
    samples
}

#[test]
fn what_a_first_connection_costs_is_a_time_with_its_causes() {
    let fixture = Fixture {
        conditions: vec![Condition::Cold],
        ..Fixture::default()
    };
    let (manifest, samples) = (fixture.manifest(), cold_samples(&fixture));
    let summary = summarize(&manifest, &samples);
    let [openssl, ring] = summary.cold.as_slice() else {
        panic!("one row for each stack: {:?}", summary.cold);
    };
    let medians = [openssl, ring].map(|row| row.cpu.unwrap().median_ns);
    assert_eq!(medians, [3e6, 33e6]);
    assert_eq!(ring.against, ColdAgainst::SameProcess);
    assert_eq!(openssl.causes, None);
    let causes = ring.causes.as_ref().unwrap();
    let steps: Vec<_> = causes
        .steps
        .iter()
        .map(|step| (step.step, step.cpu_ns))
        .collect();
    assert_eq!(
        steps,
        [(SetUpStep::Entropy, 31e6), (SetUpStep::TrustRoots, 1e6)]
    );
    // A hundred faults more than in a later connection, of 5 µs each.
    assert_eq!(
        (causes.page_faults_ns, causes.unexplained_ns),
        (0.5e6, 0.5e6)
    );

    let report = ConnectReport::new(manifest.clone(), samples.clone());
    let text = terminal(&report, 100);
    let start = text.find("The first connection of a process").unwrap();
    let end = text.find("By phase").unwrap();
    insta::assert_snapshot!(&text[start..end]);
    assert_has(&text, "it costs 33.0 ms of CPU time once");
    assert!(
        !text.contains("cold +"),
        "no ratio of cold connections decides"
    );
    let explained = terminal(&explain(&manifest, &samples, None), 100);
    assert_has(&explained, "entropy");
}

#[test]
fn runs_without_second_connections_are_compared_with_clean_ones() {
    let fixture = Fixture {
        conditions: vec![Condition::Clean, Condition::Cold],
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    // These samples do not have the connector's CPU time either.
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome {
            measured.process = None;
        }
    }
    let summary = summarize(&fixture.manifest(), &samples);
    for row in &summary.cold {
        assert_eq!(row.against, ColdAgainst::CleanConnection);
        assert!(row.processes > 0 && row.cpu.is_none() && row.causes.is_none());
    }
    assert_eq!(summary.cold.len(), 2);
}
