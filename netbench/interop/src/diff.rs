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
        let of = |scan: &SiteScan| scan.versions.iter().find(|v| v.version == version).cloned();
        if let (Some(was), Some(now)) = (of(before), of(after)) {
            versions(&was, &now, &mut found);
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
    // The support of a version that was not requested is not known.
    let known = |v: &VersionScan| v.supported || v.complete;
    if was.supported != now.supported {
        if known(was) && known(now) {
            let word = |v: &VersionScan| yes_or_no(v.supported);
            found.add(ChangeKind::Version, name, word(was), word(now));
        }
        return;
    }
    if !was.supported {
        return;
    }
    let suites = |v: &VersionScan| v.suites.iter().map(|s| s.name.clone()).collect();
    listed(ChangeKind::Suite, &name, [was, now], suites, found);
    let groups = |v: &VersionScan| v.groups.iter().map(|g| g.name.clone()).collect();
    listed(ChangeKind::Group, &name, [was, now], groups, found);
    let sure = |v: &VersionScan| v.complete && v.suite_order != Order::Unknown;
    if sure(was) && sure(now) {
        let what = format!("who chooses the suite in {name}");
        found.add(ChangeKind::Order, what, order(was), order(now));
    }
    let own = |v: &VersionScan| v.complete && v.suite_order == Order::Server;
    let first = |v: &VersionScan| v.suites.first().map_or(String::new(), |s| s.name.clone());
    if own(was) && own(now) {
        let what = format!("the first choice in {name}");
        found.add(ChangeKind::Order, what, first(was), first(now));
    }
}

fn listed(
    kind: ChangeKind,
    version: &str,
    [was, now]: [&VersionScan; 2],
    names: impl Fn(&VersionScan) -> BTreeSet<String>,
    found: &mut Changes,
) {
    let (before, after) = (names(was), names(now));
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
    let leaves = |scan: &SiteScan| -> Vec<CertificateScan> {
        let chains = scan.chains.iter();
        let leaves = chains.filter_map(|chain| chain.certificates.first().cloned());
        let mut leaves: Vec<_> = leaves.collect();
        leaves.sort_by(|a, b| a.sha256.cmp(&b.sha256));
        leaves
    };
    let (was, now) = (leaves(before), leaves(after));
    if was.is_empty() || now.is_empty() {
        return;
    }
    let each = |all: &[CertificateScan], of: fn(&CertificateScan) -> String| {
        let all: BTreeSet<String> = all.iter().map(of).collect();
        Vec::from_iter(all).join(", ")
    };
    let mut compare = |what: &str, of: fn(&CertificateScan) -> String| {
        let (was, now) = (each(&was, of), each(&now, of));
        found.add(ChangeKind::Certificate, what.to_owned(), was, now);
    };
    compare("key", |leaf| {
        let curve = leaf.curve.clone();
        curve.unwrap_or_else(|| format!("{}-{}", leaf.key, leaf.key_bits))
    });
    compare("issuer", |leaf| leaf.issuer.clone());
    compare("valid until", |leaf| leaf.not_after.clone());
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
