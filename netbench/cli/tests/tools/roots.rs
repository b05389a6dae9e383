//! `netbench compat roots` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeSet, fs};

use netbench_model::{
    breakage::{Predicts, Tried},
    chains::ChainOutcome,
    compat::Judgement,
    roots::{RootsOutcome, TrustOrigin},
};
use netbench_report::{BreakagesReport, RootsSummary};

use crate::support::{
    Place, assert_contains, check, check_lines, json, keep_samples, reported_again, text, with_each,
};

netbench_testing::module_tests! {
    each_client_trusts_what_its_store_says: UserMounts;
    what_broke_for_others_is_predicted: UserMounts;
    a_run_is_stored_and_reported_again: UserMounts;
    what_cannot_be_tried_is_unsupported: UserMounts;
    a_client_that_breaks_is_said: UserMounts;
    wrong_input_is_said_in_a_line;
}

const DEFAULT: &str = "openssl (default-paths)";
const PROBE: &str = "openssl (openssl-probe)";
const BUNDLED: &str = "rustls-ring (webpki-roots)";
const NATIVE: &str = "rustls-ring (rustls-native-certs)";
const PLATFORM: &str = "rustls-ring (rustls-platform-verifier)";

fn summary(place: &Place, line: &str) -> RootsSummary {
    place.document("roots-summary.json", line)
}

fn outcome<'a>(summary: &'a RootsSummary, layout: &str, client: &str) -> &'a RootsOutcome {
    let mut clients = summary.matrix.clients.iter();
    let number = clients.position(|found| found.to_string() == client);
    let number = number.unwrap_or_else(|| panic!("no {client}"));
    let mut rows = summary.matrix.cases.iter();
    let row = rows.find(|row| row.case.name == layout).unwrap();
    &row.cell(number).unwrap().result
}

/// Returns the sites that a client trusts, or the reason why it has no connector.
fn trusts(summary: &RootsSummary, layout: &str, client: &str) -> Result<Vec<String>, String> {
    match outcome(summary, layout, client) {
        RootsOutcome::Made { sites, .. } => Ok(sites
            .iter()
            .filter(|(_, said)| **said == ChainOutcome::Accepted)
            .map(|(name, _)| name.clone())
            .collect()),
        RootsOutcome::Refused { detail } => Err(detail.clone()),
        other => panic!("{layout}, {client}: {other:?}"),
    }
}

fn each_client_trusts_what_its_store_says() {
    let here = fs::read("/etc/ssl/certs/ca-certificates.crt").ok();
    let line = "compat roots -q --json --stack openssl,rustls-ring";
    let found = summary(&Place::new(), line);
    assert!(found.matrix.cases.len() >= 12);
    // No file of this system has changed.
    assert_eq!(fs::read("/etc/ssl/certs/ca-certificates.crt").ok(), here);
    for (layout, client, due) in [
        // A libssl from source looks only below /usr/local/ssl.
        ("debian", DEFAULT, &[][..]),
        ("debian", PROBE, &["public"]),
        ("debian", BUNDLED, &[]),
        ("debian", NATIVE, &["public"]),
        ("debian", PLATFORM, &["public"]),
        ("fedora", PROBE, &["public"]),
        ("fedora", NATIVE, &["public"]),
        ("alpine", PLATFORM, &["public"]),
        ("debian-with-corporate", PROBE, &["corporate", "public"]),
        ("debian-with-corporate", NATIVE, &["corporate", "public"]),
        ("debian-with-corporate", BUNDLED, &[]),
        (
            "corporate-in-bundle-alone",
            NATIVE,
            &["corporate", "public"],
        ),
        // The client finds the root by the hashed link, whose name is of the subject's digest.
        ("corporate-in-folder-alone", PROBE, &["corporate", "public"]),
        ("corporate-not-updated", NATIVE, &["public"]),
        ("empty", PROBE, &[]),
        ("absent", PROBE, &[]),
        ("expired-root", PROBE, &["public"]),
        // webpki ignores the dates of a root.
        ("expired-root", NATIVE, &["expired", "public"]),
        ("folder-without-links", PROBE, &[]),
        ("folder-without-links", NATIVE, &["public"]),
        ("unreadable", PROBE, &[]),
        ("10000-roots", PROBE, &["public"]),
        ("10000-roots", NATIVE, &["public"]),
        ("ssl-cert-file", DEFAULT, &["corporate"]),
        ("ssl-cert-dir", DEFAULT, &["corporate"]),
    ] {
        let due: Vec<String> = due.iter().map(|&site| site.to_owned()).collect();
        assert_eq!(
            trusts(&found, layout, client),
            Ok(due),
            "{layout}, {client}"
        );
    }
    for layout in ["absent", "empty", "unreadable"] {
        let words = trusts(&found, layout, NATIVE).unwrap_err();
        assert_contains(&words, "no native root CA certificates found");
        let words = trusts(&found, layout, PLATFORM).unwrap_err();
        assert!(words.contains("No CA certificates were loaded"), "{words}");
    }
    let unreadable = trusts(&found, "unreadable", NATIVE).unwrap_err();
    assert!(unreadable.contains("Permission denied"), "{unreadable}");
    let [few, many, bundled] = [
        ("debian", NATIVE),
        ("10000-roots", NATIVE),
        ("debian", BUNDLED),
    ]
    .map(|(layout, client)| match outcome(&found, layout, client) {
        RootsOutcome::Made {
            connector_ns,
            roots,
            origin,
            ..
        } => (*connector_ns, *roots, *origin),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        (few.1, many.1, many.2),
        (Some(1), Some(10_001), TrustOrigin::System)
    );
    assert!(many.0 > 10 * few.0, "{} ns, {} ns", few.0, many.0);
    assert_eq!(bundled.2, TrustOrigin::Bundled);
    // The worst difference comes first, and a loss names the company's site.
    assert!(
        found
            .wrong
            .is_sorted_by_key(|difference| difference.judgement)
    );
    let bundled = found.wrong.iter();
    let bundled: Vec<_> = bundled
        .filter(|difference| difference.client.to_string() == BUNDLED)
        .map(|difference| (difference.judgement, difference.seen.as_str()))
        .collect();
    assert_eq!(
        bundled,
        [(Judgement::FalseReject, "Does not load: corporate.")]
    );
}

/// Tests the rows of `netbench compat breakages` that concern trust stores, with the current
/// stacks.
fn what_broke_for_others_is_predicted() {
    let place = Place::new();
    let listed = place.netbench_line("compat breakages --json");
    let report: BreakagesReport = json(&listed.expect(0).stdout);
    let rows: Vec<(&str, &Tried)> = report
        .breakages
        .iter()
        .filter_map(|breakage| Some((breakage.thread.as_str(), breakage.answer.tried()?)))
        .filter(|(_, by)| by.command == Predicts::Roots)
        .collect();
    assert!(rows.len() >= 10);
    let line = "compat roots -q --json --stack openssl,rustls-aws-lc,rustls-ring";
    let line = with_each(line, "--layout", rows.iter().map(|(_, by)| &*by.case));
    let found = summary(&place, &line);
    for (thread, by) in rows {
        let today = outcome(&found, &by.case, &by.client).to_string();
        assert_eq!(today, by.today, "{thread}: {}", by.case);
    }
}

fn a_run_is_stored_and_reported_again() {
    let place = Place::new();
    let line = "compat roots -q --layout *ssl-cert* --stack openssl,rustls-ring --format markdown";
    let first = place.succeeds(line);
    let lead =
        "The sites that each client trusts by default, with 2 layouts of a system's trust store.";
    first.prints(lead);
    let run = place.run();
    reported_again(
        &place,
        &first,
        &[
            ("runs report RUN --format junit", DEFAULT),
            ("runs report RUN --format csv", "ssl-cert-file"),
            ("runs report RUN --format html", "Which sites are trusted"),
            ("runs list runs", "roots"),
        ],
    );
    // Only the missing layouts are tried again.
    let kept = keep_samples(&run, 3);
    place.succeeds("run -q RUN");
    let all = text(&run, "samples.jsonl");
    assert!(all.starts_with(&kept));
    assert_eq!(all.lines().collect::<BTreeSet<_>>().len(), 2 * 5);
    check_lines("roots-sample.json", &all);
    check("roots-run.json", &text(&run, "run.json"));
}

/// A worker that exits on a request for its roots; without SOURCES, it lists no trust source.
const SCRIPT: &str = r#"
while read -r line; do
  case $line in
    *'"op":"describe"'*)
      echo '{"id":1,"type":"description","protocol":1,"stacks":[{"record":{"executable":"w","stack":"mine","library":"mine 1.0","provider":null,"connector":"none 1.0","build":{"a":"b"}},"operations":["connect","serve"],SOURCES"groups":[],"suites":[]}]}' ;;
    *) echo 'no such file' >&2; exit 3 ;;
  esac
done"#;

fn what_cannot_be_tried_is_unsupported() {
    let place = Place::new();
    let script = place.script("mine", &SCRIPT.replace("SOURCES", ""));
    let line = format!(
        "compat roots -q --json --layout debian --stack mine,rustls-ring --worker mine={}",
        script.display()
    );
    let found = summary(&place, &line);
    assert!(matches!(
        outcome(&found, "debian", "mine"),
        RootsOutcome::Unsupported { reason } if reason.contains("has no trust source")
    ));
    assert!(found.warnings[0].contains("1 try is unsupported: stack mine"));
    // If nothing could be tried, there is no result to read.
    let line = format!(
        "compat roots -q --layout debian --stack mine --worker mine={}",
        script.display()
    );
    place.netbench_line(&line).expect(3);
}

fn a_client_that_breaks_is_said() {
    let place = Place::new();
    let sources = "\"trust_sources\":[\"somewhere\"],";
    let script = place.script("mine", &SCRIPT.replace("SOURCES", sources));
    let line = format!(
        "compat roots -q --json --layout debian --layout absent --stack mine --worker mine={}",
        script.display()
    );
    let found = summary(&place, &line);
    for layout in ["debian", "absent"] {
        let broken = outcome(&found, layout, "mine (somewhere)");
        let RootsOutcome::Broken { detail } = broken else {
            panic!("{broken:?}");
        };
        assert_contains(detail, "exited with 3");
        assert_contains(detail, "no such file");
    }
    let seen: Vec<_> = found.wrong.iter().map(|it| it.judgement).collect();
    assert!(
        seen.iter()
            .all(|judgement| *judgement == Judgement::Crashed)
    );
}

fn wrong_input_is_said_in_a_line() {
    let place = Place::new();
    place.refuses(2, r#"
        compat roots --layout debain => no layout matches "debain"; did you mean "debian"?
        compat roots --layout zzzzzz => no layout matches "zzzzzz"; `netbench compat roots --list` lists them
        compat roots --stack opensl => unknown stack "opensl"
        run runs/none => cannot continue
    "#);
    let listed = place.succeeds("compat roots --list --layout debian --layout absent");
    assert_eq!(listed.stdout, "debian  public\nabsent  nothing\n");
}
