//! The cost of Encrypted ClientHello in a summary.

use std::sync::Arc;

use netbench_model::{EchPolicy, LabProfile, Outcome};
use netbench_report::{ConnectReport, summarize};

use crate::support::{fixture::Fixture, formats::terminal};

/// Three sites with the same link.
const SITES: [(&str, EchPolicy); 3] = [
    ("port.example:8443", EchPolicy::OuterOnly),
    ("far.example", EchPolicy::Accepted),
    ("different.example", EchPolicy::RejectedNoKeys),
];

const RTT_NS: u64 = 57_000_000;

#[test]
fn each_outcome_is_compared_with_ordinary_hellos_to_an_equal_site() {
    let fixture = Fixture::clean();
    let (mut manifest, mut samples) = (fixture.manifest(), fixture.samples());
    for site in &mut manifest.plan.sites {
        let name = site.name();
        let found = SITES.iter().find(|(own, _)| *own == name);
        site.lab = Arc::new(LabProfile {
            ech: found.map(|(_, policy)| *policy),
            ..LabProfile::clone(&site.lab)
        });
    }
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome
            && sample.site == "different.example"
        {
            measured.phases.rejected_ns = Some(2 * RTT_NS);
            measured.phases.total_ns += 2 * RTT_NS;
        }
    }
    let summary = summarize(&manifest, &samples);
    // Two stacks, and two outcomes beside the ordinary one.
    assert_eq!(summary.ech.len(), 2 * 2);
    for row in &summary.ech {
        let due = match row.outcome {
            EchPolicy::RejectedNoKeys => 2.0,
            _ => 0.0,
        };
        let cost = row.cost_round_trips.expect("a link");
        assert!((cost - due).abs() < 0.1, "{row:?}");
        assert_eq!((row.rtt_ns, row.pairs), (RTT_NS, 10), "{row:?}");
    }
    let report = ConnectReport::new(manifest.clone(), samples.clone());
    let text = terminal(&report, 200);
    assert!(text.contains("cost, round trips"), "{text}");

    samples.retain(|sample| sample.site != "port.example:8443");
    assert!(summarize(&manifest, &samples).ech.is_empty());
}
