//! A scan as a sites file: each site with the lab fields that reproduce the scanned behaviour.

use std::path::Path;

use netbench_model::{
    Alpn, ChainProfile, CipherSuite, Group, KeyType, LabProfile, ScanPlan, Site, Switch,
    TlsVersion, parse_sites,
    scan::{Observed, Order, SiteScan},
};

use super::index;
use crate::{exit::Ended, loopback, output, stored};

/// Prints a stored scan as a sites file.
pub(crate) fn record(run: &Path) -> anyhow::Result<Ended> {
    let (folder, manifest) = stored::open::<ScanPlan>(run)?;
    let index = index(&folder)?;
    let mut text = format!(
        "# Recorded by `netbench setup sites record` from the scan {}. The round-trip time is the shortest\n\
         # TCP connect of the scan; losses, rates and bodies are not measured.\n",
        manifest.name
    );
    for site in manifest.plan.sites.iter() {
        if let Some(scan) = index.read(&site.name()).map_err(stored::wrong)? {
            text.push_str(&line(site, &scan));
        }
    }
    output::write(text.as_bytes())?;
    Ok(Ended::Well)
}

/// Returns a line of a sites file. A comment lists the properties that the lab does not support, and replaces a site
/// that the lab cannot emulate at all.
fn line(site: &Site, scan: &SiteScan) -> String {
    if !scan.is_scanned() {
        return format!("# {}: not scanned\n", scan.site);
    }
    let (lab, cannot) = profile(scan);
    let host = loopback::emulated_name(&site.host);
    let is_same = host == site.host;
    let renamed = if is_same {
        String::new()
    } else {
        format!("# {} under a name that is emulated:\n", scan.site)
    };
    let recorded = Site {
        host,
        unicode: site.unicode.clone().filter(|_| is_same),
        lab: lab.into(),
        ..site.clone()
    };
    let mut line = recorded.to_line();
    let why = match parse_sites(&line) {
        Err(errors) => Some(
            errors
                .first()
                .map(|e| e.message.clone())
                .unwrap_or_default(),
        ),
        Ok(_) if recorded.host.address().is_some_and(|a| a.is_ipv6()) => {
            Some("IPv6 is not emulated".to_owned())
        }
        Ok(_) => None,
    };
    if let Some(why) = why {
        line = format!("# {}: the lab cannot be it: {why}", scan.site);
    }
    if !cannot.is_empty() {
        line.push_str(&format!("  # not emulated: {}", cannot.join(", ")));
    }
    line.push('\n');
    renamed + &line
}

/// Returns the profile, and the properties of the site that a profile cannot express.
fn profile(scan: &SiteScan) -> (LabProfile, Vec<String>) {
    let mut cannot = Vec::new();
    let mut lab = LabProfile {
        tls: Vec::new(),
        ..LabProfile::default()
    };
    for found in scan.versions.iter().rev().filter(|v| v.supported) {
        match found.version {
            version if TlsVersion::SERVED.contains(&version) => lab.tls.push(version),
            other => cannot.push(format!("TLS {other}")),
        }
    }
    lab.tls.sort_unstable();
    let has_deprecated = lab.tls.iter().any(|version| version.is_deprecated());
    for found in scan.versions.iter().filter(|v| v.supported) {
        if !lab.tls.contains(&found.version) {
            continue;
        }
        for suite in &found.suites {
            let code = CipherSuite(suite.code);
            let is_served = CipherSuite::SERVED.contains(&code)
                || has_deprecated && CipherSuite::DEPRECATED.contains(&code);
            if !is_served {
                cannot.push(suite.name.clone());
            } else if !lab.suites.contains(&code) {
                lab.suites.push(code);
            }
        }
        if found.suite_order == Order::Client && found.suites.len() > 1 {
            cannot.push(format!(
                "the client's order of suites in TLS {}",
                found.version
            ));
        }
        for group in &found.groups {
            let code = Group(group.code);
            if !Group::OFFERED.contains(&code) {
                cannot.push(group.name.clone());
            } else if !lab.groups.contains(&code) {
                lab.groups.push(code);
            }
        }
    }
    cannot.sort();
    cannot.dedup();
    if let Some(chain) = scan.chains.first() {
        let leaf = chain.certificates.first();
        let key = leaf.and_then(|leaf| match (leaf.key.as_str(), leaf.key_bits) {
            ("rsa", 2048) => Some(KeyType::Rsa2048),
            ("rsa", 3072) => Some(KeyType::Rsa3072),
            ("rsa", 4096) => Some(KeyType::Rsa4096),
            ("ec", 256) => Some(KeyType::EcdsaP256),
            ("ec", 384) => Some(KeyType::EcdsaP384),
            (name, _) => {
                let mut kinds = KeyType::ALL.iter().copied();
                kinds.find(|kind| kind.name() == name)
            }
        });
        match key {
            Some(key) => lab.key = key,
            None => cannot.push("its certificate's key".to_owned()),
        }
        let length = u8::try_from(chain.certificates.len()).unwrap_or(u8::MAX);
        lab.chain = ChainProfile {
            length: length.clamp(1, 6),
            bytes: chain.bytes.min(60_000),
        };
        if scan.chains.len() > 1 {
            cannot.push("a second chain".to_owned());
        }
    }
    let offered = &scan.features.alpn;
    lab.alpn = Alpn::ALL
        .iter()
        .copied()
        .filter(|alpn| offered.iter().any(|name| name == alpn.name()))
        .collect();
    lab.tickets = tickets(scan);
    if scan.features.ocsp_stapling == Observed::Yes {
        lab.ocsp = Switch::On;
    }
    lab.link.rtt_ns = scan.effort.fastest_connect_us.unwrap_or(0) * 1000;
    (lab, cannot)
}

fn tickets(scan: &SiteScan) -> u8 {
    let of_tls12 = if scan.features.resumption_tls12 == Observed::Yes {
        2
    } else {
        0
    };
    let tickets = scan
        .features
        .tickets_tls13
        .map_or(of_tls12, |n| n.max(of_tls12.min(1)));
    u8::try_from(tickets).unwrap_or(u8::MAX).min(16)
}
