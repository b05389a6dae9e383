//! A population of sites: the numbers of sites that support, prefer, and only have each feature.

use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    named::labels,
    scan::{SiteScan, VersionScan},
    tls::{CipherSuite, Group, GroupKind, KeyExchange, Protection, SignatureScheme, TlsVersion},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::profiles::version_name;

/// The meanings of the terms of a [`Population`].
const DEFINITIONS: &str = "Supports: the site accepts it in some version. Prefers: it is what the site \
     chooses when everything is offered, in its newest version. Only: the site accepts nothing else of \
     this kind, in any version, so that a client without it cannot connect.";

/// Shares of a population.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Population {
    /// The meanings of `supports`, `prefers` and `only`.
    pub definitions: String,
    /// Sites that were scanned and support TLS; the shares are of these.
    pub sites: u32,
    /// The rows, by kind.
    pub rows: Vec<PopulationRow>,
}

/// One feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PopulationRow {
    /// The kind of the feature.
    #[schemars(extend("x-key" = "item"))]
    pub kind: PopulationKind,
    /// The name.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// Number of sites that support the feature.
    pub supports: u32,
    /// Number of sites that prefer it.
    pub prefers: u32,
    /// Number of sites that only have it.
    pub only: u32,
    /// The estimate for all sites, where the sites are a sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_all: Option<SharesOfAll>,
}

/// The shares of all sites, estimated from a sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharesOfAll {
    /// The share that supports the feature.
    pub supports: ShareRange,
    /// The share that prefers it.
    pub prefers: ShareRange,
    /// The share that only has it.
    pub only: ShareRange,
}

/// An interval that contains a share at a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShareRange {
    /// The lower end, in per cent.
    pub low_percent: f64,
    /// The upper end, in per cent.
    pub high_percent: f64,
}

labels!(
    /// Kinds of features.
    #[derive(Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    PopulationKind, {
        /// Versions of the protocol.
        Version = "version",
        /// Classes of suites by their protection of records.
        SuiteClass = "suite class",
        /// Key exchanges.
        KeyExchange = "key exchange",
        /// Signature schemes of handshakes, in TLS 1.2 and 1.3.
        Signature = "signature",
    }
);

/// A [`Population`] that is counted one site at a time.
#[derive(Debug, Default)]
pub struct PopulationCount {
    sites: u32,
    /// The numbers of sites that support, prefer and only have each feature.
    counts: BTreeMap<(PopulationKind, String), [u32; 3]>,
}

impl PopulationCount {
    /// Counts a site; a site that was not scanned does not count.
    pub fn add(&mut self, scan: &SiteScan) {
        let spoken = scan.versions.iter().filter(|v| v.supported);
        let Some(newest) = spoken.clone().max_by_key(|v| v.version) else {
            return;
        };
        self.sites += 1;
        self.count(
            PopulationKind::Version,
            spoken.clone().map(|v| version_name(v.version)).collect(),
            Some(version_name(newest.version)),
        );
        let suites = spoken.clone().flat_map(|v| &v.suites);
        self.count(
            PopulationKind::SuiteClass,
            suites.map(|s| class(s.code)).collect(),
            newest.suites.first().map(|s| class(s.code)),
        );
        self.count(
            PopulationKind::KeyExchange,
            spoken.flat_map(exchanges).collect(),
            exchanges(newest).into_iter().next(),
        );
        let of_newest = scan.signatures.iter().find(|s| s.version == newest.version);
        self.count(
            PopulationKind::Signature,
            scan.signatures
                .iter()
                .map(|s| SignatureScheme(s.code).to_string())
                .collect(),
            of_newest.map(|s| SignatureScheme(s.code).to_string()),
        );
    }

    fn count(&mut self, kind: PopulationKind, all: BTreeSet<String>, preferred: Option<String>) {
        let only = all.len() == 1;
        for name in all {
            let prefers = preferred.as_ref() == Some(&name);
            let entry = self.counts.entry((kind, name)).or_default();
            entry[0] += 1;
            entry[1] += u32::from(prefers);
            entry[2] += u32::from(only);
        }
    }

    /// Returns the counted population.
    pub fn population(self) -> Population {
        let rows = self.counts.into_iter();
        let rows = rows.map(|((kind, name), [supports, prefers, only])| PopulationRow {
            kind,
            name,
            supports,
            prefers,
            only,
            of_all: None,
        });
        let mut rows: Vec<PopulationRow> = rows.collect();
        rows.sort_by(|a, b| (a.kind, b.supports, &a.name).cmp(&(b.kind, a.supports, &b.name)));
        Population {
            definitions: DEFINITIONS.to_owned(),
            sites: self.sites,
            rows,
        }
    }
}

fn class(code: u16) -> String {
    let name = match CipherSuite(code).facts().map(|suite| suite.protection) {
        Some(Protection::Aead) => "AEAD",
        Some(Protection::Cbc) => "CBC",
        Some(Protection::Stream) => "RC4 and other streams",
        Some(Protection::Null) => "no encryption",
        None => "not registered",
    };
    name.to_owned()
}

fn exchanges(found: &VersionScan) -> Vec<String> {
    if found.version == TlsVersion::Tls13 {
        let groups = found.groups.iter();
        groups.map(|group| of_group(group.code)).collect()
    } else {
        found.suites.iter().map(|s| exchange(s.code)).collect()
    }
}

fn exchange(code: u16) -> String {
    let name = match CipherSuite(code).facts().map(|suite| suite.key_exchange) {
        Some(KeyExchange::Ecdhe) => "ECDHE",
        Some(KeyExchange::Dhe) => "DHE",
        Some(KeyExchange::Rsa) => "RSA",
        Some(KeyExchange::Dh) => "fixed DH",
        Some(KeyExchange::Ecdh) => "fixed ECDH",
        Some(KeyExchange::Psk) => "PSK",
        Some(KeyExchange::Other | KeyExchange::Any) | None => "other",
    };
    name.to_owned()
}

fn of_group(code: u16) -> String {
    let name = match Group(code).kind() {
        Some(GroupKind::Ec) => "ECDHE",
        Some(GroupKind::Ffdhe) => "DHE",
        Some(GroupKind::MlKem) => "ML-KEM",
        Some(GroupKind::Hybrid) => "ML-KEM hybrid",
        None => "other",
    };
    name.to_owned()
}
