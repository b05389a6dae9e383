//! Mozilla's recommended configurations, and which sites keep to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{SiteScan, enumeration::Order, registry::Version};

/// The version of Mozilla's guideline that is compared with
/// (<https://ssl-config.mozilla.org/guidelines/5.8.json>).
pub const GUIDELINE: &str = "5.8";

/// What is compared.
pub const COMPARED: &str = "A site complies that has nothing outside the profile: no other version, suite or \
     group, no other type or size of certificate key, and for old the server's own order of suites. HSTS, \
     stapling and the lifetime of certificates are not compared.";

/// Which sites keep to a profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileRow {
    /// `modern`, `intermediate` or `old`.
    pub profile: String,
    /// Sites that comply.
    pub sites: Vec<String>,
    /// For the others, what is outside the profile first.
    pub others: std::collections::BTreeMap<String, String>,
}

struct Profile {
    name: &'static str,
    versions: &'static [Version],
    suites: &'static [&'static [u16]],
    keys: &'static [&'static str],
    server_order: bool,
}

const TLS13: &[u16] = &[0x1301, 0x1302, 0x1303];
const INTERMEDIATE: &[u16] = &[0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8];
const OLD: &[u16] = &[
    0xc023, 0xc027, 0xc009, 0xc013, 0xc024, 0xc028, 0xc00a, 0xc014, 0x009c, 0x009d, 0x003c, 0x003d,
    0x002f, 0x0035, 0x000a,
];
const GROUPS: &[u16] = &[0x11ec, 0x001d, 0x0017, 0x0018];

const PROFILES: [Profile; 3] = [
    Profile {
        name: "modern",
        versions: &[Version::Tls13],
        suites: &[TLS13],
        keys: &["ec"],
        server_order: false,
    },
    Profile {
        name: "intermediate",
        versions: &[Version::Tls12, Version::Tls13],
        suites: &[TLS13, INTERMEDIATE],
        keys: &["ec", "rsa"],
        server_order: false,
    },
    Profile {
        name: "old",
        versions: &[
            Version::Tls10,
            Version::Tls11,
            Version::Tls12,
            Version::Tls13,
        ],
        suites: &[TLS13, INTERMEDIATE, OLD],
        keys: &["rsa"],
        server_order: true,
    },
];

/// Compares sites that were scanned with every profile.
pub fn profiles(scans: &[SiteScan]) -> Vec<ProfileRow> {
    PROFILES
        .iter()
        .map(|profile| {
            let mut row = ProfileRow {
                profile: profile.name.to_owned(),
                sites: Vec::new(),
                others: std::collections::BTreeMap::new(),
            };
            for scan in scans {
                if !scan.versions.iter().any(|v| v.supported) {
                    continue;
                }
                match outside(profile, scan) {
                    None => row.sites.push(scan.site.clone()),
                    Some(what) => {
                        row.others.insert(scan.site.clone(), what);
                    }
                }
            }
            row
        })
        .collect()
}

/// The first thing of a site that its profile does not have.
fn outside(profile: &Profile, scan: &SiteScan) -> Option<String> {
    let spoken = || scan.versions.iter().filter(|v| v.supported);
    if let Some(found) = spoken().find(|v| !profile.versions.contains(&v.version)) {
        return Some(match found.version {
            Version::Ssl3 => "SSL 3.0".to_owned(),
            version => format!("TLS {version}"),
        });
    }
    let in_profile = |code: u16| profile.suites.iter().any(|some| some.contains(&code));
    for found in spoken() {
        if let Some(suite) = found.suites.iter().find(|s| !in_profile(s.code)) {
            return Some(suite.name.clone());
        }
        if let Some(group) = found.groups.iter().find(|g| !GROUPS.contains(&g.code)) {
            return Some(group.name.clone());
        }
        if profile.server_order && found.suite_order == Order::Client {
            return Some("the client's order of suites".to_owned());
        }
    }
    let leaves = scan
        .chains
        .iter()
        .filter_map(|chain| chain.certificates.first());
    for leaf in leaves {
        let fits = match leaf.key.as_str() {
            "rsa" => leaf.key_bits >= 2048,
            "ec" => matches!(leaf.curve.as_deref(), Some("secp256r1" | "secp384r1")),
            _ => false,
        };
        if !fits || !profile.keys.contains(&leaf.key.as_str()) {
            return Some(format!(
                "a certificate key {} of {} bits",
                leaf.key, leaf.key_bits
            ));
        }
    }
    None
}
