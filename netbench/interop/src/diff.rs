//! The differences between two scans of one site.

use std::collections::BTreeSet;

use netbench_model::{
    named::words,
    scan::{CertificateScan, Order, SiteScan, Tolerance, VersionScan},
    tls::TlsVersion,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    features::{features, yes_or_no},
    profiles::version_name,
};

words!(
    /// The subject of a change.
    #[schemars(extend("x-key" = "item"))]
    ChangeKind, {
        /// Whether the site could be scanned.
        Outcome = "outcome",
        /// A version of TLS.
        Version = "version",
        /// A suite.
        Suite = "suite",
        /// A group.
        Group = "group",
        /// The side whose order of suites decides.
        Order = "order",
        /// A certificate, or its key.
        Certificate = "certificate",
        /// A feature.
        Feature = "feature",
        /// Tolerance of an unusual hello.
        Intolerance = "intolerance",
    }
);

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ScanChange {
    /// The kind of its subject.
    pub kind: ChangeKind,
    /// The name of its subject.
    #[schemars(extend("x-key" = "item"))]
    pub what: String,
    /// The earlier state.
    pub was: String,
    /// The later state.
    pub now: String,
}

/// Returns the changes of a site from one scan to a later one, as far as both are certain: a subject is not
/// called lost if the later scan may have missed it, nor new if the earlier one may have.
pub fn changes(before: &SiteScan, after: &SiteScan) -> Vec<ScanChange> {
    let mut found = Changes(Vec::new());
    if before.is_scanned() != after.is_scanned() {
        let (was, now) = (outcome(before), outcome(after));
        found.add(ChangeKind::Outcome, "the scan".to_owned(), was, now);
    }
    if !before.is_scanned() || !after.is_scanned() {
        return found.0;
    }
    for version in TlsVersion::ALL.into_iter().rev() {
        let of_both = [before, after].map(|scan| {
            let mut all = scan.versions.iter();
            all.find(|found| found.version == version)
        });
        if let [Some(was), Some(now)] = of_both {
            versions(was, now, &mut found);
        }
    }
    certificates(before, after, &mut found);
    for (before, after) in features(before).into_iter().zip(features(after)) {
        if let (Some(was), Some(now)) = (before.state, after.state) {
            found.add(ChangeKind::Feature, before.name.to_owned(), was, now);
        }
    }
    for (what, was) in &before.intolerance {
        if let Some(now) = after.intolerance.get(what) {
            let (was, now) = (tolerance(was), tolerance(now));
            found.add(ChangeKind::Intolerance, what.clone(), was, now);
        }
    }
    found.0
}

struct Changes(Vec<ScanChange>);

impl Changes {
    /// Adds a change where the states differ.
    fn add(&mut self, kind: ChangeKind, what: String, was: String, now: String) {
        if was != now {
            self.0.push(ScanChange {
                kind,
                what,
                was,
                now,
            });
        }
    }
}

fn versions(was: &VersionScan, now: &VersionScan, found: &mut Changes) {
    let name = version_name(was.version);
    let both = [was, now];
    if was.supported != now.supported {
        // The support of a version that was not requested is not known.
        if both.iter().all(|v| v.supported || v.complete) {
            let (was, now) = (yes_or_no(was.supported), yes_or_no(now.supported));
            found.add(ChangeKind::Version, name, was, now);
        }
        return;
    }
    if !was.supported {
        return;
    }
    let suites = both.map(|v| v.suites.iter().map(|s| s.name.clone()).collect());
    listed(ChangeKind::Suite, &name, both, suites, found);
    let groups = both.map(|v| v.groups.iter().map(|g| g.name.clone()).collect());
    listed(ChangeKind::Group, &name, both, groups, found);
    if both
        .iter()
        .all(|v| v.complete && v.suite_order != Order::Unknown)
    {
        let what = format!("who chooses the suite in {name}");
        found.add(ChangeKind::Order, what, order(was), order(now));
    }
    if both
        .iter()
        .all(|v| v.complete && v.suite_order == Order::Server)
    {
        let what = format!("the first choice in {name}");
        let [was, now] = both.map(|v| v.suites.first().map(|suite| suite.name.clone()));
        let (was, now) = (was.unwrap_or_default(), now.unwrap_or_default());
        found.add(ChangeKind::Order, what, was, now);
    }
}

fn listed(
    kind: ChangeKind,
    version: &str,
    [was, now]: [&VersionScan; 2],
    [before, after]: [BTreeSet<String>; 2],
    found: &mut Changes,
) {
    for name in before.difference(&after).filter(|_| now.complete) {
        let what = format!("{name} in {version}");
        found.add(kind, what, yes_or_no(true), yes_or_no(false));
    }
    for name in after.difference(&before).filter(|_| was.complete) {
        let what = format!("{name} in {version}");
        found.add(kind, what, yes_or_no(false), yes_or_no(true));
    }
}

fn certificates(before: &SiteScan, after: &SiteScan, found: &mut Changes) {
    if leaves(before).next().is_none() || leaves(after).next().is_none() {
        return;
    }
    type Part = fn(&CertificateScan) -> String;
    let parts: [(&str, Part); 3] = [
        ("key", key_name),
        ("issuer", |leaf| leaf.issuer.clone()),
        ("valid until", |leaf| leaf.not_after.clone()),
    ];
    for (what, of) in parts {
        let [was, now] = [before, after].map(|scan| {
            let each: BTreeSet<String> = leaves(scan).map(of).collect();
            Vec::from_iter(each).join(", ")
        });
        found.add(ChangeKind::Certificate, what.to_owned(), was, now);
    }
}

/// Returns the server's own certificate of each chain.
pub(crate) fn leaves(scan: &SiteScan) -> impl Iterator<Item = &CertificateScan> {
    let chains = scan.chains.iter();
    chains.filter_map(|chain| chain.certificates.first())
}

/// Returns the curve of a certificate's key, or its kind with its number of bits.
pub(crate) fn key_name(leaf: &CertificateScan) -> String {
    leaf.curve.clone().unwrap_or_else(|| leaf.sized_key())
}

fn outcome(scan: &SiteScan) -> String {
    use netbench_model::scan::ScanOutcome as O;
    match &scan.outcome {
        O::Scanned | O::Partial { .. } => "scanned".to_owned(),
        O::Failed { class, .. } => class.name().to_owned(),
    }
}

fn order(version: &VersionScan) -> String {
    let word = match version.suite_order {
        Order::Server => "the server",
        Order::Client => "the client",
        Order::Mixed => "both",
        Order::Single => "there is one",
        Order::Stated => "the server, as it says",
        Order::Unknown => "unknown",
    };
    word.to_owned()
}

fn tolerance(tolerance: &Tolerance) -> String {
    match tolerance {
        Tolerance::Tolerant => "tolerant".to_owned(),
        Tolerance::Intolerant { how } => how.clone(),
    }
}
