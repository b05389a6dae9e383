use std::fs;

use anyhow::Context;
use netbench_bogo::{Baseline, Departure, catalog_path, outcomes_path, store};

use crate::exit::Ended;

use super::{
    runs::{Job, Setup, ShimRun},
    shims::{known, tree},
};

/// Stores the outcomes of every shim in the source tree, for later runs to compare with.
pub(crate) fn accept(setup: &Setup<'_>, runs: &[ShimRun<'_>]) -> anyhow::Result<()> {
    let tree = tree()?;
    let path = tree.root().join(catalog_path());
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(&path, setup.catalog.to_text())
        .with_context(|| format!("cannot write {}", path.display()))?;
    for ShimRun { shim, results } in runs {
        let baseline = Baseline::of(&setup.runner.id, shim.library.as_deref(), results);
        store(tree.root(), known(shim.name)?, &baseline)?;
        let path = tree.root().join(outcomes_path(shim.name));
        let (name, path) = (shim.name, path.display());
        setup
            .progress
            .stage(&format!("Stored the outcomes of {name} in {path}"));
    }
    Ok(())
}

/// The largest number of departures of one shim that chance may explain; more are not repeated.
const REPEATED_AT_MOST: usize = 200;

/// Compares the outcomes of every shim with the stored ones, and reports departures on stderr. A test that departs is
/// repeated once before it counts, because some tests depend on chance or on an idle machine.
pub(crate) fn check(job: &Job<'_>, runs: &mut [ShimRun<'_>]) -> anyhow::Result<Ended> {
    let tree = tree()?;
    let Setup {
        runner, catalog, ..
    } = job.setup;
    let mut departures = Vec::new();
    let mut checked = 0;
    for ShimRun { shim, results } in runs {
        let baseline = Baseline::read(&tree.root().join(outcomes_path(shim.name)))?;
        if baseline.library != shim.library {
            let [stored, now] = [&baseline.library, &shim.library]
                .map(|library| library.as_deref().unwrap_or_default());
            let is_checked = shim.library_is_fixed();
            note!(
                "netbench: {}: {}the stored outcomes are of {}, and these of {}",
                shim.name,
                if is_checked { "" } else { "not checked: " },
                stored.escape_debug(),
                now.escape_debug()
            );
            // Another system's libssl may behave differently, which is no defect.
            if !is_checked {
                continue;
            }
        }
        checked += 1;
        let first = baseline.departures(&runner.id, catalog, &shim.config, results);
        let doubtful: Vec<&str> = first
            .iter()
            .filter_map(|departure| match departure {
                Departure::NoLongerPasses { test, .. }
                | Departure::NewFailure { test, .. }
                | Departure::DisabledTestPasses { test, .. } => Some(test.as_str()),
                Departure::IdlePattern { .. } | Departure::OtherRunner { .. } => None,
            })
            .collect();
        if !doubtful.is_empty() && doubtful.len() <= REPEATED_AT_MOST {
            let again = job.repeat(shim, &doubtful)?;
            results.tests.extend(again.tests);
        }
        let last = baseline.departures(&runner.id, catalog, &shim.config, results);
        departures.extend(last.into_iter().map(|departure| (shim.name, departure)));
    }
    for (shim, departure) in &departures {
        note!("netbench: {shim}: {departure}");
    }
    Ok(match departures.as_slice() {
        [] if checked == 0 => Ended::NothingToCompare,
        [] => Ended::Well,
        _ => Ended::CheckFailed,
    })
}
