//! Mozilla's recommended configurations, and the sites that comply with them.

use std::{collections::BTreeMap, sync::LazyLock};

use netbench_model::{
    scan::{CertificateScan, Order, SiteScan},
    tls::{CipherSuite, Group, TlsVersion},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{LISTED, diff::leaves};

/// A description of the comparison.
const COMPARED: &str = "A site complies that has nothing outside the profile: no other version, suite or \
     group, no other type or size of certificate key, and for old the server's own order of suites. HSTS, \
     stapling and the lifetime of certificates are not compared.";

/// The sites that comply with Mozilla's recommended configurations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Profiles {
    /// The guideline's version.
    pub guideline: String,
    /// A description of the comparison.
    pub compared: String,
    /// One row for each profile.
    pub rows: Vec<ProfileRow>,
}

/// The sites that comply with a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileRow {
    /// `modern`, `intermediate` or `old`.
    #[schemars(extend("x-key" = "item"))]
    pub profile: String,
    /// Sites that comply.
    pub sites: Vec<String>,
    /// The other sites, each with the first property that is outside the profile.
    pub others: BTreeMap<String, String>,
    /// The counts of the sites after the first thousand, which are not named.
    #[serde(default, skip_serializing_if = "ProfileCounts::is_empty")]
    pub unnamed: ProfileCounts,
}

/// Sites that a [`ProfileRow`] does not name.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ProfileCounts {
    /// Number of sites that comply.
    pub comply: u32,
    /// Numbers of sites that do not, by the first property that is outside the profile.
    pub others: BTreeMap<String, u32>,
}

impl ProfileCounts {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl ProfileRow {
    /// Returns the number of sites that comply.
    pub fn comply(&self) -> usize {
        self.sites.len() + self.unnamed.comply as usize
    }

    /// Returns the numbers of sites that do not comply, by the first property that is outside the
    /// profile.
    pub fn reasons(&self) -> BTreeMap<&str, usize> {
        let unnamed = self.unnamed.others.iter();
        let mut reasons: BTreeMap<&str, usize> = unnamed
            .map(|(what, count)| (what.as_str(), *count as usize))
            .collect();
        for what in self.others.values() {
            *reasons.entry(what).or_default() += 1;
        }
        reasons
    }
}

/// Mozilla's guideline, as far as it is compared.
#[derive(Deserialize)]
pub(crate) struct Guideline {
    /// The URL of its publication.
    pub(crate) source: String,
    pub(crate) version: String,
    pub(crate) groups: Vec<Group>,
    /// Curves of certificate keys.
    pub(crate) curves: Vec<String>,
    /// The minimum bits of an RSA key.
    pub(crate) rsa_bits: u32,
    pub(crate) profiles: Vec<Profile>,
}

impl Guideline {
    fn has_key(&self, leaf: &CertificateScan) -> bool {
        let curve = leaf.curve.as_ref();
        match leaf.key.as_str() {
            "rsa" => leaf.key_bits >= self.rsa_bits,
            "ec" => curve.is_some_and(|curve| self.curves.contains(curve)),
            _ => false,
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) versions: Vec<TlsVersion>,
    pub(crate) suites: Vec<CipherSuite>,
    /// The allowed kinds of certificate keys.
    pub(crate) keys: Vec<String>,
    /// The allowed signature algorithms of the server's own certificate.
    pub(crate) certificate_signatures: Vec<String>,
    /// Whether the server's order of suites must decide.
    pub(crate) server_order: bool,
}

pub(crate) static GUIDELINE: LazyLock<Guideline> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../data/mozilla-guideline-5.8.json"))
        .expect("the guideline is part of this source")
});

impl Profiles {
    /// Makes profiles without sites.
    pub fn new() -> Self {
        let guideline = &*GUIDELINE;
        Self {
            guideline: guideline.version.clone(),
            compared: COMPARED.to_owned(),
            rows: guideline
                .profiles
                .iter()
                .map(|profile| ProfileRow {
                    profile: profile.name.clone(),
                    sites: Vec::new(),
                    others: BTreeMap::new(),
                    unnamed: ProfileCounts::default(),
                })
                .collect(),
        }
    }

    /// Compares a site with every profile; a site that was not scanned does not count.
    pub fn add(&mut self, scan: &SiteScan) {
        if !scan.versions.iter().any(|v| v.supported) {
            return;
        }
        let guideline = &*GUIDELINE;
        for (row, profile) in self.rows.iter_mut().zip(&guideline.profiles) {
            let named = row.sites.len() + row.others.len() < LISTED;
            match outside(guideline, profile, scan) {
                None if named => row.sites.push(scan.site.clone()),
                None => row.unnamed.comply += 1,
                Some(what) if named => {
                    row.others.insert(scan.site.clone(), what);
                }
                Some(what) => *row.unnamed.others.entry(what).or_default() += 1,
            }
        }
    }
}

impl Default for Profiles {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) fn version_name(version: TlsVersion) -> String {
    match version {
        TlsVersion::Ssl3 => "SSL 3.0".to_owned(),
        version => format!("TLS {version}"),
    }
}

/// Returns the first property of a site that the profile does not have.
fn outside(guideline: &Guideline, profile: &Profile, scan: &SiteScan) -> Option<String> {
    let spoken = scan.versions.iter().filter(|v| v.supported);
    let mut outside = spoken
        .clone()
        .filter(|v| !profile.versions.contains(&v.version));
    if let Some(found) = outside.next() {
        return Some(version_name(found.version));
    }
    for found in spoken {
        let mut suites = found.suites.iter();
        if let Some(suite) = suites.find(|s| !profile.suites.contains(&CipherSuite(s.code))) {
            return Some(suite.name.clone());
        }
        let mut groups = found.groups.iter();
        if let Some(group) = groups.find(|g| !guideline.groups.contains(&Group(g.code))) {
            return Some(group.name.clone());
        }
        if profile.server_order && found.suite_order == Order::Client {
            return Some("the client's order of suites".to_owned());
        }
    }
    let leaf =
        leaves(scan).find(|leaf| !guideline.has_key(leaf) || !profile.keys.contains(&leaf.key))?;
    Some(format!(
        "a certificate key {} of {} bits",
        leaf.key, leaf.key_bits
    ))
}
