use netbench_model::{BitRate, LossRate, Queue};

use super::*;
use crate::{
    TrialKey,
    forward::segment::made::{ACK, SYN, packet},
};

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const MS: u64 = 1_000_000;

fn paths(profiles: &[LinkProfile], seed: u64) -> Paths {
    let sites: Vec<_> = profiles
        .iter()
        .enumerate()
        .map(|(index, profile)| LinkSite {
            name: format!("{index}.test"),
            profile: *profile,
        })
        .collect();
    let trials = Arc::new(Trials::new(sites.len()));
    Paths::new(&sites, seed, trials, Arc::default(), Arc::default())
}

fn with_rtt(rtt_ns: u64) -> LinkProfile {
    LinkProfile {
        rtt_ns,
        ..LinkProfile::default()
    }
}

/// Returns a packet of a connection from port 40000 to the first site.
fn up(flags: u8, data_bytes: u16) -> Vec<u8> {
    packet((CLIENT, 40_000), ([10, 1, 0, 1], 443), flags, 9, data_bytes)
}

fn down(flags: u8, data_bytes: u16) -> Vec<u8> {
    packet(([10, 1, 0, 1], 443), (CLIENT, 40_000), flags, 9, data_bytes)
}

fn due(ms: u64) -> Fate {
    Fate::Due { due_ns: ms * MS }
}

fn due_ns(fate: Fate) -> u64 {
    match fate {
        Fate::Due { due_ns } => due_ns,
        other => panic!("not due: {other:?}"),
    }
}

#[test]
fn both_ways_together_are_the_round_trip() {
    // Neither the time that this machine needs to answer the SYN counts, nor the slightly early release of
    // the SYN.
    for answered_ns in [109 * MS + 990_000, 110 * MS + 90_000] {
        let mut paths = paths(&[with_rtt(20 * MS + 1)], 1);
        let syn_ns = due_ns(paths.decide(Direction::Up, &up(SYN, 0), 100 * MS));
        assert_eq!(syn_ns, 110 * MS);
        let accept_ns = due_ns(paths.decide(Direction::Down, &down(SYN | ACK, 0), answered_ns));
        assert_eq!(accept_ns, 120 * MS + 1);
    }
    let mut paths = paths(&[with_rtt(20 * MS + 1)], 1);
    paths.decide(Direction::Up, &up(SYN, 0), 100 * MS);
    paths.decide(Direction::Down, &down(SYN | ACK, 0), 110 * MS);
    // A retransmitted answer, and data, count from their arrival.
    assert_eq!(
        due_ns(paths.decide(Direction::Down, &down(SYN | ACK, 0), 1110 * MS)),
        1120 * MS + 1
    );
    assert_eq!(
        due_ns(paths.decide(Direction::Down, &down(ACK, 9), 1111 * MS)),
        1121 * MS + 1
    );
}

#[test]
fn what_is_no_sites_passes() {
    let mut paths = paths(&[with_rtt(MS)], 1);
    let stranger = packet((CLIENT, 1), ([10, 1, 0, 2], 443), SYN, 0, 0);
    for bytes in [&stranger[..], &[], &[0xff; 60]] {
        assert_eq!(paths.decide(Direction::Up, bytes, 0), Fate::Pass);
    }
}

#[test]
fn the_bottleneck_sends_one_after_the_other_and_drops_from_its_tail() {
    let rate = Some(BitRate {
        bits_per_second: 8_000_000,
    });
    let profile = LinkProfile {
        rate,
        queue: Queue { packets: 2 },
        ..with_rtt(20 * MS)
    };
    let mut paths = paths(&[profile], 1);
    // The packets have 946 bytes of data and 54 of headers: a millisecond each.
    let fates: Vec<Fate> = (0..5)
        .map(|_| paths.decide(Direction::Up, &up(ACK, 946), 0))
        .collect();
    assert_eq!(
        fates,
        [due(11), due(12), due(13), Fate::QueueFull, Fate::QueueFull]
    );
    // The other direction has a separate bottleneck, and this one has room again.
    assert_eq!(paths.decide(Direction::Down, &down(ACK, 946), 0), due(11));
    assert_eq!(paths.decide(Direction::Up, &up(ACK, 946), MS), due(14));
}

#[test]
fn jitter_never_lets_a_packet_overtake() {
    let profile = LinkProfile {
        jitter_ns: 30 * MS,
        ..with_rtt(20 * MS)
    };
    let mut paths = paths(&[profile], 1);
    let mut dues = vec![due_ns(paths.decide(Direction::Up, &up(SYN, 0), 0))];
    dues.extend((1..200).map(|ms| due_ns(paths.decide(Direction::Up, &up(ACK, 1), ms * MS))));
    assert!(dues.is_sorted());
    let delays: Vec<u64> = dues
        .iter()
        .enumerate()
        .map(|(sent_ms, due_ns)| due_ns - sent_ms as u64 * MS - 10 * MS)
        .collect();
    assert!(delays.iter().all(|ns| *ns <= 30 * MS));
    assert!(delays.iter().any(|ns| *ns > 20 * MS) && delays.iter().any(|ns| *ns < 29 * MS));
}

/// Returns the ordinals of lost data packets in a connection whose bare packets arrive `bare` at a time.
fn lost(paths: &mut Paths, initial_sequence: u32, bare: usize) -> Vec<u32> {
    let syn = packet(
        (CLIENT, 40_000),
        ([10, 1, 0, 1], 443),
        SYN,
        initial_sequence,
        0,
    );
    paths.decide(Direction::Up, &syn, 0);
    let mut lost = Vec::new();
    for _ in 0..500 {
        if let Fate::Lost(loss) = paths.decide(Direction::Up, &up(ACK, 100), 0) {
            lost.push(loss.packet);
        }
        for _ in 0..bare {
            paths.decide(Direction::Up, &up(ACK, 0), 0);
        }
    }
    lost
}

#[test]
fn both_stacks_of_a_pair_lose_the_same_packets() {
    let loss = LossRate {
        parts_per_million: 100_000,
    };
    let mut paths = paths(
        &[LinkProfile {
            loss,
            ..with_rtt(MS)
        }],
        5,
    );
    paths.trials.begin(0, TrialKey(1));
    let first = lost(&mut paths, 1, 1);
    assert!(!first.is_empty());
    let second_connection = lost(&mut paths, 2, 1);
    assert_ne!(first, second_connection);
    paths.trials.begin(0, TrialKey(1));
    assert_eq!(
        lost(&mut paths, 3, 4),
        first,
        "acknowledgements moved the losses of data"
    );
    paths.trials.begin(0, TrialKey(2));
    assert_ne!(lost(&mut paths, 4, 1), first);
}

#[test]
fn a_syn_sent_again_opens_nothing() {
    let mut paths = paths(&[with_rtt(MS)], 1);
    for _ in 0..3 {
        paths.decide(Direction::Up, &up(SYN, 0), 0);
    }
    let next = paths.trials.next_connection(0).expect("a site");
    assert_eq!(next.connection, 1);
}

#[test]
fn the_check_meets_delay_only() {
    let profile = LinkProfile {
        loss: LossRate {
            parts_per_million: 1_000_000,
        },
        rate: Some(BitRate {
            bits_per_second: 1_000,
        }),
        queue: Queue { packets: 0 },
        jitter_ns: MS,
        ..with_rtt(20 * MS)
    };
    let mut paths = paths(&[profile], 1);
    let check = packet((CLIENT, 40_000), ([10, 1, 0, 1], CHECK_PORT), SYN, 0, 0);
    assert_eq!(paths.decide(Direction::Up, &check, 0), due(10));
    let next = paths.trials.next_connection(0).expect("a site");
    assert_eq!(
        next.connection, 0,
        "the check counted among a trial's connections"
    );
    let own = paths.decide(Direction::Up, &up(SYN, 0), 0);
    assert!(matches!(own, Fate::Lost(_)), "{own:?}");
}

#[test]
fn silent_connections_are_forgotten() {
    let mut paths = paths(&[with_rtt(MS)], 1);
    for port in 0..CONNECTIONS_KEPT as u16 {
        let syn = packet((CLIENT, port), ([10, 1, 0, 1], 443), SYN, 0, 0);
        paths.decide(Direction::Up, &syn, 0);
    }
    assert_eq!(paths.connections.len(), CONNECTIONS_KEPT);
    let syn = packet((CLIENT, 0), ([10, 1, 0, 1], 444), SYN, 0, 0);
    paths.decide(Direction::Up, &syn, SILENT_NS);
    assert_eq!(paths.connections.len(), 1);
}

/// The departure times of packets on such paths in rattan, another emulator, made by `netbench/link/rattan`.
const RATTAN: &str = include_str!("../../../rattan/departures.tsv");

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

#[test]
fn another_emulator_agrees_to_the_nanosecond() {
    let rows: Vec<Vec<&str>> = RATTAN
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(rows.len() > 300, "{} rows", rows.len());
    for &direction in Direction::ALL {
        for case in rows.chunk_by(|row, next| row[..3] == next[..3]) {
            let profile = LinkProfile {
                rate: Some(BitRate {
                    bits_per_second: number(case[0][1]),
                }),
                queue: Queue {
                    packets: number(case[0][2]) as u32,
                },
                ..with_rtt(number(case[0][0]))
            };
            let mut paths = paths(&[profile], 1);
            // Both emulators round the time that a packet takes at the bottleneck, and one packet waits for
            // the next.
            for (row, rounded_ns) in case.iter().zip(1..) {
                let data_bytes = number(row[4]) as u16 - 40;
                let bytes = match direction {
                    Direction::Up => up(ACK, data_bytes),
                    Direction::Down => down(ACK, data_bytes),
                };
                match (paths.decide(direction, &bytes, number(row[3])), row[5]) {
                    (Fate::QueueFull, "dropped") => {}
                    (Fate::Due { due_ns }, departs) if departs != "dropped" => {
                        let off_ns = due_ns.abs_diff(number(departs));
                        assert!(off_ns <= rounded_ns, "{direction:?} {row:?}: {due_ns}");
                    }
                    (fate, _) => panic!("{direction:?} {row:?}: {fate:?}"),
                }
            }
        }
    }
}
