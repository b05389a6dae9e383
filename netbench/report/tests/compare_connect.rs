//! Comparisons of two runs of `connect`.

use netbench_model::{ConnectManifest, Phase, Sample, StackName};
use netbench_report::{ConnectComparison, Gate, Regression, Report, compare_runs_of_connect};
use netbench_stats::{Basis, Verdict};

use crate::support::{
    fixture::{Fixture, refused},
    formats::{assert_emulated, assert_harmless, assert_has, assert_json, render},
};

/// A run with its samples.
type Run = (ConnectManifest, Vec<Sample>);

fn run(rounds: u32, factor: f64) -> Run {
    let fixture = Fixture {
        rounds,
        factor,
        ..Fixture::default()
    };
    (fixture.manifest(), fixture.samples())
}

fn compare(first: &Run, other: &Run, threshold: Option<f64>) -> ConnectComparison {
    let (first, other) = ((&first.0, &first.1[..]), (&other.0, &other.1[..]));
    compare_runs_of_connect(first, other, None, threshold)
}

#[test]
fn a_stack_that_got_slower_is_found_and_the_other_is_the_same() {
    let (before, mut after) = (run(10, 0.6), run(10, 3.0));
    "rustls 0.24.0".clone_into(&mut after.0.workers[1].library);
    let compared = compare(&before, &after, Some(0.05));
    for row in &compared.sites {
        // The other stack has the same figures in both runs.
        let due: &[Verdict] = match row.key.stacks.other_stack.as_str() {
            "openssl" => &[Verdict::Same, Verdict::Undecided],
            // With a long round trip, the handshake's computation is a small part.
            _ if row.change.ratio < 1.02 => &[Verdict::Slower, Verdict::Same, Verdict::Undecided],
            _ => &[Verdict::Slower],
        };
        assert!(due.contains(&row.change.verdict), "{row:?}");
        assert_eq!(
            row.judged.regression == Regression::Regressed,
            row.change
                .interval
                .is_some_and(|interval| interval.low > 1.05),
            "{row:?}"
        );
        assert_eq!(
            row.change.basis,
            Basis::Runs {
                first_rounds: 10,
                other_rounds: 10
            }
        );
    }
    for (stack, verdict) in [("openssl", Verdict::Same), ("rustls-ring", Verdict::Slower)] {
        let rows = compared.phases.iter();
        let mut totals = rows.filter(|row| row.key.phase == Phase::Total);
        let total = totals.find(|row| row.key.stacks.other_stack.as_str() == stack);
        assert_eq!(total.unwrap().change.verdict, verdict, "{stack}");
    }
    assert!(compared.gate.regressed > 0);
    assert_eq!(compared.reach.len(), 0);
    assert_eq!(compared.gate.result(), Some(Gate::Regressed));
    let differs: Vec<&str> = compared
        .differences
        .iter()
        .map(|d| d.what.as_str())
        .collect();
    assert_eq!(differs, ["rustls-ring"]);
    assert!(compared.differences[0].harmless);
    let markdown = render(&compared, "markdown");
    for part in [
        "regressed by more than 5.0 %",
        "not measured side by side",
        "rustls 0.24.0",
        "Site by site, total time",
        "near.example",
    ] {
        assert_has(&markdown, part);
    }
    let junit = render(&compared, "junit");
    assert_has(&junit, r#"type="regression""#);
    // In the opposite direction it is faster, and no site has regressed.
    let back = compare(&after, &before, Some(0.05));
    assert_eq!(back.gate.regressed, 0);
    assert!(
        back.sites
            .iter()
            .any(|row| row.change.verdict == Verdict::Faster)
    );
}

#[test]
fn a_site_that_is_lost_has_regressed_and_sites_of_one_run_are_named() {
    let (mut before, mut after) = (run(10, 0.6), run(10, 0.6));
    for sample in &mut after.1 {
        if sample.site == "near.example" && sample.stack.as_str() == "rustls-ring" {
            sample.outcome = refused();
        }
    }
    before
        .0
        .plan
        .sites
        .retain(|site| site.name() != "far.example");
    after
        .0
        .plan
        .sites
        .retain(|site| site.name() != "further.example");
    let compared = compare(&before, &after, Some(10.0));
    assert_eq!(compared.only_first, ["further.example"]);
    assert_eq!(compared.only_other, ["far.example"]);
    for site in ["far.example", "further.example"] {
        assert!(compared.sites.iter().all(|row| row.key.site != site));
    }
    // Both rows are of the same site, under both conditions.
    assert_eq!((compared.reach.len(), compared.gate.regressed), (2, 2));
    let lost = &compared.reach[0];
    assert_eq!(lost.site, "near.example");
    assert_eq!((lost.first_failed, lost.other_failed), ((0, 10), (10, 10)));
    assert_eq!(lost.why, "connect: refused");
    assert_emulated(&compared);
    let terminal = render(&compared, "terminal");
    for part in [
        "near.example",
        "connect: refused",
        "further.example",
        "far.example",
    ] {
        assert_has(&terminal, part);
    }
    // Without a threshold no row is judged.
    let asked = compare(&before, &after, None);
    assert_eq!(asked.gate.regressed, 0);
    assert_eq!(asked.reach[0].regression, Regression::NotAsked);
}

#[test]
fn too_few_rounds_decide_nothing_and_what_keeps_runs_apart_is_said() {
    let (before, mut after) = (run(3, 0.6), run(3, 3.0));
    after.0.plan.jobs += 1;
    after.0.plan.rounds += 1;
    let compared = compare(&before, &after, Some(0.05));
    assert!(compared.rounds_needed > 3);
    for row in &compared.sites {
        assert_eq!(
            (row.change.verdict, row.change.interval),
            (Verdict::NotJudged, None)
        );
    }
    assert_eq!(compared.gate.regressed, 0);
    assert!(compared.gate.cannot_tell > 0);
    assert_eq!(compared.gate.result(), Some(Gate::CannotTell));
    for (what, harmless) in [("--jobs", false), ("rounds", true)] {
        let mut found = compared.differences.iter();
        assert_eq!(found.find(|d| d.what == what).unwrap().harmless, harmless);
    }
}

#[test]
fn two_stacks_can_be_held_against_each_other_and_what_is_negotiated_otherwise_is_said() {
    let run = run(10, 0.6);
    let (a, b) = (StackName::new("openssl"), StackName::new("rustls-ring"));
    let side = (&run.0, &run.1[..]);
    let compared = compare_runs_of_connect(side, side, Some((&a, &b)), None);
    let different = compared
        .sites
        .iter()
        .find(|row| row.key.site == "different.example");
    let differs = different.unwrap().key.differs.clone().unwrap();
    assert_has(&differs, "group x25519 / secp256r1");
    // One of the fixture's sites fails with one of the stacks only.
    assert!(
        compared
            .reach
            .iter()
            .all(|row| row.site == "hostile.example")
    );
    assert_eq!(compared.reach.len(), 2);
}

#[test]
fn every_form_is_harmless_and_json_fits_its_schema() {
    let (a, b) = (StackName::new("openssl"), StackName::new("rustls-ring"));
    let run = run(6, 0.6);
    let side = (&run.0, &run.1[..]);
    let compared = compare_runs_of_connect(side, side, Some((&a, &b)), Some(0.02));
    assert_harmless(&compared);
    assert_json(&compared, "connect-compare.json");
    assert!(compared.tells());
}
