use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{CertificateFault, FailureClass, Outcome, Sample};

use super::summary::{ConnectSummary, FailureRow, UnsupportedRow};
use crate::text::missing_root;

/// Returns the sites that failed on each stack, each class and reason once.
pub(crate) fn failures(measured: &[&Sample]) -> Vec<FailureRow> {
    let mut trials: BTreeMap<_, u64> = BTreeMap::new();
    let mut rows: BTreeMap<_, FailureRow> = BTreeMap::new();
    for sample in measured {
        let case = (&sample.site, sample.condition, &sample.stack);
        *trials.entry(case).or_default() += 1;
        let Outcome::Failed(failure) = &sample.outcome else {
            continue;
        };
        let row = rows
            .entry((case, failure.class, failure.reason.to_string()))
            .or_insert_with(|| FailureRow {
                site: sample.site.clone(),
                stack: sample.stack.clone(),
                condition: sample.condition,
                class: failure.class,
                reason: failure.reason.to_string(),
                detail: failure.detail.clone(),
                failed: 0,
                trials: 0,
            });
        row.failed += 1;
    }
    let rows = rows.into_iter();
    rows.map(|((case, ..), row)| FailureRow {
        trials: trials.get(&case).copied().unwrap_or(0),
        ..row
    })
    .collect()
}

impl ConnectSummary {
    /// Returns the cause and the remedy, if every stack finds that the certificates of half of the sites or more
    /// lead to no trusted root.
    pub(crate) fn missing_root(&self) -> Option<String> {
        let rows = self.failures.iter().filter(|row| {
            row.class == FailureClass::Certificate
                && row.reason == CertificateFault::UnknownIssuer.name()
                && row.failed == row.trials
        });
        let stacks = rows
            .map(|row| (self.site_of(&row.site), &row.stack))
            .into_grouping_map()
            .collect::<BTreeSet<_>>();
        let of_all = stacks
            .values()
            .filter(|of| of.len() == self.run.stacks.len());
        missing_root(of_all.count() as u64, self.run.sites)
    }
}

/// Returns the connections that were not attempted, with the sites of each reason together.
pub(crate) fn unsupported(measured: &[&Sample]) -> Vec<UnsupportedRow> {
    let mut rows: BTreeMap<_, (BTreeSet<&String>, u64)> = BTreeMap::new();
    for sample in measured {
        if let Outcome::Unsupported { reason } = &sample.outcome {
            let key = (sample.condition, &sample.stack, reason);
            let (sites, samples) = rows.entry(key).or_default();
            sites.insert(&sample.site);
            *samples += 1;
        }
    }
    let rows = rows.into_iter();
    rows.map(
        |((condition, stack, reason), (sites, samples))| UnsupportedRow {
            condition,
            stack: stack.clone(),
            reason: reason.clone(),
            sites: sites.into_iter().cloned().collect(),
            samples,
        },
    )
    .collect()
}
