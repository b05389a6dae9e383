use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;

use super::{ConnectSummary, FailureRow};
use crate::document::{Check, CheckSuite, Checked};

/// A suite for each condition and stack, with a check for each site.
pub(super) fn checks(summary: &ConnectSummary) -> Vec<CheckSuite> {
    let mut failed: BTreeMap<_, Vec<&FailureRow>> = BTreeMap::new();
    for row in &summary.failures {
        let key = (row.condition, row.stack.as_str(), row.site.as_str());
        failed.entry(key).or_default().push(row);
    }
    let mut skipped = BTreeMap::new();
    for row in &summary.unsupported {
        for site in &row.sites {
            let key = (row.condition, row.stack.as_str(), site.as_str());
            skipped.insert(key, row.reason.as_str());
        }
    }
    let compared = summary.comparisons.iter().flat_map(|comparison| {
        let stacks = [&comparison.first, &comparison.other];
        let rows = comparison.sites.rows.iter();
        rows.flat_map(move |row| {
            stacks.map(|stack| (comparison.condition, stack.as_str(), row.site.as_str()))
        })
    });
    let mut sites: BTreeSet<_> = compared.collect();
    sites.extend(failed.keys());
    sites.extend(skipped.keys());
    let mut suites: BTreeMap<_, CheckSuite> = BTreeMap::new();
    for key in sites {
        let (condition, stack, site) = key;
        let outcome = match (failed.get(&key), skipped.get(&key)) {
            (Some(rows), _) => failure(rows),
            (None, Some(why)) => Checked::Skipped {
                why: (*why).to_owned(),
            },
            (None, None) => Checked::Passed,
        };
        let suite = suites
            .entry((condition, stack))
            .or_insert_with(|| CheckSuite {
                name: format!("{condition} {stack}"),
                checks: Vec::new(),
            });
        suite.checks.push(Check {
            name: site.to_owned(),
            class: Some(format!("{condition}.{stack}")),
            outcome,
            said: None,
        });
    }
    suites.into_values().collect()
}

fn failure(rows: &[&FailureRow]) -> Checked {
    let words = |row: &&FailureRow| {
        format!(
            "{} of {}: {}: {}",
            row.failed, row.trials, row.class, row.reason
        )
    };
    let class = rows.first().map(|row| row.class.to_string());
    Checked::Failed {
        why: rows.iter().map(words).join("; "),
        class: class.unwrap_or_default(),
    }
}
