use netbench_stats::{Change, Verdict, chance_of_as_many};

use super::{AgainstRow, SharedRow, characteristics::Traits};
use crate::SiteTally;

/// The chance of random draws below which a value counts as shared.
const RARELY: f64 = 0.05;

/// Returns the sites on which the stack that is slower overall is faster, and their common values. If neither is
/// slower overall, these are the sites of the stack that wins on fewer.
pub(super) fn against(
    overall: Option<&Change>,
    tally: &SiteTally,
    traits: &Traits,
) -> (Vec<AgainstRow>, Vec<SharedRow>) {
    let wanted = match overall.map(|ratio| ratio.verdict) {
        Some(Verdict::Faster) => Verdict::Slower,
        Some(Verdict::Slower) => Verdict::Faster,
        _ if tally.other_faster >= tally.first_faster => Verdict::Slower,
        _ => Verdict::Faster,
    };
    let mut rows: Vec<AgainstRow> = tally
        .rows
        .iter()
        .filter(|row| row.change.verdict == wanted)
        .map(|row| AgainstRow {
            site: row.key.site.clone(),
            ratio: row.change.ratio,
            difference_ns: traits
                .differences_ns
                .get(&row.key.site)
                .copied()
                .unwrap_or(0.0),
            characteristics: traits
                .sites
                .get(&row.key.site)
                .into_iter()
                .flatten()
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        })
        .collect();
    rows.sort_by(|a, b| {
        let strength = |row: &AgainstRow| row.ratio.ln().abs();
        strength(b)
            .total_cmp(&strength(a))
            .then(a.site.cmp(&b.site))
    });
    let shared = shared(&rows, traits);
    (rows, shared)
}

fn shared(listed: &[AgainstRow], traits: &Traits) -> Vec<SharedRow> {
    let values = traits.values();
    let looked_at = values.len() as f64;
    let all = traits.sites.len() as u64;
    let mut rows: Vec<SharedRow> = values
        .into_iter()
        .map(|(characteristic, value, sites)| {
            let with = listed
                .iter()
                .filter(|row| sites.contains(row.site.as_str()));
            let with = with.count() as u64;
            let count = listed.len() as u64;
            let chance = chance_of_as_many(with, count, sites.len() as u64, all);
            SharedRow {
                characteristic: characteristic.to_owned(),
                value,
                listed_with: with,
                listed: count,
                others_with: sites.len() as u64 - with,
                others: all.saturating_sub(count),
                chance: (chance * looked_at).min(1.0),
            }
        })
        .filter(|row| row.chance <= RARELY)
        .collect();
    rows.sort_by(|a, b| a.chance.total_cmp(&b.chance));
    rows
}
