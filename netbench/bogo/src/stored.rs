use std::{
    fs,
    path::{Path, PathBuf},
};

use netbench_model::coverage::{Coverage, Defects, Difference, Matrix, RunnerId};

use crate::{
    Baseline, BogoError, Catalog, KNOWN_SHIMS, KnownShim, OutcomesIn, Results, ShimConfig,
    ShimResults, TestPatterns, coverage_of, defects_of, difference_between, matrix_of,
};

/// Stored outcomes of shims: coverage and differences without a run.
#[derive(Debug)]
pub struct StoredOutcomes {
    runner: RunnerId,
    catalog: Catalog,
    shims: Vec<StoredShim>,
}

#[derive(Debug)]
struct StoredShim {
    name: &'static str,
    config: ShimConfig,
    results: Results,
}

impl StoredOutcomes {
    /// Reads the outcomes of `shims`.
    ///
    /// # Errors
    /// Returns [`BogoError::NotStored`] where a shim has no stored outcomes, [`BogoError::OtherRunner`] where
    /// they belong to another runner than those of the other shims, and errors of the files.
    pub fn read(place: &OutcomesIn, shims: &[&'static KnownShim]) -> Result<Self, BogoError> {
        let path = catalog_path();
        let catalog = Catalog::of_text(&path, &place.needed(&path)?)?;
        let mut runner: Option<RunnerId> = None;
        let mut stored = Vec::new();
        for shim in shims {
            let path = outcomes_path(shim.name);
            let Some(text) = place.text(&path)? else {
                let shim = shim.name;
                return Err(BogoError::NotStored { shim, path });
            };
            let baseline = Baseline::of_text(&path, &text, |base| place.needed(base))?;
            let id = baseline.runner_id();
            if id.is_none() || runner.is_some() && id != runner {
                let runner = baseline.runner.escape_debug().to_string();
                return Err(BogoError::OtherRunner { path, runner });
            }
            runner = id;
            stored.push(StoredShim {
                name: shim.name,
                config: shim.config(place)?,
                results: baseline.results(),
            });
        }
        Ok(Self {
            runner: runner.ok_or(BogoError::NoShimNamed)?,
            catalog,
            shims: stored,
        })
    }

    /// Removes the tests whose names do not match.
    pub fn retain(&mut self, patterns: &TestPatterns) {
        for shim in &mut self.shims {
            shim.results.tests.retain(|name, _| patterns.matches(name));
        }
    }

    /// Returns the coverage of all shims that were read; with `feature`, of one feature.
    ///
    /// # Errors
    /// Returns the errors of [`coverage_of`].
    pub fn coverage(&self, feature: Option<&str>) -> Result<Coverage, BogoError> {
        let columns: Vec<_> = self.shims.iter().map(StoredShim::column).collect();
        coverage_of(&self.runner, &self.catalog, &columns, feature)
    }

    /// Returns the support of every feature by each stack.
    pub fn matrix(&self) -> Matrix {
        let columns: Vec<_> = self.shims.iter().map(StoredShim::column).collect();
        matrix_of(&self.runner, &self.catalog, &columns)
    }

    /// Returns the stacks' violations of their protocols.
    pub fn defects(&self) -> Defects {
        let columns: Vec<_> = self.shims.iter().map(StoredShim::column).collect();
        defects_of(&self.runner, &self.catalog, &columns)
    }

    /// Returns the difference between the first two shims that were read; with `feature`, on one feature.
    pub fn difference(&self, feature: Option<&str>) -> Option<Difference> {
        let [first, second, ..] = self.shims.as_slice() else {
            return None;
        };
        let (first, second) = (first.column(), second.column());
        Some(difference_between(&self.catalog, first, second, feature))
    }
}

impl StoredShim {
    fn column(&self) -> ShimResults<'_> {
        ShimResults {
            shim: self.name,
            config: &self.config,
            results: &self.results,
        }
    }
}

/// Stores the outcomes of a shim in the source tree: whole, or as differences from another shim's. The files with
/// differences from this shim's outcomes are written again, and keep their meaning.
///
/// # Errors
/// Returns an error if a file cannot be written, or if one that depends on another cannot be read.
pub fn store(tree: &Path, shim: &KnownShim, baseline: &Baseline) -> Result<(), BogoError> {
    let mut dependent = Vec::new();
    for other in &KNOWN_SHIMS {
        let path = tree.join(outcomes_path(other.name));
        if other.differs_from == Some(shim.name) && path.is_file() {
            dependent.push((other, Baseline::read(&path)?));
        }
    }
    let text = match shim.differs_from {
        None => baseline.to_text(),
        Some(base) => {
            let of_base = Baseline::read(&tree.join(outcomes_path(base)))?;
            baseline.differences_to_text(base, &of_base)
        }
    };
    write(tree, shim, &text)?;
    for (other, outcomes) in dependent {
        write(
            tree,
            other,
            &outcomes.differences_to_text(shim.name, baseline),
        )?;
    }
    Ok(())
}

fn write(tree: &Path, shim: &KnownShim, text: &str) -> Result<(), BogoError> {
    let path = tree.join(outcomes_path(shim.name));
    fs::write(&path, text).map_err(BogoError::io(path))
}

/// Returns the path, in the source tree, of the file with a shim's outcomes.
pub fn outcomes_path(shim: &str) -> PathBuf {
    Path::new("results/bogo").join(format!("{shim}.tsv"))
}

/// Returns the path, in the source tree, of the file with each test's expectation.
pub fn catalog_path() -> PathBuf {
    outcomes_path("tests")
}
