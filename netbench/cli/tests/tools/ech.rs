//! Encrypted ClientHello as a condition of sites from a user's perspective.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use netbench_model::{EchPolicy, EchStatus, Outcome};
use netbench_report::ConnectSummary;

use crate::support::{Place, failure, json, measured, with_each};

netbench_testing::module_tests! {
    an_acceptance_costs_nothing_and_a_rejection_a_connection: UserNamespaces, Go;
    every_server_reports_each_outcome: Go;
    each_side_has_to_have_it: Go;
    a_server_that_breaks_on_grease_loses_the_clients_that_send_it: Go;
}

const SITES: &str = "\
* server=go tls=1.3 groups=x25519 rtt=100ms
ordinary.example ech=outer-only
grease.example ech=grease
accepted.example ech=accepted
no-keys.example ech=rejected-no-keys
retry.example ech=rejected-retry
";

fn an_acceptance_costs_nothing_and_a_rejection_a_connection() {
    let place = Place::with_sites(SITES);
    let line = "--rounds 9 --link user --stack go,rustls-aws-lc --condition clean,resumed --json";
    let summary: ConnectSummary = json(&place.connect(line).stdout);
    for sample in measured(&place.run()) {
        let resumes = sample.condition.resumes();
        let is_rejected = matches!(sample.site.as_str(), "no-keys.example" | "retry.example");
        match (sample.site.as_str(), sample.stack.as_str(), &sample.outcome) {
            (_, _, Outcome::Ok(figures)) => {
                let server = &figures.server.as_ref().unwrap().negotiated;
                let due = match sample.site.as_str() {
                    "accepted.example" | "retry.example" => Some(EchStatus::Accepted),
                    "grease.example" => Some(EchStatus::Grease),
                    _ => None,
                };
                assert_eq!((figures.client.ech, server.ech), (due, due), "{sample:?}");
                assert_eq!(figures.client.resumed, resumes);
                let phases = &figures.phases;
                let rejected_ns = phases.rejected_ns.unwrap_or(0);
                assert_eq!(rejected_ns > 0, is_rejected, "{phases:?}");
                let sum = rejected_ns + phases.tcp_ns + phases.tls_ns + phases.first_byte_ns;
                assert!(sum <= phases.total_ns, "{phases:?}");
            }
            (_, _, Outcome::Unsupported { reason }) if is_rejected && resumes => {
                assert!(reason.starts_with("a client has no session"), "{reason}");
            }
            ("grease.example", "go", Outcome::Unsupported { reason }) => {
                assert!(reason.ends_with("offers no GREASE in place of Encrypted ClientHello"));
            }
            ("retry.example", "rustls-aws-lc", Outcome::Unsupported { reason }) => {
                assert!(
                    reason.starts_with("the library does not hand out"),
                    "{reason}"
                );
            }
            other => panic!("{other:?}"),
        }
    }
    for (outcome, trips) in [
        (EchPolicy::Accepted, -0.5..0.5),
        (EchPolicy::Grease, -0.5..0.5),
        (EchPolicy::RejectedNoKeys, 1.5..2.5),
        (EchPolicy::RejectedRetry, 1.5..2.5),
    ] {
        let rows = summary.ech.iter().filter(|row| row.outcome == outcome);
        let mut found = 0;
        for row in rows {
            assert_eq!(row.pairs, 9);
            let cost = row.cost_round_trips.unwrap();
            assert!(trips.contains(&cost), "{row:?}");
            found += 1;
        }
        assert!(found > 0, "{outcome}");
    }
    assert!(
        summary
            .warnings
            .iter()
            .all(|text| !text.contains("did not finish"))
    );
}

/// The outcomes, by the host names of their sites.
const OUTCOMES: [(&str, Option<EchStatus>); 5] = [
    ("outer-only", None),
    ("grease", Some(EchStatus::Grease)),
    ("accepted", Some(EchStatus::Accepted)),
    ("rejected-no-keys", None),
    ("rejected-retry", Some(EchStatus::Accepted)),
];

fn every_server_reports_each_outcome() {
    // Go's server is built here; the others take long to build, and are used where they are.
    let others = ["openssl@4.0", "boringssl"].map(|name| (name, netbench_testing::worker(name)));
    let mut servers = vec!["go"];
    let mut programs = Vec::new();
    for (name, program) in others {
        match program {
            Some(program) => {
                servers.push(name);
                programs.push(format!("{name}={}", program.display()));
            }
            None => println!("{name} is not built"),
        }
    }
    let mut sites = "* tls=1.3\n".to_owned();
    for (number, server) in servers.iter().enumerate() {
        for (outcome, _) in OUTCOMES {
            sites += &format!("{outcome}.s{number}.example server={server} ech={outcome}\n");
        }
    }
    let place = Place::with_sites(&sites);
    let stacks = servers.join(",");
    let line =
        format!("--rounds 1 --link none --client-profile default --stack rustls-aws-lc,{stacks}");
    let programs = programs.iter().map(String::as_str);
    place.connect(&with_each(&line, "--worker", programs));
    let samples = measured(&place.run());
    assert_eq!(
        samples.len(),
        OUTCOMES.len() * servers.len() * (1 + servers.len())
    );
    for sample in samples {
        let (outcome, server) = sample.site.split_once(".s").unwrap();
        let (_, due) = OUTCOMES.iter().find(|(name, _)| *name == outcome).unwrap();
        match (outcome, sample.stack.as_str(), &sample.outcome) {
            ("grease", "go", Outcome::Unsupported { reason }) => {
                assert!(reason.ends_with("offers no GREASE in place of Encrypted ClientHello"));
            }
            ("rejected-retry", "rustls-aws-lc", Outcome::Unsupported { reason }) => {
                assert!(
                    reason.starts_with("the library does not hand out"),
                    "{reason}"
                );
            }
            (_, stack, Outcome::Ok(figures)) => {
                let seen = figures.server.as_ref().unwrap().negotiated.ech;
                assert_eq!(seen, *due, "{stack} to {server}, {outcome}");
                // BoringSSL's client does not report its GREASE.
                let is_unreported = stack == "boringssl" && outcome == "grease";
                let told = due.filter(|_| !is_unreported);
                assert_eq!(figures.client.ech, told, "{stack} to {server}, {outcome}");
            }
            other => panic!("{other:?}"),
        }
    }
}

fn each_side_has_to_have_it() {
    let place = Place::with_sites(
        "* server=rustls-aws-lc\na.example ech=accepted\nb.example server=go ech=accepted\nc.example\n",
    );
    place.connect("--rounds 1 --link none --client-profile default --stack rustls-ring,go");
    for sample in measured(&place.run()) {
        let found = match &sample.outcome {
            Outcome::Unsupported { reason } => reason.as_str(),
            outcome => {
                assert!(outcome.ok().is_some(), "{sample:?}");
                ""
            }
        };
        let due = match (sample.site.as_str(), sample.stack.as_str()) {
            ("a.example", _) => {
                "rustls-aws-lc serves no site with ech; server=go, server=openssl@4.0 and server=boringssl can"
            }
            ("b.example", "rustls-ring") => "the connector of rustls-ring (hyper-rustls",
            _ => "",
        };
        assert!(found.starts_with(due), "{sample:?}");
        assert_eq!(found.is_empty(), due.is_empty(), "{sample:?}");
    }
}

fn a_server_that_breaks_on_grease_loses_the_clients_that_send_it() {
    let faults = [
        ("ech-alert", "alert: illegal_parameter"),
        ("ech-close", "closed: end of stream"),
        ("ech-silent", "timeout: in tls"),
    ];
    let mut sites =
        "* server=go tls=1.3\nother.example server=rustls-aws-lc fault=ech-close\n".to_owned();
    for (fault, _) in faults {
        sites += &format!("{fault}.example fault={fault}\n");
        sites += &format!("ordinary-{fault}.example ech=outer-only fault={fault}\n");
        sites += &format!("grease-{fault}.example ech=grease fault={fault}\n");
    }
    let place = Place::with_sites(&sites);
    let line = "--rounds 1 --link none --timeout 900ms --client-profile default";
    place.connect(&format!("{line} --stack rustls-aws-lc,go"));
    let samples = measured(&place.run());
    assert_eq!(samples.len(), 2 * (1 + 3 * faults.len()));
    for sample in samples {
        let site = sample.site.strip_suffix(".example").unwrap();
        let fault = site.strip_prefix("grease-");
        match (fault, sample.stack.as_str(), &sample.outcome) {
            (None, _, Outcome::Unsupported { reason }) if site == "other" => {
                assert!(reason.starts_with("rustls-aws-lc does not have fault=ech-close"));
            }
            (None, _, Outcome::Ok(_)) => assert_ne!(site, "other"),
            (Some(_), "go", Outcome::Unsupported { reason }) => {
                assert!(reason.ends_with("offers no GREASE in place of Encrypted ClientHello"));
            }
            (Some(fault), "rustls-aws-lc", Outcome::Failed(_)) => {
                let (_, due) = faults.iter().find(|(name, _)| *name == fault).unwrap();
                assert_eq!(failure(&sample).as_deref(), Some(*due), "{site}");
            }
            other => panic!("{site}: {other:?}"),
        }
    }
}
