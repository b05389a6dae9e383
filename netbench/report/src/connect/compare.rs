use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, ConnectPlan, Phase, Sample, StackName, Target, Unit,
};
use netbench_stats::{
    Change, Figures, Pair, Precision, Resampling, RoundsNeeded, Verdict, compare as paired,
    compare_rounds, median,
};

use super::{
    pairs::{Matched, match_up},
    shares::{rtts, shares},
    summary::{Comparison, Exclusion, PhaseOf, PhaseRow, SiteOf, SiteRow, SiteTally},
};
use crate::{Row, gate::Judged};

/// Compares one stack with the first under one condition, and returns the samples that had to be left out.
pub(crate) fn compare(
    manifest: &ConnectManifest,
    measured: &[&Sample],
    condition: Condition,
    first: &StackName,
    other: &StackName,
) -> (Comparison, Vec<Exclusion>) {
    let pairs = match_up(measured, condition, first, other);
    let plan = &manifest.plan;
    let rtts = rtts(manifest, measured);
    let phases = phases(plan, &pairs.matched);
    let total = phases.iter().find(|row| row.key.phase == Phase::Total);
    let comparison = Comparison {
        condition,
        first: first.clone(),
        other: other.clone(),
        sites: sites(plan, &pairs.matched, &rtts, total),
        phases,
        shares: shares(&pairs.matched, &rtts, first, other),
    };
    let excluded = pairs
        .excluded
        .into_iter()
        .map(|((site, why), count)| Exclusion {
            site: site.to_owned(),
            condition,
            other: other.clone(),
            why,
            pairs: count,
        });
    (comparison, excluded.collect())
}

fn phases(plan: &ConnectPlan, matched: &[Matched<'_>]) -> Vec<PhaseRow> {
    // Emulated sites are resolved by a lookup in a table inside the worker, which is no part of a stack.
    let compared = |phase: &Phase| *phase != Phase::Dns || plan.target == Target::Live;
    let shown: Vec<Phase> = Phase::ALL.iter().copied().filter(compared).collect();
    let judged = shown.iter().filter(|phase| is_judged(**phase));
    let settings = Resampling::for_family(plan.seed, judged.count());
    let rounds = matched.iter().map(|pair| pair.round).unique().count() as u64;
    let row = |phase: Phase| {
        let both: Vec<(u64, u64, u32)> = matched
            .iter()
            .filter_map(|pair| Some((phase.of(pair.first)?, phase.of(pair.other)?, pair.block)))
            .collect();
        let log: Vec<_> = both
            .iter()
            .map(|(a, b, block)| Pair::from_ns(*a, *b, *block))
            .collect();
        let mut change = paired(&log, &settings)?;
        if !is_judged(phase) {
            change.verdict = Verdict::NotJudged;
        }
        let needed =
            rounds_needed(&change).map(|needed| needed.of_processes(rounds, change.blocks()));
        Some(Row {
            key: PhaseOf { phase },
            unit: Unit::Nanoseconds,
            first: Figures::of_ns(&both.iter().map(|(a, _, _)| *a).collect::<Vec<_>>())?,
            other: Figures::of_ns(&both.iter().map(|(_, b, _)| *b).collect::<Vec<_>>())?,
            judged: Judged::not_asked(needed),
            change,
        })
    };
    shown.into_iter().filter_map(row).collect()
}

/// Returns whether a phase has verdicts. Making the connector is judged only by its CPU time: wall-clock time
/// includes other work of the machine.
pub(super) fn is_judged(phase: Phase) -> bool {
    phase != Phase::ConnectorWall
}

/// Returns the number of rounds that would decide a row, if it is undecided.
fn rounds_needed(change: &Change) -> Option<RoundsNeeded> {
    let precision = Precision::of(change).filter(|_| change.verdict == Verdict::Undecided);
    precision.map(|precision| precision.rounds_to_decide())
}

fn sites(
    plan: &ConnectPlan,
    matched: &[Matched<'_>],
    rtts: &BTreeMap<String, u64>,
    total: Option<&PhaseRow>,
) -> SiteTally {
    let by_site = matched.iter().into_group_map_by(|pair| pair.site);
    let mut rows: Vec<SiteRow> = by_site
        .into_iter()
        .filter_map(|(site, pairs)| {
            let totals = |side: fn(&Matched<'_>) -> u64| {
                let totals = pairs.iter().map(|pair| side(pair) as f64);
                median(&totals.collect::<Vec<_>>())
            };
            let first = |pair: &Matched<'_>| pair.first.phases.total_ns;
            let other = |pair: &Matched<'_>| pair.other.phases.total_ns;
            let log: Vec<Pair> = pairs.iter().map(|pair| pair.totals()).collect();
            let change = compare_rounds(&log)?;
            Some(Row {
                key: SiteOf {
                    site: site.to_owned(),
                    rtt_ns: rtts.get(site).copied().unwrap_or(0),
                },
                unit: Unit::Nanoseconds,
                first: totals(first)?,
                other: totals(other)?,
                judged: Judged::not_asked(rounds_needed(&change)),
                change,
            })
        })
        .collect();
    // The only site has the samples of the total, and therefore its interval.
    if let ([row], Some(total)) = (rows.as_mut_slice(), total) {
        row.change = Change {
            ratio: total.change.ratio,
            verdict: total.change.verdict,
            interval: total.change.interval,
            ..row.change
        };
        row.judged = total.judged;
    }
    rows.sort_by(|a, b| {
        a.change
            .ratio
            .total_cmp(&b.change.ratio)
            .then(a.key.site.cmp(&b.key.site))
    });
    let count = |verdict| {
        let rows = rows.iter().filter(|row| row.change.verdict == verdict);
        rows.count() as u64
    };
    SiteTally {
        other_faster: count(Verdict::Faster),
        first_faster: count(Verdict::Slower),
        same: count(Verdict::Same),
        undecided: count(Verdict::Undecided),
        not_judged: count(Verdict::NotJudged),
        not_compared: (plan.sites.len() - rows.len().min(plan.sites.len())) as u64,
        // `chance` is for one of the two directions.
        // A sum of no floats is minus zero.
        expected_by_chance: rows
            .iter()
            .fold(0.0, |sum, row| sum + 2.0 * row.change.chance()),
        rows,
    }
}
