use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{Condition, ConnectManifest, ConnectPlan, Phase, Sample, StackName, Target};
use netbench_stats::{Change, Resampling, Verdict};

use super::{
    pairs::{Matched, Times, match_up},
    shares::{rtts, shares},
    summary::{Comparison, Exclusion, PhaseOf, PhaseRow, SiteOf, SitePhase, SiteRow, SiteTally},
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
    let by_site = pairs
        .matched
        .iter()
        .into_group_map_by(|pair| pair.site)
        .into_iter()
        .collect();
    let of_phase = SitesOfPhase {
        plan,
        by_site: &by_site,
        rtts: &rtts,
        phases: &phases,
    };
    let comparison = Comparison {
        condition,
        first: first.clone(),
        other: other.clone(),
        sites: of_phase.tally(Phase::Total),
        site_phases: of_phase.all(),
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
    let shown = phases_of([plan.target]);
    let verdicts = shown.clone().filter(|phase| is_judged(*phase));
    let settings = Resampling::for_family(plan.seed, verdicts.count());
    let rounds = matched.iter().map(|pair| pair.round).unique().count() as u64;
    let rows = shown.filter_map(|phase| {
        let times = matched.iter().filter_map(|pair| pair.times(phase));
        let row = Times::pooled(PhaseOf { phase }, &times.collect_vec(), &settings)?;
        let mut row = judged(phase, row);
        if let Some(needed) = &mut row.judged.rounds_needed {
            *needed = needed.of_processes(rounds, row.change.blocks());
        }
        Some(row)
    });
    rows.collect()
}

/// Returns the phases of connections to sites of these targets. Emulated sites are resolved by a lookup in a table inside
/// the worker, which is no part of a stack.
pub(super) fn phases_of<const N: usize>(
    targets: [Target; N],
) -> impl Iterator<Item = Phase> + Clone {
    let is_resolved = targets.iter().all(|target| *target == Target::Live);
    let phases = Phase::ALL.iter().copied();
    phases.filter(move |phase| *phase != Phase::Dns || is_resolved)
}

/// Returns a row without the verdict that its phase does not have, and with the rounds that would decide it.
fn judged<K, S>(phase: Phase, mut row: Row<K, S>) -> Row<K, S> {
    if !is_judged(phase) {
        row.change.verdict = Verdict::NotJudged;
    }
    row.judged = Judged::not_asked(&row.change);
    row
}

/// Returns whether a phase has verdicts. Making the connector is judged only by its CPU time: wall-clock time
/// includes other work of the machine.
pub(super) fn is_judged(phase: Phase) -> bool {
    phase != Phase::ConnectorWall
}

/// The pairs of each site, for tallies of sites by phase.
struct SitesOfPhase<'a> {
    plan: &'a ConnectPlan,
    by_site: &'a BTreeMap<&'a str, Vec<&'a Matched<'a>>>,
    rtts: &'a BTreeMap<String, u64>,
    /// The phases over all sites.
    phases: &'a [PhaseRow],
}

impl SitesOfPhase<'_> {
    /// Tallies the sites by the connector, the handshake and the verification, as far as both stacks have them. Samples
    /// of earlier versions have no CPU time of the connector, and are shown by its wall clock.
    fn all(&self) -> Vec<SitePhase> {
        let connector = [Phase::Connector, Phase::ConnectorWall];
        let connector = connector
            .into_iter()
            .find(|phase| self.of_all(*phase).is_some());
        let phases = connector.into_iter().chain([Phase::Tls, Phase::Verify]);
        phases
            .filter(|phase| self.of_all(*phase).is_some())
            .map(|phase| SitePhase {
                phase,
                sites: self.tally(phase),
            })
            .collect()
    }

    fn of_all(&self, phase: Phase) -> Option<&PhaseRow> {
        self.phases.iter().find(|row| row.key.phase == phase)
    }

    fn tally(&self, phase: Phase) -> SiteTally {
        let by_site = self.by_site.iter();
        let rows = by_site.filter_map(|(site, pairs)| self.row(phase, site, pairs));
        let mut rows: Vec<SiteRow> = rows.collect();
        // The only site has the samples of the phase, and therefore its interval.
        if let ([row], Some(all)) = (rows.as_mut_slice(), self.of_all(phase)) {
            row.change = Change {
                ratio: all.change.ratio,
                verdict: all.change.verdict,
                interval: all.change.interval,
                ..row.change
            };
            row.judged = all.judged;
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
            not_compared: (self.plan.sites.len() - rows.len().min(self.plan.sites.len())) as u64,
            // `chance` is for one of the two directions.
            // A sum of no floats is minus zero.
            expected_by_chance: rows
                .iter()
                .fold(0.0, |sum, row| sum + 2.0 * row.change.chance()),
            rows,
        }
    }

    fn row(&self, phase: Phase, site: &str, pairs: &[&Matched<'_>]) -> Option<SiteRow> {
        let key = SiteOf {
            site: site.to_owned(),
            rtt_ns: self.rtts.get(site).copied().unwrap_or(0),
        };
        let times = pairs.iter().filter_map(|pair| pair.times(phase));
        Some(judged(phase, Times::row(key, &times.collect_vec())?))
    }
}
