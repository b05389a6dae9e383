use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{
    Accepts, StackName, Standing, SwitchEffect,
    roots::{RootsOutcome, StoreLayout, TrustOrigin},
};

use super::{PUBLIC, RootsCell, RootsSummary};
use crate::matrix::MatrixCase;

/// The changes by one source of a stack's roots, compared with the roots that another stack trusts from any of its
/// sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TrustChange<'a> {
    /// The source.
    pub(crate) source: &'a str,
    /// The sites that no longer load and should, each with the layouts.
    pub(crate) lost: BTreeMap<&'a str, Vec<&'a str>>,
    /// The sites that now load and should not, each with the layouts.
    pub(crate) accepted: BTreeMap<&'a str, Vec<&'a str>>,
    /// The sites that loaded and should not, and no longer load, each with the layouts.
    pub(crate) refused: BTreeMap<&'a str, Vec<&'a str>>,
}

impl TrustChange<'_> {
    /// Returns the number of layouts with any deterioration.
    pub(crate) fn layouts(&self) -> usize {
        let all = self.lost.values().chain(self.accepted.values());
        all.flatten().collect::<BTreeSet<_>>().len()
    }

    /// Returns the severity: lost sites count first.
    pub(crate) fn weight(&self) -> (usize, usize) {
        [&self.lost, &self.accepted]
            .map(|sites| sites.values().map(Vec::len).sum())
            .into()
    }
}

impl RootsSummary {
    /// Returns the deteriorations from one stack to another, by each source of the other's roots that could be
    /// tested. The result is empty if no source of either could be tested.
    pub(crate) fn changes(&self, from: &StackName, to: &StackName) -> Vec<TrustChange<'_>> {
        let before = self.told(from);
        if before.is_empty() {
            return Vec::new();
        }
        let changes = self.told(to).into_iter().filter_map(|after| {
            let source = self.matrix.clients[after].source.as_deref()?;
            let mut change = TrustChange {
                source,
                ..TrustChange::default()
            };
            for row in &self.matrix.cases {
                self.compare(row, &before, after, &mut change);
            }
            Some(change)
        });
        changes.collect()
    }

    /// Returns the clients of a stack that could be tested at all.
    fn told(&self, stack: &StackName) -> Vec<usize> {
        let clients = self.matrix.clients.iter();
        let of_stack = clients.positions(|client| client.stack == *stack);
        of_stack
            .filter(|client| self.matrix.column(*client).any(|(_, cell)| cell.is_told()))
            .collect()
    }

    fn compare<'a>(
        &'a self,
        row: &'a MatrixCase<StoreLayout, RootsCell>,
        before: &[usize],
        after: usize,
        change: &mut TrustChange<'a>,
    ) {
        let Some(now) = row.cell(after) else { return };
        let then = before.iter().filter_map(|client| row.cell(*client));
        let then: Vec<&RootsCell> = then.collect();
        for site in &self.run.sites {
            let site = site.name.as_str();
            let is_due = row.case.trusts.iter().any(|due| due == site);
            let standing = if is_due {
                Standing::Sound
            } else {
                Standing::Unsafe
            };
            let loaded = then.iter().any(|cell| loads(&cell.result, site, is_due));
            let (before, after) = (
                Accepts::from(loaded),
                Accepts::from(loads(&now.result, site, is_due)),
            );
            let kind = match SwitchEffect::of(standing, before, after) {
                Some(SwitchEffect::LossOfReach) => &mut change.lost,
                Some(SwitchEffect::LossInSecurity) => &mut change.accepted,
                Some(SwitchEffect::GainInSecurity) => &mut change.refused,
                Some(SwitchEffect::GainOfReach) | None => continue,
            };
            kind.entry(site).or_default().push(&row.case.name);
        }
    }
}

/// Returns whether a site loads. A client with bundled roots has the real public ones: if they are due, they are
/// represented by the lab's public root.
fn loads(outcome: &RootsOutcome, site: &str, is_due: bool) -> bool {
    let is_bundled = matches!(
        outcome,
        RootsOutcome::Made {
            origin: TrustOrigin::Bundled,
            ..
        }
    );
    let trusted = outcome.trusted().unwrap_or_default();
    trusted.contains(&site) || (is_bundled && is_due && site == PUBLIC)
}
