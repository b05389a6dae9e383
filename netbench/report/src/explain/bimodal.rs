use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
};

use netbench_model::{Condition, Phases, Sample, StackName};
use netbench_stats::{Bimodal, bimodal, median};

use super::{BimodalRow, ModeCause};

/// How many round trips apart two modes may be to be one round trip apart.
const ABOUT_ONE: RangeInclusive<f64> = 0.75..=1.25;

/// How far apart two modes are of which one waited for Linux' delayed acknowledgement: its shortest
/// timer (`TCP_DELACK_MIN`, 40 ms) and what the kernel's timer wheel and a busy machine add.
const DELAYED_ACK_NS: RangeInclusive<f64> = 38e6..=52e6;

/// Every stack, site and condition whose totals come in two modes for a cause that is known.
pub(super) fn bimodal_rows(
    measured: &[&Sample],
    sides: &[(&StackName, &StackName)],
    rtts: &BTreeMap<String, u64>,
) -> Vec<BimodalRow> {
    let stacks: BTreeSet<&StackName> = sides.iter().flat_map(|(a, b)| [*a, *b]).collect();
    let mut connections: BTreeMap<(&str, Condition, &StackName), Vec<&Phases>> = BTreeMap::new();
    for sample in measured.iter().filter(|s| stacks.contains(&s.stack)) {
        if let Some(figures) = sample.outcome.ok() {
            connections
                .entry((&sample.site, sample.condition, &sample.stack))
                .or_default()
                .push(&figures.phases);
        }
    }
    let row = |((site, condition, stack), all): ((&str, Condition, &StackName), Vec<&Phases>)| {
        let rtt_ns = rtts.get(site).copied().filter(|rtt_ns| *rtt_ns > 0)?;
        let totals: Vec<f64> = all.iter().map(|phases| phases.total_ns as f64).collect();
        let modes = bimodal(&totals)?;
        let apart = modes.upper - modes.lower;
        let round_trips = apart / rtt_ns as f64;
        let cause = match (
            ABOUT_ONE.contains(&round_trips),
            DELAYED_ACK_NS.contains(&apart),
        ) {
            (true, false) => ModeCause::RoundTrip,
            (false, true) => ModeCause::DelayedAck,
            (true, true) => ModeCause::RoundTripOrDelayedAck,
            (false, false) => return None,
        };
        Some(BimodalRow {
            site: site.to_owned(),
            stack: stack.clone(),
            condition,
            lower_ns: modes.lower,
            upper_ns: modes.upper,
            round_trips,
            cause,
            part: part(&all, &modes)?,
            slower: modes.upper_count,
            connections: modes.count,
        })
    };
    connections.into_iter().filter_map(row).collect()
}

/// The part of the connection in which the slower mode loses most.
fn part(all: &[&Phases], modes: &Bimodal) -> Option<String> {
    type Part = fn(&Phases) -> u64;
    const PARTS: [(&str, Part); 4] = [
        ("TCP connect", |p| p.tcp_ns),
        ("TLS handshake", |p| p.tls_ns),
        ("first byte", |p| p.first_byte_ns),
        ("body", |p| {
            let before = p.dns_ns + p.tcp_ns + p.tls_ns + p.first_byte_ns;
            p.total_ns.saturating_sub(before)
        }),
    ];
    let middle = (modes.lower + modes.upper) / 2.0;
    let loss = |(name, of): (&'static str, Part)| {
        let side = |slow: bool| {
            let those = all.iter().filter(|p| (p.total_ns as f64 > middle) == slow);
            median(&those.map(|p| of(p) as f64).collect::<Vec<_>>())
        };
        Some((name, side(true)? - side(false)?))
    };
    let losses = PARTS.into_iter().filter_map(loss);
    let most = losses.max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(most.0.to_owned())
}
