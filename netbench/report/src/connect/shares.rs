use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{ConnectManifest, LinkKind, Measured, Sample, StackName, Target};

use super::{pairs::Matched, summary::ShareRow};
use crate::cell::{Cell, Digits};

/// Classes of round-trip times, by their upper ends in milliseconds.
const RTT_CLASSES: [(u64, &str); 5] = [
    (10, "under 10 ms"),
    (30, "10–30 ms"),
    (60, "30–60 ms"),
    (120, "60–120 ms"),
    (u64::MAX, "over 120 ms"),
];

/// The class of sites without a round-trip time.
const NO_CLASS: &str = "–";

/// Returns the cell of an emulated round-trip time; 0 is that of loopback.
pub(super) fn rtt(ns: u64) -> Cell {
    match ns {
        0 => Cell::Missing,
        ns => Cell::Time(ns as f64),
    }
}

/// Returns the cell of a difference in round trips.
pub(super) fn round_trips(trips: Option<f64>) -> Option<Cell> {
    Some(Cell::number(trips?, Digits::Decimals(2), ""))
}

/// Returns each site's round-trip time: as emulated, or the smallest seen on the real network. The result is empty
/// over loopback, where the configured times do not apply.
pub(crate) fn rtts(manifest: &ConnectManifest, measured: &[&Sample]) -> BTreeMap<String, u64> {
    let plan = &manifest.plan;
    let link = manifest.link.as_ref().map(|link| link.kind);
    if plan.target == Target::Lab && link == Some(LinkKind::None) {
        return BTreeMap::new();
    }
    if plan.target == Target::Lab {
        return plan
            .sites
            .iter()
            .map(|site| (site.name(), site.lab.link.rtt_ns))
            .collect();
    }
    let rtts = measured.iter().filter_map(|sample| {
        let tcp = sample.outcome.ok()?.transfer.tcp?;
        Some((sample.site.clone(), u64::from(tcp.min_rtt_us) * 1000))
    });
    rtts.into_grouping_map().min().into_iter().collect()
}

/// Splits the totals of both stacks by class of round-trip time.
pub(crate) fn shares(
    matched: &[Matched<'_>],
    rtts: &BTreeMap<String, u64>,
    first: &StackName,
    other: &StackName,
) -> Vec<ShareRow> {
    let classed = matched.iter().map(|pair| {
        let class = rtts.get(pair.site).map_or(NO_CLASS, |rtt| rtt_class(*rtt));
        (class, pair)
    });
    let classes = RTT_CLASSES.map(|(_, class)| class).into_iter();
    let mut rows = Vec::new();
    for name in classes.chain([NO_CLASS]) {
        let these = classed.clone().filter(|(class, _)| *class == name);
        let (firsts, others): (Vec<&Measured>, Vec<&Measured>) =
            these.map(|(_, pair)| (pair.first, pair.other)).unzip();
        rows.extend(share(name, first, &firsts));
        rows.extend(share(name, other, &others));
    }
    rows
}

pub(crate) fn rtt_class(rtt_ns: u64) -> &'static str {
    class(&RTT_CLASSES, rtt_ns / 1_000_000)
}

/// Returns the class of a value, by the upper ends of classes.
pub(crate) fn class(classes: &[(u64, &'static str)], value: u64) -> &'static str {
    let fits = classes.iter().find(|(upper, _)| value < *upper);
    fits.or(classes.last()).map_or("", |(_, name)| name)
}

fn share(class: &str, stack: &StackName, samples: &[&Measured]) -> Option<ShareRow> {
    let means: [fn(&Measured) -> u64; 3] = [
        |sample| sample.phases.total_ns,
        |sample| sample.phases.cpu_ns,
        |sample| sample.server.as_ref().map_or(0, |server| server.compute_ns),
    ];
    let [total, client, server] =
        means.map(|of| samples.iter().map(|sample| of(sample) as f64).sum::<f64>());
    let count = samples.len() as f64;
    (!samples.is_empty()).then(|| ShareRow {
        class: class.to_owned(),
        stack: stack.clone(),
        samples: samples.len() as u64,
        total_ns: total / count,
        client_ns: client / count,
        server_ns: server / count,
        network_ns: (total - client - server).max(0.0) / count,
    })
}
