//! Characteristics that go with one stack being faster, of runs in which they are known.

use netbench_model::{
    AckWait, ConnectManifest, LinkDirection, LinkPackets, Outcome, Sample, TcpInfo, parse_sites,
};
use netbench_report::{CharacteristicRow, ExplainSummary, ModeCause, explain};
use netbench_stats::Verdict;

use crate::support::{
    fixture::{Fixture, HOSTILE},
    formats::{assert_emulated, assert_harmless, assert_json, render, terminal},
};

const MS: u64 = 1_000_000;

/// The sites of the slower connections.
const WITH_ANOTHER_ROUND_TRIP: &str = "site7.example";
const WITH_DELAYED_ACK: &str = "site9.example";

/// Returns packets of a connection whose data waited for acknowledgements, each with the given wait and delay.
fn packets(waits_ms: &[(u64, u64)]) -> LinkPackets {
    let waits = waits_ms.iter().map(|&(wait_ms, ack_delay_ms)| AckWait {
        direction: LinkDirection::Down,
        wait_ns: wait_ms * MS,
        ack_delay_ns: ack_delay_ms * MS,
    });
    LinkPackets {
        connections: 1,
        syns: 1,
        connect_ns: None,
        waits: waits.collect(),
        ..LinkPackets::default()
    }
}

/// Sets the packets of the samples of one site: `slower` in its slower mode, and `faster` in the others.
fn give_packets(samples: &mut [Sample], site: &str, slower: &LinkPackets, faster: &LinkPackets) {
    for sample in samples.iter_mut().filter(|sample| sample.site == site) {
        let is_slower = is_slower(sample);
        sample.packets = Some(if is_slower { slower } else { faster }.clone());
    }
}

/// Returns whether a sample of the bimodal sites is of the slower mode.
fn is_slower(sample: &Sample) -> bool {
    let measured = sample.outcome.ok().unwrap();
    measured.phases.total_ns > 60 * MS
}

/// Returns the cause that is named for a site; `None` if there is none.
fn cause(manifest: &ConnectManifest, samples: &[Sample], site: &str) -> Option<ModeCause> {
    let summary = explain(manifest, samples, None);
    let row = summary.bimodal.iter().find(|row| row.site == site);
    row.expect("the site's totals have two modes").cause
}

/// Returns a run of forty sites in which the other stack takes a tenth less of the total, but with RSA 4096 a tenth
/// more; on one site every third connection of the first stack takes a round trip more, and on another 42 ms more
/// after the first byte.
fn planted() -> (ConnectManifest, Vec<Sample>) {
    let fixture = Fixture::clean();
    let (mut manifest, template) = (fixture.manifest(), fixture.samples());
    let sites: String = (0..40)
        .map(|n| {
            let key = ["rsa-2048", "ecdsa-p256", "rsa-4096", "ecdsa-p256"][n % 4];
            let rtt = [5, 20, 50][n % 3];
            format!("site{n}.example key={key} rtt={rtt}ms loss={}%\n", n % 2)
        })
        .collect();
    manifest.plan.sites = parse_sites(&sites).unwrap();
    let mut samples = Vec::new();
    for round in 0..12u32 {
        for (index, site) in manifest.plan.sites.iter().enumerate() {
            for (side, stack) in manifest.plan.stacks.iter().enumerate() {
                let mut near = template.iter().filter(|s| s.site == "near.example");
                let sample = near.find(|sample| sample.stack == *stack);
                let mut sample = sample.unwrap().clone();
                sample.site = site.name();
                sample.round = round;
                sample.block = round * 2 + u32::try_from(index % 2).unwrap();
                sample.trial = samples.len() as u64;
                let Outcome::Ok(figures) = &mut sample.outcome else {
                    unreachable!("near.example does not fail");
                };
                let noise = (u64::from(round) * 7 + index as u64 * 13) % 11;
                let total = 50_000_000 + noise * 100_000;
                let slow = side == 0 && round % 3 == 0;
                let more = match index {
                    7 if slow => site.lab.link.rtt_ns,
                    9 if slow => 42_000_000,
                    _ => 0,
                };
                if index == 7 {
                    figures.phases.first_byte_ns += more;
                }
                figures.phases.total_ns = match (side, site.lab.key.name()) {
                    (0, _) => total + more,
                    (_, "rsa-4096") => total / 10 * 11,
                    _ => total / 10 * 9,
                };
                samples.push(sample);
            }
        }
    }
    let usual = packets(&[(18, 0)]);
    let (again, delayed) = (packets(&[(18, 0), (20, 0)]), packets(&[(18, 0), (42, 41)]));
    give_packets(&mut samples, WITH_ANOTHER_ROUND_TRIP, &again, &usual);
    give_packets(&mut samples, WITH_DELAYED_ACK, &delayed, &usual);
    (manifest, samples)
}

fn summary() -> ExplainSummary {
    let (manifest, samples) = planted();
    explain(&manifest, &samples, None)
}

fn is_undecided(row: &CharacteristicRow) -> bool {
    !matches!(row.contrast.verdict, Verdict::Faster | Verdict::Slower)
}

#[test]
fn the_characteristic_that_was_planted_is_the_strongest() {
    let summary = summary();
    let [explanation] = summary.explanations.as_slice() else {
        panic!("one condition and two stacks are one explanation");
    };
    let first = &explanation.characteristics[0];
    assert_eq!(
        (first.characteristic.as_str(), first.value.as_str()),
        ("key", "rsa-4096")
    );
    assert_eq!((first.sites, first.contrast.verdict), (10, Verdict::Slower));
    assert!(
        (first.contrast.ratio - 11.0 / 9.0).abs() < 0.01,
        "{first:?}"
    );
    let rows = explanation.characteristics.iter();
    let mut round_trips = rows.filter(|row| row.characteristic == "round trip");
    assert!(round_trips.all(is_undecided), "{explanation:?}");

    let against: Vec<&str> = explanation
        .against
        .iter()
        .map(|row| row.site.as_str())
        .collect();
    assert_eq!(against.len(), 10, "{against:?}");
    assert!(
        explanation
            .against
            .iter()
            .all(|row| row.characteristics["key"] == "rsa-4096")
    );
    let shared = &explanation.shared[0];
    assert_eq!(
        (
            shared.value.as_str(),
            shared.listed_with,
            shared.others_with
        ),
        ("rsa-4096", 10, 0)
    );

    let bimodal: Vec<_> = summary
        .bimodal
        .iter()
        .map(|row| (row.site.as_str(), row.slower, row.cause, row.part.as_str()))
        .collect();
    assert_eq!(
        bimodal,
        [
            (
                WITH_ANOTHER_ROUND_TRIP,
                4,
                Some(ModeCause::AckWait),
                "first byte"
            ),
            (WITH_DELAYED_ACK, 4, Some(ModeCause::DelayedAck), "body"),
        ]
    );
    assert!((summary.bimodal[0].round_trips - 1.0).abs() < 0.1);
}

#[test]
fn distances_alone_name_no_cause() {
    let usual = packets(&[(18, 0)]);
    for site in [WITH_ANOTHER_ROUND_TRIP, WITH_DELAYED_ACK] {
        let (manifest, mut samples) = planted();
        assert!(cause(&manifest, &samples, site).is_some(), "{site}");
        // Packets without a wait, with one that is too short for the distance, and with one in both modes.
        for (slower, faster) in [
            (packets(&[(18, 0)]), &usual),
            (packets(&[(18, 0), (5, 0)]), &usual),
            (packets(&[(18, 41)]), &packets(&[(18, 41)])),
        ] {
            give_packets(&mut samples, site, &slower, faster);
            let found = cause(&manifest, &samples, site);
            assert_eq!(found, None, "{site}: {slower:?}");
        }
        // No record of packets, as over a real network.
        samples.iter_mut().for_each(|sample| sample.packets = None);
        assert_eq!(cause(&manifest, &samples, site), None, "{site}");
    }
}

#[test]
fn a_cause_needs_nearly_all_connections_of_its_mode() {
    let (manifest, mut samples) = planted();
    let mut delayed = samples.iter_mut().filter(|s| s.site == WITH_DELAYED_ACK);
    // One of four slower connections is without a wait.
    let unlike = delayed.find(|sample| is_slower(sample));
    unlike.unwrap().packets = Some(packets(&[(18, 0)]));
    assert_eq!(cause(&manifest, &samples, WITH_DELAYED_ACK), None);
}

#[test]
fn a_lost_syn_is_named_only_where_one_was_sent_again() {
    let (manifest, mut samples) = planted();
    for sample in samples.iter_mut().filter(|s| s.site == WITH_DELAYED_ACK) {
        let is_slower = is_slower(sample);
        if let (true, Outcome::Ok(measured)) = (is_slower, &mut sample.outcome) {
            measured.phases.total_ns += 1_000 * MS;
            measured.phases.tcp_ns += 1_042 * MS;
        }
    }
    let once = packets(&[]);
    let twice = LinkPackets {
        syns: 2,
        connect_ns: None,
        ..once.clone()
    };
    // With one SYN, the client waited for a core.
    for (slower, due) in [(&twice, Some(ModeCause::LostSyn)), (&once, None)] {
        give_packets(&mut samples, WITH_DELAYED_ACK, slower, &once);
        assert_eq!(cause(&manifest, &samples, WITH_DELAYED_ACK), due);
    }
    // Without packets, the kernel's count of the client's retransmitted segments.
    for retransmits in [0, 1] {
        for sample in samples.iter_mut().filter(|s| s.site == WITH_DELAYED_ACK) {
            sample.packets = None;
            let is_slower = is_slower(sample);
            if let Outcome::Ok(measured) = &mut sample.outcome {
                measured.transfer.tcp = Some(TcpInfo {
                    retransmits: if is_slower { retransmits } else { 0 },
                    ..TcpInfo::default()
                });
            }
        }
        let due = (retransmits == 1).then_some(ModeCause::LostSyn);
        assert_eq!(cause(&manifest, &samples, WITH_DELAYED_ACK), due);
    }
}

#[test]
fn the_stacks_may_be_named_and_turned_around() {
    let (manifest, samples) = planted();
    let [a, b] = manifest.plan.stacks.as_slice() else {
        panic!("the fixture has two stacks");
    };
    let turned = explain(&manifest, &samples, Some((b, a)));
    let (one, other) = (&summary().explanations[0], &turned.explanations[0]);
    let ratios = [one, other].map(|explanation| explanation.overall.as_ref().unwrap().ratio);
    assert!((ratios[0] * ratios[1] - 1.0).abs() < 1e-9);
    assert_eq!(one.against.len(), other.against.len());
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let (manifest, mut samples) = planted();
    for sample in &mut samples {
        if let Outcome::Ok(figures) = &mut sample.outcome {
            figures.phases.total_ns = 50_000_000 + sample.trial * 7_919 % 500_000;
        }
    }
    let summary = explain(&manifest, &samples, None);
    let explanation = &summary.explanations[0];
    assert!(explanation.characteristics.iter().all(is_undecided));
    assert!(explanation.sentences[0].starts_with("No characteristic"));
    assert!(summary.bimodal.is_empty());

    let empty = explain(&manifest, &[], None);
    assert_eq!(empty.explanations[0].overall, None);
    assert!(empty.explanations[0].sentences[0].contains("nothing can be compared"));
}

#[test]
fn terminal_and_markdown() {
    let summary = summary();
    assert_emulated(&summary);
    insta::assert_snapshot!(terminal(&summary, 100));
    insta::assert_snapshot!(render(&summary, "markdown"));
}

#[test]
fn what_is_published_fits_its_schema_and_is_not_obeyed() {
    let (mut manifest, mut samples) = planted();
    manifest.name = HOSTILE.to_owned();
    for sample in &mut samples {
        if let Outcome::Ok(figures) = &mut sample.outcome
            && sample.site.len() == 13
        {
            figures.client.alpn = Some(HOSTILE.to_owned());
        }
    }
    let summary = explain(&manifest, &samples, None);
    assert_harmless(&summary);
    assert_json(&summary, "explain-summary.json");
}
