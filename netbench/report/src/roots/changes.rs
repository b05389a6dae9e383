use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    Accepts, StackName, Standing, SwitchEffect,
    compat::Judgement,
    roots::{RootsOutcome, StoreLayout, TrustOrigin},
};

use super::{PUBLIC, RootsCell, RootsSummary};
use crate::matrix::MatrixCase;

/// The changes by one source of a stack's roots, compared with the roots that another stack trusts from any of its
/// sources.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        let number = |sites: &BTreeMap<&str, Vec<&str>>| sites.values().map(Vec::len).sum();
        (number(&self.lost), number(&self.accepted))
    }
}

impl RootsSummary {
    /// Returns the deteriorations from one stack to another, by each source of the other's roots that could be
    /// tested. The result is empty if no source of either could be tested.
    pub(crate) fn changes(&self, from: &StackName, to: &StackName) -> Vec<TrustChange<'_>> {
        let clients = |stack: &StackName| -> Vec<usize> {
            let all = self.matrix.clients.iter().enumerate();
            let of_stack = all.filter(|(_, client)| client.stack == *stack);
            let reported = of_stack.filter(|(number, _)| self.tells_of(*number));
            reported.map(|(number, _)| number).collect()
        };
        let before = clients(from);
        if before.is_empty() {
            return Vec::new();
        }
        clients(to)
            .into_iter()
            .filter_map(|after| {
                let source = self.matrix.clients[after].source.as_deref()?;
                let mut change = TrustChange {
                    source,
                    lost: BTreeMap::new(),
                    accepted: BTreeMap::new(),
                    refused: BTreeMap::new(),
                };
                for row in &self.matrix.cases {
                    self.compare(row, &before, after, &mut change);
                }
                Some(change)
            })
            .collect()
    }

    fn compare<'a>(
        &'a self,
        row: &'a MatrixCase<StoreLayout, RootsCell>,
        before: &[usize],
        after: usize,
        change: &mut TrustChange<'a>,
    ) {
        let outcome = |client: usize| row.cell(client).map(|cell| &cell.result);
        let Some(now) = outcome(after) else { return };
        let then: Vec<&RootsOutcome> = before
            .iter()
            .filter_map(|&client| outcome(client))
            .collect();
        for site in &self.run.sites {
            let site = site.name.as_str();
            let is_due = row.case.trusts.iter().any(|due| due == site);
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
                Some(SwitchEffect::LossInSecurity) => &mut change.accepted,
                Some(SwitchEffect::GainInSecurity) => &mut change.refused,
                Some(SwitchEffect::GainOfReach) | None => continue,
            };
            kind.entry(site).or_default().push(&row.case.name);
        }
    }

    /// Returns whether a client could be tested at all.
    fn tells_of(&self, client: usize) -> bool {
        self.matrix
            .column(client)
            .any(|(_, cell)| cell.judgement != Judgement::Unsupported)
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
