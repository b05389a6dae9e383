//! The saving by early data in a summary.

use netbench_model::{Condition, EarlyDataStatus, Outcome, ReplayStatus};
use netbench_report::{ConnectReport, summarize};

use crate::support::{fixture::Fixture, formats::terminal};

/// Each pair is of one stack, site and round.
#[test]
fn early_data_are_compared_with_resumed_connections_of_the_same_stack() {
    const REJECTS: &str = "furthest.example";
    const REJECTS_NS: u64 = 175_000_000;
    let fixture = Fixture {
        conditions: vec![Condition::Resumed, Condition::EarlyData],
        ..Fixture::default()
    };
    let (manifest, mut samples) = (fixture.manifest(), fixture.samples());
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome
            && sample.site == REJECTS
            && sample.condition == Condition::EarlyData
        {
            measured.client.early_data = Some(EarlyDataStatus::Rejected);
            measured.phases.total_ns += REJECTS_NS;
        }
    }
    for sample in samples.iter_mut().filter(|sample| sample.round < 2) {
        if sample.condition == Condition::EarlyData && sample.site != REJECTS {
            sample.replay = Some(match sample.round {
                0 => ReplayStatus::Accepted,
                _ => ReplayStatus::Rejected,
            });
        }
    }
    let summary = summarize(&manifest, &samples);
    // Two stacks, and five round-trip times.
    assert_eq!(summary.early_data.len(), 2 * 5);
    for row in &summary.early_data {
        let (is_far, due) = match row.outcome {
            EarlyDataStatus::Accepted => (false, 1.0),
            EarlyDataStatus::Rejected => (true, 0.0),
            EarlyDataStatus::Retried => panic!("{row:?}"),
        };
        let saved = row.saved_round_trips.unwrap();
        assert!((saved - due).abs() < 0.1, "{row:?}");
        assert_eq!(row.rtt_ns == REJECTS_NS, is_far, "{row:?}");
    }
    let mut rows = summary.early_data.iter();
    let far = rows.find(|row| row.rtt_ns == 57_000_000).unwrap();
    assert_eq!(far.pairs, 3 * 10, "three sites, ten rounds");
    assert_eq!((far.replays, far.replays_accepted), (3 * 2, 3));
    let report = ConnectReport::new(manifest.clone(), samples.clone());
    let text = terminal(&report, 200);
    assert!(text.contains("saved, round trips"), "{text}");

    samples.retain(|sample| sample.condition != Condition::Resumed);
    assert!(summarize(&manifest, &samples).early_data.is_empty());
}
