//! `netbench bogo`: builds the runner and the shims, runs the tests whose results are not cached, and
//! shows coverage or differences.

pub(crate) mod args;
mod check;
pub(crate) mod cost;
mod runs;
mod shims;

use netbench_bogo::{
    BogoError, FEATURES, Features, KNOWN_SHIMS, KnownShim, OutcomesIn, StoredOutcomes,
    TestPatterns, coverage_of, defects_of, difference_between, matrix_of,
};

use self::{
    args::{Bogo, BogoCommand, BogoDefects, BogoDiff},
    runs::{Setup, ShimRun},
    shims::Shim,
};
use crate::{
    exit::{Ended, WrongInput, bail_input},
    output,
    workers::SourceTree,
};

/// The shims of the default table, with the control column first.
const DEFAULT: [&str; 3] = ["boringssl", "openssl", "rustls"];

/// The name that stands for every shim.
const ALL: &str = "all";

pub(crate) fn bogo(options: &Bogo) -> anyhow::Result<Ended> {
    match &options.command {
        Some(BogoCommand::Diff(diff)) => difference(diff),
        Some(BogoCommand::Defects(options)) => defects(options),
        None => coverage(options),
    }
}

fn coverage(options: &Bogo) -> anyhow::Result<Ended> {
    let feature = options.feature.as_deref().map(known_feature).transpose()?;
    let chosen = !options.shim.is_empty();
    let names: Vec<&str> = if chosen {
        options.shim.iter().map(String::as_str).collect()
    } else if options.matrix {
        // BoringSSL's own shim passes all tests; the matrix compares the stacks.
        DEFAULT[1..].to_vec()
    } else {
        DEFAULT.to_vec()
    };
    let known = distinct(&names)?;
    let tests = options.test.as_deref().map(TestPatterns::parse);
    let tests = tests.transpose().map_err(input)?;
    if options.how.stored {
        let mut stored = stored(&known)?;
        if options.matrix {
            output::print(&stored.matrix(), &options.output)?;
            return Ok(Ended::Well);
        }
        if let Some(tests) = &tests {
            stored.retain(tests);
        }
        let mut coverage = stored.coverage(feature)?;
        coverage.pattern = options.test.clone();
        output::print(&coverage, &options.output)?;
        return Ok(Ended::Well);
    }
    let setup = Setup::new(&options.how, &options.output)?;
    let wanted = wanted(&setup, tests.as_ref(), feature)?;
    let mut warnings = Vec::new();
    let mut found = Vec::new();
    for shim in known {
        match Shim::find(shim, &setup) {
            Ok(shim) => found.push(shim),
            // The user did not ask for the control column; the other columns are shown without it.
            Err(error) if !chosen && shim.name == "boringssl" => {
                warnings.push(format!("no column for boringssl: {error:#}"));
            }
            Err(error) => return Err(error),
        }
    }
    let job = setup.job(wanted.as_ref());
    let mut runs = job.run(&found)?;
    let columns: Vec<_> = runs.iter().map(ShimRun::column).collect();
    let (runner, catalog) = (&setup.runner.id, &setup.catalog);
    if options.matrix {
        output::print(&matrix_of(runner, catalog, &columns), &options.output)?;
    } else {
        let mut coverage = coverage_of(runner, catalog, &columns, feature)?;
        coverage.pattern = options.test.clone();
        coverage.warnings = warnings;
        output::print(&coverage, &options.output)?;
    }
    if options.accept {
        check::accept(&setup, &runs)?;
    }
    if options.check {
        return check::check(&job, &mut runs);
    }
    Ok(Ended::Well)
}

fn difference(options: &BogoDiff) -> anyhow::Result<Ended> {
    let feature = options.feature.as_deref().map(known_feature).transpose()?;
    let (first, second) = (
        shims::known(&options.first)?,
        shims::known(&options.second)?,
    );
    if first == second {
        bail_input!("the two shims are the same");
    }
    if options.how.stored {
        if let Some(difference) = stored(&[first, second])?.difference(feature) {
            output::print(&difference, &options.output)?;
        }
        return Ok(Ended::Well);
    }
    let setup = Setup::new(&options.how, &options.output)?;
    let shims = [Shim::find(first, &setup)?, Shim::find(second, &setup)?];
    let wanted = wanted(&setup, None, feature)?;
    let job = setup.job(wanted.as_ref());
    let runs = job.run(&shims)?;
    let difference =
        difference_between(&setup.catalog, runs[0].column(), runs[1].column(), feature);
    output::print(&difference, &options.output)?;
    Ok(Ended::Well)
}

fn defects(options: &BogoDefects) -> anyhow::Result<Ended> {
    let known = distinct(&options.shims)?;
    if options.how.stored {
        output::print(&stored(&known)?.defects(), &options.output)?;
        return Ok(Ended::Well);
    }
    let setup = Setup::new(&options.how, &options.output)?;
    let shims = known.into_iter().map(|shim| Shim::find(shim, &setup));
    let shims = shims.collect::<anyhow::Result<Vec<_>>>()?;
    let runs = setup.job(None).run(&shims)?;
    let columns: Vec<_> = runs.iter().map(ShimRun::column).collect();
    let defects = defects_of(&setup.runner.id, &setup.catalog, &columns);
    output::print(&defects, &options.output)?;
    Ok(Ended::Well)
}

/// Returns the named shims without repetitions.
fn distinct(names: &[impl AsRef<str>]) -> anyhow::Result<Vec<&'static KnownShim>> {
    let mut known = Vec::new();
    for name in names.iter().map(AsRef::as_ref) {
        let named = match name {
            ALL => KNOWN_SHIMS.iter().collect(),
            name => vec![shims::known(name)?],
        };
        for shim in named {
            if !known.contains(&shim) {
                known.push(shim);
            }
        }
    }
    Ok(known)
}

/// Returns the tests that match the patterns and concern the feature, or `None` if all tests are
/// wanted.
fn wanted(
    setup: &Setup<'_>,
    tests: Option<&TestPatterns>,
    feature: Option<&str>,
) -> anyhow::Result<Option<TestPatterns>> {
    let mut names: Vec<&str> = setup.catalog.names().collect();
    names.retain(|name| tests.is_none_or(|tests| tests.matches(name)));
    if let Some(tests) = tests
        && names.is_empty()
    {
        let shown = tests.joined();
        bail_input!("no test of the runner matches \"{}\"", shown.escape_debug());
    }
    let Some(feature) = feature else {
        return Ok(tests.cloned());
    };
    names.retain(|name| Features::all().is_about(name, feature));
    if names.is_empty() {
        bail_input!("no test that matches --test is about {feature}");
    }
    Ok(Some(TestPatterns::new(names)?))
}

/// Reads the stored outcomes from the source tree, or from this command if there is no source tree.
fn stored(shims: &[&'static KnownShim]) -> anyhow::Result<StoredOutcomes> {
    let place = SourceTree::find().map_or(OutcomesIn::Program, |tree| {
        OutcomesIn::Tree(tree.root().to_owned())
    });
    StoredOutcomes::read(&place, shims).map_err(input)
}

/// Turns errors that the user's request causes, and not a file or the machine, into wrong input.
fn input(error: BogoError) -> anyhow::Error {
    match error {
        BogoError::BadPattern { .. }
        | BogoError::NotStored { .. }
        | BogoError::OtherRunner { .. }
        | BogoError::NoShimNamed => WrongInput(error.to_string()).into(),
        error => error.into(),
    }
}

/// Finds a feature by its name, in any case; a part of a name is enough if only one feature
/// contains it.
fn known_feature(wanted: &str) -> anyhow::Result<&'static str> {
    let lower = wanted.to_lowercase();
    let names: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
    if let Some(name) = names.iter().find(|name| name.to_lowercase() == lower) {
        return Ok(name);
    }
    let mut parts = names.clone();
    parts.retain(|name| name.to_lowercase().contains(&lower));
    let shown = output::shown(wanted);
    match parts.as_slice() {
        [one] => Ok(one),
        [] => {
            let hint = output::meant_or(wanted, &names, "`netbench bogo --stored` lists them");
            bail_input!("there is no feature \"{shown}\"; {hint}");
        }
        several => bail_input!(
            "\"{shown}\" is in the names of several features: {}",
            several.join("; ")
        ),
    }
}
