//! Policies, and a site's violations of them.

mod certificates;

use std::{collections::HashSet, sync::Arc};

use netbench_model::{
    scan::{KeyRule, Observed, Order, Policy, PolicyFeature, PolicyRule, ScanOutcome, SiteScan},
    tls::{CipherSuite, Group, TlsVersion},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::profiles::{GUIDELINE, version_name};

/// The names of the built-in policies.
pub const POLICIES: [&str; 3] = ["mozilla-modern", "mozilla-intermediate", "mozilla-old"];

/// Returns the policy with one of the names in [`POLICIES`].
pub fn built_in_policy(name: &str) -> Option<Policy> {
    let guideline = &*GUIDELINE;
    let of_mozilla = name.strip_prefix("mozilla-")?;
    let profile = guideline.profiles.iter().find(|p| p.name == of_mozilla)?;
    let keys = profile.keys.iter().map(|kind| KeyRule {
        kind: kind.clone(),
        least_bits: if kind == "rsa" { guideline.rsa_bits } else { 0 },
        curves: (kind == "ec").then(|| guideline.curves.clone()),
    });
    Some(Policy {
        name: name.to_owned(),
        source: Some(guideline.source.clone()),
        version: Some(guideline.version.clone()),
        versions: Some(profile.versions.clone()),
        needs_versions: Vec::new(),
        suites: Some(profile.suites.clone()),
        groups: Some(guideline.groups.clone()),
        keys: Some(keys.collect()),
        server_order: profile.server_order,
        valid_chain: false,
        valid_certificate: true,
        certificate_signatures: Some(profile.certificate_signatures.clone()),
        certificate_most_days: None,
        dh_least_bits: None,
        needs: Vec::new(),
        forbids: Vec::new(),
        hsts_least_seconds: None,
    })
}

/// The compliance of sites with a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PolicyResult {
    /// The policy.
    pub policy: Policy,
    /// Every site, in the order of the run.
    pub sites: Vec<SitePolicy>,
}

/// The compliance of a site with a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SitePolicy {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// All violations of the policy.
    pub broken: Arc<Vec<Broken>>,
    /// The reason why compliance with the whole policy is not known, or `None` where it is known.
    pub unknown: Option<String>,
}

/// A violation of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// The rule.
    #[schemars(extend("x-key" = "item"))]
    pub rule: PolicyRule,
    /// The property that the site has or lacks.
    #[schemars(extend("x-key" = "item"))]
    pub what: String,
}

impl SitePolicy {
    /// Returns whether the site is known to comply with the policy.
    pub fn keeps(&self) -> bool {
        self.broken.is_empty() && self.unknown.is_none()
    }
}

/// A [`PolicyResult`] that is built one site at a time. Sites with the same violations share one list of
/// them.
#[derive(Debug)]
pub struct PolicyCheck {
    result: PolicyResult,
    lists: HashSet<Arc<Vec<Broken>>>,
}

impl PolicyCheck {
    /// Makes a result without sites.
    pub fn new(policy: Policy) -> Self {
        let sites = Vec::new();
        Self {
            result: PolicyResult { policy, sites },
            lists: HashSet::new(),
        }
    }

    /// Checks a site against the policy.
    pub fn add(&mut self, scan: &SiteScan) {
        let mut site = check(&self.result.policy, scan);
        match self.lists.get(&site.broken) {
            Some(list) => site.broken = Arc::clone(list),
            None => {
                self.lists.insert(Arc::clone(&site.broken));
            }
        }
        self.result.sites.push(site);
    }

    /// Returns the result.
    pub fn result(self) -> PolicyResult {
        self.result
    }
}

/// Checks one site against a policy.
pub fn check(policy: &Policy, scan: &SiteScan) -> SitePolicy {
    let mut unknown = match &scan.outcome {
        ScanOutcome::Scanned => None,
        ScanOutcome::Partial { why } => Some(format!("scanned in part: {why}")),
        ScanOutcome::Failed { class, detail } => Some(format!("{}: {detail}", class.name())),
    };
    let mut broken = Vec::new();
    if scan.is_scanned() {
        let mut found = Found(&mut broken);
        versions(policy, scan, &mut found);
        let rules = [
            suites_and_groups(policy, scan, &mut found),
            certificates::keys(policy, scan, &mut found),
            certificates::chains(policy, scan, &mut found),
            certificates::certificates(policy, scan, &mut found),
            features(policy, scan, &mut found),
            hsts(policy, scan, &mut found),
        ];
        for why in rules.into_iter().filter_map(Result::err) {
            unknown.get_or_insert(why);
        }
    }
    SitePolicy {
        site: scan.site.clone(),
        broken: broken.into(),
        unknown,
    }
}

/// The violations that have been found.
struct Found<'a>(&'a mut Vec<Broken>);

impl Found<'_> {
    fn add(&mut self, rule: PolicyRule, what: impl Into<String>) {
        let broken = Broken {
            rule,
            what: what.into(),
        };
        if !self.0.contains(&broken) {
            self.0.push(broken);
        }
    }
}

/// Returns whether a policy allows only other values.
fn is_outside<T: PartialEq>(allowed: Option<&Vec<T>>, value: &T) -> bool {
    allowed.is_some_and(|allowed| !allowed.contains(value))
}

fn versions(policy: &Policy, scan: &SiteScan, found: &mut Found<'_>) {
    for version in scan.versions.iter().filter(|v| v.supported) {
        if is_outside(policy.versions.as_ref(), &version.version) {
            found.add(PolicyRule::Version, version_name(version.version));
        }
    }
    for needed in &policy.needs_versions {
        let refused = scan
            .versions
            .iter()
            .any(|v| v.version == *needed && !v.supported && v.complete);
        if refused {
            found.add(PolicyRule::MissingVersion, version_name(*needed));
        }
    }
}

/// Checks suites and groups. Those of versions that the policy does not allow are not listed separately.
fn suites_and_groups(
    policy: &Policy,
    scan: &SiteScan,
    found: &mut Found<'_>,
) -> Result<(), String> {
    let mut seen = Ok(());
    for version in scan.versions.iter().filter(|v| v.supported) {
        if is_outside(policy.versions.as_ref(), &version.version) {
            continue;
        }
        let name = version_name(version.version);
        for suite in &version.suites {
            if is_outside(policy.suites.as_ref(), &CipherSuite(suite.code)) {
                found.add(PolicyRule::Suite, format!("{} in {name}", suite.name));
            }
        }
        for group in &version.groups {
            if is_outside(policy.groups.as_ref(), &Group(group.code)) {
                found.add(PolicyRule::Group, format!("{} in {name}", group.name));
            }
        }
        if policy.server_order {
            match version.suite_order {
                Order::Server | Order::Single => {}
                Order::Client => found.add(
                    PolicyRule::Order,
                    format!("the client's order of suites decides in {name}"),
                ),
                Order::Mixed => found.add(
                    PolicyRule::Order,
                    format!("the client's order of suites matters in {name}"),
                ),
                Order::Stated | Order::Unknown => {
                    seen = Err(format!(
                        "whose order of suites decides in {name} was not seen"
                    ));
                }
            }
        }
        for suite in &version.suites {
            if let (Some(least), Some(prime)) = (policy.dh_least_bits, &suite.dh)
                && prime.bits < least
            {
                let what = format!("a finite field of {} bits in {name}", prime.bits);
                found.add(PolicyRule::Dh, what);
            }
        }
    }
    seen
}

/// Checks the features that the site must have, and those that it must not.
fn features(policy: &Policy, scan: &SiteScan, found: &mut Found<'_>) -> Result<(), String> {
    let mut seen = Ok(());
    let asked = policy.needs.iter().map(|feature| (*feature, Observed::Yes));
    let forbidden = policy
        .forbids
        .iter()
        .map(|feature| (*feature, Observed::No));
    for (feature, due) in asked.chain(forbidden) {
        let does = observed(scan, feature);
        if does == Observed::Unknown {
            seen = Err(format!("whether it has {feature} was not seen"));
        } else if does != due {
            let what = if due == Observed::Yes { "no" } else { "has" };
            found.add(PolicyRule::Feature, format!("{what} {feature}"));
        }
    }
    seen
}

fn observed(scan: &SiteScan, feature: PolicyFeature) -> Observed {
    let features = &scan.features;
    match feature {
        PolicyFeature::Compression => of_older(scan, &features.compression),
        PolicyFeature::SecureRenegotiation => of_older(scan, &features.secure_renegotiation),
        PolicyFeature::ClientRenegotiation => of_older(scan, &features.client_renegotiation),
        PolicyFeature::Heartbeat => of_older(scan, &features.heartbeat),
        // TLS 1.3 includes both features.
        PolicyFeature::ExtendedMasterSecret | PolicyFeature::FallbackScsv if only_newest(scan) => {
            Observed::Yes
        }
        PolicyFeature::ExtendedMasterSecret => features.extended_master_secret.clone(),
        PolicyFeature::FallbackScsv => features.fallback_scsv.clone(),
        PolicyFeature::OcspStapling => features.ocsp_stapling.clone(),
        PolicyFeature::EarlyData => match features.early_data_bytes {
            Some(bytes) => (bytes > 0).into(),
            None if scan.version(TlsVersion::Tls13).is_none() => Observed::No,
            None => Observed::Unknown,
        },
        PolicyFeature::SessionTickets => {
            let newest = match features.tickets_tls13 {
                Some(count) => (count > 0).into(),
                None if scan.version(TlsVersion::Tls13).is_none() => Observed::No,
                None => Observed::Unknown,
            };
            let older = match scan.version(TlsVersion::Tls12) {
                Some(_) => features.tickets_tls12.clone(),
                None => Observed::No,
            };
            match (newest, older) {
                (Observed::Yes, _) | (_, Observed::Yes) => Observed::Yes,
                (Observed::No, Observed::No) => Observed::No,
                _ => Observed::Unknown,
            }
        }
    }
}

/// Returns the observation of a feature of older versions, which a server with only TLS 1.3 neither lacks nor has.
fn of_older(scan: &SiteScan, seen: &Observed) -> Observed {
    match seen {
        Observed::Unknown if only_newest(scan) => Observed::No,
        seen => seen.clone(),
    }
}

fn only_newest(scan: &SiteScan) -> bool {
    let mut spoken = scan.versions.iter().filter(|found| found.supported);
    spoken.all(|found| found.version == TlsVersion::Tls13)
}

fn hsts(policy: &Policy, scan: &SiteScan, found: &mut Found<'_>) -> Result<(), String> {
    let Some(least) = policy.hsts_least_seconds else {
        return Ok(());
    };
    match (
        &scan.features.strict_transport_security,
        scan.features.http_status,
    ) {
        (None, None) => return Err("no HTTP response was seen".to_owned()),
        (None, Some(_)) => found.add(PolicyRule::Hsts, "no Strict-Transport-Security"),
        (Some(header), _) => {
            let age = max_age(header);
            if age.is_none_or(|age| age < least) {
                let age = age.map_or("none".to_owned(), |age| format!("{age} s"));
                let what = format!("max-age of Strict-Transport-Security: {age}");
                found.add(PolicyRule::Hsts, what);
            }
        }
    }
    Ok(())
}

fn max_age(header: &str) -> Option<u64> {
    header.split(';').find_map(|directive| {
        let (name, value) = directive.split_once('=')?;
        let value = value.trim().trim_matches('"');
        name.trim()
            .eq_ignore_ascii_case("max-age")
            .then(|| value.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_of_hsts_are_read_as_rfc_6797_has_them() {
        let cases = [
            ("max-age=31536000; includeSubDomains", Some(31_536_000)),
            ("includeSubDomains; MAX-AGE=\"5\"", Some(5)),
            ("max-age=", None),
            ("preload", None),
        ];
        for (header, due) in cases {
            assert_eq!(max_age(header), due, "{header}");
        }
    }

    #[test]
    fn policies_of_mozilla_are_those_of_its_guideline() {
        for name in POLICIES {
            let policy = built_in_policy(name).unwrap();
            assert_eq!(policy.name, name);
            assert_eq!(policy.version.as_deref(), Some("5.8"));
            assert!(policy.versions.unwrap().contains(&TlsVersion::Tls13));
        }
        assert_eq!(built_in_policy("mozilla-ancient"), None);
        assert_eq!(built_in_policy("modern"), None);
    }
}
