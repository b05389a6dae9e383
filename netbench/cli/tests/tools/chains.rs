//! `netbench compat chains` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{path::Path, process::Command};

use netbench_model::{chains::Due, compat::Judgement};
use netbench_report::{ChainsSummary, Judgements};
use netbench_testing::{Test, Tool};

use crate::support::{
    Place, assert_contains, check, check_lines, finish, json, keep_samples, reported_again, rows,
    text, words,
};

/// Stacks whose workers are part of every build.
const STACKS: &str = "openssl,rustls-aws-lc,rustls-ring";

pub(crate) fn tests() -> Vec<Test> {
    vec![
        Test::of("chains_of_our_own", chains_of_our_own),
        Test::of("a_run_is_stored", a_run_is_stored_and_reported_again),
        Test::of("without_go", without_go_there_are_chains_of_our_own),
        Test::of(
            "broken_verifiers",
            what_ends_a_verifier_is_said_and_the_rest_goes_on,
        ),
        Test::of("wrong_input", wrong_input_is_said_in_a_line),
        Test::of(
            "bettertls",
            bettertls_figures_are_those_that_were_found_by_hand,
        )
        .needs(Tool::Go)
        .needs_that("bettertls", no_module),
    ]
}

/// Returns the reason why Go cannot fetch BetterTLS, if there is one.
fn no_module() -> Option<String> {
    let module = netbench_compat::chains::BetterTls::version();
    let fetched = Command::new("go")
        .args([
            "mod",
            "download",
            &format!("github.com/Netflix/bettertls@{module}"),
        ])
        .env("GOFLAGS", "-mod=mod")
        .current_dir(std::env::temp_dir())
        .output();
    match fetched {
        Ok(done) if done.status.success() => None,
        _ => Some("the Go module proxy does not give the module".to_owned()),
    }
}

fn summary(place: &Place, line: &str) -> ChainsSummary {
    place.document("chains-summary.json", line)
}

/// Returns the verdicts of a stack that differ from the first one's, with the number of chains of each.
fn changed(summary: &ChainsSummary, stack: &str, kind: &str) -> Vec<(&'static str, usize)> {
    let of_stack = summary
        .differences
        .iter()
        .filter(|group| group.switch.stack.as_str() == stack);
    let groups = of_stack.map(|group| {
        let names = group.cases.iter().filter(|name| name.starts_with(kind));
        (group.verdict(), names.count())
    });
    groups.filter(|(_, chains)| *chains > 0).collect()
}

fn every_difference_has_a_reason(summary: &ChainsSummary) {
    for group in &summary.differences {
        assert!(
            group.reason.is_some(),
            "no reason in reasons.toml fits {group:#?}"
        );
    }
}

fn chains_of_our_own() {
    let line = format!("compat chains -q --json --case own/* --stack {STACKS}");
    let found = summary(&Place::new(), &line);
    assert!(found.run.chains >= 200, "{}", found.run.chains);
    assert!(found.broken.is_empty(), "{:?}", found.broken);
    every_difference_has_a_reason(&found);
    for [case, stack, verdict, due] in rows(
        "
        own/constraint/directory-above => rustls-ring => rejected wrongly => directory-constraint
        own/policy/demanded => rustls-aws-lc => rejected wrongly => policies
        own/signature/p-521-sha512 => rustls-ring => rejected wrongly => hash-of-another-size
        own/signature/p-521-sha512 => rustls-aws-lc => same => none
        own/key-usage/intermediate-signs => rustls-ring => accepted wrongly => key-usage-of-authority
        own/time/root-a-second-late => rustls-ring => accepted wrongly => root-out-of-its-time
        own/anchor/intermediate => rustls-ring => accepted rightly => intermediate-as-root
        own/host/common-name-alone => rustls-ring => rejected rightly => common-name
        own/encoding/leaf-trailing-data => rustls-ring => same => none
        own/rollover/intermediate-path-length-0 => rustls-ring => rejected wrongly => self-issued-in-path-length
        own/depth/7 => rustls-aws-lc => rejected wrongly => depth
        own/depth/6 => rustls-aws-lc => same => none
        own/key-identifier/authority-wrong-leaf => rustls-aws-lc => accepted wrongly => authority-key-identifier
        own/cross-signed/both-ways => rustls-ring => same => none
        own/path-length/1-of-0 => rustls-ring => same => none
        ",
    ) {
        let mut groups = found.differences.iter();
        let group = groups.find(|group| {
            group.switch.stack.as_str() == stack && group.cases.iter().any(|name| name == case)
        });
        let reason = group.map(|group| (group.verdict(), group.reason.as_deref().unwrap()));
        let reason = reason.unwrap_or(("same", "none"));
        assert_eq!(reason, (verdict, due), "{case}, {stack}");
    }
    // Changes for the worse come first, and have advice.
    let worse: Vec<bool> = found
        .differences
        .iter()
        .map(|group| group.switch.advice.is_some())
        .collect();
    assert!(worse[0] && worse.is_sorted_by(|a, b| a >= b), "{worse:?}");
}

fn a_run_is_stored_and_reported_again() {
    let place = Place::new();
    let line = "compat chains -q --case own/time/* --stack openssl,rustls-ring --format markdown";
    let first = place.succeeds(line);
    let lead = "The verdicts of each stack's own verifier on 15 certificate chains, and the correct verdicts.";
    first.prints(lead);
    let run = place.run();
    reported_again(
        &place,
        &first,
        &[
            ("runs report RUN --format html", "What changes"),
            ("runs report RUN --format junit", "own/time (must accept)"),
            ("runs list runs", "chains"),
        ],
    );
    // Only the missing chains are verified again.
    keep_samples(&run, 5);
    let resumed = place.netbench_line("run -q RUN --format markdown");
    assert_eq!(resumed.expect(0).stdout, first.stdout);
    let all = text(&run, "samples.jsonl");
    assert_eq!(check_lines("chains-sample.json", &all), 2 * 15);
    check("chains-run.json", &text(&run, "run.json"));
}

fn without_go_there_are_chains_of_our_own() {
    let place = Place::new();
    let line = words(
        "compat chains --json --stack rustls-ring --case own/path/* --case */path-building/*",
    );
    let mut command = place.command(&line);
    command.env("PATH", place.path());
    let done = finish(&mut command);
    let done = done.expect(2);
    done.tells("no case matches \"*/path-building/*\"");
    let mut command = place.command_line("compat chains --json --stack rustls-ring");
    command.env("PATH", place.path());
    let done = finish(&mut command).expect(0);
    let why = "BetterTLS' chains are made by a Go program, and there is no go (https://go.dev/dl)";
    done.tells(why);
    let found: ChainsSummary = json(&done.stdout);
    assert!(
        found.warnings.iter().any(|warning| warning == why),
        "{:?}",
        found.warnings
    );
    assert!(
        found
            .matrix
            .cases
            .iter()
            .all(|row| row.case.kind.starts_with("own/"))
    );
    let line = "compat chains --stack rustls-ring --case bettertls/*";
    let mut command = place.command_line(line);
    command.env("PATH", place.path());
    assert!(finish(&mut command).expect(2).stderr.contains(why));
}

/// A worker that exits on a request with two chains or with `localhost`, and never answers for another host.
const BROKEN: &str = r#"
while read -r line; do
  case $line in
    *'"op":"describe"'*)
      echo '{"id":1,"type":"description","protocol":1,"stacks":[{"record":{"executable":"w","stack":"broken","library":"broken 1.0","provider":null,"connector":"none 1.0","build":{"a":"b"}},"operations":["connect","serve","verify"],"groups":[],"suites":[]}]}' ;;
    *'},{'*) echo 'too much' >&2; exit 3 ;;
    *'"host":"localhost"'*) echo 'not that one' >&2; exit 4 ;;
    *'"host":"a_case.netbench.test"'*) sleep 30 ;;
    *)
      id=${line#*\"id\":}; id=${id%%,*}
      echo "{\"id\":$id,\"type\":\"verified\",\"chains\":[{\"outcome\":\"accepted\"}]}" ;;
  esac
done"#;

fn what_ends_a_verifier_is_said_and_the_rest_goes_on() {
    let place = Place::new();
    let script = place.script("broken", BROKEN);
    let line = format!(
        "compat chains -q --json --timeout 300ms --case own/host/* --stack broken,rustls-ring --worker broken={}",
        script.display()
    );
    let found = summary(&place, &line);
    let broken: Vec<_> = found
        .broken
        .iter()
        .map(|row| (&*row.case, &*row.outcome))
        .collect();
    assert_eq!(
        broken,
        [
            ("own/host/underscore", "hang"),
            ("own/host/one-label", "crash")
        ]
    );
    let crash = &found.broken[1].detail;
    assert_contains(crash, "exited with 4");
    assert_contains(crash, "not that one");
    let rows = found.matrix.cases.iter();
    let of_broken = rows.filter_map(|row| row.cells[0].as_ref());
    let asked: u32 = of_broken.map(Judgements::reported).sum();
    assert_eq!(u64::from(asked), found.run.chains);
}

fn wrong_input_is_said_in_a_line() {
    let place = Place::new();
    place.refuses(
        2,
        r#"
        compat chains --case own/pth/* => no case matches "own/pth/*"
        compat chains --case own/path/usal => did you mean "own/path/usual"?
        compat chains --case own/path/* --stack opensl => unknown stack "opensl"
        compat chains --timeout 1ms => --timeout
        compat --json chains => cannot be used with
    "#,
    );
    let listed = place.succeeds("compat chains --list --case own/path/usual");
    assert_eq!(listed.stdout, "own/path/usual  must accept\n");
}

/// The figures of measurements by hand before this command existed, with OpenSSL 3.6.3.
fn bettertls_figures_are_those_that_were_found_by_hand() {
    let place = Place::new();
    let line = "compat chains -q --json --case bettertls/* --stack openssl,rustls-aws-lc";
    let mut command = place.command_line(line);
    // The chains are made once for all runs of this test.
    command.env(
        "XDG_CACHE_HOME",
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("bettertls"),
    );
    let found: ChainsSummary = json(&finish(&mut command).expect(0).stdout);
    assert_eq!(found.run.chains, 9_572);
    every_difference_has_a_reason(&found);
    for (kind, due, chains) in [
        ("path-building", Due::MustAccept, Some([45, 19, 45])),
        ("path-building", Due::MustReject, Some([36, 36, 36])),
        ("name-constraints", Due::MustAccept, Some([590, 560, 590])),
        ("name-constraints", Due::ShouldAccept, Some([230, 172, 230])),
        ("name-constraints", Due::MustReject, None),
    ] {
        let kind = format!("bettertls/{kind}");
        let mut rows = found.matrix.cases.iter();
        let row = rows.find(|row| row.case.kind == kind && row.case.due == due);
        let row = row.unwrap();
        let right = [0, 1].map(|stack| row.cell(stack).unwrap().of(Judgement::Right));
        let all = row.case.chains;
        assert_eq!([all, right[0], right[1]], chains.unwrap_or([all; 3]));
    }
    let changes = changed(&found, "rustls-aws-lc", "bettertls/");
    for (verdict, due) in [
        ("accepted rightly", 114),
        ("rejected rightly", 68),
        ("rejected wrongly", 0),
        ("accepted wrongly", 0),
    ] {
        let of_verdict = changes.iter().filter(|(found, _)| *found == verdict);
        let chains: usize = of_verdict.map(|(_, chains)| chains).sum();
        assert_eq!(chains, due, "{verdict}");
    }
}
