//! The rules of a policy about keys, chains and certificates.

use netbench_model::scan::{
    Anchor, CertificateScan, ChainScan, KeyRule, Policy, PolicyRule, SiteScan,
};

use super::Found;
use crate::diff::{key_name, leaves};

/// Checks keys. An error states what could not be observed of the site.
pub(super) fn keys(policy: &Policy, scan: &SiteScan, found: &mut Found<'_>) -> Result<(), String> {
    let Some(rules) = &policy.keys else {
        return Ok(());
    };
    for leaf in seen_leaves(scan)? {
        if !rules.iter().any(|rule| fits(rule, leaf)) {
            let what = format!("a certificate with a key {}", key_name(leaf));
            found.add(PolicyRule::Key, what);
        }
    }
    Ok(())
}

fn fits(rule: &KeyRule, leaf: &CertificateScan) -> bool {
    rule.kind == leaf.key
        && leaf.key_bits >= rule.least_bits
        && rule.curves.as_ref().is_none_or(|curves| {
            let curve = leaf.curve.as_ref();
            curve.is_some_and(|curve| curves.contains(curve))
        })
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
    seen_leaves(scan)?;
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
    seen_leaves(scan)?;
    let mut seen = Ok(());
    for chain in &scan.chains {
        let Some(leaf) = chain.certificates.first() else {
            continue;
        };
        if policy.valid_certificate {
            let of_leaf = faults(chain).filter(|what| OF_LEAF.contains(what));
            for what in of_leaf {
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
    let mut parts = moment.get(..10)?.split('-').map(|part| part.parse().ok());
    let (year, month, day): (i64, i64, i64) = (parts.next()??, parts.next()??, parts.next()??);
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

/// The faults of a chain that are those of its first certificate alone.
const OF_LEAF: [&str; 3] = [OTHER_NAMES, NOT_VALID, SELF_SIGNED];
const OTHER_NAMES: &str = "a certificate for other names";
const NOT_VALID: &str = "a certificate that is not valid now";
const SELF_SIGNED: &str = "a self-signed certificate";

fn faults(chain: &ChainScan) -> impl Iterator<Item = &'static str> {
    let leaf_valid = chain
        .certificates
        .first()
        .is_some_and(|leaf| leaf.valid_now);
    let all = [
        (!chain.in_order, "a chain out of order"),
        (!chain.names_match, OTHER_NAMES),
        (!leaf_valid, NOT_VALID),
        (
            chain.invalid_issuers > 0,
            "an intermediate that is not valid now",
        ),
        (chain.anchor == Anchor::SelfSigned, SELF_SIGNED),
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
    all.map(|(_, what)| what)
}

fn seen_leaves(scan: &SiteScan) -> Result<Vec<&CertificateScan>, String> {
    let leaves: Vec<_> = leaves(scan).collect();
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
        for (first, last, days) in [
            ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", 365),
            ("2027-12-31", "2028-03-01", 61),
            ("2026-11-24", "2027-02-22", 90),
        ] {
            assert_eq!(day(last).unwrap() - day(first).unwrap(), days);
        }
        assert_eq!(day("soon"), None);
        assert_eq!(day("2026-13-01"), None);
    }
}
