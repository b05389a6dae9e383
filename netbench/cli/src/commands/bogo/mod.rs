//! `netbench bogo`: makes the runner and the shims, runs what has not been run, and shows coverage or
//! differences.

pub(crate) mod args;
mod cache;
mod check;
mod kept;
mod progress;
mod runs;
mod shims;

use netbench_bogo::{Coverage, Difference, FEATURES, Runner, glob_matches_any};

use crate::{
    exit::{Ended, WrongInput},
    output,
};

use self::{
    args::{Bogo, BogoCommand, BogoDiff},
    kept::KeptOutcomes,
    progress::Say,
    runs::{Job, Kept},
    shims::Shim,
};

/// The shims of the default table: the control column first.
const DEFAULT: [&str; 3] = ["boringssl", "openssl", "rustls"];

pub(crate) fn bogo(options: &Bogo) -> anyhow::Result<Ended> {
    match &options.command {
        Some(BogoCommand::Diff(diff)) => difference(diff),
        None => coverage(options),
    }
}

fn coverage(options: &Bogo) -> anyhow::Result<Ended> {
    let feature = options.feature.as_deref().map(known_feature).transpose()?;
    let chosen = !options.shim.is_empty();
    let names: Vec<&str> = if chosen {
        options.shim.iter().map(String::as_str).collect()
    } else {
        DEFAULT.to_vec()
    };
    let mut known = Vec::new();
    for name in names {
        let shim = shims::known(name)?;
        if !known.contains(&shim) {
            known.push(shim);
        }
    }
    if options.how.kept {
        let mut kept = KeptOutcomes::read(&known)?;
        if let Some(pattern) = &options.test {
            kept.only(pattern);
        }
        let mut coverage = kept.coverage(feature)?;
        coverage.pattern = options.test.clone();
        output::print(&coverage, &options.output)?;
        return Ok(Ended::Well);
    }
    let say = Say::new(options.output.quiet);
    let runner = Runner::make(&cache::folder()?, &mut |step| say.step(step))?;
    let jobs = runs::jobs(&options.how);
    let catalog = runs::catalog(&runner, jobs, &say)?;
    if let Some(pattern) = &options.test {
        let any = |name: &str| glob_matches_any(pattern, name);
        if !catalog.names().any(any) {
            let shown = pattern.escape_debug();
            return Err(WrongInput(format!("no test of the runner matches \"{shown}\"")).into());
        }
    }
    let mut warnings = Vec::new();
    let mut found = Vec::new();
    for shim in known {
        match shims::find(shim, &runner, jobs, &say) {
            Ok(shim) => found.push(shim),
            // The control column is not what was asked for; the others are shown without it.
            Err(error) if !chosen && shim.name == "boringssl" => {
                warnings.push(format!("no column for boringssl: {error:#}"));
            }
            Err(error) => return Err(error),
        }
    }
    let job = Job {
        runner: &runner,
        catalog: &catalog,
        pattern: options.test.as_deref(),
        how: &options.how,
    };
    let mut kept = runs::all(&job, &found, &say)?;
    let columns: Vec<_> = kept
        .iter()
        .map(|Kept { shim, results }| (shim.name, &shim.config, results))
        .collect();
    let mut coverage = Coverage::sum_up(&runner.id, &catalog, &columns, feature)?;
    coverage.pattern = options.test.clone();
    coverage.warnings = warnings;
    output::print(&coverage, &options.output)?;
    if options.accept {
        check::accept(&runner, &catalog, &kept, &say)?;
    }
    if options.check {
        return check::check(&job, &mut kept, &say);
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
        return Err(WrongInput("a stack does not differ from itself".to_owned()).into());
    }
    if options.how.kept {
        if let Some(difference) = KeptOutcomes::read(&[first, second])?.difference(feature) {
            output::print(&difference, &options.output)?;
        }
        return Ok(Ended::Well);
    }
    let say = Say::new(options.output.quiet);
    let runner = Runner::make(&cache::folder()?, &mut |step| say.step(step))?;
    let jobs = runs::jobs(&options.how);
    let catalog = runs::catalog(&runner, jobs, &say)?;
    let shims: Vec<Shim> = vec![
        shims::find(first, &runner, jobs, &say)?,
        shims::find(second, &runner, jobs, &say)?,
    ];
    let job = Job {
        runner: &runner,
        catalog: &catalog,
        pattern: None,
        how: &options.how,
    };
    let kept = runs::all(&job, &shims, &say)?;
    let column = |at: usize| {
        let Kept { shim, results } = &kept[at];
        (shim.name, &shim.config, results)
    };
    let difference = Difference::between(&catalog, column(0), column(1), feature);
    output::print(&difference, &options.output)?;
    Ok(Ended::Well)
}

/// A feature by its name, whatever its case; a part of the name will do where it is one feature's only.
fn known_feature(wanted: &str) -> anyhow::Result<&'static str> {
    let lower = wanted.to_lowercase();
    let names = || FEATURES.iter().map(|feature| feature.name);
    if let Some(name) = names().find(|name| name.to_lowercase() == lower) {
        return Ok(name);
    }
    let parts: Vec<_> = names()
        .filter(|name| name.to_lowercase().contains(&lower))
        .collect();
    match parts.as_slice() {
        [one] => Ok(one),
        _ => {
            let names: Vec<_> = if parts.is_empty() {
                names().collect()
            } else {
                parts
            };
            let shown = wanted.escape_debug();
            Err(WrongInput(format!(
                "\"{shown}\" is not one feature's name; there are: {}",
                names.join("; ")
            ))
            .into())
        }
    }
}
