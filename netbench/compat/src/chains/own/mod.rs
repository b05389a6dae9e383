//! netbench's own chains, which cover cases that BetterTLS lacks.

#[cfg(test)]
mod agreement;
mod draft;
mod series;

use jiff::Timestamp;
use serde::Deserialize;

use self::draft::Draft;
use super::Chain;

/// The first component of the names of these cases, before the first slash.
pub const OWN: &str = "own";

/// Returns all of them, with new keys, as of `now`.
///
/// # Panics
/// Panics if a case's description is wrong, which a test finds.
pub fn own(now: Timestamp) -> Vec<Chain> {
    drafts().iter().map(|draft| draft.make(now)).collect()
}

/// The cases that are data, by topic.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Described {
    trust: Vec<Draft>,
    key_usage: Vec<Draft>,
    policies: Vec<Draft>,
    names: Vec<Draft>,
    extensions: Vec<Draft>,
    keys: Vec<Draft>,
    cycles: Vec<Draft>,
    web: Vec<Draft>,
    serials: Vec<Draft>,
}

fn drafts() -> Vec<Draft> {
    const FILE: &str = include_str!("../../../../catalogue/chains/own.toml");
    #[expect(clippy::expect_used, reason = "it is in the source, and tested")]
    let described: Described = toml::from_str(FILE).expect("the chains can be read");
    [
        described.trust,
        series::path_lengths(),
        described.key_usage,
        series::purposes(),
        described.policies,
        described.names,
        described.extensions,
        described.keys,
        series::depths(),
        described.cycles,
        series::many_names(),
        described.web,
        series::signed(),
        series::keys(),
        series::encodings(),
        described.serials,
        series::moments(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::is_of_name;
    use std::collections::{BTreeMap, HashSet};

    /// The kinds of chains of the collection x509-limbo that verifiers disagree about: the prefixes of the names of
    /// chains that test each kind, and their minimum number.
    const KINDS: [(&str, &[&str], usize); 17] = [
        ("self-issued CAs on key rollover", &["rollover/"], 6),
        (
            "key identifiers: missing, wrong, ambiguous",
            &["key-identifier/"],
            13,
        ),
        ("DSA", &["foreign-key/dsa-", "foreign-signer/dsa-"], 5),
        ("P-192", &["foreign-key/p-192", "foreign-signer/p-192-"], 3),
        (
            "explicit curve parameters",
            &["foreign-key/p-256-explicit"],
            1,
        ),
        ("denial of service by name constraints", &["many-names/"], 4),
        (
            "malformed authority information access",
            &["information-access/malformed"],
            1,
        ),
        (
            "empty subtrees",
            &["empty/permitted-", "empty/excluded-"],
            2,
        ),
        (
            "empty extended key usage",
            &["empty/extended-key-usage-"],
            2,
        ),
        ("CVE-2024-0567", &["cross-signed/three-ways"], 1),
        (
            "CVE-2025-61727",
            &["constraint/wildcard-over-the-excluded-name"],
            1,
        ),
        ("maximum depth", &["depth/"], 5),
        ("wildcards over public suffixes", &["public-suffix/"], 4),
        ("spellings of common names", &["common-name/"], 6),
        (
            "a root without cRLSign",
            &["key-usage/root-signs-certificates-alone"],
            1,
        ),
        ("cycles of CAs", &["cross-signed/"], 6),
        (
            "critical policies of an intermediate",
            &["policy/critical-any-of-"],
            1,
        ),
    ];

    #[test]
    fn every_kind_has_its_chains_each_with_a_rule() {
        let all = own(Timestamp::now());
        for (kind, begins, least) in KINDS {
            let cases = all.iter().map(|chain| &chain.case);
            let of_kind: Vec<_> = cases
                .filter(|case| {
                    let name = case.name.strip_prefix("own/").unwrap();
                    begins.iter().any(|begin| name.starts_with(begin))
                })
                .collect();
            assert!(of_kind.len() >= least, "{kind}: {}", of_kind.len());
            for case in of_kind {
                assert!(case.rule.is_some(), "{} has no rule", case.name);
            }
        }
    }

    #[test]
    fn every_case_can_be_made_and_has_a_name_of_its_own() {
        let all = own(Timestamp::now());
        let names: HashSet<&str> = all.iter().map(|chain| &*chain.case.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 100, "{}", all.len());
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for chain in &all {
            *kinds.entry(chain.case.kind()).or_default() += 1;
            let name = &chain.case.name;
            assert!(name.bytes().all(is_of_name), "{name}");
        }
        assert!(kinds.values().all(|cases| *cases >= 4), "{kinds:?}");
        let with_rule = all.iter().filter_map(|chain| chain.case.rule.as_deref());
        let with_rule: Vec<&str> = with_rule.collect();
        assert!(with_rule.len() >= 40, "{}", with_rule.len());
        for rule in with_rule {
            assert!(
                ["RFC ", "CA/Browser Forum, "]
                    .iter()
                    .any(|source| rule.starts_with(source)),
                "{rule}"
            );
        }
    }
}
