//! The departure times of packets from rattan's cells: a bottleneck with a rate and a queue, then a delay.
//! The times are in `departures.tsv`, with which a test of netbench-link compares its own paths.
//!
//! `UPDATE_DEPARTURES=1 cargo test` writes the file again; otherwise the test fails where the file differs
//! from rattan's times.
//!
//! rattan's packets have timestamps: each cell adds the time that the packet should have spent in the cell,
//! however late the machine is. The cells are given the packets after the times of all of them have passed,
//! so no packet waits and no departure time depends on how busy the machine was.

use std::{
    error::Error,
    fmt::Write as _,
    fs,
    path::Path,
    time::{Duration, Instant as Clock},
};

use rattan_core::{
    cells::{
        Cell, CellState, Egress, Ingress, Packet, StdPacket,
        bandwidth::{
            BwCell, BwType,
            queue::{DropTailQueue, DropTailQueueConfig},
        },
        delay::DelayCell,
    },
    netem_trace::Bandwidth,
};
use tokio::time::Instant;

/// A path, and the average interval between packets that do not arrive at once.
struct Case {
    rtt_ns: u64,
    bits_per_second: u64,
    queue_packets: usize,
    gap_ns: u64,
}

const MS: u64 = 1_000_000;

/// A fast path, the presets of slow paths, and queues that are nearly always full.
const CASES: [Case; 5] = [
    Case {
        rtt_ns: 20 * MS,
        bits_per_second: 100_000_000,
        queue_packets: 100,
        gap_ns: 250_000,
    },
    Case {
        rtt_ns: 100 * MS,
        bits_per_second: 5_000_000,
        queue_packets: 20,
        gap_ns: 4 * MS,
    },
    Case {
        rtt_ns: 300 * MS,
        bits_per_second: 1_600_000,
        queue_packets: 50,
        gap_ns: 8 * MS,
    },
    Case {
        rtt_ns: 400 * MS,
        bits_per_second: 400_000,
        queue_packets: 5,
        gap_ns: 40 * MS,
    },
    Case {
        rtt_ns: 40 * MS,
        bits_per_second: 8_000_000,
        queue_packets: 1,
        gap_ns: 2 * MS,
    },
];

const PACKETS: usize = 80;

/// The size of an Ethernet header. rattan counts only a packet's bytes from its IP header on; netem, and so
/// netbench, counts the Ethernet header too.
const ETHERNET_BYTES: usize = 14;

/// The arrival time of a packet, and its size from the IP header on.
#[derive(Clone, Copy)]
struct Arrival {
    at_ns: u64,
    ip_bytes: usize,
}

type Bottleneck = BwCell<StdPacket, DropTailQueue<StdPacket>>;

#[test]
fn departures_are_what_rattan_says() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let said = runtime.block_on(table())?;
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("departures.tsv");
    if std::env::var_os("UPDATE_DEPARTURES").is_some() {
        fs::write(&file, &said)?;
    }
    let stored = fs::read_to_string(&file)?;
    assert!(said == stored, "rattan now says:\n{said}");
    Ok(())
}

async fn table() -> Result<String, Box<dyn Error>> {
    let mut text =
        "rtt_ns\tbits_per_second\tqueue_packets\tat_ns\tip_bytes\tdeparts_ns\n".to_owned();
    let mut random = 1;
    for case in CASES {
        let arrivals = arrivals(&case, &mut random);
        let departures = departures(&case, &arrivals).await?;
        for (Arrival { at_ns, ip_bytes }, departs_ns) in arrivals.into_iter().zip(departures) {
            let Case {
                rtt_ns,
                bits_per_second,
                queue_packets,
                ..
            } = case;
            let departs = departs_ns.map_or_else(|| "dropped".to_owned(), |ns| ns.to_string());
            writeln!(
                text,
                "{rtt_ns}\t{bits_per_second}\t{queue_packets}\t{at_ns}\t{ip_bytes}\t{departs}"
            )?;
        }
    }
    Ok(text)
}

/// Returns packets, half of which arrive directly after their predecessors.
fn arrivals(case: &Case, random: &mut u64) -> Vec<Arrival> {
    let mut at_ns = 0;
    let arrivals = (0..PACKETS).map(|_| {
        at_ns += match below(random, 2) {
            0 => 1_000 + below(random, 20_000),
            _ => below(random, 2 * case.gap_ns),
        };
        let ip_bytes = match below(random, 3) {
            0 => 40 + below(random, 1_460) as usize,
            _ => 1_500,
        };
        Arrival { at_ns, ip_bytes }
    });
    arrivals.collect()
}

/// Returns the departure time of each packet, measured from the same moment as its arrival, or `None` where
/// the packet is dropped.
async fn departures(case: &Case, arrivals: &[Arrival]) -> Result<Vec<Option<u64>>, Box<dyn Error>> {
    let queue = DropTailQueueConfig::new(case.queue_packets, None, BwType::NetworkLayer);
    let rate = Bandwidth::from_bps(case.bits_per_second);
    let bottleneck: Bottleneck = BwCell::new(rate, queue.into(), BwType::NetworkLayer)?;
    let delay: DelayCell<StdPacket> = DelayCell::new(Duration::from_nanos(case.rtt_ns / 2))?;
    let begin = Instant::now();

    let bits: u64 = arrivals
        .iter()
        .map(|arrival| arrival.ip_bytes as u64 * 8)
        .sum();
    let last_ns = arrivals.last().map_or(0, |last| last.at_ns);
    let sending = Duration::from_secs_f64(bits as f64 / case.bits_per_second as f64);
    let over = Duration::from_nanos(last_ns + case.rtt_ns) + sending * 2;
    let slept = Clock::now();
    while slept.elapsed() < over {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let ingress = bottleneck.sender();
    for (number, arrival) in (0..).zip(arrivals) {
        // The buffer has a link layer's header and an Ethernet header: rattan leaves out the first 14 bytes.
        let bytes = vec![0; arrival.ip_bytes + 2 * ETHERNET_BYTES];
        let mut packet = StdPacket::from_raw_buffer(&bytes);
        packet.delay_until(begin + Duration::from_nanos(arrival.at_ns));
        packet.set_flow_id(number);
        ingress.enqueue(packet)?;
    }
    drop(ingress);
    let sent = all(bottleneck.into_receiver()).await;
    let ingress = delay.sender();
    for packet in sent {
        ingress.enqueue(packet)?;
    }
    drop(ingress);
    let mut departures = vec![None; arrivals.len()];
    for packet in all(delay.into_receiver()).await {
        let left = packet.get_timestamp() - begin;
        departures[packet.get_flow_id() as usize] = Some(u64::try_from(left.as_nanos())?);
    }
    Ok(departures)
}

/// Returns the packets that leave a cell after the last packet has entered it.
async fn all(mut cell: impl Egress<StdPacket>) -> Vec<StdPacket> {
    cell.change_state(CellState::Normal);
    let mut packets = Vec::new();
    while let Some(packet) = cell.dequeue().await {
        packets.push(packet);
    }
    packets
}

/// Returns an even number below `limit`, by SplitMix64.
fn below(state: &mut u64, limit: u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((u128::from(word ^ (word >> 31)) * u128::from(limit)) >> 64) as u64
}
