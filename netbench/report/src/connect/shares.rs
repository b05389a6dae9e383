use std::collections::BTreeMap;

use netbench_model::{ConnectManifest, LinkKind, Measured, Sample, StackName, Target};

use super::{pairs::Matched, summary::ShareRow};

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
    let mut smallest: BTreeMap<String, u64> = BTreeMap::new();
    for sample in measured {
        let tcp = sample.outcome.ok().and_then(|figures| figures.transfer.tcp);
        if let Some(tcp) = tcp {
            let rtt_ns = u64::from(tcp.min_rtt_us) * 1000;
            let entry = smallest.entry(sample.site.clone()).or_insert(rtt_ns);
            *entry = rtt_ns.min(*entry);
        }
    }
    smallest
}

/// Splits the totals of both stacks by class of round-trip time.
pub(crate) fn shares(
    matched: &[Matched<'_>],
    rtts: &BTreeMap<String, u64>,
    first: &StackName,
    other: &StackName,
) -> Vec<ShareRow> {
    let class = |pair: &Matched<'_>| rtts.get(pair.site).map_or(NO_CLASS, |rtt| rtt_class(*rtt));
    let classes = RTT_CLASSES.map(|(_, class)| class).into_iter();
    let mut rows = Vec::new();
    for name in classes.chain([NO_CLASS]) {
        let these: Vec<_> = matched.iter().filter(|pair| class(pair) == name).collect();
        rows.extend(share(name, first, these.iter().map(|pair| pair.first)));
        rows.extend(share(name, other, these.iter().map(|pair| pair.other)));
    }
    rows
}

/// Returns the class of a round-trip time.
pub(crate) fn rtt_class(rtt_ns: u64) -> &'static str {
    class(&RTT_CLASSES, rtt_ns / 1_000_000)
}

/// Returns the class of a value, by the upper ends of classes.
pub(crate) fn class(classes: &[(u64, &'static str)], value: u64) -> &'static str {
    let fits = classes.iter().find(|(upper, _)| value < *upper);
    fits.or(classes.last()).map_or("", |(_, name)| name)
}

fn share<'a>(
    class: &str,
    stack: &StackName,
    samples: impl Iterator<Item = &'a Measured>,
) -> Option<ShareRow> {
    let (mut count, mut total, mut client, mut server) = (0u64, 0.0, 0.0, 0.0);
    for sample in samples {
        count += 1;
        total += sample.phases.total_ns as f64;
        client += sample.phases.cpu_ns as f64;
        server += sample.server.as_ref().map_or(0, |server| server.compute_ns) as f64;
    }
    let mean = |sum: f64| sum / count as f64;
    (count > 0).then(|| ShareRow {
        class: class.to_owned(),
        stack: stack.clone(),
        samples: count,
        total_ns: mean(total),
        client_ns: mean(client),
        server_ns: mean(server),
        network_ns: mean((total - client - server).max(0.0)),
    })
}
