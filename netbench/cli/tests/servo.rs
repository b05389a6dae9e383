//! The real Servo from a user's perspective. `./test --all-stacks` builds it and runs these tests; `cargo test --test
//! servo` runs them where it is built.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use std::{fs, path::Path, thread, time::Duration};

use netbench_model::{
    Condition,
    browser::{Mark, VisitSample},
    compat::{CompatOutcome, CompatSample, Judgement, NextLoad, ToldCertificate},
};
use netbench_report::{BrowserSummary, FeaturesSummary};

use self::support::{Place, check, json, marked, piped, samples_of, signal, until, wait, words};

netbench_testing::tests! {
    pages_are_visited_and_their_ends_are_those_of_the_packets: Certutil, UserNamespaces, UserMounts;
    objects_of_pages_are_loaded: Certutil, UserNamespaces, UserMounts;
    error_pages_have_the_servers_certificate: Certutil, UserNamespaces, UserMounts;
    a_crash_is_a_finding: Certutil, UserNamespaces, UserMounts;
    a_profile_is_saved: Certutil, UserNamespaces, UserMounts;
}

const SITES: &str = "\
near.example server=rustls-ring rtt=10ms
far.example server=rustls-ring rtt=120ms tls=1.2 key=rsa-2048 body=350k
";

/// The largest time by which a reported end may precede the packets, in nanoseconds.
const AGREES_NS: u64 = 2_000_000;

fn pages_are_visited_and_their_ends_are_those_of_the_packets() {
    let place = Place::with_sites(SITES);
    let line = "browser -q --json --sites sites.txt --browser servo,servo+ring --seed 7 \
                --condition clean,resumed --rounds 3 --timeout 120s";
    let summary: BrowserSummary = place.document("browser-summary.json", line);
    assert_eq!(
        (summary.failures, summary.elsewhere),
        (Vec::new(), Vec::new())
    );
    let samples: Vec<VisitSample> = samples_of(&place.run());
    assert_eq!(samples.len(), 24);
    for sample in &samples {
        let visit = sample.outcome.ok().unwrap();
        let server = &visit.server.as_ref().unwrap().negotiated;
        assert_eq!(server.resumed, sample.condition == Condition::Resumed);
        let marks = [Mark::Connected, Mark::Protected, Mark::FirstByte];
        assert_eq!(visit.from_packets, marks);
        let seen = sample.link.as_ref().unwrap();
        assert_eq!(Some(visit.times.tcp_ns), seen.tcp_ns);
        let (own_ns, packets_ns) = (visit.times.total_ns.unwrap(), seen.end_ns.unwrap());
        // A busy machine delays the report of the end.
        assert!(own_ns + AGREES_NS >= packets_ns, "{sample:?}");
    }
}

fn objects_of_pages_are_loaded() {
    let place = Place::with_sites("a.example server=rustls-ring rtt=20ms\n");
    place.succeeds(
        "browser -q --json --sites sites.txt --browser servo --page objects=12,origins=3 \
                --seed 7 --timeout 120s",
    );
    let samples: Vec<VisitSample> = samples_of(&place.run());
    let objects = samples[0].outcome.ok().unwrap().objects.unwrap();
    assert_eq!(objects.loaded, 12);
    // Three origins need three connections at least.
    assert!(objects.reused <= 10, "{objects:?}");
    assert!(objects.last_object_ns >= 100_000_000, "{objects:?}");
}

fn a_crash_is_a_finding() {
    let place = Place::with_sites("a.example server=rustls-ring rtt=300ms\n");
    let temporary = place.temporary();
    let line = "browser -q --json --sites sites.txt --browser servo --condition clean --rounds 3 \
                --seed 7 --timeout 120s";
    let mut command = place.command_line(line);
    let child = piped(command.env("TMPDIR", &temporary));
    until("a browser", || browser_of(&temporary).is_some());
    let first = browser_of(&temporary);
    until("a second browser", || {
        browser_of(&temporary).is_some_and(|process| Some(process) != first)
    });
    // A visit takes four round trips, or 1,200 ms, after the browser has started.
    thread::sleep(Duration::from_millis(600));
    signal("ABRT", browser_of(&temporary).unwrap());
    let done = wait(child).expect(0);
    let summary: BrowserSummary = json(&done.stdout);
    assert_eq!(summary.failures.len(), 1, "{:?}", summary.failures);
    let samples: Vec<VisitSample> = samples_of(&place.run());
    let loaded = samples.iter().filter(|it| it.outcome.ok().is_some());
    assert_eq!((samples.len(), loaded.count()), (3, 2));
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
}

/// Returns the process of the Servo whose profile is in this folder.
fn browser_of(temporary: &Path) -> Option<u32> {
    let mark = format!("--profile {}", temporary.display());
    let home = format!("HOME={}", temporary.display());
    let mut browsers = marked(&home).into_iter();
    browsers
        .find(|(_, command)| command.contains(&mark))
        .map(|(process, _)| process)
}

fn a_profile_is_saved() {
    let place = Place::new();
    let line = "browser features -q --json --browser servo --timeout 120s --case restart/hsts \
                --case restart/persistent-cookie --case restart/session-cookie";
    let done = place.succeeds(line);
    let summary: FeaturesSummary = json(&done.stdout);
    let judgements: Vec<(&str, Judgement)> = summary
        .matrix
        .cases
        .iter()
        .map(|row| {
            let cell = row.cells[0].as_ref().unwrap();
            (row.case.name.as_str(), cell.judgement)
        })
        .collect();
    // Servo 0.7.0 saves the cookies of a session too.
    assert_eq!(
        judgements,
        [
            ("restart/hsts", Judgement::Right),
            ("restart/persistent-cookie", Judgement::Right),
            ("restart/session-cookie", Judgement::FalseAccept),
        ]
    );
}

fn error_pages_have_the_servers_certificate() {
    let place = Place::new();
    place.succeeds(
        "compat -q --json --stack rustls-ring --client servo \
                --case certificate/usual --case certificate/expired",
    );
    let samples: Vec<CompatSample> = samples_of(&place.run());
    let [usual, expired] = ["certificate/usual", "certificate/expired"].map(|case| {
        let mut own = samples.iter().filter(|it| it.stack.as_str() == "servo");
        own.find(|it| it.case == case).unwrap()
    });
    assert!(
        matches!(usual.outcome, CompatOutcome::Accepted { .. }),
        "{usual:?}"
    );
    assert!(
        matches!(expired.outcome, CompatOutcome::Rejected { .. }),
        "{expired:?}"
    );
    let view = expired.embedder.as_ref().unwrap();
    assert_eq!(view.certificate, ToldCertificate::Sent);
    // The button has no effect in Servo 0.7.0 (servo/servo#34685): the page reloads, and is refused again.
    assert!(
        matches!(view.proceeded, Some(NextLoad::Refused { .. })),
        "{view:?}"
    );
}
