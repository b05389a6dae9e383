//! The rows of made-up evidence of the report's tests, stored as runs, with the command's answer and exit code for each.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::Path;

use netbench_model::compat::{CompatSample, Judgement};
use netbench_report::{Answer, Gate};
use serde_json::Value;

use crate::{
    evidence::{PARTS, store, store_evaluation, store_suite},
    report_support::{
        made_parts,
        rows::{Change, End, ROWS},
        runs::{COMPAT, CONNECT, FIRST, GATES, STACKS, connect, first, gate, stacks, suite_rows},
        whole::MadeCase,
    },
    support::{Done, Place, assert_contains, edit, in_a_line, json},
};

/// The exit codes, as `netbench --help` has them.
const WELL: i32 = 0;
const FAILED: i32 = 1;
const NOTHING_TO_COMPARE: i32 = 3;
const REGRESSED: i32 = 4;
const NO: i32 = 4;
const CANNOT_TELL: i32 = 6;

fn report(place: &Place, run: &Path, more: &str) -> Done {
    place.netbench_line(&format!("runs report {} {more}", run.display()))
}

/// Returns the page of a run that has figures.
fn page(place: &Place, run: &Path) -> String {
    report(place, run, "--format html").expect(WELL).stdout
}

/// The answers of a report in JSON or of the evaluation in it.
fn answers(stdout: &str) -> Vec<Answer> {
    let found: Value = json(stdout);
    let questions = found["questions"].as_array().unwrap().iter();
    let answers = questions.map(|question| question["answer"].clone());
    answers
        .map(|answer| serde_json::from_value(answer).unwrap())
        .collect()
}

/// Whether any part of the evidence is left that compares the stacks.
fn compares(changes: &[Change]) -> bool {
    PARTS.iter().any(|part| {
        let mut changes = changes.iter();
        changes.all(
            |change| !matches!(change, Change::Without(of) | Change::Never(of, _) if of == part),
        )
    })
}

/// Returns the changes of evaluations in which no part was done, by what became of each.
fn nothing() -> [[Change; PARTS.len()]; 3] {
    [
        PARTS.map(Change::Without),
        PARTS.map(|part| match part {
            "sites" | "connections" => Change::Never(part, End::Failed),
            part => Change::Without(part),
        }),
        PARTS.map(|part| Change::Never(part, End::Unsupported)),
    ]
}

#[test]
fn each_stored_evaluation_has_its_answers_and_its_exit_code() {
    let nothing = nothing();
    let nothing = nothing.iter().map(|changes| {
        let sentence = match changes[0] {
            Change::Never(..) => "Not decided",
            _ => "Not decided: ",
        };
        (&changes[..], [Answer::Open; 3], sentence)
    });
    let rows: Vec<_> = ROWS.iter().copied().chain(nothing).collect();
    assert!(rows.len() >= 58, "{}", rows.len());
    for (at, (changes, expected, sentence)) in rows.iter().enumerate() {
        let place = Place::new();
        let run = store_evaluation(&place.path().join("e"), changes);
        let code = match compares(changes) {
            true if expected.contains(&Answer::No) => NO,
            true => WELL,
            false => NOTHING_TO_COMPARE,
        };
        let told = report(&place, &run, "--json");
        assert_eq!(told.code, Some(code), "row {at}: {}", told.stderr);
        assert_eq!(
            answers(&told.stdout),
            expected,
            "row {at}: {changes:?}: {}",
            told.stdout
        );
        let text = report(&place, &run, "").expect(code).stdout;
        let text = in_a_line(&text);
        assert!(text.contains(sentence), "row {at}: {text}");
        // A part that ended early is run again, and fails without workers of these stacks; without a shim, protocol tests are
        // unsupported. The other parts are only reported.
        let fails = changes.iter().any(|change| match change {
            Change::Ended(part, _) | Change::Never(part, End::Failed | End::Interrupted) => {
                *part != "features"
            }
            _ => false,
        });
        let resumed = place.netbench_line(&format!("run {} --json", run.display()));
        let code = if fails { FAILED } else { code };
        assert_eq!(resumed.code, Some(code), "row {at}: {}", resumed.stderr);
    }
}

/// A pipe without a writer, a device without an end, and half a file.
#[test]
fn a_part_that_cannot_be_read_is_named_and_its_question_stays_open() {
    type Break = fn(&Path);
    let breaks: [(Break, &str); 3] = [
        (
            |file| {
                let made = std::process::Command::new("mkfifo").arg(file).status();
                assert!(made.unwrap().success());
            },
            "matrix.json: not a file",
        ),
        (
            |file| std::os::unix::fs::symlink("/dev/zero", file).unwrap(),
            "matrix.json: not a file",
        ),
        (
            |file| std::fs::write(file, "{").unwrap(),
            "matrix.json: not what the part prints",
        ),
    ];
    for (broken, says) in breaks {
        let place = Place::new();
        let run = store_evaluation(&place.path().join("e"), &[]);
        let matrix = run.join("features/matrix.json");
        std::fs::remove_file(&matrix).unwrap();
        broken(&matrix);
        let told = report(&place, &run, "--json").expect(WELL).stdout;
        assert_eq!(
            answers(&told),
            [Answer::Open, Answer::Open, Answer::Yes],
            "{told}"
        );
        assert_contains(&told, "The results of the part features cannot be read");
        assert!(told.contains(says), "{says}: {told}");
    }
}

#[test]
fn each_pair_of_stored_runs_has_its_exit_code_at_the_gate() {
    for sites in [1, 3] {
        for (at, row) in GATES.iter().enumerate() {
            let place = Place::new();
            let (manifest, runs) = gate(row, sites, u64::try_from(at).unwrap());
            let [before, after] = [0, 1].map(|side| {
                let run = place.path().join(side.to_string());
                store(&run, &manifest, &runs[side]);
                run
            });
            let compare = format!("runs compare {} {}", before.display(), after.display());
            for format in ["terminal", "json", "junit"] {
                let gate = format!("--fail-on-regression {}% --format {format}", row.3);
                let done = place.netbench_line(&format!("{compare} {gate}"));
                assert_eq!(
                    done.code,
                    Some(code(row.4)),
                    "row {at}, {sites} sites, {format}: {}",
                    done.stdout
                );
            }
            place.succeeds(&compare);
        }
    }
}

fn code(gate: Gate) -> i32 {
    match gate {
        Gate::Passed => WELL,
        Gate::Regressed => REGRESSED,
        Gate::CannotTell => CANNOT_TELL,
    }
}

#[test]
fn two_stacks_of_a_stored_run_have_their_exit_code_at_the_gate() {
    for (at, row) in STACKS.iter().enumerate() {
        let place = Place::new();
        let run = place.path().join("suite");
        let (manifest, samples) = stacks(row);
        store(&run, &manifest, &samples);
        let line = format!("runs compare {}", run.display());
        let gate = format!("--fail-on-regression {}%", row.3 * 100.0);
        let done = place.netbench_line(&format!("{line} {gate}"));
        assert_eq!(done.code, Some(code(row.4)), "row {at}: {}", done.stdout);
        place.succeeds(&line);
    }
}

#[test]
fn each_stored_run_of_connect_has_its_answer_and_its_exit_code() {
    for sites in [&["near.example"][..], &["near.example", "middle.example"]] {
        for (at, row) in CONNECT.iter().enumerate() {
            let (manifest, samples) = connect(row, sites, u64::try_from(at).unwrap());
            let place = Place::new();
            let run = place.path().join("connect");
            store(&run, &manifest, &samples);
            let page = page(&place, &run);
            assert_eq!(last_answer(&page), row.5, "row {at}, {sites:?}");
        }
    }
    for row in FIRST {
        let (manifest, samples) = first(&row);
        let place = Place::new();
        let run = place.path().join("connect");
        store(&run, &manifest, &samples);
        let page = page(&place, &run);
        assert_eq!(last_answer(&page), row.2, "{row:?}");
        assert!(page.replace('\u{a0}', " ").contains(row.3), "{row:?}");
    }
}

/// A run of one kind fails by its answer only if the user set thresholds, which its manifest has.
#[test]
fn a_stored_run_with_thresholds_has_its_answer_and_its_exit_code() {
    let ratio = 1.5;
    let cases = [MadeCase::handshake(ratio, ratio + 0.01)];
    for (thresholds, answer, code) in [
        (None, Answer::No, WELL),
        (Some(r#"{"in-memory": "5%"}"#), Answer::No, NO),
        (Some(r#"{"in-memory": "60%"}"#), Answer::Yes, WELL),
        (Some(r#"{"connection-time": "1%"}"#), Answer::No, NO),
    ] {
        let place = Place::new();
        let run = place.path().join("suite");
        store_suite(&run, &cases);
        if let Some(thresholds) = thresholds {
            edit(&run, |manifest: &mut Value| {
                manifest["thresholds"] = json(thresholds)
            });
        }
        let page = report(&place, &run, "--format html").expect(code);
        assert_eq!(last_answer(&page.stdout), answer, "{thresholds:?}");
    }
    for (wrong, expected) in [
        (r#"{"in-memory": "3"}"#, "in-memory has another unit"),
        (r#"{"speed": "3%"}"#, "unknown variant `speed`"),
        (r#"{"in-memory": "5%..1%"}"#, "1 % is less than 5 %"),
        ("3", "invalid type"),
    ] {
        let place = Place::new();
        let run = place.path().join("suite");
        store_suite(&run, &cases);
        edit(&run, |manifest: &mut Value| {
            manifest["thresholds"] = json(wrong)
        });
        let done = report(&place, &run, "").expect(2);
        done.tells("run.json").tells(expected);
    }
}

#[test]
fn each_stored_run_of_the_suite_has_its_answer_and_its_exit_code() {
    for (at, (cases, answer, _)) in suite_rows().iter().enumerate() {
        let place = Place::new();
        let run = place.path().join("suite");
        store_suite(&run, cases);
        let page = page(&place, &run);
        assert_eq!(last_answer(&page), *answer, "row {at}: {cases:?}");
    }
}

#[test]
fn each_stored_run_of_compat_has_its_exit_code() {
    for (judgement, same, _) in COMPAT {
        let place = Place::new();
        let run = place.path().join("compat");
        let (manifest, samples) = made_parts::compat_run(&[Judgement::Right, judgement]);
        store(&run, &manifest, &samples);
        let text = report(&place, &run, "").expect(WELL).stdout;
        let says_same = text.contains("The stacks do the same with every server.");
        assert_eq!(says_same, same, "{judgement:?}: {text}");
    }
    let place = Place::new();
    let run = place.path().join("compat");
    let (manifest, _) = made_parts::compat_run(&[Judgement::Right]);
    store::<_, CompatSample>(&run, &manifest, &[]);
    report(&place, &run, "").expect(NOTHING_TO_COMPARE);
}

/// The answer to the last question of a page.
fn last_answer(page: &str) -> Answer {
    let answer = page.rsplit(r#"<p class="answer">"#).next().unwrap();
    let (_, answer) = answer.split_once("</span>").unwrap();
    let (words, _) = answer.split_once("</p>").unwrap();
    let all = [Answer::Yes, Answer::WithLosses, Answer::No, Answer::Open];
    let found = all.into_iter().find(|answer| answer.words() == words);
    found.unwrap_or_else(|| panic!("{words}"))
}
