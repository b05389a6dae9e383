//! Chains of our own: what BetterTLS has none of.

mod draft;
mod identifiers;
mod limits;
mod names;
mod rules;
mod signatures;
mod trust;
mod when;

use jiff::Timestamp;

use self::draft::Draft;
use super::Chain;

/// What these cases are called, before the first slash.
pub const OWN: &str = "own";

/// All of them, with new keys, as of `now`.
///
/// # Panics
/// Where a case's description is wrong, which a test finds.
pub fn own(now: Timestamp) -> Vec<Chain> {
    let all: Vec<Draft> = [
        trust::cases(),
        rules::cases(),
        names::cases(),
        identifiers::cases(),
        limits::cases(),
        signatures::cases(),
        when::cases(),
    ]
    .concat();
    all.iter().map(|draft| draft.make(now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, HashSet};

    #[test]
    fn every_case_can_be_made_and_has_a_name_of_its_own() {
        let all = own(Timestamp::now());
        let names: HashSet<&str> = all.iter().map(|chain| &*chain.case.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.len() >= 100, "{}", all.len());
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        for chain in &all {
            *kinds.entry(chain.case.kind()).or_default() += 1;
            let is_plain =
                |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-/.".contains(&b);
            assert!(chain.case.name.bytes().all(is_plain), "{}", chain.case.name);
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
