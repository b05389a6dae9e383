//! Early data from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use netbench_model::{Condition, EarlyDataStatus, Group, Outcome, ReplayStatus};
use netbench_report::ConnectSummary;

use crate::support::{Place, json, measured};

netbench_testing::module_tests! {
    accepted_early_data_saves_a_round_trip_and_a_retry_costs_one: UserNamespaces;
    early_data_needs_an_emulated_site_that_allows_it;
}

const SITES: &str = "\
* server=rustls-aws-lc rtt=100ms
accepts.example early-data=accept
again.example early-data=accept-again
rejects.example early-data=reject alpn=http/1.1
retries.example early-data=retry groups=x25519,secp384r1
";

fn accepted_early_data_saves_a_round_trip_and_a_retry_costs_one() {
    let place = Place::with_sites(SITES);
    let line = "--rounds 9 --link user --stack rustls-aws-lc+plain,rustls-aws-lc --condition resumed,early-data --json";
    let summary: ConnectSummary = json(&place.connect(line).stdout);
    for sample in measured(&place.run()) {
        let is_early = sample.condition == Condition::EarlyData;
        match (sample.stack.as_str(), &sample.outcome) {
            ("rustls-aws-lc", Outcome::Unsupported { reason }) if is_early => {
                assert!(reason.starts_with("the connector of rustls-aws-lc (hyper-rustls"));
            }
            (stack, Outcome::Ok(figures)) if !is_early || stack == "rustls-aws-lc+plain" => {
                let due = match sample.site.as_str() {
                    "accepts.example" | "again.example" => EarlyDataStatus::Accepted,
                    "rejects.example" => EarlyDataStatus::Rejected,
                    _ => EarlyDataStatus::Retried,
                };
                let due = is_early.then_some(due);
                let group = match due {
                    Some(EarlyDataStatus::Retried) => Group::SECP384R1,
                    _ if sample.site == "retries.example" => Group::X25519,
                    _ => figures.client.group.unwrap(),
                };
                assert_eq!(figures.client.group, Some(group));
                let server = &figures.server.as_ref().unwrap().negotiated;
                assert!(figures.client.resumed && server.resumed);
                assert_eq!(figures.client.early_data, due);
                assert_eq!(server.early_data, due);
                let replay = match (is_early, sample.site.as_str()) {
                    (true, "accepts.example") => Some(ReplayStatus::Rejected),
                    (true, "again.example") => Some(ReplayStatus::Accepted),
                    _ => None,
                };
                assert_eq!(sample.replay, replay, "{}", sample.site);
                // The phases follow one another within the total.
                let phases = &figures.phases;
                let sum = phases.tcp_ns + phases.tls_ns + phases.first_byte_ns;
                assert!(phases.client_hello_ns <= phases.tls_ns, "{phases:?}");
                assert!(sum <= phases.total_ns, "{phases:?}");
            }
            other => panic!("{other:?}"),
        }
    }
    for (outcome, trips) in [
        (EarlyDataStatus::Accepted, 0.8..1.2),
        (EarlyDataStatus::Rejected, -0.2..0.2),
        (EarlyDataStatus::Retried, -1.2..-0.8),
    ] {
        let pairs = match outcome {
            EarlyDataStatus::Accepted => 2 * 9,
            _ => 9,
        };
        let mut rows = summary.early_data.iter();
        let row = rows.find(|row| row.outcome == outcome).unwrap();
        assert_eq!(row.pairs, pairs);
        let replays = (row.replays, row.replays_accepted);
        let is_accepted = u64::from(outcome == EarlyDataStatus::Accepted);
        assert_eq!(replays, (18 * is_accepted, 9 * is_accepted));
        let saved = row.saved_round_trips.unwrap();
        assert!(trips.contains(&saved), "{row:?}");
    }
}

fn early_data_needs_an_emulated_site_that_allows_it() {
    let place = Place::with_sites("a.example early-data=accept\nb.example server=rustls-ring\n");
    let stacks = "--stack rustls-ring+plain,rustls-aws-lc+plain";
    let line = format!("--rounds 1 --link none {stacks} --condition clean,early-data");
    place.connect(&line);
    for sample in measured(&place.run()) {
        let found = match &sample.outcome {
            Outcome::Unsupported { reason } => reason.as_str(),
            outcome => {
                assert!(outcome.ok().is_some(), "{sample:?}");
                ""
            }
        };
        let due = match (sample.site.as_str(), sample.condition) {
            ("a.example", _) => "openssl cannot serve early data; server=rustls-aws-lc",
            (_, Condition::EarlyData) => "the site has no early data: early-data=accept",
            _ => "",
        };
        assert!(found.starts_with(due), "{sample:?}");
        assert_eq!(found.is_empty(), due.is_empty(), "{sample:?}");
    }
    let line = format!("connect https://127.0.0.1:9/ {stacks} --condition early-data");
    let said = place.netbench_line(&line).expect(2).stderr;
    assert!(said.contains("is for emulated sites"), "{said}");
}
