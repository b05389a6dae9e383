//! `netbench compat` with browsers, programs and engines beside stacks.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use netbench_model::{
    StackName,
    compat::{CompatCase, CompatOutcome, Judgement, NextLoad, OutsideFound, ToldCertificate},
};
use netbench_report::CompatSummary;

use crate::{
    compat::{assert_judged, cell, said, summary},
    support::{Place, check, text, with_each, words},
};

netbench_testing::module_tests! {
    browsers_do_what_the_catalogue_says: Chromium, Firefox, Certutil, UserNamespaces;
    browsers_find_configurations_in_https_records: Chromium, Firefox, Certutil, UserNamespaces;
    programs_and_browsers_are_tried_beside_stacks: Curl, Chromium, Certutil, UserNamespaces;
    what_an_engine_says_counts_where_the_server_saw_it;
    webkitgtk_is_tried_beside_stacks: WebKitGtk, Certutil, UserNamespaces, UserMounts;
}

/// Kinds of cases that certificates decide: the stacks' own tests cover the others.
const OF_CERTIFICATES: &str = "certificate/* name/* trust/* authority/* purpose/* constraint/* key/* signature/* \
                               encoding/*";

/// Compares the expectations and the recorded observations with the installed browsers.
fn browsers_do_what_the_catalogue_says() {
    let place = Place::new();
    let line = "compat -q --json --stack openssl --client chromium,firefox";
    let line = with_each(line, "--case", words(OF_CERTIFICATES));
    let compared = assert_observed(&summary(&place, &line));
    assert!(compared > 2 * 80, "{compared}");
}

/// Encrypted ClientHello counts where the browser reports it and the server has decrypted the hello.
fn browsers_find_configurations_in_https_records() {
    let place = Place::new();
    let line = "compat -q --json --stack openssl --client chromium,firefox --case ech/*";
    let found = summary(&place, line);
    let compared = assert_observed(&found);
    assert!(compared >= 2 * 35, "{compared}");
    assert_judged(
        &found,
        "
        ech/accepted => unsupported, right, right
        ech/accepted-after-retry => unsupported, right, right
        ech/accepted-ticket => unsupported, unsupported, unsupported
        ech/config-address-name-first => unsupported, right, rejected wrongly
        ech/config-list-of-64-kib => unsupported, right, rejected wrongly
        ech/config-list-cut => unsupported, unsupported, unsupported
        ech/rejected => unsupported, right, right
        ech/rejected-and-retried => unsupported, right, right
        ech/rejected-again => unsupported, right, right
        ech/rejected-with-hidden-name => unsupported, right, right
        ech/retry-signal-unasked => accepted wrongly, unsupported, unsupported
        ech/grease-answered => unsupported, right, right
        ",
    );
    for (client, code) in [
        (1, "net::ERR_ECH_NOT_NEGOTIATED"),
        (2, "SSL_ERROR_ECH_RETRY_WITH_ECH"),
    ] {
        let said = said(&found, "ech/rejected-again", client);
        assert_eq!(said, format!("it reports the rejection: {code}"));
        let outcome = &cell(&found, "ech/rejected", client).result.outcome;
        let CompatOutcome::Rejected { detail, alert, .. } = outcome else {
            panic!("{outcome:?}");
        };
        assert!(detail.starts_with("it connected again with the configurations"));
        assert_eq!(alert.unwrap().to_string(), "ech_required");
    }
}

/// Panics unless the browsers behave as the catalogue expects, or as it has observed. Returns the number of comparisons.
fn assert_observed(found: &CompatSummary) -> usize {
    let mut wrong = Vec::new();
    let mut compared = 0;
    for (number, client) in found.run.clients.iter().enumerate() {
        let OutsideFound::Installed { version, .. } = &client.found else {
            panic!("{client:?}");
        };
        let mut digits = version.split(|c: char| !c.is_ascii_digit());
        let major = digits.find(|part| !part.is_empty()).unwrap();
        let name = format!("{}-{major}", client.name);
        let cases = || found.matrix.cases.iter().map(|row| &row.case);
        let is_observed = cases().any(|case| has_observation(case, &client.name));
        let is_known = !is_observed || cases().any(|case| case.observed.contains_key(&name));
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
    compared
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
    let line = "compat -q --json --stack openssl --client curl,chromium";
    let line = with_each(line, "--case", cases);
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
    let again = place.succeeds("runs report RUN --format csv");
    again.prints("curl");
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
    let page = place.succeeds("runs report RUN");
    let said = "servo-net has an error for 1 server.";
    page.prints(said);

    let script = place.script("no-pages", &UNTRUE.replace("LOAD", ""));
    let line = format!(
        "compat -q --client servo-net --worker servo={}",
        script.display()
    );
    let done = place.netbench_line(&line).expect(2);
    let said = "the worker of servo loads no pages";
    done.tells(said);
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
    let line = "compat -q --json --stack openssl --client webkitgtk";
    let line = with_each(line, "--case", due.map(|(case, _)| case));
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
