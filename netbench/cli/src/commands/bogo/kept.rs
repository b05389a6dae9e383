use netbench_bogo::{
    Baseline, BogoError, Catalog, Coverage, Difference, Results, RunnerId, ShimConfig,
    glob_matches_any,
};

use crate::exit::WrongInput;

use super::{
    check::{place, tests_place},
    shims::{self, KnownShim},
};

/// The outcomes that are kept in the source tree.
pub(crate) struct KeptOutcomes {
    runner: RunnerId,
    catalog: Catalog,
    columns: Vec<(&'static str, ShimConfig, Results)>,
}

impl KeptOutcomes {
    /// Reads those of `shims`.
    ///
    /// # Errors
    /// Where nothing is kept of a shim, or of another runner than of the others.
    pub(crate) fn read(known: &[&'static KnownShim]) -> anyhow::Result<Self> {
        let catalog = Catalog::read(&tests_place()?)?;
        let mut runner: Option<RunnerId> = None;
        let mut columns = Vec::new();
        for shim in known {
            let path = place(shim.name)?;
            if !path.is_file() {
                return Err(WrongInput(format!(
                    "no outcomes of {} are kept in {}: `netbench bogo --shim {} --accept` keeps them",
                    shim.name,
                    path.display(),
                    shim.name
                ))
                .into());
            }
            let baseline = Baseline::read(&path)?;
            let id = baseline.runner_id().filter(|id| {
                let before = runner.get_or_insert_with(|| id.clone());
                before == id
            });
            if id.is_none() {
                return Err(WrongInput(format!(
                    "{}: of another runner than the others ({}); --accept keeps new outcomes",
                    path.display(),
                    baseline.runner.escape_debug()
                ))
                .into());
            }
            columns.push((shim.name, shims::config(shim)?, baseline.results()));
        }
        let runner = runner.ok_or_else(|| WrongInput("no stack was named".to_owned()))?;
        Ok(Self {
            runner,
            catalog,
            columns,
        })
    }

    /// Keeps only tests whose names match.
    pub(crate) fn only(&mut self, pattern: &str) {
        for (_, _, results) in &mut self.columns {
            results
                .tests
                .retain(|name, _| glob_matches_any(pattern, name));
        }
    }

    pub(crate) fn coverage(&self, feature: Option<&str>) -> Result<Coverage, BogoError> {
        let columns: Vec<_> = self
            .columns
            .iter()
            .map(|(name, config, results)| (*name, config, results))
            .collect();
        Coverage::sum_up(&self.runner, &self.catalog, &columns, feature)
    }

    /// Between the first two.
    pub(crate) fn difference(&self, feature: Option<&str>) -> Option<Difference> {
        let [one, other, ..] = self.columns.as_slice() else {
            return None;
        };
        Some(Difference::between(
            &self.catalog,
            (one.0, &one.1, &one.2),
            (other.0, &other.1, &other.2),
            feature,
        ))
    }
}
