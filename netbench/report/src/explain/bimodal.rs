use std::collections::BTreeMap;

use netbench_model::{AckWait, Condition, Measured, Phases, Sample, StackName};
use netbench_stats::bimodal;

use super::{BimodalRow, ModeCause};
use crate::connect::median_of;

/// The minimal distance of two modes that is reported, in round trips, or in nanoseconds if that is less.
const APART_ROUND_TRIPS: f64 = 0.75;
const APART_NS: f64 = 38e6;

/// The share of the slower mode that a cause must have, and of the faster one that must lack it.
const NEARLY_ALL: f64 = 0.9;

/// The share of the time between two modes that waits must make up: the computation of the sides varies too.
const EXPLAINED: std::ops::RangeInclusive<f64> = 0.75..=1.25;

struct Connection<'a> {
    sample: &'a Sample,
    measured: &'a Measured,
}

/// The connections of one stack on one site, in their two modes.
struct Modes<'a> {
    slower: Vec<&'a Connection<'a>>,
    faster: Vec<&'a Connection<'a>>,
    apart_ns: f64,
}

/// The part of a connection in which its slower mode loses time.
type Part = (&'static str, fn(&Phases) -> u64);

const TCP_CONNECT: &str = "TCP connect";

const PARTS: [Part; 4] = [
    (TCP_CONNECT, |p| p.tcp_ns),
    ("TLS handshake", |p| p.tls_ns),
    ("first byte", |p| p.first_byte_ns),
    ("body", |p| {
        let before = p.dns_ns + p.tcp_ns + p.tls_ns + p.first_byte_ns;
        p.total_ns.saturating_sub(before)
    }),
];

/// Returns every stack, site and condition whose totals come in two modes that are apart by a round trip or a timer of TCP.
pub(super) fn bimodal_rows(
    measured: &[&Sample],
    sides: &[(&StackName, &StackName)],
    rtts: &BTreeMap<String, u64>,
) -> Vec<BimodalRow> {
    let shown = measured.iter().filter(|sample| {
        let mut sides = sides.iter();
        sides.any(|(a, b)| **a == sample.stack || **b == sample.stack)
    });
    let mut connections: BTreeMap<Case<'_>, Vec<Connection<'_>>> = BTreeMap::new();
    for sample in shown {
        if let Some(measured) = sample.outcome.ok() {
            connections
                .entry((&sample.site, sample.condition, &sample.stack))
                .or_default()
                .push(Connection { sample, measured });
        }
    }
    let rows = connections.into_iter();
    rows.filter_map(|(case, all)| row(case, *rtts.get(case.0)?, &all))
        .collect()
}

type Case<'a> = (&'a str, Condition, &'a StackName);

fn row(
    (site, condition, stack): Case<'_>,
    rtt_ns: u64,
    all: &[Connection<'_>],
) -> Option<BimodalRow> {
    let totals: Vec<f64> = all.iter().map(Connection::total_ns).collect();
    let modes = bimodal(&totals)?;
    let apart_ns = modes.upper - modes.lower;
    let round_trips = apart_ns / rtt_ns as f64;
    if rtt_ns == 0 || apart_ns < APART_NS.min(APART_ROUND_TRIPS * rtt_ns as f64) {
        return None;
    }
    let middle_ns = (modes.lower + modes.upper) / 2.0;
    let (slower, faster) = all.iter().partition(|one| one.total_ns() > middle_ns);
    let sides = Modes {
        slower,
        faster,
        apart_ns,
    };
    let part = sides.part()?;
    Some(BimodalRow {
        site: site.to_owned(),
        stack: stack.clone(),
        condition,
        lower_ns: modes.lower,
        upper_ns: modes.upper,
        round_trips,
        cause: sides.cause(part),
        part: part.to_owned(),
        slower: modes.upper_count,
        connections: modes.count,
    })
}

impl Connection<'_> {
    fn total_ns(&self) -> f64 {
        self.measured.phases.total_ns as f64
    }

    /// Returns whether a SYN was retransmitted. The kernel counts segments that the client retransmitted; these can
    /// only be a SYN if TCP connect is the part that takes longer.
    fn has_lost_syn(&self, part: &str) -> bool {
        match &self.sample.packets {
            Some(packets) => packets.syns > 1,
            None => part == TCP_CONNECT && self.has_kernel_retransmits(),
        }
    }

    /// Returns whether either side retransmitted a segment with data.
    fn has_lost_data(&self) -> bool {
        match &self.sample.packets {
            Some(packets) => packets.resent_up + packets.resent_down > 0,
            None => self.has_kernel_retransmits(),
        }
    }

    fn has_kernel_retransmits(&self) -> bool {
        let info = self.measured.transfer.tcp;
        info.is_some_and(|info| info.retransmits > 0)
    }

    /// Returns the time that data waited for acknowledgements of this kind.
    fn waited_ns(&self, is_of_kind: impl Fn(&AckWait) -> bool) -> f64 {
        let packets = self.sample.packets.iter();
        let waits = packets
            .flat_map(|packets| &packets.waits)
            .filter(|wait| is_of_kind(wait));
        waits.map(|wait| wait.wait_ns).sum::<u64>() as f64
    }
}

impl Modes<'_> {
    /// Returns the cause that the records of the connections' packets confirm.
    fn cause(&self, part: &str) -> Option<ModeCause> {
        if part == TCP_CONNECT && self.are_told_apart_by(|one| one.has_lost_syn(part)) {
            Some(ModeCause::LostSyn)
        } else if self.are_told_apart_by(|one| one.has_lost_data()) {
            Some(ModeCause::LostData)
        } else if self.are_apart_by_waits(AckWait::is_of_delayed_ack) {
            Some(ModeCause::DelayedAck)
        } else if self.are_apart_by_waits(|wait| !wait.is_of_delayed_ack()) {
            Some(ModeCause::AckWait)
        } else {
            None
        }
    }

    /// Returns whether nearly all slower connections have a property and nearly all faster ones do not.
    fn are_told_apart_by(&self, has: impl Fn(&Connection<'_>) -> bool) -> bool {
        let [slower, faster] = [&self.slower, &self.faster].map(|mode| {
            mode.iter().filter(|one| has(one)).count() as f64 / mode.len().max(1) as f64
        });
        slower >= NEARLY_ALL && faster <= 1.0 - NEARLY_ALL
    }

    /// Returns whether waits of this kind make up the time between the modes.
    fn are_apart_by_waits(&self, is_of_kind: impl Fn(&AckWait) -> bool) -> bool {
        let [slower_ns, faster_ns] = self.usual_ns(|one| one.waited_ns(&is_of_kind));
        let [slower_ns, faster_ns] = [slower_ns, faster_ns].map(Option::unwrap_or_default);
        let middle_ns = (slower_ns + faster_ns) / 2.0;
        EXPLAINED.contains(&((slower_ns - faster_ns) / self.apart_ns))
            && self.are_told_apart_by(|one| one.waited_ns(&is_of_kind) > middle_ns)
    }

    /// Returns the part of the connection in which the slower mode loses most.
    fn part(&self) -> Option<&'static str> {
        let losses = PARTS.into_iter().filter_map(|(name, part)| {
            let [slower_ns, faster_ns] = self.usual_ns(|one| part(&one.measured.phases) as f64);
            Some((name, slower_ns? - faster_ns?))
        });
        Some(losses.max_by(|a, b| a.1.total_cmp(&b.1))?.0)
    }

    /// Returns the median time of the slower connections and that of the faster ones.
    fn usual_ns(&self, time_ns: impl Fn(&Connection<'_>) -> f64) -> [Option<f64>; 2] {
        [&self.slower, &self.faster].map(|mode| median_of(mode, |one| time_ns(one)))
    }
}
