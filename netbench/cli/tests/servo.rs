//! The real Servo from a user's perspective. `./test --all-stacks` builds it and runs these tests; `cargo test --test
//! servo` runs them where it is built.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use netbench_model::{
    Condition,
    browser::{Mark, VisitSample},
    compat::{CompatOutcome, CompatSample},
};
use netbench_report::BrowserSummary;

use self::support::{Place, check, json, samples_of, words};

netbench_testing::tests! {
    pages_are_visited_and_their_ends_are_those_of_the_packets: Certutil, UserNamespaces, UserMounts;
    objects_of_pages_are_loaded: Certutil, UserNamespaces, UserMounts;
    error_pages_have_texts: Certutil, UserNamespaces, UserMounts;
    servers_of_every_kind_are_visited: Certutil, UserNamespaces, UserMounts;
}

const SITES: &str = "\
near.example server=rustls-ring rtt=10ms
far.example server=rustls-ring rtt=120ms tls=1.2 key=rsa-2048 body=350k
";

/// The distance of an end from the packets that counts as agreement, in nanoseconds.
const AGREES_NS: u64 = 2_000_000;

fn pages_are_visited_and_their_ends_are_those_of_the_packets() {
    let place = Place::with_sites(SITES);
    let line = "browser -q --json --sites sites.txt --browser servo,servo+ring --seed 7 \
                --condition clean,resumed --rounds 3 --timeout 120s";
    let done = place.netbench(&words(line)).expect(0);
    check("browser-summary.json", &done.stdout);
    let summary: BrowserSummary = json(&done.stdout);
    assert_eq!(
        (summary.failures, summary.elsewhere),
        (Vec::new(), Vec::new())
    );
    let samples: Vec<VisitSample> = samples_of(&place.run());
    assert_eq!(samples.len(), 24);
    let mut agree = 0;
    for sample in &samples {
        let visit = sample.outcome.ok().unwrap();
        let server = &visit.server.as_ref().unwrap().negotiated;
        assert_eq!(server.resumed, sample.condition == Condition::Resumed);
        let marks = [Mark::Connected, Mark::Protected, Mark::FirstByte];
        assert_eq!(visit.from_packets, marks);
        let seen = sample.link.as_ref().unwrap();
        assert_eq!(Some(visit.times.tcp_ns), seen.tcp_ns);
        let (own_ns, packets_ns) = (visit.times.total_ns.unwrap(), seen.end_ns.unwrap());
        agree += usize::from(own_ns.abs_diff(packets_ns) <= AGREES_NS);
    }
    assert!(
        agree * 10 >= samples.len() * 8,
        "{agree} of {}",
        samples.len()
    );
}

fn objects_of_pages_are_loaded() {
    let place = Place::with_sites("a.example server=rustls-ring rtt=20ms\n");
    let line = "browser -q --json --sites sites.txt --browser servo --page objects=12,origins=3 \
                --seed 7 --timeout 120s";
    place.netbench(&words(line)).expect(0);
    let samples: Vec<VisitSample> = samples_of(&place.run());
    let objects = samples[0].outcome.ok().unwrap().objects.unwrap();
    assert_eq!(objects.loaded, 12);
    // Three origins need three connections at least.
    assert!(objects.reused <= 10, "{objects:?}");
    assert!(objects.last_object_ns >= 100_000_000, "{objects:?}");
}

fn error_pages_have_texts() {
    let place = Place::with_sites(
        "a.example server=rustls-ring\n\
         b.example server=rustls-ring tls=1.2 key=rsa-2048\n",
    );
    let line = "browser -q --json --sites sites.txt --browser servo --seed 7 --timeout 60s";
    place.netbench(&words(line)).expect(0);
    let samples: Vec<VisitSample> = samples_of(&place.run());
    assert!(samples.iter().all(|sample| sample.outcome.ok().is_some()));
}

fn servers_of_every_kind_are_visited() {
    let place = Place::new();
    let line = "compat -q --json --stack rustls-ring --client servo,servo-net \
                --case certificate/expired,certificate/wrong-name,version/tls13-only";
    let _ = place.netbench(&words(line));
    let samples: Vec<CompatSample> = samples_of(&place.run());
    let own: Vec<_> = (samples.iter().filter(|it| it.stack.as_str() == "servo"))
        .map(|it| (it.case.as_str(), &it.outcome))
        .collect();
    assert!(!own.is_empty());
    for (case, outcome) in own {
        let is_due = match outcome {
            CompatOutcome::Rejected { .. } => case.starts_with("certificate/"),
            CompatOutcome::Accepted { .. } => case.starts_with("version/"),
            _ => false,
        };
        assert!(is_due, "{case}: {outcome:?}");
    }
}
