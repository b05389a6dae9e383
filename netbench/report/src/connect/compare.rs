use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, ConnectPlan, Phase, Sample, StackName, Target, Unit,
};
use netbench_stats::{Change, Figures, Pair, Resampling, Verdict, compare as paired};

use super::{
    pairs::{Matched, Times, match_up},
    shares::{rtts, shares},
    summary::{Comparison, Exclusion, PhaseOf, PhaseRow, SiteOf, SiteRow, SiteTally},
};
use crate::{Row, gate::Judged, row::tally};

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
    let shown = Phase::ALL.iter().copied();
    let shown = shown.filter(|phase| *phase != Phase::Dns || plan.target == Target::Live);
    let judged = shown.clone().filter(|phase| is_judged(*phase));
    let settings = Resampling::for_family(plan.seed, judged.count());
    let rounds = matched.iter().map(|pair| pair.round).unique().count() as u64;
    shown
        .filter_map(|phase| phase_row(phase, matched, &settings, rounds))
        .collect()
}

fn phase_row(
    phase: Phase,
    matched: &[Matched<'_>],
    settings: &Resampling,
    rounds: u64,
) -> Option<PhaseRow> {
    let times = matched.iter().filter_map(|pair| pair.times(phase));
    let times: Vec<Times> = times.collect();
    let ratios: Vec<Pair> = times.iter().map(Times::ratio).collect();
    let mut change = paired(&ratios, settings)?;
    if !is_judged(phase) {
        change.verdict = Verdict::NotJudged;
    }
    let judged = Judged::not_asked(&change);
    let needed = judged.rounds_needed;
    Some(Row {
        key: PhaseOf { phase },
        unit: Unit::Nanoseconds,
        first: Figures::of_ns(&times.iter().map(|times| times.first_ns).collect_vec())?,
        other: Figures::of_ns(&times.iter().map(|times| times.other_ns).collect_vec())?,
        judged: Judged {
            rounds_needed: needed.map(|needed| needed.of_processes(rounds, change.blocks())),
            ..judged
        },
        change,
    })
}

/// Returns whether a phase has verdicts. Making the connector is judged only by its CPU time: wall-clock time
/// includes other work of the machine.
pub(super) fn is_judged(phase: Phase) -> bool {
    phase != Phase::ConnectorWall
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
            let key = SiteOf {
                site: site.to_owned(),
                rtt_ns: rtts.get(site).copied().unwrap_or(0),
            };
            let row = Times::row(key, &pairs.iter().map(|pair| pair.totals()).collect_vec())?;
            Some(Row {
                judged: Judged::not_asked(&row.change),
                ..row
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
    let verdicts = rows.iter().map(|row| row.change.verdict);
    let [other_faster, first_faster, same, undecided, not_judged] =
        tally(verdicts).map(|sites| sites as u64);
    SiteTally {
        other_faster,
        first_faster,
        same,
        undecided,
        not_judged,
        not_compared: (plan.sites.len() - rows.len().min(plan.sites.len())) as u64,
        // `chance` is for one of the two directions.
        // A sum of no floats is minus zero.
        expected_by_chance: rows
            .iter()
            .fold(0.0, |sum, row| sum + 2.0 * row.change.chance()),
        rows,
    }
}
