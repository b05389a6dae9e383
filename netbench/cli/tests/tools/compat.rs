//! `netbench compat` from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::{collections::BTreeSet, fs, mem};

use netbench_model::{
    breakage::{Breakage, Prediction, Predicts, Tried},
    chains::{ChainOutcome, ChainSample},
    compat::{CompatOutcome, Judgement},
};
use netbench_report::{BreakagesReport, CompatCell, CompatSummary};

use crate::support::{
    Place, check, check_lines, json, reported_again, rows, samples_of, text, with_each, words,
};

netbench_testing::module_tests! {
    every_stack_is_judged_by_what_both_sides_saw;
    what_a_client_has_to_bring_is_shown_as_each_library_reads_it;
    encrypted_hellos_count_where_both_sides_agree;
    a_run_is_stored_and_reported_again;
    cases_of_the_users_own_are_tried;
    one_of_a_thing_is_no_plural;
    wrong_input_is_said_in_a_line;
    the_page_of_what_broke_is_what_the_command_prints;
    what_broke_for_others_is_predicted;
}

pub(crate) fn summary(place: &Place, line: &str) -> CompatSummary {
    place.document("compat-summary.json", line)
}

/// Returns the judgement of a case for each stack.
fn judged(summary: &CompatSummary, case: &str) -> Vec<Judgement> {
    let cells = cells(summary, case).iter();
    cells.map(|cell| cell.as_ref().unwrap().judgement).collect()
}

/// Panics unless the stacks are judged as in this table: a case in every line, and the judgements after `=>`.
pub(crate) fn assert_judged(summary: &CompatSummary, table: &str) {
    for [case, due] in rows(table) {
        let judged: Vec<&str> = judged(summary, case).iter().map(|it| it.name()).collect();
        assert_eq!(judged.join(", "), due, "{case}");
    }
}

fn cells<'a>(summary: &'a CompatSummary, case: &str) -> &'a [Option<CompatCell>] {
    let mut rows = summary.matrix.cases.iter();
    let row = rows.find(|row| row.case.name == case);
    &row.unwrap_or_else(|| panic!("no {case}")).cells
}

pub(crate) fn cell<'a>(summary: &'a CompatSummary, case: &str, stack: usize) -> &'a CompatCell {
    cells(summary, case)[stack].as_ref().unwrap()
}

/// Returns the words of a stack that does not connect to the server of a case.
pub(crate) fn said<'a>(summary: &'a CompatSummary, case: &str, stack: usize) -> &'a str {
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
    assert_judged(
        &summary,
        "
        certificate/usual => right, right, right
        certificate/expired => right, right, right
        certificate/expired-root => right, accepted wrongly, accepted wrongly
        name/common-name-alone => accepted wrongly, right, right
        trust/self-signed-ca-trusted => right, rejected wrongly, rejected wrongly
        trust/intermediate-as-root => rejected wrongly, right, right
        authority/may-not-sign => right, accepted wrongly, accepted wrongly
        key/p-384 => right, right, right
        key/p-521-authority => right, right, rejected wrongly
        key/rsa-8192 => right, right, right
        key/ed25519 => accepted wrongly, accepted wrongly, accepted wrongly
        encoding/unknown-critical-extension => right, right, right
        suite/cbc-rsa => right, rejected wrongly, rejected wrongly
        suite/static-rsa-gcm => right, rejected wrongly, rejected wrongly
        suite/dhe-1024 => right, right, right
        version/1.0-alone => right, right, right
        version/downgrade => right, right, right
        group/x25519mlkem768 => right, right, rejected wrongly
        group/p-384 => right, right, right
        extension/no-secure-renegotiation => rejected wrongly, right, right
        end/no-close-notify-no-length => right, rejected wrongly, rejected wrongly
        renegotiation/asked => right, rejected wrongly, rejected wrongly
        alpn/h2-alone => right, right, right
        key-update/storm => right, right, right
        key/rsa-1024 => rejected wrongly, rejected wrongly, rejected wrongly
        ",
    );
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
    assert_judged(
        &summary,
        "
        client-certificate/asked-1.3 => right, right, right, right
        client-certificate/required-1.2 => right, right, right, right
        client-certificate/shown-when-asked => right, right, right, right
        client-certificate/shown-1.3 => right, right, right, right
        client-certificate/shown-1.2 => right, right, right, right
        client-certificate/version-1 => right, rejected wrongly, rejected wrongly, right
        client-certificate/pkcs1 => right, right, right, right
        client-certificate/sec1 => right, right, right, right
        client-certificate/encrypted-pkcs8 => right, rejected wrongly, rejected wrongly, rejected wrongly
        client-certificate/encrypted-pem => right, rejected wrongly, rejected wrongly, right
        client-certificate/pkcs12 => right, unsupported, unsupported, unsupported
        client-certificate/pkcs12-rc2 => rejected wrongly, unsupported, unsupported, unsupported
        client-certificate/pkcs12-cut => right, unsupported, unsupported, unsupported
        client-certificate/wrong-password => right, right, right, right
        alpn/websocket => right, right, right, right
        # Only Go offers only HTTP/1.1 for a WebSocket.
        alpn/websocket-h2 => rejected wrongly, rejected wrongly, rejected wrongly, right
        tickets/refused => right, right, right, right
        early-data/refused => unsupported, right, right, unsupported
        ",
    );
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
    assert!(summary.matrix.cases.len() >= 47);
    assert_judged(
        &summary,
        "
        ech/accepted => right, right, unsupported
        ech/accepted-by-strict-server => right, right, unsupported
        ech/accepted-chacha20 => right, right, unsupported
        ech/accepted-after-retry => right, right, unsupported
        ech/accepted-hybrid => right, right, unsupported
        ech/accepted-padding => right, rejected wrongly, unsupported
        ech/accepted-ticket => right, right, unsupported
        ech/accepted-client-certificate => right, right, unsupported
        ech/config-mandatory-extension-first => right, right, unsupported
        ech/config-unknown-version-first => right, right, unsupported
        ech/config-address-name-first => rejected wrongly, rejected wrongly, unsupported
        ech/config-list-of-64-kib => right, right, unsupported
        ech/config-list-cut => right, right, unsupported
        ech/config-list-cut-inside => right, right, unsupported
        ech/rejected => right, right, unsupported
        ech/rejected-and-retried => rejected wrongly, right, unsupported
        ech/rejected-again => right, right, unsupported
        ech/rejected-without-configs => right, right, unsupported
        ech/rejected-with-cut-configs => right, wrong reason, unsupported
        ech/rejected-with-hidden-name => right, right, unsupported
        ech/rejected-by-anyone => right, right, unsupported
        ech/rejected-client-certificate => right, right, unsupported
        ech/rejected-after-retry => right, right, unsupported
        ech/retry-signal-random => right, right, unsupported
        ech/retry-signal-short => right, right, unsupported
        ech/confirmed-once => right, right, unsupported
        ech/configs-after-acceptance => right, right, unsupported
        ech/configs-unasked => right, accepted wrongly, accepted wrongly
        ech/dropped => right, right, unsupported
        ech/grease-ignored => right, unsupported, unsupported
        ech/grease-refused => right, unsupported, unsupported
        ech/grease-closed => right, unsupported, unsupported
        ech/grease-stalls => right, unsupported, unsupported
        ech/grease-answered => right, unsupported, unsupported
        ech/grease-after-retry => right, unsupported, unsupported
        ",
    );
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
    let first = place.succeeds(line);
    first.prints("The stacks do the same with every server.");
    reported_again(
        &place,
        &first,
        &[
            ("runs report RUN --format html", "What changes"),
            ("runs list runs", "compat"),
        ],
    );
    // No case is missing, so that no case runs again.
    let resumed = place.netbench_line("run -q RUN --format markdown");
    assert_eq!(resumed.expect(0).stdout, first.stdout);
    let run = place.run();
    check("compat-run.json", &text(&run, "run.json"));
    assert!(check_lines("compat-sample.json", &text(&run, "samples.jsonl")) > 10);
}

/// Things that are counted, in the plural.
const MANY: &str = "servers sites rounds samples connections stacks cases hosts points clients handshakes certificates \
                    tests runs lines trials";

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
        done.expect_one(&[0, 3]);
        if line.starts_with("compat") {
            done.prints("with one server;");
            let told = "netbench: certificate/usual, rustls-ring: accepted\n";
            done.tells(told);
        }
        let page = place.netbench_line("runs report RUN --format html --output -");
        let page = page.stdout;
        for text in [&done.stdout, &done.stderr, &page] {
            for many in words(MANY) {
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
    let listed = place.succeeds("compat --catalogue mine.toml --list");
    assert_eq!(listed.stdout, "my/server  accepted\n");
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
    place.refuses(2, r#"
        compat --catalogue wrong.toml => wrong.toml: line 3: expect: unknown reason "expird"; did you mean "expired"?
        compat --catalogue none.toml => none.toml:
        compat --catalogue header.toml => header.toml: line 1: client.headers: "up grade" is no header
        compat --catalogue file.toml => file.toml: line 7: client.certificate: unknown certificate of the client "pkcs11"
        compat --case certificate/expird => no case matches "certificate/expird"; did you mean "certificate/expired"?
        compat --case zzz => no case matches "zzz"; `netbench compat --list` lists them
        compat --case [ => is no pattern
        compat --stack opensl => unknown stack "opensl"
        compat --timeout 1ms => --timeout
        compat --client chrmium => did you mean "chromium"?
        compat --client curl,curl => --client names curl twice
        compat --stack openssl,servo --client servo => servo is a stack and a client
    "#);
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
    let listed = place.succeeds("compat breakages --json");
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
    let line = format!("{command} -q --json --stack {stacks}");
    let line = with_each(&line, "--case", names);
    let place = Place::new();
    let printed = place.succeeds(&line).stdout;
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
