use itertools::Itertools;
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
    let rows = tally.rows.iter();
    let rows = rows.filter(|row| row.change.verdict == wanted).map(|row| {
        let site = &row.key.site;
        let characteristics = traits.sites.get(site).into_iter().flatten();
        AgainstRow {
            site: site.clone(),
            ratio: row.change.ratio,
            difference_ns: traits.differences_ns.get(site).copied().unwrap_or(0.0),
            characteristics: characteristics
                .map(|(name, value)| ((*name).to_owned(), value.clone()))
                .collect(),
        }
    });
    let rows = rows.sorted_by(|a, b| {
        let [of_a, of_b] = [a, b].map(|row| row.ratio.ln().abs());
        of_b.total_cmp(&of_a).then(a.site.cmp(&b.site))
    });
    let rows: Vec<AgainstRow> = rows.collect();
    let shared = shared(&rows, traits);
    (rows, shared)
}

fn shared(listed: &[AgainstRow], traits: &Traits) -> Vec<SharedRow> {
    let values = traits.values();
    let looked_at = values.len() as f64;
    let all = traits.sites.len() as u64;
    let rows = values.into_iter().map(|(characteristic, value, sites)| {
        let with = listed.iter();
        let with = with.filter(|row| sites.contains(row.site.as_str()));
        let (with, count, sites) = (with.count() as u64, listed.len() as u64, sites.len() as u64);
        SharedRow {
            characteristic: characteristic.to_owned(),
            value,
            listed_with: with,
            listed: count,
            others_with: sites - with,
            others: all.saturating_sub(count),
            chance: (chance_of_as_many(with, count, sites, all) * looked_at).min(1.0),
        }
    });
    rows.filter(|row| row.chance <= RARELY)
        .sorted_by(|a, b| a.chance.total_cmp(&b.chance))
        .collect()
}
