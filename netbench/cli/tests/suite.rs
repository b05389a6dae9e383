//! `netbench suite` from a user's perspective: real libraries, real turns.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use netbench_model::{CipherSuite, Group, Held, Measure, SuiteManifest, SuiteOutcome, SuiteSample};
use netbench_report::decided;
use serde_json::Value;

use crate::support::{
    Done, Place, built, check, check_lines, compared_if_allowed, finish, interrupt, kept, mark,
    marked_processes, samples_of, text, until, with_each, write_samples,
};

const FULL: &str = "handshake-full_1.3_ECDHE_ECDSA_AES128-GCM_SHA256";
const TICKET: &str = "handshake-ticket_1.2_ECDHE_RSA_AES256-GCM_SHA384";

fn suite(place: &Place, line: &str) -> Done {
    place.netbench_line(&format!("suite {line}"))
}

fn suite_samples(run: &Path) -> Vec<SuiteSample> {
    samples_of(run)
}

/// Makes a worker of this name that runs the shell script, with the real one as `$WORKER`.
fn scripted(place: &Place, worker: &str, script: &str) -> PathBuf {
    let text = format!("WORKER={}\n{script}", built(worker).display());
    place.script(&format!("{worker}.sh"), &text)
}

/// Returns `--worker slowed=…` with the stack slowed by `percent`.
fn slowed(place: &Place, percent: &str) -> String {
    let script = format!("NETBENCH_SLOWED_PERCENT={percent} exec \"$WORKER\"");
    let path = scripted(place, "netbench-worker-slowed", &script);
    format!("--worker slowed={}", path.display())
}

/// Makes a copy of a run with artificial times: `ns` nanoseconds by stack, a thousandth more or less by turn, on a
/// machine that is always idle. Other work on this machine cannot change the verdicts on such times.
fn retimed(place: &Place, run: &Path, name: &str, ns: impl Fn(&str) -> f64) -> String {
    let made = place.path().join(name);
    fs::create_dir(&made).unwrap();
    fs::copy(run.join("run.json"), made.join("run.json")).unwrap();
    let mut samples = suite_samples(run);
    let quiet = samples[0].outcome.ok().unwrap().slices[0].reference;
    assert!(quiet.is_some());
    for (place, sample) in samples.iter_mut().enumerate() {
        let ns = ns(sample.stack.as_str());
        let SuiteOutcome::Ok(measured) = &mut sample.outcome else {
            panic!("{sample:?}");
        };
        for (turn, slice) in measured.slices.iter_mut().enumerate() {
            let ns = ns * (1.0 + ((place * 7 + turn * 3) % 5) as f64 / 5_000.0);
            let figures = [&mut slice.low_ns, &mut slice.median_ns, &mut slice.mean_ns];
            for figure in figures.into_iter().flat_map(|of| of.values_mut()) {
                *figure = ns;
            }
            slice.reference = quiet;
        }
    }
    write_samples(&made, &samples);
    made.display().to_string()
}

/// The artificial nanoseconds of a stack for [`retimed`].
fn slowed_to_three_times(stack: &str) -> f64 {
    if stack == "slowed" { 3e6 } else { 1e6 }
}

#[test]
fn every_operation_is_timed_and_every_resumption_counted_on_both_sides() {
    let place = Place::new();
    let line = format!(
        "--case {FULL} --case {TICKET} --case connector_pem_roots-10 --stack openssl,rustls-ring \
         --rounds 2 --trial 30ms --seed 7 --json"
    );
    let done = suite(&place, &line).expect(0);
    let run = place.run();
    check("suite-summary.json", &done.stdout);
    check("suite-run.json", &text(&run, "run.json"));
    check_lines("suite-sample.json", &text(&run, "samples.jsonl"));

    let samples = suite_samples(&run);
    assert_eq!(samples.len(), 3 * 2 * 2);
    for sample in &samples {
        let SuiteOutcome::Ok(measured) = &sample.outcome else {
            panic!("{:?}", sample.outcome);
        };
        let operations: u64 = measured
            .slices
            .iter()
            .map(|s| u64::from(s.operations))
            .sum();
        assert!(operations > 0 && !measured.cpu.is_empty());
        for (measure, wall) in &measured.wall {
            assert_eq!(wall.count, operations, "{measure}");
            assert_eq!(
                wall.histogram.iter().map(|(_, n)| n).sum::<u64>(),
                operations
            );
            assert!(wall.min_ns > 0 && wall.min_ns <= wall.max_ns);
        }
        let resumed = if sample.name == TICKET {
            measured.handshakes
        } else {
            0
        };
        assert_eq!(
            (measured.client_resumed, measured.server_resumed),
            (resumed, resumed)
        );
        if sample.name == FULL {
            let client = measured.client.as_ref().unwrap();
            assert_eq!(client.suite, Some(CipherSuite::TLS_AES_128_GCM_SHA256));
            assert_eq!(client.group, Some(Group::X25519));
            assert_eq!(client.chain_bytes.len(), 2);
            let sides: Vec<_> = measured.wall.keys().copied().collect();
            assert_eq!(sides, [Measure::Client, Measure::Server]);
        }
    }

    // The stored run makes the same report, in every format.
    for (format, text) in [
        ("terminal", "Handshakes"),
        ("markdown", "| case | "),
        ("csv", "table,condition,first"),
        ("json", "\"kind\": \"suite\""),
    ] {
        let line = format!("runs report RUN --format {format}");
        let again = place.succeeds(&line);
        again.prints(text);
    }
    for file in ["summary.md", "summary.csv", "summary.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
}

fn held<'a>(samples: &'a [SuiteSample], case: &str) -> &'a Held {
    let sample = samples.iter().find(|sample| sample.name == case);
    let measured = sample.unwrap().outcome.ok().unwrap();
    measured.held.as_ref().unwrap()
}

#[test]
fn every_part_runs_on_one_stack_alone() {
    let place = Place::new();
    let cases = [
        "bulk_1.3_ECDHE_RSA_AES128-GCM_SHA256_fragment-4096",
        "verify_ecdsa-p384_chain-3_roots-10",
        "memory-100_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
        "memory-100_1.3_ECDHE_ECDSA_AES128-GCM_SHA256_after-data",
        "threads-*_handshake-ticket_1.3_ECDHE_ECDSA_AES128-GCM_SHA256",
        "handshake-full_1.3_ECDHE_ECDSA_AES128-GCM_SHA256_secp384r1_client-auth",
    ];
    let line = "suite --stack rustls-aws-lc --rounds 1 --trial 20ms";
    let done = place.succeeds(&with_each(line, "--case", cases));
    assert!(!done.stdout.contains("Unsupported"), "{}", done.stdout);
    let samples = suite_samples(&place.run());
    let case = "memory-100_1.3_ECDHE_ECDSA_AES128-GCM_SHA256";
    let after_data = held(&samples, &format!("{case}_after-data"));
    let received = [after_data.client_data_bytes, after_data.server_data_bytes];
    assert_eq!(received, [50 * 16 * 1024; 2]);
    assert!(after_data.ticket_bytes > 0, "{after_data:?}");
    let held = held(&samples, case);
    assert_eq!(held.sessions, 100);
    assert!(held.peak_bytes >= held.after_bytes && held.after_bytes > held.before_bytes);
    let heap = held.heap.as_ref().expect("allocations are counted");
    assert!(heap.allocations > 1_000 && heap.peak_bytes >= heap.held_bytes);
    let sides = [heap.client_bytes.unwrap(), heap.server_bytes.unwrap()];
    // Sessions share little, and each holds at least its buffers and keys.
    assert!(sides.iter().all(|bytes| *bytes > 50 * 1_000), "{heap:?}");
    let sum: u64 = sides.iter().sum();
    assert!(
        sum <= heap.held_bytes && 10 * sum > 8 * heap.held_bytes,
        "{heap:?}"
    );
    for side in ["client", "server"] {
        let case = format!("{case}_heap-{side}");
        done.prints(&case);
    }
}

#[test]
fn a_stack_that_is_slower_regresses_and_the_other_way_round_it_does_not() {
    let place = Place::new();
    let line = format!("--case {FULL} --stack rustls-ring --rounds 8 --trial 20ms --quiet");
    suite(&place, &line).expect(0);
    let [before, after] = [("before", 1e6), ("after", 3.5e6)]
        .map(|(name, ns)| retimed(&place, &place.run(), name, |_| ns));

    let line = format!("runs compare {before} {after}");
    let gated = format!("{line} --fail-on-regression 20%");
    let worse = place.netbench_line(&gated).expect(4);
    worse.prints("regressed by more than 20.0 %");
    let reversed = format!("runs compare {after} {before} --fail-on-regression 20%");
    let better = place.succeeds(&reversed);
    better.prints("Passed: nothing regressed");
    // The stack is slower, but within the limit.
    let within = format!("{line} --fail-on-regression 1000%");
    place.succeeds(&within);
    place.succeeds(&line);

    let json = place.netbench_line(&format!("{gated} --json")).expect(4);
    check("compare-summary.json", &json.stdout);
    let json: Value = crate::support::json(&json.stdout);
    let ratio = json["cases"][0]["change"]["ratio"].as_f64().unwrap();
    assert!((3.49..3.51).contains(&ratio), "{ratio}");
    let junit = format!("{gated} --format junit");
    let junit = place.netbench_line(&junit).expect(4);
    junit.prints("failures=\"2\"");

    // As in a step of GitHub Actions.
    let summary = place.path().join("step.md");
    let line = format!("{line} --github-summary");
    let mut command = place.command_line(&line);
    finish(command.env("GITHUB_STEP_SUMMARY", &summary)).expect(0);
    assert!(fs::read_to_string(&summary).unwrap().contains("| case |"));
    finish(place.command_line(&line).env_remove("GITHUB_STEP_SUMMARY")).expect(2);
}

/// Returns each other stack, with its verdict, its ratio, and the reason why it is undecided.
fn verdicts(summary: &Value) -> Vec<(&str, &str, f64, Option<&str>)> {
    let cases = summary["cases"].as_array().unwrap().iter();
    let verdicts = cases.flat_map(|case| case["verdicts"].as_array().unwrap());
    verdicts
        .map(|verdict| {
            let paired = &verdict["change"];
            (
                verdict["other"].as_str().unwrap(),
                paired["verdict"].as_str().unwrap(),
                paired["ratio"].as_f64().unwrap(),
                verdict["undecided"].as_str(),
            )
        })
        .collect()
}

#[test]
fn a_slowed_stack_is_slower_and_a_stack_is_not_slower_than_itself() {
    let place = Place::new();
    // The slowdown is so large that other tests on the same two cores do not hide it.
    let worker = slowed(&place, "200");
    let line = format!(
        "--case {TICKET} --stack rustls-ring,rustls-ring,slowed {worker} --until-decided --rounds 27 --trial 60ms --json"
    );
    let done = suite(&place, &line).expect(0);
    let summary: Value = serde_json::from_str(&done.stdout).unwrap();
    assert_eq!(verdicts(&summary).len(), 4);
    for (other, verdict, ratio, reason) in verdicts(&summary) {
        // A machine that is never idle has no verdict, and the output gives the reason.
        let is_slower = ratio > 1.25 && (verdict == "slower" || reason.is_some());
        assert!(
            other != "slowed" || is_slower,
            "{verdict}, {ratio}, {reason:?}"
        );
    }

    let run = retimed(&place, &place.run(), "made", slowed_to_three_times);
    let report = place.succeeds(&format!("runs report {run} --format json"));
    let summary: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(verdicts(&summary).len(), 4);
    for (other, verdict, ratio, reason) in verdicts(&summary) {
        let (due, of) = match other {
            "slowed" => ("slower", 3.0),
            _ => ("same", 1.0),
        };
        assert_eq!((verdict, reason), (due, None), "{other}, {ratio}");
        assert!((ratio / of - 1.0).abs() < 0.01, "{other}, {ratio}");
    }
    let pair = format!("runs compare {run} --stack rustls-ring,slowed --fail-on-regression 10%");
    place.netbench_line(&pair).expect(4);
    let pair = format!("runs compare {run} --stack slowed,rustls-ring --fail-on-regression 10%");
    place.succeeds(&pair);

    let [second, third] = ["second", "third"].map(|name| {
        let copy = place.path().join(name);
        fs::create_dir(&copy).unwrap();
        for file in ["run.json", "samples.jsonl"] {
            fs::copy(Path::new(&run).join(file), copy.join(file)).unwrap();
        }
        copy.display().to_string()
    });
    let joined = format!("runs compare {run} {second} {third} --stack rustls-ring,slowed --json");
    let joined = place.succeeds(&joined);
    check("joined-summary.json", &joined.stdout);
    let joined: Value = serde_json::from_str(&joined.stdout).unwrap();
    for case in joined["cases"].as_array().unwrap() {
        assert_eq!(case["runs"].as_array().unwrap().len(), 3);
        assert_eq!(case["joined"]["verdict"], "slower");
    }
    for wrong in [
        format!("{run} --join"),
        format!("{run} {second} {run} --stack rustls-ring,slowed"),
    ] {
        let line = format!("runs compare {wrong}");
        place.netbench_line(&line).expect(2);
    }
    let gate = format!("runs compare {run} {second} {third} --fail-on-regression 10%");
    place.netbench_line(&gate).expect(2);
}

#[test]
fn runs_with_other_settings_are_not_compared_unless_asked_for() {
    let place = Place::new();
    for trial in ["20ms", "30ms"] {
        let line =
            format!("--case {FULL} --stack rustls-ring --rounds 2 --trial {trial} --name t{trial}");
        suite(&place, &line).expect(0);
    }
    compared_if_allowed(&place, ["t20ms", "t30ms"], "trial_ms", "not comparable");
}

#[test]
fn names_are_listed_without_a_worker() {
    let place = Place::new();
    let done = suite(&place, "handshake --list --stack nonsense").expect(0);
    done.prints("handshake-full_1.3_ECDHE_RSA_AES256-GCM_SHA384_server\n");
    let done = suite(&place, "--preset rustls-vs-openssl --list").expect(0);
    assert_eq!(done.stdout.lines().count(), 26);
}

#[test]
fn a_worker_that_is_killed_fails_alone_and_nothing_is_left() {
    let place = Place::new();
    let killed = scripted(
        &place,
        "netbench-worker-slowed",
        "exec timeout --foreground -s KILL 0.5 \"$WORKER\"",
    );
    let line = format!(
        "suite --case {FULL} --stack rustls-ring,slowed --worker slowed={} --rounds 1 --trial 2s",
        killed.display()
    );
    let mut command = place.command_line(&line);
    let mark = mark(&place, &mut command);
    let done = finish(&mut command).expect(3);
    done.prints("the worker exited with 137");
    let samples = suite_samples(&place.run());
    let outcomes: Vec<_> = samples
        .iter()
        .map(|s| (s.stack.as_str(), s.outcome.ok().is_some()))
        .collect();
    assert_eq!(outcomes, [("rustls-ring", true), ("slowed", false)]);
    assert_eq!(marked_processes(&mark), Vec::<String>::new());
}

#[test]
fn a_variant_is_what_its_name_says_or_unsupported() {
    let place = Place::new();
    let stacks = ["rustls-ring", "rustls-ring+novaes", "rustls-aws-lc+novaes"];
    let line = format!(
        "suite crypto --case crypto_aes128-gcm_seal --stack {} --rounds 1 --trial 20ms",
        stacks.join(",")
    );
    place.succeeds(&line);
    let run = place.run();
    let has = fs::read_to_string("/proc/cpuinfo").unwrap();
    let has = has.split_whitespace().any(|flag| flag == "vaes");
    for sample in suite_samples(&run) {
        let stack = sample.stack.as_str();
        match sample.outcome {
            SuiteOutcome::Ok(_) => assert!(stack == stacks[0] || stack == stacks[2] && has),
            SuiteOutcome::Unsupported { reason } if has => {
                assert_eq!(stack, stacks[1]);
                assert!(reason.contains("does not heed OPENSSL_ia32cap"), "{reason}");
            }
            SuiteOutcome::Unsupported { reason } => {
                assert_ne!(stack, stacks[0]);
                assert!(reason.contains("this processor has no vaes"), "{reason}");
            }
            other => panic!("{stack}: {other:?}"),
        }
    }
    let manifest: SuiteManifest = kept(&run, "run.json");
    let mut workers = manifest.workers.iter();
    let worker = workers.find(|worker| worker.stack == stacks[2]).unwrap();
    let leaf = worker.build["cpuid_leaf_7"].trim_start_matches("0x");
    let leaf = u64::from_str_radix(leaf, 16).unwrap();
    assert_eq!(leaf & 0x0600_0000_0000, 0, "{leaf:#x}");
    assert_ne!(leaf, 0);
    assert_eq!(worker.build["allocator"], "system");
}

#[test]
fn without_valgrind_instructions_are_unsupported() {
    let place = Place::new();
    let line = format!(
        "suite instructions --case instructions_{FULL} --stack rustls-ring --rounds 1 --json"
    );
    let mut command = place.command_line(&line);
    let done = finish(command.env("PATH", "/nowhere")).expect(3);
    done.prints("valgrind is not installed");
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_goes_on() {
    let place = Place::new();
    let line =
        format!("suite --case {FULL} --stack rustls-ring --rounds 12 --trial 150ms --seed 3");
    let child = place.begin(&line);
    until("two samples", || place.lines("samples.jsonl") >= 2);
    let done = interrupt(child).expect(130);
    done.prints("not finished");
    let run = place.run();
    let taken = suite_samples(&run).len();
    assert!((2..12).contains(&taken), "{taken}");

    place.succeeds("run RUN");
    let rounds: Vec<u32> = suite_samples(&run).iter().map(|s| s.round).collect();
    assert_eq!(rounds, (0..12).collect::<Vec<u32>>());
    let manifest: SuiteManifest = kept(&run, "run.json");
    let interrupted: Vec<_> = manifest.sessions.iter().map(|s| s.interrupted).collect();
    assert_eq!(interrupted, [true, false]);
}

#[test]
fn run_folders_that_are_newer_or_cut_short() {
    let place = Place::new();
    let line = format!("--case {FULL} --stack rustls-ring --rounds 2 --trial 20ms");
    suite(&place, &line).expect(0);
    let run = place.run();
    let (manifest, samples) = (run.join("run.json"), run.join("samples.jsonl"));
    let compare = "runs compare RUN RUN";
    let report = "runs report RUN";

    // The last line is truncated, as after a kill.
    let whole = fs::read_to_string(&samples).unwrap();
    fs::write(&samples, &whole[..whole.len() - 40]).unwrap();
    place.succeeds(compare);

    let text = fs::read_to_string(&manifest).unwrap();
    for (broken, said) in [
        (text.replacen("\"schema\": 2", "\"schema\": 99", 1), "newer"),
        (text[..text.len() / 2].to_owned(), "not a manifest"),
        (
            text.replacen("\"kind\": \"suite\"", "\"kind\": \"x\"", 1),
            "kind",
        ),
    ] {
        fs::write(&manifest, broken).unwrap();
        for line in [compare, report] {
            let done = place.netbench_line(line).expect(2);
            done.tells(said);
        }
    }
}

#[test]
fn rounds_end_when_all_is_decided() {
    let place = Place::new();
    let worker = slowed(&place, "200");
    let most = 27;
    let line = format!(
        "--case {TICKET} --stack rustls-ring,slowed {worker} --until-decided --rounds {most} --trial 60ms --quiet"
    );
    suite(&place, &line).expect(0);
    let plan = kept::<SuiteManifest>(&place.run(), "run.json").plan;
    let samples = suite_samples(&place.run());
    let rounds = samples.iter().map(|sample| sample.round + 1).max();
    // The time of the decision depends on how idle the machine is.
    let first_decided = (1..most).find(|rounds| {
        let so_far = samples.iter().filter(|sample| sample.round < *rounds);
        !decided(&plan, &so_far.cloned().collect::<Vec<_>>(), *rounds).is_empty()
    });
    assert_eq!(rounds, first_decided.or(Some(most)));

    // On a machine that is always idle, the decision comes at the first interim analysis.
    let made = PathBuf::from(retimed(&place, &place.run(), "made", slowed_to_three_times));
    assert_eq!(decided(&plan, &suite_samples(&made), 9), [0]);
}
