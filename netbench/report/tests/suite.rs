//! The suite's reports in every format, for a run on a machine that is disturbed half of the time.

use netbench_model::{
    Case, IdleReference, KeyType, Measure, Primitive, Scenario, StackName, SuiteOutcome,
    SuiteSample, Unit, Work,
};
use netbench_report::{
    Gate, Regression, SuiteExplained, SuiteReport, SuiteSummary, compare_runs_of_suite,
    compare_stacks_of_suite, join_runs_of_suite, summarize_suite,
};
use netbench_stats::Verdict;

use crate::support::{
    formats::{
        assert_harmless, assert_has, assert_json, assert_lacks, assert_valid, render, terminal,
    },
    runs::IDLE,
    suite_made::{Fixture, NEVER_QUIET, figures, handshake, settings, slices},
};

fn verdict(summary: &SuiteSummary, scenario: Scenario, measure: Measure) -> (f64, Verdict) {
    let case = Case { scenario, measure };
    let row = summary.cases.iter().find(|row| row.case == case).unwrap();
    let paired = row.verdicts[0].change;
    (paired.ratio, paired.verdict)
}

#[test]
fn terminal_and_markdown() {
    let report = Fixture::default().report();
    insta::assert_snapshot!("suite_terminal", terminal(&report, 120));
    insta::assert_snapshot!("suite_markdown", render(&report, "markdown"));
    for line in terminal(&report, 40).lines() {
        let words = line.split(' ').count();
        assert!(words == 1 || line.chars().count() <= 64, "{line:?}");
    }
}

#[test]
fn a_preset_prints_its_table_and_the_published_one() {
    let fixture = Fixture {
        preset: Some("rustls-vs-openssl"),
        ..Fixture::default()
    };
    let report = fixture.report();
    let text = terminal(&report, 120);
    let (_, table) = text.split_once("rustls-vs-openssl: measured here").unwrap();
    let (tables, _) = table.split_once("\nApplication data").unwrap();
    insta::assert_snapshot!("suite_preset", tables);
    assert_eq!(report.summary.published.as_ref().unwrap().rows.len(), 20);
}

#[test]
fn all_stacks_has_a_row_for_each() {
    let fixture = Fixture {
        preset: Some("all-stacks"),
        ..Fixture::default()
    };
    let text = terminal(&fixture.report(), 160);
    let (_, tables) = text.split_once("One row for each stack").unwrap();
    let (tables, _) = tables.split_once("\nApplication data").unwrap();
    insta::assert_snapshot!("suite_all_stacks", tables);
}

/// The report states that the suite cannot run one stack, and that another compiles while it runs.
#[test]
fn what_cannot_be_compared_is_not_asked_and_a_cold_machine_is_not_timed() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.plan.stacks.push(StackName::new("native-tls"));
    let java = &mut manifest.workers[1].build;
    java.insert("vm_info".to_owned(), "mixed mode, sharing".to_owned());
    let report = SuiteReport::new(manifest, &fixture.samples());
    let text = terminal(&report, 400);
    assert_lacks(&text, "Is native-tls fast enough");
    // Sizes are compared, and times are not.
    let said = " on rustls-ring: needs a warmed-up virtual machine";
    assert_has(&text, said);
    assert_has(&text, "Open. No times were compared. ");
    let figures = report.summary.cases.iter().filter(|case| {
        let mut stacks = case.stacks.iter();
        stacks.any(|figures| figures.stack.as_str() == "rustls-ring")
    });
    let units: Vec<Unit> = figures.map(|case| case.unit).collect();
    let mut sizes = units.iter();
    let are_sizes = sizes.all(|unit| matches!(unit, Unit::Bytes | Unit::Allocations));
    assert!(!units.is_empty() && are_sizes, "{units:?}");
    let usual = terminal(&fixture.report(), 120);
    assert_lacks(&usual, "warmed-up");
}

/// Parts without figures may be the slow ones.
#[test]
fn parts_without_figures_leave_the_answer_open() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.plan.idle = Some(NEVER_QUIET);
    let text = terminal(&SuiteReport::new(manifest, &fixture.samples()), 400);
    assert_has(&text, "Open. By the mean of the cases, ");
    assert_has(
        &text,
        "on a machine that was never quiet, which more rounds do not change",
    );
    assert_lacks(&text, "In no part of the suite");
}

/// An allocator may have had room for all sessions.
#[test]
fn sessions_that_took_no_more_room_have_no_figure() {
    let fixture = Fixture::default();
    for (takes_none, stacks) in [(false, 2), (true, 1)] {
        let mut samples = fixture.samples();
        for (stack, measured) in figures(&mut samples).filter(|_| takes_none) {
            if let ("rustls-ring", Some(held)) = (stack, &mut measured.held) {
                held.after_bytes = held.before_bytes;
            }
        }
        let summary = summarize_suite(&fixture.manifest(), &samples);
        let mut rows = summary.cases.iter();
        let row = rows.find(|row| row.case.measure == Measure::PerSession);
        assert_eq!(row.unwrap().stacks.len(), stacks);
    }
}

/// A sample of an earlier version has the heap of all sessions together.
#[test]
fn the_heap_of_a_client_and_of_a_server_are_apart() {
    let fixture = Fixture::default();
    let mut samples = fixture.samples();
    let report = SuiteReport::new(fixture.manifest(), &samples);
    let held = figures(&mut samples).filter_map(|(_, measured)| measured.held.as_mut());
    for heap in held.filter_map(|held| held.heap.as_mut()) {
        heap.client_bytes = None;
        heap.server_bytes = None;
    }
    let older = SuiteReport::new(fixture.manifest(), &samples);
    let [found, of_older] = [&report, &older].map(|report| {
        let rows = report.summary.cases.iter();
        let rows = rows.filter(|row| row.case.is_of_one_side());
        let rows = rows.map(|row| format!("{} {:.0}", row.case.measure, row.stacks[0].low));
        rows.collect::<Vec<_>>()
    });
    assert_eq!(found, ["heap-client 16000", "heap-server 4000"]);
    assert_eq!(of_older, [""; 0]);
    assert_eq!(older.summary.cases.len() + 2, report.summary.cases.len());
    let first = (&fixture.manifest(), &samples[..]);
    let compared = compare_runs_of_suite(first, first, None, None);
    let mut missing = compared.missing.iter();
    assert!(
        missing.all(|name| !name.contains("heap-")),
        "{:?}",
        compared.missing
    );
}

#[test]
fn a_history_marks_the_steps_that_are_beyond_noise() {
    let fixture = Fixture {
        preset: Some("history"),
        ..Fixture::default()
    };
    let report = fixture.report();
    let text = terminal(&report, 160);
    let (_, tables) = text.split_once("Version by version").unwrap();
    let (tables, _) = tables.split_once("\nApplication data").unwrap();
    insta::assert_snapshot!("suite_history", tables);
    let page = render(&report, "html");
    assert!(page.contains("class=\"faster\""), "a step is marked");

    let same = Fixture {
        ratio: 1.0,
        suffers: 1.4,
        ..fixture
    };
    let text = terminal(&same.report(), 160);
    assert_has(&text, "No version differs from the one before it");
    assert_lacks(&text, " ▲");
}

#[test]
fn nothing_that_a_terminal_obeys_is_in_any_form() {
    let report = Fixture::default().report();
    let compared = compare_stacks_of_suite(
        &Fixture::default().manifest(),
        &Fixture::default().samples(),
        &StackName::new("openssl"),
        &StackName::new("rustls-ring"),
        Some(0.02),
    );
    assert_harmless(&report);
    assert_harmless(&compared);
    assert!(!render(&report, "markdown").contains("<b>"));
}

#[test]
fn what_is_published_fits_its_schema() {
    let fixture = Fixture {
        preset: Some("memory-table"),
        ..Fixture::default()
    };
    assert_json(&fixture.report(), "suite-summary.json");
    let manifest = serde_json::to_value(fixture.manifest()).unwrap();
    assert_valid(&manifest, "suite-run.json");
    for sample in fixture.samples() {
        assert_valid(&serde_json::to_value(sample).unwrap(), "suite-sample.json");
    }
    let joined = join_runs_of_suite(
        &[1, 2].map(|_| (fixture.manifest(), fixture.samples())),
        None,
    );
    assert_json(&joined, "joined-summary.json");
}

#[test]
fn disturbed_turns_do_not_move_a_verdict() {
    // Both are disturbed, the second more: over all turns it would be 0.55 times the first.
    for disturbed in [0, 50, 80] {
        let fixture = Fixture {
            rounds: 20,
            disturbed,
            ..Fixture::default()
        };
        let summary = fixture.summary();
        let (ratio, verdict) = verdict(&summary, handshake(), Measure::Server);
        assert!((ratio - 0.5).abs() < 0.005, "{disturbed} %: {ratio}");
        assert_eq!(verdict, Verdict::Faster);
        assert!((summary.disturbed_share() * 100.0 - f64::from(disturbed)).abs() < 8.0);
    }
}

#[test]
fn equal_stacks_are_the_same_and_slower_ones_slower() {
    for (ratio, expected) in [
        (1.0, Verdict::Same),
        (1.03, Verdict::Slower),
        (0.97, Verdict::Faster),
    ] {
        let fixture = Fixture {
            rounds: 20,
            ratio,
            suffers: 1.4,
            ..Fixture::default()
        };
        let (_, found) = verdict(&fixture.summary(), handshake(), Measure::Client);
        assert_eq!(found, expected, "{ratio}");
    }
}

#[test]
fn where_disturbance_is_worth_more_than_the_difference_there_is_no_verdict() {
    let fixture = Fixture {
        rounds: 20,
        ratio: 1.03,
        ..Fixture::default()
    };
    let report = fixture.report();
    let (ratio, found) = verdict(&report.summary, handshake(), Measure::Client);
    assert!((ratio - 1.03).abs() < 0.005, "{ratio}");
    assert_eq!(found, Verdict::NotJudged);
    let said = "not judged: depends on how busy the machine is";
    assert!(render(&report, "markdown").contains(said));
}

#[test]
fn a_machine_that_was_never_quiet_gives_no_verdict() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.plan.idle = Some(NEVER_QUIET);
    let summary = summarize_suite(&manifest, &fixture.samples());
    let (_, found) = verdict(&summary, handshake(), Measure::Client);
    assert_eq!(found, Verdict::NotJudged);
    let warnings = summary.warnings.join("\n");
    let said = "never quiet during 4 comparisons";
    assert_has(&warnings, said);
}

#[test]
fn a_run_without_reference_loops_is_compared_over_all_turns() {
    let fixture = Fixture {
        disturbed: 80,
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    slices(&mut samples).for_each(|slice| slice.reference = None);
    let summary = summarize_suite(&fixture.manifest(), &samples);
    let (ratio, found) = verdict(&summary, handshake(), Measure::Client);
    // Disturbed for four fifths of the time, the second stack takes 0.5 × 1.7 / 1.4 of the first one's.
    assert!((0.60..0.61).contains(&ratio), "{ratio}");
    assert_eq!(found, Verdict::Faster);
    let warnings = summary.warnings.join("\n");
    assert_has(&warnings, "has no reference loops");
}

/// Workers in languages other than Rust have no reference loops, and the others in the run do.
#[test]
fn the_stacks_without_reference_loops_are_named() {
    let fixture = Fixture::default();
    let go = StackName::new("go");
    let mut samples = fixture.samples();
    let mut without: Vec<_> = samples
        .iter()
        .filter(|sample| sample.stack.as_str() == "rustls-ring")
        .cloned()
        .collect();
    for sample in &mut without {
        sample.stack = go.clone();
    }
    slices(&mut without).for_each(|slice| slice.reference = None);
    samples.extend(without);
    let mut manifest = fixture.manifest();
    manifest.plan.stacks.push(go);
    let warnings = summarize_suite(&manifest, &samples).warnings.join("\n");
    let said = "No reference loops run beside go: verdicts on their timings";
    assert_has(&warnings, said);
    assert_lacks(&warnings, "has no reference loops");
}

#[test]
fn dear_operations_that_a_low_percentile_hides_are_marked() {
    let fixture = Fixture {
        suffers: 1.4,
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    let openssl = figures(&mut samples).filter(|(stack, _)| *stack == "openssl");
    for slice in openssl.flat_map(|(_, measured)| &mut measured.slices) {
        slice.mean_ns.values_mut().for_each(|ns| *ns *= 1.05);
    }
    let report = SuiteReport::new(fixture.manifest(), &samples);
    let shown = render(&report, "markdown");
    assert!(shown.contains("the mean differs"));
    assert!(!shown.contains("the median differs"));
}

#[test]
fn a_case_that_cannot_be_judged_does_not_pass_in_silence() {
    let [doubtful, unknown] = [3.0, 0.5].map(|ratio| {
        let fixture = Fixture {
            ratio,
            rounds: 1,
            ..Fixture::default()
        };
        let (first, other) = (StackName::new("openssl"), StackName::new("rustls-ring"));
        let (manifest, samples) = (fixture.manifest(), fixture.samples());
        compare_stacks_of_suite(&manifest, &samples, &first, &other, Some(0.02))
    });
    // A single round decides no case, however large the change.
    assert_eq!(doubtful.gate.regressed, 0);
    assert_eq!(
        doubtful.gate.cannot_tell as usize,
        doubtful.cases.len() + doubtful.unmeasured.len()
    );
    assert_eq!(doubtful.gate.result(), Some(Gate::CannotTell));
    let reported = terminal(&doubtful, 200);
    for case in &doubtful.cases {
        assert_eq!(
            case.judged.regression,
            Regression::CannotTell,
            "{}",
            case.key.name
        );
        assert_has(
            &reported,
            &format!("{} {:.2}×", case.key.name, case.change.ratio),
        );
    }
    assert!(render(&doubtful, "junit").contains("too few rounds"));
    // A single round with an improvement does not pass either.
    assert_eq!(unknown.gate.result(), Some(Gate::CannotTell));
    assert!(terminal(&unknown, 200).contains("Cannot tell: "));
}

#[test]
fn the_verification_that_a_run_measured_is_a_part_of_the_handshake() {
    let fixture = Fixture::default();
    let key = settings().key;
    let group = settings().group;
    let primitives = [
        Primitive::Sign { key },
        Primitive::Verify { key },
        Primitive::KeyShare { group },
        Primitive::Respond { group },
        Primitive::Agree { group },
    ];
    let primitives = primitives.map(|primitive| (Work::Crypto { primitive }, 10_000.0));
    // The chain of other keys is not that of the handshake.
    let chains = [
        (key, 118, 41_000.0),
        (key, 1, 40_000.0),
        (KeyType::EcdsaP256, 1, 90_000.0),
    ];
    let chains = chains.map(|(key, roots, ns)| {
        let chain_length = settings().chain_length;
        let work = Work::Verify {
            key,
            chain_length,
            roots,
        };
        (work, ns)
    });
    let mut takes = vec![(handshake(), 200_000.0)];
    let others = chains.into_iter().chain(primitives);
    takes.extend(others.map(|(work, ns)| (Scenario::timed(work), ns)));
    let samples = fixture.samples();
    let handshakes = samples
        .iter()
        .filter(|sample| sample.scenario == handshake() && sample.outcome.ok().is_some());
    let samples: Vec<SuiteSample> = handshakes
        .flat_map(|sample| {
            takes.iter().map(|(scenario, ns)| {
                let mut sample = SuiteSample {
                    scenario: *scenario,
                    name: scenario.to_string(),
                    ..sample.clone()
                };
                if let SuiteOutcome::Ok(measured) = &mut sample.outcome {
                    for slice in &mut measured.slices {
                        slice.low_ns = scenario.measures().iter().map(|m| (*m, *ns)).collect();
                    }
                }
                sample
            })
        })
        .collect();
    let mut manifest = fixture.manifest();
    manifest.plan.scenarios = takes.iter().map(|(scenario, _)| *scenario).collect();
    let summary = summarize_suite(&manifest, &samples);
    for (side, verification_ns) in [(Measure::Client, Some(40_000.0)), (Measure::Server, None)] {
        let mut breakdowns = summary.breakdowns.iter();
        let found = breakdowns.find(|row| row.side == side).unwrap();
        assert_eq!(found.verification_ns, verification_ns);
    }
    let explained = SuiteExplained(summarize_suite(&manifest, &samples));
    let text = terminal(&explained, 160);
    // Of 200 µs, 10 are the signature, 20 key exchange, 40 certificates.
    let row = text
        .lines()
        .find(|line| line.contains("client") && line.contains("200 µs") && !line.contains("of the"))
        .unwrap_or_else(|| panic!("{text}"));
    assert!(row.contains("40.0 µs") && row.contains("130 µs"), "{text}");
}

#[test]
fn a_first_run_warns_that_no_idle_level_is_known() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    for (idle, is_warned) in [(None, true), (Some(IDLE), false)] {
        manifest.plan.idle = idle;
        let summary = summarize_suite(&manifest, &fixture.samples());
        let warnings = summary.warnings.join("\n");
        let said = "when it is idle was not known";
        assert_eq!(warnings.contains(said), is_warned, "{warnings}");
    }
}

/// Two of the last runs were on a host whose clock was 4 % higher.
#[test]
fn an_idle_level_at_a_higher_clock_leaves_verdicts() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    let higher = IdleReference {
        integer_ns: 2_500.0,
        aes_ns: 2_019.0,
        memory_ns: 1_442.0,
    };
    manifest.plan.idle = Some(higher);
    manifest.plan.idle_beside = ["openssl", "rustls-ring"]
        .map(|stack| (StackName::new(stack), higher))
        .into();
    let summary = summarize_suite(&manifest, &fixture.samples());
    let (_, found) = verdict(&summary, handshake(), Measure::Client);
    assert_eq!(found, Verdict::Faster);
}
