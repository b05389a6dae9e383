//! The population model of the web: kinds of sites with their shares, and the part that a switch loses.

use std::collections::BTreeMap;

use netbench_model::{
    CipherSuite, Group, KeyType, LabProfile, TlsVersion, parse_sites,
    scan::{
        Agreement, Learned, NamedCode, Offer, Order, SignatureScan, SiteScan, SuiteScan,
        VersionScan,
    },
    tls::SignatureScheme,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::predict;

/// Number of sites in a million for each percent.
const IN_A_MILLION: f64 = 10_000.0;

/// A population of sites whose shares follow published counts.
#[derive(Debug, Deserialize)]
pub struct WebModel {
    /// The model's name, with its year.
    pub name: String,
    /// Published counts, by the names with which kinds refer to them.
    pub sources: BTreeMap<String, String>,
    /// Assumptions without a source.
    pub assumptions: Vec<String>,
    /// The maximum share, in percent, of all the kinds together that refer to it: one count covers all of
    /// them.
    together: BTreeMap<String, f64>,
    /// Kinds of sites; their shares sum up to 100 %.
    pub kinds: Vec<WebKind>,
    keys: Vec<KeyShare>,
}

/// Sites with the same settings.
#[derive(Debug, Deserialize)]
pub struct WebKind {
    /// The kind in a few words.
    pub name: String,
    /// The fields of a sites file.
    pub fields: String,
    /// The required kind of key, if there is one.
    #[serde(default)]
    key: Option<String>,
    /// Whether its share is the rest up to 100 %.
    #[serde(default)]
    rest: bool,
    /// The share, in percent.
    pub percent: f64,
    /// The lowest share that the sources allow for, in percent.
    pub low: f64,
    /// The highest share that the sources allow for, in percent.
    pub high: f64,
    /// The count that it shares with other kinds.
    #[serde(default)]
    together: Option<String>,
    /// Names of the sources.
    pub sources: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct KeyShare {
    key: String,
    percent: f64,
}

/// A site of the population: the indices of its kind and of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WebSite {
    /// The index of its kind.
    pub kind: usize,
    /// The index of its key.
    pub key: usize,
}

/// Sites of the web that one stack reaches and another loses, by a population model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WebLoss {
    /// The model's name, with its year.
    pub model: String,
    /// Lost sites in a million, by the model's shares.
    pub per_million: f64,
    /// Lost sites in a million, with the lowest share of each kind that the sources allow for.
    pub low: f64,
    /// Lost sites in a million, with the highest share of each kind that the sources allow for.
    pub high: f64,
    /// Names of the sources of the lost kinds' shares.
    pub sources: Vec<String>,
}

impl WebModel {
    /// Returns the model of 2026.
    ///
    /// # Errors
    ///
    /// Fails if the data do not have the model's format.
    pub fn of_2026() -> Result<Self, serde_json::Error> {
        let mut model: Self = serde_json::from_str(include_str!("../data/population-2026.json"))?;
        let percent: f64 = model.kinds.iter().map(|kind| kind.percent).sum();
        let low: f64 = model.kinds.iter().map(|kind| kind.low).sum();
        let high = model.highest(model.kinds.iter().map(|kind| (kind, 1.0)));
        for rest in model.kinds.iter_mut().filter(|kind| kind.rest) {
            rest.percent = 100.0 - percent;
            rest.low = (100.0 - high).max(0.0);
            rest.high = 100.0 - low;
        }
        Ok(model)
    }

    /// Returns the maximum share, in percent, of these parts of kinds together. Kinds with a common count are
    /// not added up beyond that count.
    pub fn highest<'a>(&self, parts: impl IntoIterator<Item = (&'a WebKind, f64)>) -> f64 {
        let mut alone = 0.0;
        let mut together: BTreeMap<&str, f64> = BTreeMap::new();
        for (kind, part) in parts {
            match &kind.together {
                Some(count) => *together.entry(count).or_default() += part * kind.high,
                None => alone += part * kind.high,
            }
        }
        let capped = together.into_iter().map(|(count, sum)| {
            let most = self.together.get(count);
            most.map_or(sum, |most| sum.min(*most))
        });
        alone + capped.sum::<f64>()
    }

    /// Returns the weight of each key among the sites of a kind; 0 for a key that the kind cannot have.
    pub fn key_weights(&self, kind: &WebKind) -> Vec<f64> {
        let weights = self.keys.iter().map(|key| match &kind.key {
            Some(needed) if !key.key.starts_with(needed.as_str()) => 0.0,
            _ => key.percent,
        });
        weights.collect()
    }

    /// Returns the site as a line of a sites file.
    pub fn line(&self, site: WebSite, number: usize) -> String {
        let fields = &self.kinds[site.kind].fields;
        format!("s{number}.example {fields} key={}", self.keys[site.key].key)
    }

    /// Returns the scan of the site, as far as it decides an agreement.
    pub fn scan(&self, site: WebSite) -> SiteScan {
        let sites = parse_sites(&self.line(site, 0)).unwrap_or_default();
        let Some(lab) = sites.first().map(|site| &site.lab) else {
            return scan_of(Vec::new(), Vec::new());
        };
        let versions = lab.tls.iter().map(|version| of_profile(lab, *version));
        scan_of(versions.collect(), signatures(lab))
    }

    /// Returns the expected loss of a switch. Sites that the current stack cannot agree with either are not
    /// lost.
    pub fn loss(&self, from: &Offer, to: &Offer) -> WebLoss {
        let mut loss = WebLoss {
            model: self.name.clone(),
            per_million: 0.0,
            low: 0.0,
            high: 0.0,
            sources: Vec::new(),
        };
        let mut parts = Vec::new();
        for (place, kind) in self.kinds.iter().enumerate() {
            let weights = self.key_weights(kind);
            let of_keys = weights.iter().enumerate();
            let lost = of_keys.filter(|(key, weight)| {
                let (kind, key) = (place, *key);
                **weight > 0.0 && self.is_lost(WebSite { kind, key }, from, to)
            });
            let lost: f64 = lost.map(|(_, weight)| weight).sum();
            if lost == 0.0 {
                continue;
            }
            let part = lost / weights.iter().sum::<f64>();
            loss.per_million += IN_A_MILLION * part * kind.percent;
            loss.low += IN_A_MILLION * part * kind.low;
            parts.push((kind, part));
            for source in &kind.sources {
                if !loss.sources.contains(source) {
                    loss.sources.push(source.clone());
                }
            }
        }
        loss.high = (IN_A_MILLION * self.highest(parts)).min(1e6);
        loss
    }

    fn is_lost(&self, site: WebSite, from: &Offer, to: &Offer) -> bool {
        let scan = self.scan(site);
        matches!(predict(from, &scan), Agreement::Agrees(_))
            && matches!(predict(to, &scan), Agreement::Loses { .. })
    }
}

/// Returns the suites and groups that the lab serves by this profile in a version.
fn of_profile(lab: &LabProfile, version: TlsVersion) -> VersionScan {
    let listed = match lab.suites.as_slice() {
        [] if version.is_deprecated() => CipherSuite::DEPRECATED,
        [] => CipherSuite::OFFERED,
        suites => suites,
    };
    let mut suites = usable(listed, version, lab.key);
    if version == TlsVersion::Tls13 && suites.is_empty() {
        suites = usable(CipherSuite::OFFERED, version, lab.key);
    }
    let groups = lab.groups.iter().copied();
    let groups = groups.filter(|group| version == TlsVersion::Tls13 || *group != Group(0x11ec));
    spoken(version, &suites, &groups.collect::<Vec<_>>())
}

/// Returns the suites of a version that are usable with a certificate with such a key.
fn usable(suites: &[CipherSuite], version: TlsVersion, key: KeyType) -> Vec<CipherSuite> {
    let usable = suites.iter().copied();
    usable
        .filter(|suite| suite.fits(version) && key.suits(*suite))
        .collect()
}

fn spoken(version: TlsVersion, suites: &[CipherSuite], groups: &[Group]) -> VersionScan {
    VersionScan {
        version,
        supported: true,
        refusal: None,
        suites: suites.iter().copied().map(SuiteScan::new).collect(),
        suite_order: Order::Server,
        groups: groups
            .iter()
            .map(|group| NamedCode::new(group.0, group))
            .collect(),
        group_order: Order::Server,
        groups_learned: Learned::Chosen,
        complete: true,
    }
}

fn signatures(lab: &LabProfile) -> Vec<SignatureScan> {
    let schemes = lab.key.schemes();
    let old: &[SignatureScheme] = match lab.key {
        KeyType::EcdsaP384 => &[
            SignatureScheme::ECDSA_SECP384R1_SHA384,
            SignatureScheme::ECDSA_SECP256R1_SHA256,
        ],
        KeyType::MlDsa44 | KeyType::MlDsa65 | KeyType::MlDsa87 => &[],
        _ => schemes,
    };
    let old = old.iter().map(|scheme| (TlsVersion::Tls12, *scheme));
    let new = schemes.first().map(|scheme| (TlsVersion::Tls13, *scheme));
    let all = old.chain(new);
    all.map(|(version, scheme)| SignatureScan::new(version, scheme))
        .collect()
}

fn scan_of(versions: Vec<VersionScan>, signatures: Vec<SignatureScan>) -> SiteScan {
    SiteScan {
        versions,
        signatures,
        ..SiteScan::new(String::new(), String::new(), 443)
    }
}
