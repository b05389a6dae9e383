//! `netbench runs compare` of runs of connect: before and after.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{fs, path::Path};

use netbench_model::Outcome;

use crate::support::{Done, Place, check, json, published_run, samples, text};

/// Multiplies the times of a stack's connections by `factor`.
fn slow_down(run: &Path, stack: &str, factor: u64) {
    let lines = samples(run).into_iter().map(|mut sample| {
        if let Outcome::Ok(figures) = &mut sample.outcome
            && sample.stack.as_str() == stack
        {
            figures.phases.total_ns *= factor;
        }
        serde_json::to_string(&sample).unwrap() + "\n"
    });
    fs::write(run.join("samples.jsonl"), lines.collect::<String>()).unwrap();
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
    assert!(
        compare(&place, &format!("BEFORE AFTER {gate}")).code == Some(2),
        "1000 % is the most"
    );
    let gate = "--fail-on-regression 1000%";
    let worse = compare(&place, &format!("BEFORE AFTER {gate}")).expect(4);
    for part in [
        "regressed by more than",
        "a.example",
        "b.example",
        "regressed",
    ] {
        assert!(worse.stdout.contains(part), "{}", worse.stdout);
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
    compare(
        &place,
        &format!("BEFORE AFTER --stack openssl,openssl {gate}"),
    )
    .expect(0);
    for format in ["markdown", "csv", "html", "junit"] {
        let done = compare(&place, &format!("BEFORE AFTER --format {format}")).expect(0);
        assert!(done.stdout.contains("a.example"), "{format}");
    }
    for (line, part) in [
        ("BEFORE", "two runs of connect"),
        ("BEFORE AFTER --join", "netbench runs merge"),
        ("BEFORE AFTER --stack openssl,other", "no stack \"other\""),
    ] {
        let refused = compare(&place, line).expect(2);
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
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
    assert!(found.stdout.contains("Cannot tell: "), "{}", found.stdout);
    assert!(found.stdout.contains("rounds"), "{}", found.stdout);
    // There is no verdict, however large the ratio is.
    slow_down(&place.named("after"), "rustls-aws-lc", 10);
    compare(&place, gate).expect(6);
    compare(&place, "BEFORE AFTER").expect(0);
    let junit = compare(&place, &format!("{gate} --format junit")).expect(6);
    assert!(
        junit.stdout.contains(r#"type="cannot-tell""#),
        "{}",
        junit.stdout
    );
    for (line, codes) in [
        (
            "--help",
            ["  4  a check failed", "  6  a check cannot tell"],
        ),
        (
            "runs compare --help",
            ["regressed    4  ", "cannot tell  6  "],
        ),
    ] {
        let help = place.netbench_line(line).expect(0);
        for code in codes {
            assert!(help.stdout.contains(code), "{line}: {}", help.stdout);
        }
    }
}

#[test]
fn runs_that_measured_something_else_are_not_compared_unless_asked_for() {
    let place = Place::with_sites("a.example\n");
    place.connect("--rounds 1 --link none --name one");
    place.connect("--rounds 1 --link none --jobs 1 --name other");
    let [one, other] = ["one", "other"].map(|name| place.named(name));
    let line = format!("runs compare {} {}", one.display(), other.display());
    let refused = place.netbench_line(&line).expect(2);
    assert!(refused.stderr.contains("--jobs"), "{}", refused.stderr);
    let line = format!("{line} --allow-different-settings");
    let done = place.netbench_line(&line).expect(0);
    assert!(done.stdout.contains("--jobs"), "{}", done.stdout);
}

fn evaluations() -> [String; 2] {
    let ends = ["-vm-openssl-to-rustls-aws-lc", "-vm-evaluate"];
    ends.map(|end| published_run(end).display().to_string())
}

#[test]
fn evaluations_of_one_switch_are_joined_into_an_article() {
    let place = Place::new();
    let [first, second] = evaluations();
    let line = format!("runs compare {first} {second} --json");
    let done = place.netbench_line(&line).expect(0);
    check("joined-evaluations.json", &done.stdout);
    let found: serde_json::Value = json(&done.stdout);
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
    for (line, message) in [
        (first.clone(), "two evaluations or more"),
        (format!("{first} {first}"), "given twice"),
        (
            format!("{first} {second} --stack openssl,rustls-aws-lc"),
            "evaluations are joined",
        ),
        (
            format!("{first} {second} --fail-on-regression 2%"),
            "evaluations are joined",
        ),
        (
            format!("{first} {}", other.display()),
            "a switch from openssl to rustls-ring, where",
        ),
    ] {
        let done = place.netbench_line(&format!("runs compare {line}"));
        let done = done.expect(2);
        assert!(done.stderr.contains(message), "{line}: {}", done.stderr);
    }
}
