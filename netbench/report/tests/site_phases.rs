//! The phases of each site: the sentences of Servo's study, and the figures behind them.

use netbench_model::{Outcome, Phase};
use netbench_report::{ConnectReport, SitePhase};
use netbench_stats::Verdict;

use crate::support::{
    fixture::Fixture,
    formats::{assert_has, assert_lacks, render, terminal},
    published,
};

#[test]
fn the_published_run_has_the_sentences_of_the_study() {
    let report = published::connect("-connect-101-sites");
    let sentences = [
        "Connector set-up, CPU: rustls-aws-lc is faster on 101 of 101 sites, slower on 0, the same on 0, undecided on 0.",
        "TLS handshake: rustls-aws-lc is faster on 35 of 101 sites, slower on 0, the same on 25, undecided on 41.",
        "Chain verification: rustls-aws-lc is faster on 89 of 101 sites, slower on 0, the same on 0, undecided on 12.",
        "Whole connection: rustls-aws-lc is faster on 7 of 101 sites, slower on 1, the same on 68, undecided on 25.",
    ];
    let texts = [
        render(&report, "markdown"),
        render(&report, "html"),
        terminal(&report, 250),
    ];
    for text in texts {
        for sentence in sentences {
            assert_has(&text, sentence);
        }
    }
}

#[test]
fn each_site_has_the_phases_that_both_stacks_have() {
    let summary = Fixture::default().summary();
    // A resumed handshake makes no connector and verifies no chain.
    let phases = [
        &[Phase::Connector, Phase::Tls, Phase::Verify][..],
        &[Phase::Tls],
    ];
    assert_eq!(summary.comparisons.len(), phases.len());
    for (comparison, phases) in summary.comparisons.iter().zip(phases) {
        let found = comparison.site_phases.iter().map(|of| of.phase);
        assert_eq!(found.collect::<Vec<_>>(), phases);
    }
    let clean = &summary.comparisons[0];
    for SitePhase { phase, sites } in &clean.site_phases {
        assert_eq!(sites.rows.len(), clean.sites.rows.len(), "{phase}");
        assert_eq!(sites.not_compared, clean.sites.not_compared, "{phase}");
    }
    let connector = &clean.site_phases[0].sites;
    let mut rows = connector.rows.iter();
    assert!(rows.all(|row| row.change.verdict == Verdict::Faster));
    assert_eq!(connector.other_faster, connector.rows.len() as u64);
}

/// Samples of earlier versions have no CPU time of the connector.
#[test]
fn a_connector_without_cpu_time_has_intervals_and_no_verdict() {
    let fixture = Fixture::default();
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome {
            measured.process = None;
        }
    }
    let report = ConnectReport::new(fixture.manifest(), samples);
    let SitePhase { phase, sites } = &report.summary.comparisons[0].site_phases[0];
    assert_eq!(*phase, Phase::ConnectorWall);
    assert_eq!(sites.not_judged, sites.rows.len() as u64);
    assert!(sites.rows.iter().all(|row| row.change.interval.is_some()));
    let text = render(&report, "markdown");
    let sentence =
        "Connector set-up, wall clock: rustls-ring takes less on 7 of 7 sites, more on 0, ";
    assert_has(&text, sentence);
    assert_lacks(&text, "connector verdict");
}

#[test]
fn a_summary_of_an_earlier_version_can_be_read() {
    let summary = Fixture::default().summary();
    let mut value = serde_json::to_value(&summary).unwrap();
    for comparison in value["comparisons"].as_array_mut().unwrap() {
        comparison.as_object_mut().unwrap().remove("site_phases");
    }
    let read: netbench_report::ConnectSummary = serde_json::from_value(value).unwrap();
    assert!(read.comparisons[0].site_phases.is_empty());
    assert_eq!(read.comparisons[0].sites, summary.comparisons[0].sites);
}
