use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    Accepts, StackName, Standing, SwitchEffect,
    roots::{RootsOutcome, TrustOrigin},
};

use super::{PUBLIC, RootsRow, RootsSummary};

/// What one source of a stack's roots changes, held against what another stack trusts by any of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TrustChange<'a> {
    /// The source.
    pub(crate) source: &'a str,
    /// The sites that do not load any more and should, each with the layouts.
    pub(crate) lost: BTreeMap<&'a str, Vec<&'a str>>,
    /// The sites that load now and should not, each with the layouts.
    pub(crate) unwarned: BTreeMap<&'a str, Vec<&'a str>>,
    /// The sites that loaded and should not, and do not any more, each with the layouts.
    pub(crate) refused: BTreeMap<&'a str, Vec<&'a str>>,
}

impl TrustChange<'_> {
    /// In how many layouts anything gets worse.
    pub(crate) fn layouts(&self) -> usize {
        let all = self.lost.values().chain(self.unwarned.values());
        all.flatten().collect::<BTreeSet<_>>().len()
    }

    /// How bad it is: what is lost counts first.
    pub(crate) fn weight(&self) -> (usize, usize) {
        let number = |sites: &BTreeMap<&str, Vec<&str>>| sites.values().map(Vec::len).sum();
        (number(&self.lost), number(&self.unwarned))
    }
}

impl RootsSummary {
    /// What gets worse from one stack to another, by each source of the other's roots that could be tried. Empty where nothing
    /// of either could.
    pub(crate) fn changes(&self, from: &StackName, to: &StackName) -> Vec<TrustChange<'_>> {
        let clients = |stack: &StackName| -> Vec<usize> {
            let all = self.run.clients.iter().enumerate();
            let of_stack = all.filter(|(_, client)| client.stack == *stack);
            let told = of_stack.filter(|(number, _)| self.tells_of(*number));
            told.map(|(number, _)| number).collect()
        };
        let before = clients(from);
        if before.is_empty() {
            return Vec::new();
        }
        clients(to)
            .into_iter()
            .filter_map(|after| {
                let source = self.run.clients[after].source.as_deref()?;
                let mut change = TrustChange {
                    source,
                    lost: BTreeMap::new(),
                    unwarned: BTreeMap::new(),
                    refused: BTreeMap::new(),
                };
                for row in &self.layouts {
                    self.compare(row, &before, after, &mut change);
                }
                Some(change)
            })
            .collect()
    }

    fn compare<'a>(
        &'a self,
        row: &'a RootsRow,
        before: &[usize],
        after: usize,
        change: &mut TrustChange<'a>,
    ) {
        let outcome = |client: usize| row.clients.get(client).and_then(Option::as_ref);
        let Some(now) = outcome(after) else { return };
        let then: Vec<&RootsOutcome> = before
            .iter()
            .filter_map(|&client| outcome(client))
            .collect();
        for site in &self.run.sites {
            let site = site.name.as_str();
            let is_due = row.layout.trusts.iter().any(|due| due == site);
            let loaded = |outcome: &&RootsOutcome| loads(outcome, site, is_due);
            let standing = if is_due {
                Standing::Sound
            } else {
                Standing::Unsafe
            };
            let before = Accepts::from(then.iter().any(loaded));
            let after = Accepts::from(loads(now, site, is_due));
            let kind = match SwitchEffect::of(standing, before, after) {
                Some(SwitchEffect::LossOfReach) => &mut change.lost,
                Some(SwitchEffect::LossInSecurity) => &mut change.unwarned,
                Some(SwitchEffect::GainInSecurity) => &mut change.refused,
                Some(SwitchEffect::GainOfReach) | None => continue,
            };
            kind.entry(site).or_default().push(&row.layout.name);
        }
    }

    /// Whether a client could be tried at all.
    fn tells_of(&self, client: usize) -> bool {
        let cells = self
            .layouts
            .iter()
            .filter_map(|row| row.clients.get(client));
        let mut cells = cells.flatten();
        cells.any(|cell| !matches!(cell, RootsOutcome::Unsupported { .. }))
    }
}

/// Whether a site loads. A client with roots of its own has the real public ones: where these are due, the lab's stands for them.
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
