use std::collections::BTreeMap;

use itertools::Itertools;

use super::{ConnectSummary, FailureRow};
use crate::{
    document::{Check, CheckSuite, Checked},
    text::named_site,
};

/// Builds a suite for each condition and stack, with a check for each site.
pub(super) fn checks(summary: &ConnectSummary) -> Vec<CheckSuite> {
    let mut outcomes: BTreeMap<_, Checked> = BTreeMap::new();
    for comparison in &summary.comparisons {
        for row in &comparison.sites.rows {
            for stack in [&comparison.first, &comparison.other] {
                let key = (comparison.condition, stack, &row.key.site);
                outcomes.insert(key, Checked::Passed);
            }
        }
    }
    for row in &summary.unsupported {
        outcomes.extend(row.sites.iter().map(|site| {
            let key = (row.condition, &row.stack, site);
            (key, Checked::skipped(&row.reason))
        }));
    }
    let failed = summary.failures.iter();
    let failed = failed.into_group_map_by(|row| (row.condition, &row.stack, &row.site));
    let failed = failed.into_iter().map(|(key, rows)| (key, failure(&rows)));
    outcomes.extend(failed);
    let suites = outcomes.into_iter();
    let suites = suites.chunk_by(|((condition, stack, _), _)| (*condition, *stack));
    let suites = suites.into_iter().map(|((condition, stack), checks)| {
        let checks = checks.map(|((_, _, site), outcome)| {
            let name = named_site(summary.run.target, site);
            Check::new(name, outcome).of(format!("{condition}.{stack}"))
        });
        CheckSuite::new(format!("{condition} {stack}"), checks)
    });
    suites.collect()
}

fn failure(rows: &[&FailureRow]) -> Checked {
    let words = rows.iter().map(|row| {
        format!(
            "{} of {}: {}: {}",
            row.failed, row.trials, row.class, row.reason
        )
    });
    let class = rows.first().map(|row| row.class.to_string());
    Checked::failed(words.into_iter().join("; "), class.unwrap_or_default())
}
