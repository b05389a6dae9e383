//! `netbench runs compare` of runs of connect: before and after.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use netbench_model::Outcome;

use crate::support::{
    Done, Place, check, compared_if_allowed, json, published_run, samples, text, tree,
    write_samples,
};

/// Multiplies the times of a stack's connections by `factor`.
fn slow_down(run: &Path, stack: &str, factor: u64) {
    let mut samples = samples(run);
    for sample in samples.iter_mut().filter(|it| it.stack.as_str() == stack) {
        if let Outcome::Ok(figures) = &mut sample.outcome {
            figures.phases.total_ns *= factor;
        }
    }
    write_samples(run, &samples);
}

/// Runs `netbench runs compare` with the runs of these names in place of BEFORE and AFTER.
fn compare(place: &Place, line: &str) -> Done {
    let [before, after] = ["before", "after"].map(|name| place.named(name));
    let line = line.replace("BEFORE", before.to_str().unwrap());
    let line = line.replace("AFTER", after.to_str().unwrap());
    place.netbench_line(&format!("runs compare {line}"))
}

#[test]
fn a_run_after_an_upgrade_is_held_against_the_one_before() {
    let place = Place::with_sites("a.example\nb.example\n");
    for name in ["before", "after"] {
        place.connect(&format!("--rounds 8 --link none --name {name}"));
    }
    // The factor is far beyond the noise of a busy machine.
    slow_down(&place.named("after"), "rustls-aws-lc", 1_000);
    let gate = "--fail-on-regression 5000%";
    // 1000 % is the most.
    compare(&place, &format!("BEFORE AFTER {gate}")).expect(2);
    let gate = "--fail-on-regression 1000%";
    let worse = compare(&place, &format!("BEFORE AFTER {gate}")).expect(4);
    for part in ["regressed by more than", "a.example", "b.example"] {
        worse.prints(part);
    }
    let found = compare(&place, &format!("BEFORE AFTER {gate} --json")).expect(4);
    check("connect-compare.json", &found.stdout);
    let found: serde_json::Value = json(&found.stdout);
    // The total, and each of the stack's sites.
    assert_eq!(
        (&found["regressed"], &found["cannot_tell"]),
        (&3.into(), &0.into())
    );
    compare(&place, &format!("AFTER BEFORE {gate}")).expect(0);
    compare(&place, "BEFORE AFTER").expect(0);
    let same = format!("BEFORE AFTER --stack openssl,openssl {gate}");
    compare(&place, &same).expect(0);
    for format in ["markdown", "csv", "html", "junit"] {
        let done = compare(&place, &format!("BEFORE AFTER --format {format}")).expect(0);
        done.prints("a.example");
    }
    for (line, part) in [
        ("BEFORE", "two runs of connect"),
        ("BEFORE AFTER --join", "netbench runs merge"),
        ("BEFORE AFTER --stack openssl,other", "no stack \"other\""),
    ] {
        compare(&place, line).expect(2).tells(part);
    }
}

#[test]
fn too_few_rounds_cannot_tell_and_have_an_exit_code_of_their_own() {
    let place = Place::with_sites("a.example\n");
    for name in ["before", "after"] {
        place.connect(&format!("--rounds 2 --link none --name {name}"));
    }
    let gate = "BEFORE AFTER --fail-on-regression 5%";
    let found = compare(&place, gate).expect(6);
    found.prints("Cannot tell: ");
    found.prints("rounds");
    // There is no verdict, however large the ratio is.
    slow_down(&place.named("after"), "rustls-aws-lc", 10);
    compare(&place, gate).expect(6);
    compare(&place, "BEFORE AFTER").expect(0);
    let junit = compare(&place, &format!("{gate} --format junit")).expect(6);
    junit.prints(r#"type="cannot-tell""#);
    let help = place.succeeds("--help");
    help.prints("  4  a check failed")
        .prints("  6  a check cannot tell");
    let help = place.succeeds("runs compare --help");
    help.prints("regressed    4  ").prints("cannot tell  6  ");
}

#[test]
fn runs_that_measured_something_else_are_not_compared_unless_asked_for() {
    let place = Place::with_sites("a.example\n");
    place.connect("--rounds 1 --link none --name one");
    place.connect("--rounds 1 --link none --jobs 1 --name other");
    compared_if_allowed(&place, ["one", "other"], "--jobs", "--jobs");
}

fn evaluations() -> [String; 2] {
    let earlier = tree().join("netbench/report/tests/earlier-evaluation");
    [earlier, published_run("-vm-evaluate")].map(|run| run.display().to_string())
}

#[test]
fn evaluations_of_one_switch_are_joined_into_an_article() {
    let place = Place::new();
    let [first, second] = evaluations();
    let line = format!("runs compare {first} {second} --json");
    let found: serde_json::Value = place.document("joined-evaluations.json", &line);
    assert_eq!(found["runs"].as_array().unwrap().len(), 2);
    let article = place.netbench_line(&line.replace("--json", "--format markdown"));
    let article = article.expect(0).stdout;
    let title = "# Moving a client from OpenSSL to rustls, November 2026\n";
    assert!(article.starts_with(title), "{article}");
}

#[test]
fn evaluations_that_cannot_be_joined_are_named() {
    let place = Place::new();
    let [first, second] = evaluations();
    let other = place.path().join("other");
    fs::create_dir(&other).unwrap();
    let manifest = text(second.as_ref(), "run.json");
    let manifest = manifest.replace("\"to\": \"rustls-aws-lc\"", "\"to\": \"rustls-ring\"");
    fs::write(other.join("run.json"), manifest).unwrap();
    let other = other.display();
    let table = format!(
        "runs compare {first} => two evaluations or more
         runs compare {first} {first} => given twice
         runs compare {first} {second} --stack openssl,rustls-aws-lc => evaluations are joined
         runs compare {first} {second} --fail-on-regression 2% => evaluations are joined
         runs compare {first} {other} => a switch from openssl to rustls-ring, where"
    );
    place.refuses(2, &table);
}
