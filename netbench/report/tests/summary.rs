//! The statements of a summary, and those that it refuses to make.

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, LinkDirection, LinkPackets, LossLog, Outcome, PacketLoad, Phase,
    Recorded, Role, Sample,
};
use netbench_report::{Comparison, ConnectReport, PhaseRow, summarize};
use netbench_stats::Verdict;

use crate::support::{
    fixture::Fixture,
    formats::{assert_has, assert_lacks, render, terminal},
};

fn phase_row(comparison: &Comparison, phase: Phase) -> &PhaseRow {
    let mut rows = comparison.phases.iter();
    rows.find(|row| row.key.phase == phase).unwrap()
}

/// Returns the words of the report for a terminal, with single spaces.
fn words(manifest: &ConnectManifest, samples: &[Sample]) -> String {
    let report = ConnectReport::new(manifest.clone(), samples.to_vec());
    terminal(&report, 200).split_whitespace().join(" ")
}

#[test]
fn the_other_stack_is_faster_where_it_takes_less_time() {
    let cases = [(0.6, Verdict::Faster, true), (1.6, Verdict::Slower, false)];
    for (factor, verdict, less) in cases {
        let fixture = Fixture {
            factor,
            ..Fixture::default()
        };
        let summary = fixture.summary();
        let clean = &summary.comparisons[0];
        assert_eq!(
            (clean.first.as_str(), clean.other.as_str()),
            ("openssl", "rustls-ring")
        );
        for phase in [Phase::Connector, Phase::Verify, Phase::Cpu] {
            let row = phase_row(clean, phase);
            assert_eq!(row.change.verdict, verdict, "{phase}");
            assert_eq!(row.change.ratio < 1.0, less, "{phase}");
        }
    }
}

/// Other work on the machine makes the first stack's connectors take twenty times as long by wall clock.
#[test]
fn making_the_connector_is_judged_by_its_cpu_time() {
    let fixture = Fixture {
        factor: 1.0,
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        if let Outcome::Ok(measured) = &mut sample.outcome
            && sample.stack.as_str() == "openssl"
        {
            let wall_ns = &mut measured.phases.connector_ns;
            *wall_ns = wall_ns.map(|wall_ns| 20 * wall_ns);
        }
    }
    let summary = summarize(&fixture.manifest(), &samples);
    let clean = &summary.comparisons[0];
    let made = [Phase::Connector, Phase::ConnectorWall];
    let [cpu, wall] = made.map(|phase| phase_row(clean, phase));
    assert!((0.9..1.1).contains(&cpu.change.ratio), "{cpu:?}");
    assert!(wall.change.ratio < 0.1, "{wall:?}");
    assert_eq!(wall.change.verdict, Verdict::NotJudged);
    assert_eq!(wall.judged.rounds_needed, None);
    // A resumed connection makes no connector.
    let resumed = &summary.comparisons[1];
    let mut rows = resumed.phases.iter();
    assert!(rows.all(|row| !made.contains(&row.key.phase)));
}

/// A client is late when it goes on later than the link can have delivered the answer to its SYN.
#[test]
fn clients_that_waited_for_a_core_are_counted() {
    let fixture = Fixture::default();
    for (client_late_ns, link_late_ns, is_warned) in [
        (3_000_000, 400_000, true),
        // The link may have been late with these packets.
        (3_000_000, 5_000_000, false),
        (500_000, 400_000, false),
    ] {
        let mut manifest = fixture.manifest();
        let link = manifest.link.as_mut().unwrap();
        link.lateness_ns.insert("max".to_owned(), link_late_ns);
        let mut samples = fixture.samples();
        for (sample, place) in samples.iter_mut().zip(0..) {
            let Some(measured) = sample.outcome.ok() else {
                continue;
            };
            // One connection in ten is late.
            let late_ns = if place % 10 == 0 {
                client_late_ns
            } else {
                50_000
            };
            sample.packets = Some(LinkPackets {
                connect_ns: Some(measured.phases.tcp_ns.saturating_sub(late_ns)),
                ..LinkPackets::default()
            });
        }
        let warnings = summarize(&manifest, &samples).warnings;
        let said = "waited for a core: it";
        let found = warnings.iter().find(|text| text.contains(said));
        assert_eq!(found.is_some(), is_warned, "{warnings:?}");
        let has_time = found.is_none_or(|text| text.contains("up to 3.00 ms"));
        assert!(has_time, "{found:?}");
    }
}

#[test]
fn equal_stacks_get_no_difference() {
    let fixture = Fixture {
        factor: 1.0,
        ..Fixture::default()
    };
    let summary = fixture.summary();
    for row in summary
        .comparisons
        .iter()
        .flat_map(|comparison| &comparison.phases)
    {
        let verdict = row.change.verdict;
        assert!(
            matches!(verdict, Verdict::Same | Verdict::Undecided)
                || row.key.phase == Phase::ConnectorWall,
            "{}: {verdict}",
            row.key.phase
        );
    }
}

#[test]
fn pairs_of_different_work_are_left_out_and_named() {
    let summary = Fixture::default().summary();
    let clean = &summary.comparisons[0];
    assert!(
        clean
            .sites
            .rows
            .iter()
            .all(|row| row.key.site != "different.example")
    );
    let left_out = &summary.left_out[0];
    assert_eq!(left_out.site, "different.example");
    assert_eq!(left_out.why, "group x25519 / secp256r1");
    assert_eq!(left_out.pairs, 10);
    // Ten sites, without the one that failed, the one that failed on one stack, and this site.
    assert_eq!(clean.phases[0].change.pairs(), 7 * 10);
    assert_eq!(clean.sites.not_compared, 3);
}

#[test]
fn where_no_site_is_compared_none_is_called_faster_by_chance() {
    let fixture = Fixture::default();
    let mut samples = fixture.samples();
    samples.retain(|sample| sample.site == "broken.example");
    let report = ConnectReport::new(fixture.manifest(), samples);
    let sites = &report.summary.comparisons[0].sites;
    assert!(sites.rows.is_empty() && sites.expected_by_chance.is_sign_positive());
    let text = terminal(&report, 120);
    assert_has(&text, "could not be compared.");
    assert_lacks(&text, "by chance");
}

#[test]
fn a_pair_is_of_one_round_and_one_session() {
    let fixture = Fixture::clean();
    let mut samples = fixture.samples();
    // The first stack's samples of one site are moved to another session.
    for sample in samples.iter_mut().filter(|s| s.site == "near.example") {
        sample.session = u32::from(sample.stack.stack() == "openssl");
    }
    let summary = summarize(&fixture.manifest(), &samples);
    assert!(
        summary.comparisons[0]
            .sites
            .rows
            .iter()
            .all(|row| row.key.site != "near.example")
    );
}

#[test]
fn only_measured_connections_that_ended_well_are_compared() {
    let fixture = Fixture::clean();
    let mut samples = fixture.samples();
    let plain = summarize(&fixture.manifest(), &samples);
    let mut more = samples.clone();
    for sample in &mut more {
        sample.role = Role::Warmup;
        if let Outcome::Ok(figures) = &mut sample.outcome {
            figures.phases.total_ns *= 100;
        }
    }
    samples.extend(more);
    let with_warmups = summarize(&fixture.manifest(), &samples);
    assert_eq!(plain.comparisons, with_warmups.comparisons);
    assert_eq!(plain.failures, with_warmups.failures);
}

#[test]
fn warm_ups_of_a_run_without_clean_connections_are_its_own() {
    let fixture = Fixture {
        conditions: vec![Condition::Resumed],
        ..Fixture::default()
    };
    let plan = fixture.manifest().plan;
    let mut samples = fixture.samples();
    let mut warmup = samples[0].clone();
    warmup.role = Role::Warmup;
    warmup.condition = Condition::Clean;
    let measured = Sample {
        role: Role::Measured,
        ..warmup.clone()
    };
    let plain = plan.tally(&samples);
    samples.push(warmup);
    assert_eq!(plan.tally(&samples), plain);
    samples.push(measured);
    assert_eq!(plan.tally(&samples).foreign, 1);
}

#[test]
fn a_run_of_resumed_connections_that_no_server_offers_leaves_the_answer_open() {
    let fixture = Fixture {
        conditions: vec![Condition::Resumed],
        ..Fixture::default()
    };
    let mut samples = fixture.samples();
    for sample in &mut samples {
        sample.outcome = Outcome::Unsupported {
            reason: "no server has sessions".to_owned(),
        };
    }
    let text = words(&fixture.manifest(), &samples);
    assert_has(&text, "Open. No connection was made");
    assert_has(&text, "none compared sites that fail");
}

#[test]
fn failures_are_counted_by_site_stack_and_reason() {
    let summary = Fixture::default().summary();
    let broken: Vec<_> = summary
        .failures
        .iter()
        .filter(|r| r.site == "broken.example")
        .collect();
    assert_eq!(broken.len(), 4, "two stacks, two conditions");
    assert!(
        broken
            .iter()
            .all(|row| row.failed == 10 && row.trials == 10)
    );
    assert_eq!(summary.unsupported.len(), 2);
    assert_eq!(summary.unsupported[0].sites, ["plain.example"]);
}

#[test]
fn shares_add_up_to_the_total() {
    let summary = Fixture::default().summary();
    for row in summary
        .comparisons
        .iter()
        .flat_map(|comparison| &comparison.shares)
    {
        let sum = row.client_ns + row.server_ns + row.network_ns;
        assert!((sum / row.total_ns - 1.0).abs() < 1e-9, "{row:?}");
    }
}

#[test]
fn doubtful_runs_are_warned_of() {
    let fixture = Fixture::default();
    let mut manifest = fixture.manifest();
    manifest.finished = None;
    manifest.workers[0]
        .build
        .insert("profile".to_owned(), "debug".to_owned());
    let warnings = summarize(&manifest, &fixture.samples()).warnings.join("\n");
    for part in [
        "not finished",
        "29.0 ms where 22.0 ms was configured",
        "up to 250 µs late",
        "built without optimisation",
        "did not finish as many handshakes",
    ] {
        assert!(warnings.contains(part), "no {part:?} in {warnings}");
    }
    assert!(
        !warnings.contains("4.09 ms"),
        "a link that is right is no warning"
    );
}

#[test]
fn a_run_without_samples_has_a_report_without_figures() {
    let fixture = Fixture::default();
    let summary = summarize(&fixture.manifest(), &[]);
    assert!(
        summary
            .comparisons
            .iter()
            .all(|comparison| comparison.phases.is_empty())
    );
    let report = ConnectReport::new(fixture.manifest(), Vec::new());
    assert!(terminal(&report, 80).contains("cannot be compared"));
}

fn log(packets: u32, lost: &[u32]) -> LossLog {
    LossLog {
        connection: 0,
        direction: LinkDirection::Down,
        load: PacketLoad::Data,
        packets,
        lost: lost.to_vec(),
    }
}

#[test]
fn losses_that_differ_before_the_packets_do_are_warned_of() {
    let fixture = Fixture::clean();
    let mut samples = fixture.samples();
    let pairs = samples.len() as u64 / 2;
    let manifest = fixture.manifest();
    assert_eq!(summarize(&manifest, &samples).losses, None);
    for sample in &mut samples {
        sample.losses = vec![log(10, &[2])];
    }
    samples[0].losses = vec![log(30, &[2, 20])];
    let both = summarize(&manifest, &samples);
    let losses = both.losses.clone().unwrap();
    assert_eq!((losses.pairs, losses.same), (pairs, pairs - 1));
    assert_eq!((losses.same_while_alike, losses.differ), (1, 0));
    assert_eq!(
        (losses.packets, losses.lost),
        (pairs * 20 + 20, pairs * 2 + 1)
    );
    samples[0].losses = vec![log(30, &[3])];
    let other = summarize(&manifest, &samples);
    assert_eq!(other.losses.as_ref().unwrap().differ, 1);
    let more: Vec<_> = other
        .warnings
        .iter()
        .filter(|warning| !both.warnings.contains(warning))
        .collect();
    assert_eq!(
        more,
        [
            "the link lost other packets for one stack than for the other in 1 pair before their packets differed: \
          losses and not stacks may be what these differ by"
        ]
    );
    let reported = words(&manifest, &samples);
    assert_has(&reported, "1 lost others.");
}

#[test]
fn of_a_trial_that_was_made_again_the_last_sample_counts() {
    let fixture = Fixture::clean();
    let samples = fixture.samples();
    let mut broken_off = samples.clone();
    for sample in &mut broken_off {
        if let Outcome::Ok(figures) = &mut sample.outcome {
            figures.phases.total_ns *= 100;
        }
    }
    let again = samples
        .iter()
        .cloned()
        .map(|sample| netbench_model::Sample {
            session: 1,
            ..sample
        });
    let both: Vec<_> = broken_off.into_iter().chain(again).collect();
    let manifest = fixture.manifest();
    assert_eq!(
        summarize(&manifest, &both).comparisons,
        summarize(&manifest, &samples).comparisons
    );
}

#[test]
fn with_few_rounds_no_site_is_called_undecided_for_want_of_them() {
    for (rounds, said) in [(3, true), (10, false)] {
        let fixture = Fixture {
            rounds,
            ..Fixture::default()
        };
        let report = fixture.report();
        let text = render(&report, "markdown");
        assert_eq!(
            text.contains("A site needs 6 rounds"),
            said,
            "{rounds} rounds"
        );
        assert_eq!(text.contains("is faster on"), !said, "{rounds} rounds");
    }
}

const MS: u64 = 1_000_000;

#[test]
fn what_befell_the_link_and_the_lab_is_said() {
    let fixture = Fixture::default();
    let cases = [
        (90 * MS, 0, "", "stood still"),
        (5_000 * MS, 0, "released a packet 5.00 s late", "had died"),
        (
            0,
            1,
            "1 trial met a server of the lab that had died",
            "stood still",
        ),
        (0, 3, "3 trials met a server", "stood still"),
    ];
    for (late_ns, void, said, unsaid) in cases {
        let (mut manifest, mut samples) = (fixture.manifest(), fixture.samples());
        let link = manifest.link.as_mut().unwrap();
        link.lateness_ns = [("p99".to_owned(), 50_000), ("max".to_owned(), late_ns)].into();
        for sample in &mut samples[..void] {
            sample.outcome = Outcome::Discarded {
                reason: "the lab's server a had died".to_owned(),
            };
        }
        let warnings = summarize(&manifest, &samples).warnings.join("\n");
        assert_has(&warnings, said);
        assert_lacks(&warnings, unsaid);
    }
}
