//! `netbench compat` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeSet, fs, mem};

use netbench_model::{
    StackName,
    breakage::{Breakage, Prediction, Predicts, Tried},
    chains::{ChainOutcome, ChainSample},
    compat::{CompatCase, CompatOutcome, Judgement, NextLoad, OutsideFound, ToldCertificate},
};
use netbench_report::{BreakagesReport, CompatCell, CompatSummary};

use crate::support::{Place, check, json, samples_of, text};

netbench_testing::module_tests! {
    every_stack_is_judged_by_what_both_sides_saw;
    what_a_client_has_to_bring_is_shown_as_each_library_reads_it;
    encrypted_hellos_count_where_both_sides_agree;
    a_run_is_stored_and_reported_again;
    cases_of_the_users_own_are_tried;
    browsers_do_what_the_catalogue_says: Chromium, Firefox, Certutil, UserNamespaces;
    programs_and_browsers_are_tried_beside_stacks: Curl, Chromium, Certutil, UserNamespaces;
    what_an_engine_says_counts_where_the_server_saw_it;
    webkitgtk_is_tried_beside_stacks: WebKitGtk, Certutil, UserNamespaces, UserMounts;
    one_of_a_thing_is_no_plural;
    wrong_input_is_said_in_a_line;
    the_page_of_what_broke_is_what_the_command_prints;
    what_broke_for_others_is_predicted;
}

fn summary(place: &Place, line: &str) -> CompatSummary {
    let done = place.netbench_line(line).expect(0);
    check("compat-summary.json", &done.stdout);
    json(&done.stdout)
}

/// Returns the judgement of a case for each stack.
fn judged(summary: &CompatSummary, case: &str) -> Vec<Judgement> {
    let cells = cells(summary, case).iter();
    cells.map(|cell| cell.as_ref().unwrap().judgement).collect()
}

fn cells<'a>(summary: &'a CompatSummary, case: &str) -> &'a [Option<CompatCell>] {
    let mut rows = summary.matrix.cases.iter();
    let row = rows.find(|row| row.case.name == case);
    &row.unwrap_or_else(|| panic!("no {case}")).cells
}

fn cell<'a>(summary: &'a CompatSummary, case: &str, stack: usize) -> &'a CompatCell {
    cells(summary, case)[stack].as_ref().unwrap()
}

/// Returns the words of a stack that does not connect to the server of a case.
fn said<'a>(summary: &'a CompatSummary, case: &str, stack: usize) -> &'a str {
    match &cell(summary, case, stack).result.outcome {
        CompatOutcome::Rejected { detail, .. } => detail,
        CompatOutcome::Unsupported { reason } => reason,
        other => panic!("{other:?}"),
    }
}

fn every_stack_is_judged_by_what_both_sides_saw() {
    let place = Place::new();
    let line = "compat -q --json --stack openssl,rustls-aws-lc,rustls-ring --timeout 5s";
    let summary = summary(&place, line);
    assert!(summary.matrix.cases.len() >= 90);
    use Judgement::{FalseAccept, FalseReject, Right};
    for (case, due) in [
        ("certificate/usual", [Right; 3]),
        ("certificate/expired", [Right; 3]),
        (
            "certificate/expired-root",
            [Right, FalseAccept, FalseAccept],
        ),
        ("name/common-name-alone", [FalseAccept, Right, Right]),
        (
            "trust/self-signed-ca-trusted",
            [Right, FalseReject, FalseReject],
        ),
        ("trust/intermediate-as-root", [FalseReject, Right, Right]),
        ("authority/may-not-sign", [Right, FalseAccept, FalseAccept]),
        ("key/p-384", [Right; 3]),
        ("key/p-521-authority", [Right, Right, FalseReject]),
        ("key/rsa-8192", [Right; 3]),
        ("key/ed25519", [FalseAccept; 3]),
        ("encoding/unknown-critical-extension", [Right; 3]),
        ("suite/cbc-rsa", [Right, FalseReject, FalseReject]),
        ("suite/static-rsa-gcm", [Right, FalseReject, FalseReject]),
        ("suite/dhe-1024", [Right; 3]),
        ("version/1.0-alone", [Right; 3]),
        ("version/downgrade", [Right; 3]),
        ("group/x25519mlkem768", [Right, Right, FalseReject]),
        ("group/p-384", [Right; 3]),
        (
            "extension/no-secure-renegotiation",
            [FalseReject, Right, Right],
        ),
        (
            "end/no-close-notify-no-length",
            [Right, FalseReject, FalseReject],
        ),
        ("renegotiation/asked", [Right, FalseReject, FalseReject]),
        ("alpn/h2-alone", [Right; 3]),
        ("key-update/storm", [Right; 3]),
        ("key/rsa-1024", [FalseReject; 3]),
    ] {
        assert_eq!(judged(&summary, case), due, "{case}");
    }
    let [lost, long, as_root] = [
        "suite/cbc-rsa",
        "trust/long-path",
        "trust/intermediate-as-root",
    ]
    .map(|case| summary.differences.iter().find(|d| d.case == case).unwrap());
    assert_eq!(
        (lost.did.as_str(), lost.does.as_str()),
        ("accepted", "rejected: alert")
    );
    assert_eq!(
        lost.switch.seen,
        "The page does not load any more: alert handshake_failure."
    );
    for difference in &summary.differences {
        assert!(
            !difference.switch.seen.ends_with(": other."),
            "{difference:?}"
        );
    }
    assert_eq!(
        long.switch.seen,
        "The page does not load any more: \"MaximumPathDepthExceeded\"."
    );
    assert!(lost.switch.advice.is_some());
    assert_eq!(as_root.switch.advice, None);
    // Changes for the worse come first.
    let worse: Vec<bool> = summary
        .differences
        .iter()
        .map(|d| d.switch.advice.is_some())
        .collect();
    assert!(worse.is_sorted_by(|a, b| a >= b), "{worse:?}");
    // The alert is the server's own record of the client's alert.
    for cell in cells(&summary, "certificate/expired").iter().flatten() {
        let CompatOutcome::Rejected { alert, .. } = &cell.result.outcome else {
            panic!("{cell:?}");
        };
        assert_eq!(
            alert.map(|alert| alert.to_string()).as_deref(),
            Some("certificate_expired")
        );
    }
}

fn what_a_client_has_to_bring_is_shown_as_each_library_reads_it() {
    let place = Place::new();
    let stacks = "openssl,rustls-aws-lc,rustls-ring,go";
    let cases = "--case client-certificate/* --case alpn/websocket* --case tickets/refused --case early-data/*";
    let line = format!("compat -q --json --stack {stacks} --timeout 5s {cases}");
    let summary = summary(&place, &line);
    use Judgement::{FalseReject, Right, Unsupported};
    for (case, due) in [
        ("client-certificate/asked-1.3", [Right; 4]),
        ("client-certificate/required-1.2", [Right; 4]),
        ("client-certificate/shown-when-asked", [Right; 4]),
        ("client-certificate/shown-1.3", [Right; 4]),
        ("client-certificate/shown-1.2", [Right; 4]),
        (
            "client-certificate/version-1",
            [Right, FalseReject, FalseReject, Right],
        ),
        ("client-certificate/pkcs1", [Right; 4]),
        ("client-certificate/sec1", [Right; 4]),
        (
            "client-certificate/encrypted-pkcs8",
            [Right, FalseReject, FalseReject, FalseReject],
        ),
        (
            "client-certificate/encrypted-pem",
            [Right, FalseReject, FalseReject, Right],
        ),
        (
            "client-certificate/pkcs12",
            [Right, Unsupported, Unsupported, Unsupported],
        ),
        (
            "client-certificate/pkcs12-rc2",
            [FalseReject, Unsupported, Unsupported, Unsupported],
        ),
        (
            "client-certificate/pkcs12-cut",
            [Right, Unsupported, Unsupported, Unsupported],
        ),
        ("client-certificate/wrong-password", [Right; 4]),
        ("alpn/websocket", [Right; 4]),
        // Only Go offers only HTTP/1.1 for a WebSocket.
        (
            "alpn/websocket-h2",
            [FalseReject, FalseReject, FalseReject, Right],
        ),
        ("tickets/refused", [Right; 4]),
        (
            "early-data/refused",
            [Unsupported, Right, Right, Unsupported],
        ),
    ] {
        assert_eq!(judged(&summary, case), due, "{case}");
    }
    assert_eq!(
        cell(&summary, "alpn/websocket-h2", 0).to_string(),
        "rejected: status 400"
    );
    for (case, stack, due) in [
        ("client-certificate/pkcs12", 1, "rustls reads no PKCS#12"),
        ("early-data/refused", 0, "its worker offers no early data"),
    ] {
        assert_eq!(said(&summary, case, stack), due, "{case}");
    }
    let encrypted = said(&summary, "client-certificate/encrypted-pkcs8", 1);
    assert!(encrypted.starts_with("client key: "), "{encrypted}");
    let old = said(&summary, "client-certificate/pkcs12-rc2", 0);
    assert!(old.contains("unsupported"), "{old}");
    // Stored files contain neither the key nor the password.
    let stored = text(&place.run(), "samples.jsonl");
    assert!(!stored.contains("PRIVATE KEY") && !stored.contains("wrong\""));
}

fn encrypted_hellos_count_where_both_sides_agree() {
    let place = Place::new();
    let stacks = "rustls-aws-lc,go,openssl";
    let line = format!("compat -q --json --stack {stacks} --timeout 5s --case ech/*");
    let summary = summary(&place, &line);
    assert!(summary.matrix.cases.len() >= 44);
    use Judgement::{FalseAccept, FalseReject, Right, Unsupported, WrongReason};
    let both = [Right, Right, Unsupported];
    for (case, due) in [
        ("accepted", both),
        ("accepted-by-strict-server", both),
        ("accepted-chacha20", both),
        ("accepted-after-retry", both),
        ("accepted-hybrid", both),
        ("accepted-padding", [Right, FalseReject, Unsupported]),
        ("accepted-ticket", both),
        ("accepted-client-certificate", both),
        ("config-mandatory-extension-first", both),
        ("config-unknown-version-first", both),
        (
            "config-address-name-first",
            [FalseReject, FalseReject, Unsupported],
        ),
        ("config-list-of-64-kib", both),
        ("config-list-cut", both),
        ("config-list-cut-inside", both),
        ("rejected", both),
        ("rejected-and-retried", [FalseReject, Right, Unsupported]),
        ("rejected-again", both),
        ("rejected-without-configs", both),
        (
            "rejected-with-cut-configs",
            [Right, WrongReason, Unsupported],
        ),
        ("rejected-with-hidden-name", both),
        ("rejected-by-anyone", both),
        ("rejected-client-certificate", both),
        ("rejected-after-retry", both),
        ("retry-signal-random", both),
        ("retry-signal-short", both),
        ("confirmed-once", both),
        ("configs-after-acceptance", both),
        ("configs-unasked", [Right, FalseAccept, FalseAccept]),
        ("dropped", both),
        ("grease-ignored", [Right, Unsupported, Unsupported]),
        ("grease-answered", [Right, Unsupported, Unsupported]),
        ("grease-after-retry", [Right, Unsupported, Unsupported]),
    ] {
        assert_eq!(judged(&summary, &format!("ech/{case}")), due, "{case}");
    }
    for (stack, part) in [
        (0, "the library does not hand out"),
        (1, "the library hands out"),
    ] {
        let outcome = &cell(&summary, "ech/rejected", stack).result.outcome;
        let CompatOutcome::Rejected { detail, alert, .. } = outcome else {
            panic!("{outcome:?}");
        };
        assert!(detail.starts_with(part), "{detail}");
        assert_eq!(alert.unwrap().to_string(), "ech_required");
    }
    let outcome = &cell(&summary, "ech/accepted-padding", 1).result.outcome;
    let CompatOutcome::Rejected { detail, .. } = outcome else {
        panic!("{outcome:?}");
    };
    assert!(detail.contains("is not padded"), "{detail}");
}

fn a_run_is_stored_and_reported_again() {
    let place = Place::new();
    let line = "compat -q --stack openssl,openssl --case name/* --name again --format markdown";
    let first = place.netbench_line(line).expect(0);
    assert!(
        first
            .stdout
            .contains("The stacks do the same with every server."),
        "{}",
        first.stdout
    );
    let mut runs = fs::read_dir(place.path().join("runs")).unwrap();
    let run = runs.next().unwrap().unwrap().path();
    let run = run.to_str().unwrap();
    let again = place
        .netbench(&["runs", "report", run, "--format", "markdown"])
        .expect(0);
    assert_eq!(again.stdout, first.stdout);
    let page = place
        .netbench(&["runs", "report", run, "--format", "html"])
        .expect(0);
    assert!(page.stdout.contains("What changes"));
    let listed = place.netbench(&["runs", "list", "runs"]).expect(0);
    assert!(listed.stdout.contains("compat"), "{}", listed.stdout);
    // No case is missing, so that no case runs again.
    let resumed = place
        .netbench(&["run", "-q", run, "--format", "markdown"])
        .expect(0);
    assert_eq!(resumed.stdout, first.stdout);
    check("compat-run.json", &text(run.as_ref(), "run.json"));
    let samples = text(run.as_ref(), "samples.jsonl");
    assert!(samples.lines().count() > 10);
    for line in samples.lines() {
        check("compat-sample.json", line);
    }
}

fn one_of_a_thing_is_no_plural() {
    let place = Place::with_sites("one.example rtt=1ms\n");
    let stacks = "--stack rustls-ring,rustls-ring";
    for line in [
        &format!("compat -v --case certificate/usual {stacks} --name it"),
        &format!("connect --sites sites.txt --rounds 1 {stacks} --link none --name it"),
        "scan --sites sites.txt --link none --against rustls-ring --name it",
    ] {
        let done = place.netbench_line(line);
        // Exit code 3: one site in one round has no verdict.
        assert!(matches!(done.code, Some(0 | 3)), "{line}: {}", done.stderr);
        if line.starts_with("compat") {
            assert!(done.stdout.contains("with one server;"), "{}", done.stdout);
            let told = "netbench: certificate/usual, rustls-ring: accepted\n";
            assert!(done.stderr.contains(told), "{}", done.stderr);
        }
        let run = place.named("it");
        let run = run.to_str().unwrap();
        let page = place
            .netbench(&["runs", "report", run, "--format", "html", "--output", "-"])
            .stdout;
        for text in [&done.stdout, &done.stderr, &page] {
            for many in [
                "servers",
                "sites",
                "rounds",
                "samples",
                "connections",
                "stacks",
                "cases",
                "hosts",
                "points",
                "clients",
                "handshakes",
                "certificates",
                "tests",
                "runs",
                "lines",
                "trials",
            ] {
                let one = format!("1 {many}");
                let mut found = text.match_indices(&one).map(|(at, _)| at);
                let wrong = found.find(|at| {
                    !text[..*at].ends_with(|c: char| c.is_ascii_digit() || ".,".contains(c))
                });
                let around =
                    wrong.map(|at| text[..at + 30].chars().rev().take(90).collect::<Vec<_>>());
                let around = around.map(|text| text.iter().rev().collect::<String>());
                assert_eq!(around, None, "{line}");
            }
        }
        fs::remove_dir_all(place.path().join("runs")).unwrap();
    }
}

fn cases_of_the_users_own_are_tried() {
    let place = Place::new();
    place.write(
        "mine.toml",
        "[[case]]\nname = \"my/server\"\nabout = \"is slow\"\nexpect = \"accepted\"\nwhy = \"it is ours\"\n\
         advice = \"ask us\"\nserver.write-bytes = 3\n",
    );
    let found = summary(
        &place,
        "compat -q --json --stack openssl --catalogue mine.toml",
    );
    assert_eq!(judged(&found, "my/server"), [Judgement::Right]);
    let listed = place
        .netbench_line("compat --catalogue mine.toml --list")
        .expect(0);
    assert_eq!(listed.stdout, "my/server  accepted\n");
}

/// Kinds of cases that certificates decide: the stacks' own tests cover the others.
const OF_CERTIFICATES: [&str; 9] = [
    "certificate/*",
    "name/*",
    "trust/*",
    "authority/*",
    "purpose/*",
    "constraint/*",
    "key/*",
    "signature/*",
    "encoding/*",
];

/// Compares the expectations and the recorded observations with the installed browsers.
fn browsers_do_what_the_catalogue_says() {
    let place = Place::new();
    let mut line = "compat -q --json --stack openssl --client chromium,firefox".to_owned();
    for kind in OF_CERTIFICATES {
        line.push_str(&format!(" --case {kind}"));
    }
    let found = summary(&place, &line);
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (number, client) in found.run.clients.iter().enumerate() {
        let OutsideFound::Installed { version, .. } = &client.found else {
            panic!("{client:?}");
        };
        let mut digits = version.split(|c: char| !c.is_ascii_digit());
        let major = digits.find(|part| !part.is_empty()).unwrap();
        let name = format!("{}-{major}", client.name);
        let is_known = found
            .matrix
            .cases
            .iter()
            .any(|row| row.case.observed.contains_key(&name));
        if !is_known {
            eprintln!(
                "{version}: what the catalogue has observed is of another version, and is not compared"
            );
        }
        for row in &found.matrix.cases {
            let cell = row.cells[1 + number].as_ref().unwrap();
            let does = cell.to_string();
            let case = &row.case;
            match (cell.judgement, case.observed.get(&name)) {
                // The browser's profile accepts no root with such a key, or the case needs more than a visit.
                (Judgement::Unsupported, None) => continue,
                (Judgement::Right, None) => {}
                (_, Some(observed)) if *observed == does && cell.judgement != Judgement::Right => {}
                (_, None) if !is_known && has_observation(case, &client.name) => {}
                (_, observed) => wrong.push(format!(
                    "{}: {version} does \"{does}\"; expected {}, observed {observed:?}",
                    case.name, case.expected
                )),
            }
            compared += 1;
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(compared > 2 * 80, "{compared}");
}

/// Returns whether the case has an observation of the browser, in any version.
fn has_observation(case: &CompatCase, browser: &StackName) -> bool {
    let mut of = case.observed.keys();
    of.any(|name| name.rsplit_once('-').map(|(name, _)| name) == Some(browser.as_str()))
}

/// Curl is installed everywhere; a browser is tried if it is installed, and is otherwise reported as missing.
fn programs_and_browsers_are_tried_beside_stacks() {
    let place = Place::new();
    let cases = [
        "certificate/usual",
        "certificate/not-yet-valid",
        "name/wrong-host",
        "alert/handshake-failure",
    ];
    let mut line = "compat -q --json --stack openssl --client curl,chromium".to_owned();
    for case in cases {
        line.push_str(&format!(" --case {case}"));
    }
    let found = summary(&place, &line);
    for row in &found.matrix.cases {
        let [_, curl, chromium] = row.cells.as_slice() else {
            panic!("{row:?}");
        };
        let (curl, chromium) = (curl.as_ref().unwrap(), chromium.as_ref().unwrap());
        assert_eq!(curl.judgement, Judgement::Right, "{curl:?}");
        assert_eq!(chromium.judgement, Judgement::Right, "{chromium:?}");
        if let CompatOutcome::Rejected { library, .. } = &curl.result.outcome {
            assert!(library.starts_with("exit code "), "{library}");
        }
        if let CompatOutcome::Rejected { library, .. } = &chromium.result.outcome {
            assert!(library.starts_with("net::ERR_"), "{library}");
        }
    }
    let run = place.run();
    check("compat-run.json", &text(&run, "run.json"));
    let samples = text(&run, "samples.jsonl");
    assert_eq!(samples.lines().count(), 3 * cases.len());
    let again = place
        .netbench(&["runs", "report", run.to_str().unwrap(), "--format", "csv"])
        .expect(0);
    assert!(again.stdout.contains("curl"), "{}", again.stdout);
}

/// A worker that replaces Servo's and makes no connection. Its answers claim a page of one case, and for another a
/// certificate that no server has sent.
const UNTRUE: &str = r#"
page() { echo "{\"id\":$id,\"type\":\"loaded\",\"outcome\":\"page\",\"http_status\":200,\"body_bytes\":16,\"from_cache\":$1,\"version\":\"1.3\",\"suite\":null,\"group\":null,\"alpn\":null,\"certificate_base64\":null}"; }
while read -r line; do
  id=${line#*\"id\":}; id=${id%%,*}
  case $line in
    *'"op":"describe"'*)
      echo '{"id":1,"type":"description","protocol":1,"stacks":[{"record":{"executable":"w","stack":"servo","library":"untrue 1.0","provider":null,"connector":"untrue-net 1.0","build":{"a":"b"}},"operations":["connect","serve"LOAD],"groups":[],"suites":[]}]}' ;;
    *'"op":"configure"'*) echo "{\"id\":$id,\"type\":\"configured\"}" ;;
    *'"proceed_base64"'*) page true ;;
    *'"host":"case.netbench.test"'*)
      echo "{\"id\":$id,\"type\":\"loaded\",\"outcome\":\"refused\",\"error\":\"SslValidation\",\"detail\":\"why\",\"certificate_base64\":\"AAAA\"}" ;;
    *) page false ;;
  esac
done"#;

fn what_an_engine_says_counts_where_the_server_saw_it() {
    let place = Place::new();
    let script = place.script("untrue", &UNTRUE.replace("LOAD", ",\"load\""));
    let line = format!(
        "compat -q --json --stack rustls-ring --client servo-net --case certificate/expired --case name/address --worker servo={}",
        script.display()
    );
    let found = summary(&place, &line);
    let unseen = cell(&found, "name/address", 1);
    let CompatOutcome::Unsupported { reason } = &unseen.result.outcome else {
        panic!("{unseen:?}");
    };
    assert!(reason.contains("the server did not see"), "{reason}");
    let refused = cell(&found, "certificate/expired", 1);
    assert_eq!(refused.judgement, Judgement::WrongReason);
    let view = refused.result.embedder.as_ref().unwrap();
    assert_eq!(view.certificate, ToldCertificate::Another);
    // A page that was never loaded is in no cache.
    assert!(
        matches!(view.proceeded, Some(NextLoad::Unclear { .. })),
        "{view:?}"
    );
    assert_eq!(view.elsewhere, None);
    let page = place
        .netbench(&["runs", "report", place.run().to_str().unwrap()])
        .expect(0);
    let said = "servo-net has an error for 1 server.";
    assert!(page.stdout.contains(said), "{}", page.stdout);

    let script = place.script("no-pages", &UNTRUE.replace("LOAD", ""));
    let line = format!(
        "compat -q --client servo-net --worker servo={}",
        script.display()
    );
    let done = place.netbench_line(&line).expect(2);
    let said = "the worker of servo loads no pages";
    assert!(done.stderr.contains(said), "{}", done.stderr);
}

/// WebKitGTK reports that it refuses a certificate, but no reason; it has messages for other failures.
fn webkitgtk_is_tried_beside_stacks() {
    let place = Place::new();
    let due = [
        ("certificate/usual", "accepted"),
        ("certificate/expired", "load-failed-with-tls-errors"),
        ("name/wrong-host", "load-failed-with-tls-errors"),
        (
            "alert/handshake-failure",
            "Peer sent fatal TLS alert: Handshake failed",
        ),
        ("client-certificate/asked-1.3", "it asks its user"),
    ];
    let mut line = "compat -q --json --stack openssl --client webkitgtk".to_owned();
    for (case, _) in due {
        line.push_str(&format!(" --case {case}"));
    }
    let found = summary(&place, &line);
    assert_eq!(found.matrix.cases.len(), due.len());
    assert_eq!(found.matrix.clients.len(), 2);
    for (name, said) in due {
        let cell = cell(&found, name, 1);
        match &cell.result.outcome {
            CompatOutcome::Accepted { .. } => assert_eq!(said, "accepted", "{name}"),
            CompatOutcome::Rejected { library, .. } => assert_eq!(library, said, "{name}"),
            CompatOutcome::Unsupported { reason } => assert!(reason.starts_with(said), "{reason}"),
            other => panic!("{name}: {other:?}"),
        }
        let judgement = match said {
            "it asks its user" => Judgement::Unsupported,
            _ => Judgement::Right,
        };
        assert_eq!(cell.judgement, judgement, "{name}");
    }
}

fn wrong_input_is_said_in_a_line() {
    let place = Place::new();
    place.write(
        "wrong.toml",
        "[[case]]\nname = \"a/b\"\nexpect = [\"expird\"]\n",
    );
    let case = "[[case]]\nname = \"a/b\"\nabout = \"is\"\nexpect = \"accepted\"\nwhy = \"because\"\nadvice = \"none\"\n";
    for (file, client) in [
        (
            "header.toml",
            "client.headers = { \"up grade\" = \"websocket\" }\n",
        ),
        ("file.toml", "client.certificate = \"pkcs11\"\n"),
    ] {
        place.write(file, &format!("{case}{client}"));
    }
    for (line, due) in [
        (
            "compat --catalogue wrong.toml",
            "wrong.toml: line 3: expect: unknown reason \"expird\"; did you mean \"expired\"?",
        ),
        ("compat --catalogue none.toml", "none.toml: "),
        (
            "compat --catalogue header.toml",
            "header.toml: line 1: client.headers: \"up grade\" is no header",
        ),
        (
            "compat --catalogue file.toml",
            "file.toml: line 7: client.certificate: unknown certificate of the client \"pkcs11\"",
        ),
        (
            "compat --case certificate/expird",
            "no case matches \"certificate/expird\"; did you mean \"certificate/expired\"?",
        ),
        (
            "compat --case zzz",
            "no case matches \"zzz\"; `netbench compat --list` lists them",
        ),
        ("compat --case [", "is no pattern"),
        ("compat --stack opensl", "unknown stack \"opensl\""),
        ("compat --timeout 1ms", "--timeout"),
        ("compat --client chrmium", "did you mean \"chromium\"?"),
        ("compat --client curl,curl", "--client names curl twice"),
        (
            "compat --stack openssl,servo --client servo",
            "servo is a stack and a client",
        ),
    ] {
        let done = place.netbench_line(line).expect(2);
        assert!(done.stderr.contains(due), "{line}: {}", done.stderr);
        assert!(done.stderr.lines().count() <= 5, "{}", done.stderr);
    }
    assert!(!place.path().join("runs").exists());
}

/// The output of `netbench compat breakages`.
const BREAKAGES: &str = include_str!("../../../../docs/BREAKAGES.md");

fn the_page_of_what_broke_is_what_the_command_prints() {
    let place = Place::new();
    let printed = place.netbench_line("compat breakages --format markdown");
    let printed = printed.expect(0).stdout;
    assert!(
        printed == BREAKAGES,
        "`netbench compat breakages --format markdown > docs/BREAKAGES.md` writes the file again:\n{printed}"
    );
    let listed = place.netbench_line("compat breakages --json").expect(0);
    check("breakages.json", &listed.stdout);
    let page = place.netbench_line("compat breakages --format html");
    let link = "<a href=\"https://github.com/rustls/rustls/issues/512\">rustls #512</a>";
    assert!(page.expect(0).stdout.contains(link));
}

/// Runs a command with the cases of its rows. Returns the place of the run, and the output.
fn tried(rows: &[(&Breakage, &Tried)], command: Predicts) -> (Place, String) {
    let rows = rows.iter().filter(|(_, by)| by.command == command);
    let names: BTreeSet<&str> = rows.map(|(_, by)| by.case.as_str()).collect();
    let stacks = "openssl,rustls-aws-lc,rustls-ring";
    let mut line = format!("{command} -q --json --stack {stacks}");
    for name in names {
        line.push_str(&format!(" --case {name}"));
    }
    let place = Place::new();
    let printed = place.netbench_line(&line).expect(0).stdout;
    (place, printed)
}

/// Tests each row with the current stacks, by the row's command.
fn what_broke_for_others_is_predicted() {
    let place = Place::new();
    let listed = place.netbench_line("compat breakages --json");
    let listed = listed.expect(0);
    let report: BreakagesReport = json(&listed.stdout);
    let all = report.breakages.iter();
    let rows: Vec<(&Breakage, &Tried)> = all
        .filter_map(|breakage| Some((breakage, breakage.answer.tried()?)))
        .collect();
    let (_, servers) = tried(&rows, Predicts::Servers);
    let servers: CompatSummary = json(&servers);
    let (chains, _) = tried(&rows, Predicts::Chains);
    let chains: Vec<ChainSample> = samples_of(&chains.run());
    for (breakage, by) in &rows {
        let thread = &breakage.thread;
        // The behaviour of the client, and whether the run shows it as a loss.
        let (today, is_loss) = match by.command {
            Predicts::Servers => {
                let mut clients = servers.matrix.clients.iter();
                let number = clients.position(|client| client.as_str() == by.client);
                let mine = cell(&servers, &by.case, number.unwrap());
                let kind = mem::discriminant(&mine.result.outcome);
                let mut cells = cells(&servers, &by.case).iter().flatten();
                // A stack that cannot be tried loses nothing.
                let differs = cells.any(|cell| {
                    cell.judgement != Judgement::Unsupported
                        && mem::discriminant(&cell.result.outcome) != kind
                });
                (
                    mine.to_string(),
                    mine.judgement != Judgement::Right || differs,
                )
            }
            Predicts::Chains => {
                let cells: Vec<_> = chains.iter().filter(|it| it.case == by.case).collect();
                let mine = cells.iter().find(|it| it.stack.as_str() == by.client);
                let mine = &mine.unwrap().outcome;
                let differs = cells.iter().any(|it| it.outcome.name() != mine.name());
                let today = match mine {
                    ChainOutcome::Rejected { reason, .. } => format!("rejected: {reason}"),
                    other => other.name().to_owned(),
                };
                (today, differs && *mine != ChainOutcome::Accepted)
            }
            // Other tests cover these commands.
            Predicts::Roots | Predicts::Ship => continue,
        };
        let is_predicted = matches!(breakage.answer, Prediction::Predicted(_));
        assert_eq!(is_loss, is_predicted, "{thread}: {} {today}", by.case);
        assert_eq!(today, by.today, "{thread}: {}", by.case);
    }
}
