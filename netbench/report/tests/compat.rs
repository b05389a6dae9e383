//! Behaviour of stacks towards servers, in every format.

use std::iter::repeat;

use itertools::Itertools;
use netbench_model::{
    Alert, CipherSuite, Library, Manifest, StackName, Standing, TlsVersion,
    browser::Sandbox,
    compat::{
        CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample, EmbedderView,
        Expected, NextLoad, OutsideClient, OutsideFound, OutsideKind, ToldCertificate,
    },
};
use netbench_report::{CompatSummary, Report, Stance, summarize_compat};

use crate::support::{
    formats::{assert_has, render, terminal},
    made_parts::{compat_case, compat_plan, compat_sample, refused},
    manifest::{interrupted, worker},
};

fn case(name: &str, expected: Expected) -> CompatCase {
    CompatCase {
        about: format!("is like {name}"),
        why: "RFC 5280".to_owned(),
        advice: format!("Look into {name}."),
        ..compat_case(name, expected)
    }
}

fn accepted() -> CompatOutcome {
    CompatOutcome::Accepted {
        version: Some(TlsVersion::Tls13),
        suite: Some(CipherSuite(0x1301)),
        group: None,
        alpn: Some("http/1.1".to_owned()),
    }
}

fn rejected(reason: &str, library: &str) -> CompatOutcome {
    CompatOutcome::Rejected {
        reason: reason.parse().unwrap(),
        library: library.to_owned(),
        // A control sequence for a terminal.
        detail: "certificate \u{1b}[31mwrong".to_owned(),
        alert: Some(Alert(42)),
        http_status: None,
    }
}

/// Returns the summary of a run with these stacks. All stacks after the first behave the same.
fn summary_of(stacks: &[&str]) -> CompatSummary {
    let crash = CompatOutcome::Crash {
        detail: "segmentation fault".to_owned(),
    };
    let unsupported = CompatOutcome::Unsupported {
        reason: "no such key".to_owned(),
    };
    let hang = CompatOutcome::Hang { after_ms: 6000 };
    let alert = rejected("alert", "handshake_failure");
    let expired = rejected("expired", "expired");
    let other = rejected("other", "other");
    let wrong_name = rejected("wrong-name", "wrong-name");
    use Expected::Accepted;
    let rows = [
        ("a/same", Accepted, accepted(), accepted()),
        ("a/better", refused("expired"), accepted(), expired.clone()),
        ("a/lost", Accepted, accepted(), alert),
        ("a/unwarned", refused("wrong-name"), wrong_name, accepted()),
        ("a/other-reason", refused("expired"), expired, other),
        ("a/hang", Accepted, accepted(), hang),
        ("a/crash", Accepted, accepted(), crash),
        ("a/unsupported", Accepted, accepted(), unsupported.clone()),
        ("a/known-now", Accepted, unsupported, accepted()),
    ];
    let stacks: Vec<StackName> = stacks.iter().map(|name| StackName::new(*name)).collect();
    let mut cases = Vec::new();
    let mut samples = Vec::new();
    for (name, expected, first, second) in rows {
        cases.push(case(name, expected));
        samples.extend(samples_of(name, &stacks, first, second));
    }
    cases.push(case("a/not-tried", Accepted));
    summarize_compat(&manifest(stacks, Vec::new(), cases), samples)
}

/// Returns samples of a case with the outcome of the first stack and the outcome of all others.
fn samples_of(
    case: &str,
    stacks: &[StackName],
    first: CompatOutcome,
    others: CompatOutcome,
) -> Vec<CompatSample> {
    let outcomes = [first].into_iter().chain(repeat(others));
    let samples = stacks.iter().zip(outcomes);
    samples
        .map(|(stack, outcome)| compat_sample(case, stack.as_str(), outcome))
        .collect()
}

fn manifest(
    stacks: Vec<StackName>,
    clients: Vec<OutsideClient>,
    cases: Vec<CompatCase>,
) -> CompatManifest {
    Manifest {
        workers: ["openssl", "rustls"].map(worker).into(),
        ..interrupted(
            "netbench compat",
            CompatPlan {
                clients,
                ..compat_plan(stacks, cases)
            },
        )
    }
}

#[test]
fn advice_is_that_for_the_library_of_the_stack() {
    let stacks = ["openssl", "rustls-aws-lc", "rustls-ring", "go"].map(StackName::new);
    let lost = CompatCase {
        advice: "Tell the owner.".to_owned(),
        advice_by: [(Library::Rustls, "rustls has none.".to_owned())].into(),
        ..case("a/lost", Expected::Accepted)
    };
    let samples = samples_of(&lost.name, &stacks, accepted(), rejected("alert", "alert"));
    let summary = summarize_compat(&manifest(stacks.to_vec(), Vec::new(), vec![lost]), samples);
    let advice = summary.differences.iter();
    let advice: Vec<_> = advice
        .map(|found| {
            (
                found.switch.stack.as_str(),
                found.switch.advice.as_deref().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        advice,
        [
            ("rustls-aws-lc", "rustls has none."),
            ("rustls-ring", "rustls has none."),
            ("go", "Tell the owner."),
        ]
    );
    // Every advice is printed once, with the stacks that it concerns.
    let text = terminal(&summary, 200);
    let [of_rustls, of_go] = ["rustls has none.", "Tell the owner."].map(|advice| {
        let lines = text.lines().filter(|line| line.contains(advice));
        let line = lines.exactly_one().ok();
        line.unwrap_or_else(|| panic!("{advice:?} in {text}"))
    });
    assert!(of_rustls.contains("rustls-aws-lc, rustls-ring"));
    assert!(of_go.contains("go") && !of_go.contains("rustls"), "{of_go}");
}

/// A dated server loads in no browser, unless one was observed to load it.
#[test]
fn what_browsers_do_is_said_of_those_that_were_observed() {
    let rejected = rejected("bad-purpose", "bad-purpose");
    for (does, browsers) in [("rejected", "browsers"), ("accepted", "some browsers")] {
        let stacks = ["openssl", "go"].map(StackName::new);
        let dated = CompatCase {
            standing: Some(Standing::Dated),
            observed: [("chromium-156".to_owned(), does.to_owned())].into(),
            ..case("a/dated", refused("bad-purpose"))
        };
        let manifest = manifest(stacks.to_vec(), Vec::new(), vec![dated]);
        let lost = format!(
            "The page does not load any more, as in {browsers}: the certificate is for another purpose."
        );
        let gained = format!("The page loads, which it did not before; {browsers} do not load it.");
        for (first, second, seen) in [
            (accepted(), rejected.clone(), lost),
            (rejected.clone(), accepted(), gained),
        ] {
            let samples = samples_of("a/dated", &stacks, first, second);
            let found = summarize_compat(&manifest, samples).differences;
            assert_eq!(found[0].switch.seen, seen);
        }
    }
}

fn client(name: &str, kind: OutsideKind, sandbox: Option<Sandbox>) -> OutsideClient {
    OutsideClient {
        name: StackName::new(name),
        kind,
        found: OutsideFound::Installed {
            version: format!("{name} 1.0"),
            library: "BoringSSL".to_owned(),
            sandbox,
            settings: Vec::new(),
        },
    }
}

/// Returns the summary of two stacks with a browser, a program, and a program that is not installed.
fn beside_clients() -> CompatSummary {
    let date = rejected("expired", "net::ERR_CERT_DATE_INVALID");
    let missing = CompatOutcome::Unsupported {
        reason: "wget is not installed".to_owned(),
    };
    let hang = CompatOutcome::Hang { after_ms: 6000 };
    let alert = rejected("alert", "handshake_failure");
    let [reset, closed] = ["reset", "closed"].map(|library| rejected("closed", library));
    let works = accepted();
    use Expected::Accepted;
    let rows = [
        ("a/lost", Accepted, [&alert, &works, &works, &works]),
        ("a/of-programs", Accepted, [&reset, &works, &closed, &works]),
        (
            "a/unwarned",
            refused("expired"),
            [&works, &date, &date, &works],
        ),
        ("a/same", refused("expired"), [&date; 4]),
        ("a/hang", Accepted, [&hang, &works, &works, &missing]),
    ];
    let stacks: Vec<StackName> = ["rustls", "openssl"].map(StackName::new).into();
    let wget = OutsideClient {
        found: OutsideFound::Missing {
            reason: "wget is not installed: Debian's package is wget".to_owned(),
        },
        ..client("wget", OutsideKind::Program, None)
    };
    let clients = vec![
        client("chromium", OutsideKind::Browser, Some(Sandbox::Off)),
        client("curl", OutsideKind::Program, None),
        wget,
    ];
    let mut cases = Vec::new();
    let mut samples = Vec::new();
    for (name, expected, outcomes) in rows {
        cases.push(case(name, expected));
        let names = ["rustls", "openssl", "chromium", "curl", "wget"];
        for (stack, outcome) in names
            .into_iter()
            .zip(outcomes.into_iter().chain([&missing]))
        {
            samples.push(compat_sample(name, stack, outcome.clone()));
        }
    }
    summarize_compat(&manifest(stacks, clients, cases), samples)
}

#[test]
fn what_browsers_take_otherwise_comes_first() {
    let summary = beside_clients();
    let found: Vec<_> = summary
        .disagreements
        .iter()
        .map(|of| (of.stack.as_str(), of.stance, of.case.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("rustls", Stance::Refuses, "a/lost"),
            ("rustls", Stance::Refuses, "a/hang"),
            ("rustls", Stance::Refuses, "a/of-programs"),
            ("rustls", Stance::Accepts, "a/unwarned"),
            ("openssl", Stance::Refuses, "a/unwarned"),
            ("openssl", Stance::Accepts, "a/of-programs"),
        ]
    );
    // A client's behaviour is no difference between stacks.
    assert!(
        summary
            .differences
            .iter()
            .all(|of| of.switch.stack.as_str() == "openssl")
    );
    insta::assert_snapshot!("clients_terminal", terminal(&summary, 120));
    insta::assert_snapshot!("clients_markdown", render(&summary, "markdown"));
}

/// Returns the summary of a stack with an engine, which is or is not given a certificate, and whose user proceeds.
fn beside_an_engine() -> CompatSummary {
    let ssl = CompatOutcome::Rejected {
        reason: "other".parse().unwrap(),
        library: "SslValidation".to_owned(),
        detail: "SSL validation error: client error (Connect)".to_owned(),
        alert: None,
        http_status: None,
    };
    let not_connected = NextLoad::Refused {
        library: "HttpError".to_owned(),
        detail: "HTTP failure".to_owned(),
    };
    use NextLoad::{Cached, Connected};
    use ToldCertificate::{Missing, NotSent, Sent};
    let rows = [
        (
            "a/kept",
            Expected::Accepted,
            accepted(),
            (Sent, Some(Cached), None, None),
        ),
        (
            "a/not-kept",
            Expected::Accepted,
            accepted(),
            (Sent, Some(Connected), None, None),
        ),
        (
            "a/expired",
            refused("expired"),
            ssl.clone(),
            (Sent, None, Some(Connected), Some(Connected)),
        ),
        (
            "a/unreadable",
            refused("expired"),
            ssl.clone(),
            (Sent, None, Some(not_connected), None),
        ),
        (
            "a/without",
            refused("expired"),
            ssl.clone(),
            (Missing, None, None, None),
        ),
        (
            "a/alert",
            refused("alert"),
            rejected("alert", "HttpError"),
            (NotSent, None, None, None),
        ),
    ];
    let mut cases = Vec::new();
    let mut samples = Vec::new();
    for (name, expected, outcome, (certificate, again, proceeded, elsewhere)) in rows {
        cases.push(case(name, expected));
        let embedder = EmbedderView {
            certificate,
            certificate_sha256: None,
            again,
            proceeded,
            elsewhere,
        };
        for (stack, embedder) in [("openssl", None), ("servo", Some(embedder))] {
            samples.push(CompatSample {
                embedder,
                ..compat_sample(name, stack, outcome.clone())
            });
        }
    }
    let clients = vec![client("servo", OutsideKind::Engine, None)];
    let stacks = vec![StackName::new("openssl")];
    summarize_compat(&manifest(stacks, clients, cases), samples)
}

#[test]
fn what_an_embedder_is_told_is_a_section_of_its_own() {
    let summary = beside_an_engine();
    insta::assert_snapshot!("engine_terminal", terminal(&summary, 140));
    insta::assert_snapshot!("engine_markdown", render(&summary, "markdown"));
}

fn summary() -> CompatSummary {
    summary_of(&["openssl", "rustls"])
}

#[test]
fn the_worst_comes_first_in_every_form() {
    let summary = summary();
    let order: Vec<&str> = summary
        .differences
        .iter()
        .map(|d| d.case.as_str())
        .collect();
    let due = [
        "crash",
        "hang",
        "lost",
        "unwarned",
        "other-reason",
        "unsupported",
        "better",
        "known-now",
    ];
    assert_eq!(order, due.map(|name| format!("a/{name}")));
    assert!(summary.tells());
    insta::assert_snapshot!("compat_terminal", terminal(&summary, 120));
    insta::assert_snapshot!("compat_narrow", terminal(&summary, 60));
    for format in ["markdown", "junit"] {
        insta::assert_snapshot!(format!("compat_{format}"), render(&summary, format));
    }
}

#[test]
fn stacks_that_do_the_same_share_a_row() {
    let summary = summary_of(&["openssl", "rustls", "other"]);
    assert_eq!(summary.differences.len(), 16);
    let text = render(&summary, "markdown");
    let rows = text.matches("| rustls, other |").count();
    assert_eq!(rows, 8, "{text}");
    assert_has(&text, "16 differences from openssl");
}

#[test]
fn a_page_shows_nothing_that_a_browser_would_obey() {
    let mut summary = summary();
    summary.differences[0].about = "<script>alert(1)</script>".to_owned();
    let page = render(&summary, "html");
    assert!(page.contains("What changes") && !page.contains("<script>alert(1)"));
}
