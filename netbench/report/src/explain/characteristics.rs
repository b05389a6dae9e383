use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{ConnectManifest, Negotiated, Target};

use crate::connect::{Matched, class, median_of, rtt_class};

/// The name of a characteristic, one of its values, and the sites that have it.
pub(super) type Value<'a> = (&'static str, String, BTreeSet<&'a str>);

/// The smallest number of sites that must have a value, and that must lack it: with fewer, the value stands for
/// single sites.
const FEWEST_SITES: usize = 2;

/// Bytes of certificates, by their upper ends. A server's first flight of ten segments holds some 14,000.
const CHAINS: [(u64, &str); 4] = [
    (2_500, "under 2.5 kB"),
    (4_000, "2.5–4 kB"),
    (8_000, "4–8 kB"),
    (u64::MAX, "over 8 kB"),
];

/// The characteristics of every compared site.
pub(super) struct Traits {
    /// The characteristics of each site, by name.
    pub(super) sites: BTreeMap<String, BTreeMap<&'static str, String>>,
    /// The median difference of totals of each site.
    pub(super) differences_ns: BTreeMap<String, f64>,
}

impl Traits {
    /// Collects the characteristics from the plan, if the sites are emulated, and from the negotiated parameters.
    pub(super) fn of(
        manifest: &ConnectManifest,
        pairs: &[Matched<'_>],
        rtts: &BTreeMap<String, u64>,
    ) -> Self {
        let mut sites: BTreeMap<String, BTreeMap<&'static str, String>> = BTreeMap::new();
        // The negotiated parameters may differ from one connection to the next; the last of a site represents
        // it.
        for pair in pairs {
            let site = sites.entry(pair.site.to_owned()).or_default();
            agreed(site, &pair.first.client, &pair.other.client);
            if let Some(rtt_ns) = rtts.get(pair.site) {
                site.insert("round trip", rtt_class(*rtt_ns).to_owned());
            }
        }
        if manifest.plan.target == Target::Lab {
            for planned in &manifest.plan.sites {
                let Some(site) = sites.get_mut(&planned.name()) else {
                    continue;
                };
                let lab = &planned.lab;
                site.insert("key", lab.key.to_string());
                site.insert("server", lab.server.clone());
                site.insert("certificates", lab.chain.length.to_string());
                site.insert("loss", lab.link.loss.to_string());
                site.insert("jitter", yes_or_no(lab.link.jitter_ns > 0));
            }
        }
        let by_site = pairs.iter().into_group_map_by(|pair| pair.site).into_iter();
        let differences_ns = by_site.filter_map(|(site, pairs)| {
            let difference_ns = median_of(pairs, |pair| pair.totals().difference_ns())?;
            Some((site.to_owned(), difference_ns))
        });
        Self {
            sites,
            differences_ns: differences_ns.collect(),
        }
    }

    /// Returns every value that some sites have and others do not. Of values that the same sites have, only the
    /// first is kept, because they cannot be distinguished.
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let mut found: BTreeMap<(&'static str, &str), BTreeSet<&str>> = BTreeMap::new();
        for (site, traits) in &self.sites {
            for (name, value) in traits {
                found.entry((name, value)).or_default().insert(site);
            }
        }
        let mut seen: BTreeSet<BTreeSet<&str>> = BTreeSet::new();
        let mut values = Vec::new();
        for ((name, value), sites) in found {
            let others = self.sites.len() - sites.len();
            if sites.len() >= FEWEST_SITES && others >= FEWEST_SITES && seen.insert(sites.clone()) {
                values.push((name, value.to_owned(), sites));
            }
        }
        values
    }
}

fn agreed(site: &mut BTreeMap<&'static str, String>, first: &Negotiated, other: &Negotiated) {
    let version = first.version.map(|version| format!("TLS {version}"));
    let bytes: u64 = first.chain_bytes.iter().copied().map(u64::from).sum();
    let chain = (bytes > 0).then(|| class(&CHAINS, bytes).to_owned());
    let group = first.group.or(other.group);
    let signature = first.signature.or(other.signature);
    let reported = [
        ("version", version),
        ("resumed", Some(yes_or_no(first.resumed))),
        ("suite", first.suite.map(|suite| suite.to_string())),
        ("group", group.map(|group| group.to_string())),
        ("signature", signature.map(|scheme| scheme.to_string())),
        (
            "protocol",
            first.alpn.clone().or_else(|| other.alpn.clone()),
        ),
        ("chain bytes", chain),
    ];
    let reported = reported.into_iter();
    site.extend(reported.filter_map(|(name, value)| Some((name, value?))));
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}
