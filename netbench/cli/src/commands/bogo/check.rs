use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use netbench_bogo::{Baseline, Catalog, Departure, Results, Runner};

use crate::exit::Ended;

use super::{
    progress::Say,
    runs::{self, Job, Kept},
    shims::tree,
};

/// Where outcomes are kept in the source tree.
pub(crate) fn place(shim: &str) -> anyhow::Result<PathBuf> {
    Ok(tree()?.join("results/bogo").join(format!("{shim}.tsv")))
}

/// Where it is kept what each test expects.
pub(crate) fn tests_place() -> anyhow::Result<PathBuf> {
    place("tests")
}

/// Keeps the outcomes of every shim as what later ones are compared with.
pub(crate) fn accept(
    runner: &Runner,
    catalog: &Catalog,
    kept: &[Kept<'_>],
    say: &Say,
) -> anyhow::Result<()> {
    let write = |path: &Path, text: String| {
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    let path = tests_place()?;
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    write(&path, catalog.to_text())?;
    for Kept { shim, results, .. } in kept {
        let path = place(shim.name)?;
        write(&path, Baseline::of(&runner.id, results).to_text())?;
        say.step(&format!(
            "the outcomes of {} are kept in {}",
            shim.name,
            path.display()
        ));
    }
    Ok(())
}

/// More tests than this do not depart by chance.
const AGAIN_AT_MOST: usize = 200;

/// Compares the outcomes of every shim with what was kept, and says on stderr what departs. A test that
/// departs is run once more before it counts, because some depend on chance and on a machine at leisure.
pub(crate) fn check(job: &Job<'_>, kept: &mut [Kept<'_>], say: &Say) -> anyhow::Result<Ended> {
    let mut departures = Vec::new();
    for Kept { shim, results } in kept {
        let baseline = Baseline::read(&place(shim.name)?)?;
        let depart = |results: &Results| {
            baseline.departures(
                shim.name,
                &job.runner.id,
                job.catalog,
                &shim.config,
                results,
            )
        };
        let first = depart(results);
        let doubtful: Vec<&str> = first
            .iter()
            .filter_map(|departure| match departure {
                Departure::NoLongerPasses { test, .. }
                | Departure::DisabledTestPasses { test, .. } => Some(test.as_str()),
                Departure::IdlePattern { .. } | Departure::OtherRunner { .. } => None,
            })
            .collect();
        if !doubtful.is_empty() && doubtful.len() <= AGAIN_AT_MOST {
            let again = runs::again(job, shim, &doubtful, say)?;
            results.tests.extend(again.tests);
        }
        departures.extend(depart(results));
    }
    for departure in &departures {
        eprintln!("netbench: {}", words(departure));
    }
    Ok(if departures.is_empty() {
        Ended::Well
    } else {
        Ended::CheckFailed
    })
}

fn words(departure: &Departure) -> String {
    match departure {
        Departure::NoLongerPasses {
            shim,
            test,
            now,
            line,
        } => {
            format!(
                "{shim}: {test} passed and is {} now: {}",
                now.name(),
                line.escape_debug()
            )
        }
        Departure::DisabledTestPasses { shim, test, reason } => {
            format!("{shim}: {test} passes, and its configuration says that it does not: {reason}")
        }
        Departure::IdlePattern { shim, pattern } => {
            format!("{shim}: no test of the runner matches {pattern} of its configuration")
        }
        Departure::OtherRunner { shim, kept } => {
            format!(
                "{shim}: what is kept is of another runner ({kept}); --accept keeps new outcomes"
            )
        }
    }
}
