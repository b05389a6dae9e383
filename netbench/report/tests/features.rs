//! The outcomes of pages in browsers, in every format.

use std::collections::BTreeMap;

use netbench_model::{
    SCHEMA_VERSION, StackName,
    browser::Sandbox,
    compat::{Judgement, OutsideClient, OutsideFound, OutsideKind},
    features::{
        FeatureCase, FeatureOutcome, FeatureSample, FeaturesPlan, Guards, PageReport, WebSeen,
    },
};
use netbench_report::{FeaturesSummary, summarize_features};

use crate::support::{
    formats::{render, terminal},
    manifest::interrupted,
};

fn case(name: &str, guards: Guards) -> FeatureCase {
    FeatureCase {
        name: name.to_owned(),
        about: format!("Tests {name}."),
        standard: "Fetch, section 4".to_owned(),
        url: "https://fetch.spec.whatwg.org/".to_owned(),
        tests: vec!["fetch/api/a.any.js".to_owned()],
        why: format!("Because of {name}."),
        guards,
        start: "https://a.test/".to_owned(),
        restart: None,
        told: [("value".to_owned(), "1".to_owned())].into(),
        observed: Vec::new(),
        requests: Vec::new(),
        connections: Vec::new(),
    }
}

fn reported(report: PageReport) -> FeatureOutcome {
    FeatureOutcome::Reported {
        seen: WebSeen {
            report: Some(report),
            ..WebSeen::default()
        },
    }
}

fn told(value: &str) -> FeatureOutcome {
    let values = [("value", value), ("shared", "true")];
    let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
    reported(PageReport::Told(BTreeMap::from(values)))
}

fn browser(name: &str, found: OutsideFound) -> OutsideClient {
    OutsideClient {
        name: StackName::new(name),
        kind: OutsideKind::Browser,
        found,
    }
}

fn installed(library: &str, sandbox: Sandbox) -> OutsideFound {
    OutsideFound::Installed {
        version: "1.0".to_owned(),
        library: library.to_owned(),
        sandbox: Some(sandbox),
        settings: vec!["--headless".to_owned()],
    }
}

fn summary() -> FeaturesSummary {
    let crash = FeatureOutcome::Crash {
        // A control sequence for a terminal.
        detail: "it ended: \u{1b}[31msignal 11".to_owned(),
    };
    let silent = FeatureOutcome::Silent {
        after_ms: 15_000,
        shown: Some("net::ERR_FAILED".to_owned()),
        seen: WebSeen::default(),
    };
    let missing = FeatureOutcome::Unsupported {
        reason: "it is not installed".to_owned(),
    };
    let lacks = reported(PageReport::Unsupported("there is no Worker".to_owned()));
    let failed = reported(PageReport::Failed("TypeError: <b>".to_owned()));
    use Guards::{Function, Protection};
    let rows = [
        ("fetch/same", Function, [told("1"), told("1")]),
        ("fetch/both-otherwise", Function, [told("2"), told("2")]),
        ("fetch/broken", Function, [told("1"), failed]),
        ("hsts/unsafe", Protection, [told("3"), told("1")]),
        ("worker/lacks", Function, [told("1"), lacks]),
        ("worker/silent", Function, [silent, told("1")]),
        ("worker/crash", Protection, [told("1"), crash]),
    ];
    let browsers = vec![
        browser("chromium", installed("BoringSSL", Sandbox::On)),
        browser("webkitgtk", installed("GnuTLS", Sandbox::Off)),
        browser(
            "firefox",
            OutsideFound::Missing {
                reason: "Debian's package is firefox-esr".to_owned(),
            },
        ),
    ];
    let clients: Vec<StackName> = browsers
        .iter()
        .map(|browser| browser.name.clone())
        .collect();
    let mut samples = Vec::new();
    let mut cases = Vec::new();
    for (name, guards, outcomes) in rows {
        cases.push(case(name, guards));
        let outcomes = outcomes.into_iter().chain([missing.clone()]);
        for (browser, outcome) in clients.iter().zip(outcomes) {
            samples.push(FeatureSample {
                schema: SCHEMA_VERSION,
                case: name.to_owned(),
                browser: browser.clone(),
                outcome,
            });
        }
    }
    cases[0].observed = vec!["shared".to_owned()];
    cases.push(case("xhr/not-opened", Function));
    let manifest = interrupted(
        "netbench browser features",
        FeaturesPlan {
            clients,
            browsers,
            cases,
            catalogue_sha256: "ab".repeat(32),
            limit_ms: 15_000,
        },
    );
    summarize_features(&manifest, samples)
}

#[test]
fn forms_of_features() {
    let summary = summary();
    for format in ["markdown", "junit", "csv"] {
        insta::assert_snapshot!(format!("features_{format}"), render(&summary, format));
    }
    insta::assert_snapshot!("features_terminal", terminal(&summary, 120));
    insta::assert_snapshot!("features_narrow", terminal(&summary, 60));
    let page = render(&summary, "html");
    assert!(page.contains("What differs between the browsers"));
    assert!(page.contains("TypeError: &lt;b&gt;"));
}

#[test]
fn differences_that_cost_protection_come_first() {
    let summary = summary();
    let found: Vec<_> = summary
        .differences
        .iter()
        .map(|it| {
            (
                it.case.as_str(),
                it.expected_in.len(),
                it.otherwise_in.len(),
            )
        })
        .collect();
    // A browser that lacks the feature, or is not here, does not differ.
    assert_eq!(
        found,
        [
            ("hsts/unsafe", 1, 1),
            ("worker/crash", 1, 1),
            ("fetch/broken", 1, 1),
            ("worker/silent", 1, 1),
        ]
    );
}

#[test]
fn every_outcome_has_its_judgement() {
    use Judgement as J;
    let summary = summary();
    for (case, browser, judgement) in [
        ("fetch/same", 0, J::Right),
        ("fetch/both-otherwise", 0, J::FalseReject),
        ("fetch/broken", 1, J::FalseReject),
        ("hsts/unsafe", 0, J::FalseAccept),
        ("worker/lacks", 1, J::Unsupported),
        ("worker/silent", 0, J::Hung),
        ("worker/crash", 1, J::Crashed),
        ("fetch/same", 2, J::Unsupported),
    ] {
        let mut rows = summary.matrix.cases.iter();
        let row = rows.find(|row| row.case.name == case).expect("a case");
        let cell = row.cell(browser).expect("a cell");
        assert_eq!(cell.judgement, judgement, "{case}");
    }
    assert_eq!(summary.totals[0].of(Judgement::Right), 4);
    let missing = "3 pages were not opened: the run was ended early";
    assert!(
        summary.warnings.iter().any(|it| it == missing),
        "{:?}",
        summary.warnings
    );
}
