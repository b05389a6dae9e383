//! Reports of browsers' visits, in every format.

use std::sync::Arc;

use netbench_model::{
    Condition, Failure, FailureClass, Group, LinkProfile, Manifest, Negotiated, RootsRecord,
    RootsSource, SCHEMA_VERSION, ServerView, Site, StackName, TlsVersion,
    browser::{
        Attempt, BrowserManifest, BrowserPlan, BrowserRecord, Mark, ObjectsLoad, ObjectsPage,
        OnTheLink, Sandbox, Scheduled, Visit, VisitOutcome, VisitSample, VisitTimes,
    },
};
use netbench_report::{BrowserSummary, Report, VisitPhase, summarize_browser};

use crate::support::{
    formats::{assert_emulated, assert_has, render, terminal},
    manifest::{manifest_of, session},
};

const CLIENTS: [&str; 2] = ["chromium", "rustls-ring"];
const ROUNDS: u32 = 4;

fn site(number: usize) -> Site {
    let mut site = Site::new(format!("site{number}.example").parse().unwrap(), 443);
    Arc::make_mut(&mut site.lab).link = LinkProfile {
        rtt_ns: 20_000_000,
        ..site.lab.link
    };
    site
}

fn manifest() -> BrowserManifest {
    Manifest {
        started: "2026-11-22T20:00:00Z".to_owned(),
        finished: Some("2026-11-22T20:01:00Z".to_owned()),
        sessions: vec![session("netbench browser")],
        ..manifest_of(BrowserPlan {
            seed: 5,
            clients: CLIENTS.map(StackName::new).to_vec(),
            browsers: vec![BrowserRecord {
                name: "chromium".to_owned(),
                version: "Chromium 156.0".to_owned(),
                library: "BoringSSL".to_owned(),
                sandbox: Sandbox::On,
                user: Some("nobody".to_owned()),
                settings: vec!["--headless".to_owned()],
            }],
            conditions: vec![Condition::Clean],
            rounds: ROUNDS,
            sites_file: "built-in".to_owned(),
            sites_sha256: "00".to_owned(),
            sites: (0..3).map(site).collect(),
            roots: RootsRecord {
                source: RootsSource::Mozilla,
                count: 2,
                sha256: "00".to_owned(),
            },
            client: None,
            page: None,
            limit_ms: 20_000,
            link: None,
        })
    }
}

/// Returns visits of which the browser's take a tenth longer, and a page that each client refuses.
fn samples() -> Vec<VisitSample> {
    let mut samples = Vec::new();
    for round in 0..ROUNDS {
        for number in 0..3 {
            for client in CLIENTS {
                let unit = u64::from(round) * 3 + number;
                samples.push(sample(round, unit, number, client));
            }
        }
    }
    samples
}

/// Returns the visits of two Servos that differ in their TLS library: the second takes less time.
pub(crate) fn servos(groups: [Group; 2]) -> BrowserSummary {
    let names = ["servo+openssl", "servo"].map(StackName::new);
    let mut manifest = manifest();
    let record = manifest.plan.browsers[0].clone();
    manifest.plan.browsers = (names.iter())
        .map(|name| BrowserRecord {
            name: name.to_string(),
            ..record.clone()
        })
        .collect();
    let mut samples = samples();
    for sample in &mut samples {
        let client = usize::from(sample.client.as_str() != CLIENTS[0]);
        sample.client = names[client].clone();
        if let VisitOutcome::Ok(visit) = &mut sample.outcome {
            visit.client.group = Some(groups[client]);
        }
    }
    manifest.plan.clients = names.into();
    summarize_browser(&manifest, &samples)
}

fn sample(round: u32, unit: u64, number: u64, client: &str) -> VisitSample {
    let is_browser = client == "chromium";
    let agreed = Negotiated {
        version: Some(TlsVersion::Tls13),
        alpn: Some("h2".to_owned()),
        ..Negotiated::default()
    };
    // One round is off by over a millisecond.
    let far = if round == 2 && number == 0 {
        2_500_000
    } else {
        0
    };
    let tls_ns = 22_000_000 + u64::from(round) * 10_000;
    let tls_ns = if is_browser { tls_ns * 11 / 10 } else { tls_ns };
    let outcome = if number == 2 {
        VisitOutcome::Failed(Failure {
            class: FailureClass::Certificate,
            reason: netbench_model::CertificateFault::Expired.into(),
            detail: if is_browser {
                "net::ERR_CERT_DATE_INVALID"
            } else {
                "Expired \u{1b}[31m"
            }
            .to_owned(),
            phase: None,
            after_ns: None,
        })
    } else {
        VisitOutcome::Ok(Box::new(Visit {
            times: VisitTimes {
                dns_ns: 0,
                tcp_ns: 20_300_000,
                tls_ns,
                wait_ns: 100_000,
                first_byte_ns: Some(20_500_000),
                total_ns: Some(41_000_000 + tls_ns),
            },
            from_packets: Vec::new(),
            client: agreed.clone(),
            server: Some(ServerView {
                negotiated: agreed,
                compute_ns: 0,
            }),
            http_status: 200,
            body_bytes: 4_096,
            objects: None,
            scheduled: (client == "chromium").then_some(Scheduled {
                ran_ns: 310_000_000,
                waited_ns: 4_000_000,
            }),
            begun_ns: None,
        }))
    };
    VisitSample {
        schema: SCHEMA_VERSION,
        session: 0,
        unit,
        site: format!("site{number}.example"),
        client: StackName::new(client),
        condition: Condition::Clean,
        round,
        started_unix_ms: 0,
        took_ms: 1_500,
        outcome,
        link: Some(OnTheLink {
            connections: 1,
            tcp_ns: Some(20_100_000),
            protected_ns: Some(tls_ns - far),
            first_byte_ns: Some(40_700_000 + tls_ns),
            end_ns: Some(41_300_000 + tls_ns),
            names: if is_browser {
                vec!["updates.example".to_owned()]
            } else {
                Vec::new()
            },
            elsewhere: Vec::new(),
        }),
    }
}

fn summary() -> BrowserSummary {
    summarize_browser(&manifest(), &samples())
}

/// Returns the pairs of handshakes, those with other work, and the ratio of their times.
fn handshakes(summary: &BrowserSummary) -> (u64, u64, f64) {
    let mut rows = summary.comparisons.iter();
    let row = rows.find(|row| row.key.phase == VisitPhase::Tls).unwrap();
    (row.change.pairs(), row.key.other_work, row.change.ratio)
}

#[test]
fn every_form() {
    let summary = summary();
    assert_emulated(&summary);
    insta::assert_snapshot!("browser_terminal", terminal(&summary, 100));
    insta::assert_snapshot!("browser_narrow", terminal(&summary, 40));
    insta::assert_snapshot!("browser_markdown", render(&summary, "markdown"));
    insta::assert_snapshot!("browser_junit", render(&summary, "junit"));
}

#[test]
fn objects_of_a_page_have_rows_of_their_own() {
    let mut manifest = manifest();
    manifest.plan.page = Some(ObjectsPage::new(24, 6).unwrap());
    let mut samples = samples();
    for sample in &mut samples {
        let round = u64::from(sample.round);
        let VisitOutcome::Ok(visit) = &mut sample.outcome else {
            continue;
        };
        visit.objects = Some(ObjectsLoad {
            loaded: 24,
            bytes: visit.body_bytes,
            reused: 17,
            last_object_ns: visit.times.tls_ns + 131_000_000,
            load_ns: visit.times.tls_ns + 132_000_000 + round,
        });
        if let Some(link) = &mut sample.link {
            link.connections = 7;
        }
    }
    let summary = summarize_browser(&manifest, &samples);
    let row = summary.clients[0].objects.as_ref().unwrap();
    assert_eq!(
        (row.objects, row.reused, row.connections),
        (24.0, 17.0, Some(7.0))
    );
    let phases: Vec<VisitPhase> = summary
        .comparisons
        .iter()
        .map(|row| row.key.phase)
        .collect();
    assert_eq!(phases[4..], [VisitPhase::LastObject, VisitPhase::Load]);
    insta::assert_snapshot!("browser_objects", terminal(&summary, 140));
}

#[test]
fn pairs_are_visits_of_one_unit_with_the_same_handshake() {
    let (pairs, other_work, ratio) = handshakes(&summary());
    assert_eq!((pairs, other_work), (8, 0));
    assert!((ratio - 10.0 / 11.0).abs() < 1e-3, "{ratio}");
    let mut samples = samples();
    for sample in &mut samples {
        if let (VisitOutcome::Ok(visit), 0, "chromium") =
            (&mut sample.outcome, sample.round, sample.client.as_str())
        {
            visit.client.alpn = None;
        }
    }
    let (pairs, other_work, _) = handshakes(&summarize_browser(&manifest(), &samples));
    assert_eq!((pairs, other_work), (6, 2));
}

#[test]
fn a_time_that_is_not_that_of_its_packets_is_told() {
    let summary = summary();
    let row = &summary.packets[0];
    assert_eq!((row.visits, row.far.len()), (8, 1));
    assert_eq!(
        (row.far[0].site.as_str(), row.far[0].round),
        ("site0.example", 2)
    );
    assert_eq!(row.far[0].tls_departure_ns, Some(2_500_000));
    assert_eq!(row.tcp_departure_ns, Some(200_000.0));
    assert_eq!((row.responses, row.far_in_response), (8, 0));
    assert_eq!(row.first_byte_departure_ns, Some(200_000.0));
    assert_eq!(row.end_departure_ns, Some(300_000.0));
}

#[test]
fn an_end_that_is_not_that_of_its_packets_is_told_and_one_from_the_packets_is_compared_with_nothing()
 {
    // The browser reports that the page ended when it began.
    let ends = [(Vec::new(), Some(42_000_000)), (vec![Mark::End], None)];
    let [early, taken] = ends.map(|(from_packets, told_ns)| {
        let mut samples = samples();
        for sample in &mut samples {
            if let VisitOutcome::Ok(visit) = &mut sample.outcome {
                visit.from_packets.clone_from(&from_packets);
                visit.times.total_ns = told_ns.or(sample.link.as_ref().unwrap().end_ns);
            }
        }
        summarize_browser(&manifest(), &samples).packets[0].clone()
    });
    assert_eq!((early.responses, early.far_in_response), (8, 8));
    assert!(
        early
            .far
            .iter()
            .all(|far| far.end_departure_ns < Some(-20_000_000))
    );
    assert_eq!((taken.end_departure_ns, taken.far_in_response), (None, 0));
    assert_eq!(taken.from_packets, [Mark::End]);
}

#[test]
fn a_packet_that_was_to_go_elsewhere_is_told() {
    let mut samples = samples();
    let none = "no packet went to an address that is not the lab's.";
    assert!(terminal(&summary(), 100).contains(none));
    if let Some(link) = &mut samples[0].link {
        link.elsewhere.push(Attempt {
            to: "tcp 192.0.2.1:443".to_owned(),
            packets: 3,
        });
    }
    let text = terminal(&summarize_browser(&manifest(), &samples), 100);
    assert!(
        !text.contains(none) && text.contains("tcp 192.0.2.1:443"),
        "{text}"
    );
}

#[test]
fn visits_that_cannot_be_made_are_told_with_the_reason() {
    let mut samples = samples();
    assert!(!terminal(&summary(), 100).contains("could not be made"));
    for sample in samples.iter_mut().take(2) {
        sample.outcome = VisitOutcome::Unsupported {
            reason: "it has no such page".to_owned(),
        };
    }
    let summary = summarize_browser(&manifest(), &samples);
    let visits: u64 = summary.unsupported.iter().map(|row| row.visits).sum();
    assert_eq!(visits, 2);
    let text = terminal(&summary, 100);
    assert_has(&text, "it has no such page");
}

#[test]
fn a_run_without_packets_or_sandbox_says_so() {
    let mut manifest = manifest();
    manifest.plan.browsers[0].sandbox = Sandbox::Off;
    let mut samples = samples();
    samples.iter_mut().for_each(|sample| sample.link = None);
    let summary = summarize_browser(&manifest, &samples);
    assert!(
        summary
            .warnings
            .iter()
            .any(|w| w.contains("does not look at packets")),
        "{:?}",
        summary.warnings
    );
    assert!(
        summary
            .warnings
            .iter()
            .any(|w| w == "chromium ran without its sandbox")
    );
    assert!(summary.tells());
}
