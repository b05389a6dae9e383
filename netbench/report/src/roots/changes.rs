use std::collections::BTreeMap;

use itertools::Itertools;
use netbench_model::{
    StackName, Standing, SwitchEffect,
    roots::{RootsOutcome, TrustOrigin},
};

use super::{PUBLIC, RootsSummary};

/// The changes by one source of a stack's roots, compared with the roots that another stack trusts from any of its
/// sources.
pub(crate) struct TrustChange<'a> {
    /// The source.
    pub(crate) source: &'a str,
    /// The layouts of each effect on a site.
    layouts: BTreeMap<(SwitchEffect, &'a str), Vec<&'a str>>,
}

impl<'a> TrustChange<'a> {
    pub(crate) fn sites(
        &self,
        effect: SwitchEffect,
    ) -> impl Iterator<Item = (&'a str, &[&'a str])> {
        let found = self.layouts.iter();
        let found = found.filter(move |((of, _), _)| *of == effect);
        found.map(|((_, site), layouts)| (*site, layouts.as_slice()))
    }

    /// Returns the number of layouts with any deterioration.
    pub(crate) fn layouts(&self) -> usize {
        let worse = self
            .layouts
            .iter()
            .filter(|((effect, _), _)| effect.is_loss());
        worse.flat_map(|(_, layouts)| layouts).unique().count()
    }

    /// Returns the severity: lost sites count first.
    pub(crate) fn weight(&self) -> (usize, usize) {
        [SwitchEffect::LossOfReach, SwitchEffect::LossInSecurity]
            .map(|effect| self.sites(effect).map(|(_, layouts)| layouts.len()).sum())
            .into()
    }
}

impl RootsSummary {
    /// Returns the changes from one stack to another, by each source of the other's roots that could be tested. The
    /// result is empty if no source of either could be tested.
    pub(crate) fn changes(&self, from: &StackName, to: &StackName) -> Vec<TrustChange<'_>> {
        let before = self.told(from);
        if before.is_empty() {
            return Vec::new();
        }
        let changes = self.told(to).into_iter().filter_map(|after| {
            Some(TrustChange {
                source: self.matrix.clients[after].source.as_deref()?,
                layouts: self.changed_layouts(&before, after),
            })
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

    /// Returns the layouts of each effect on a site, of a client in place of others.
    fn changed_layouts(
        &self,
        before: &[usize],
        after: usize,
    ) -> BTreeMap<(SwitchEffect, &str), Vec<&str>> {
        let mut layouts: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for row in &self.matrix.cases {
            let Some(now) = row.cell(after) else { continue };
            for site in &self.run.sites {
                let site = site.name.as_str();
                let is_due = row.case.trusts.iter().any(|due| due == site);
                let standing = if is_due {
                    Standing::Sound
                } else {
                    Standing::Unsafe
                };
                let mut then = before.iter().filter_map(|client| row.cell(*client));
                let loaded = then.any(|cell| loads(&cell.result, site, is_due));
                let loads = loads(&now.result, site, is_due);
                let effect = SwitchEffect::of(standing, loaded.into(), loads.into());
                if let Some(effect) = effect {
                    let found = layouts.entry((effect, site)).or_default();
                    found.push(&row.case.name);
                }
            }
        }
        layouts
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
