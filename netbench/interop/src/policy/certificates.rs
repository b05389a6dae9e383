//! The rules of a policy about keys, chains and certificates.

use netbench_model::scan::{Anchor, CertificateScan, ChainScan, Policy, PolicyRule, SiteScan};

use super::Found;

/// Checks keys. An error states what could not be observed of the site.
pub(super) fn keys(policy: &Policy, scan: &SiteScan, found: &mut Found<'_>) -> Result<(), String> {
    let Some(rules) = &policy.keys else {
        return Ok(());
    };
    let fits = |leaf: &CertificateScan| {
        rules.iter().any(|rule| {
            rule.kind == leaf.key
                && leaf.key_bits >= rule.least_bits
                && rule.curves.as_ref().is_none_or(|curves| {
                    let curve = leaf.curve.as_ref();
                    curve.is_some_and(|curve| curves.contains(curve))
                })
        })
    };
    for leaf in leaves(scan)? {
        if !fits(leaf) {
            let key = leaf.curve.clone();
            let key = key.unwrap_or_else(|| format!("{}-{}", leaf.key, leaf.key_bits));
            found.add(PolicyRule::Key, format!("a certificate with a key {key}"));
        }
    }
    Ok(())
}

/// Checks the chains.
pub(super) fn chains(
    policy: &Policy,
    scan: &SiteScan,
    found: &mut Found<'_>,
) -> Result<(), String> {
    if !policy.valid_chain {
        return Ok(());
    }
    leaves(scan)?;
    for chain in &scan.chains {
        for what in faults(chain) {
            found.add(PolicyRule::Chain, what);
        }
    }
    Ok(())
}

/// Checks the leaf of each chain separately.
pub(super) fn certificates(
    policy: &Policy,
    scan: &SiteScan,
    found: &mut Found<'_>,
) -> Result<(), String> {
    let signatures = policy.certificate_signatures.as_ref();
    if !policy.valid_certificate && signatures.is_none() && policy.certificate_most_days.is_none() {
        return Ok(());
    }
    leaves(scan)?;
    let mut seen = Ok(());
    for chain in &scan.chains {
        let Some(leaf) = chain.certificates.first() else {
            continue;
        };
        if policy.valid_certificate {
            let faults = [
                (!chain.names_match, "a certificate for other names"),
                (!leaf.valid_now, "a certificate that is not valid now"),
                (
                    chain.anchor == Anchor::SelfSigned,
                    "a self-signed certificate",
                ),
            ];
            for (_, what) in faults.into_iter().filter(|(is, _)| *is) {
                found.add(PolicyRule::Certificate, what);
            }
        }
        if signatures.is_some_and(|allowed| !allowed.contains(&leaf.signature)) {
            let what = format!("a certificate signed with {}", leaf.signature);
            found.add(PolicyRule::CertificateSignature, what);
        }
        if let Some(most) = policy.certificate_most_days {
            match (day(&leaf.not_before), day(&leaf.not_after)) {
                (Some(first), Some(last)) if last - first > i64::from(most) => {
                    let what = format!("a certificate that is valid for {} days", last - first);
                    found.add(PolicyRule::Lifetime, what);
                }
                (Some(_), Some(_)) => {}
                _ => seen = Err("the validity of a certificate could not be read".to_owned()),
            }
        }
    }
    seen
}

/// Returns the number of the day that begins a text in the format of RFC 3339, from the first of March of
/// year 0 (Howard Hinnant's `days_from_civil`).
fn day(moment: &str) -> Option<i64> {
    let mut parts = moment.get(..10)?.split('-').map(str::parse::<i64>);
    let mut next = || parts.next()?.ok();
    let (year, month, day) = (next()?, next()?, next()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let months = (month + 9) % 12;
    Some(
        365 * year + year.div_euclid(4) - year.div_euclid(100)
            + year.div_euclid(400)
            + (153 * months + 2) / 5
            + day,
    )
}

fn faults(chain: &ChainScan) -> Vec<&'static str> {
    let leaf_valid = chain
        .certificates
        .first()
        .is_some_and(|leaf| leaf.valid_now);
    let all = [
        (!chain.in_order, "a chain out of order"),
        (!chain.names_match, "a certificate for other names"),
        (!leaf_valid, "a certificate that is not valid now"),
        (
            chain.invalid_issuers > 0,
            "an intermediate that is not valid now",
        ),
        (
            chain.anchor == Anchor::SelfSigned,
            "a self-signed certificate",
        ),
        (
            chain.anchor == Anchor::Missing,
            "a chain that lacks an intermediate",
        ),
        (
            chain.anchor == Anchor::UnknownRoot,
            "a chain to a root that is not trusted",
        ),
    ];
    let all = all.into_iter().filter(|(is, _)| *is);
    all.map(|(_, what)| what).collect()
}

fn leaves(scan: &SiteScan) -> Result<Vec<&CertificateScan>, String> {
    let chains = scan.chains.iter();
    let leaves: Vec<_> = chains
        .filter_map(|chain| chain.certificates.first())
        .collect();
    if leaves.is_empty() {
        return Err("no certificate was seen".to_owned());
    }
    Ok(leaves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_has_them() {
        let days = |first, last| day(last).unwrap() - day(first).unwrap();
        assert_eq!(days("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"), 365);
        assert_eq!(days("2027-12-31", "2028-03-01"), 61);
        assert_eq!(days("2026-11-24", "2027-02-22"), 90);
        assert_eq!(day("soon"), None);
        assert_eq!(day("2026-13-01"), None);
    }
}
