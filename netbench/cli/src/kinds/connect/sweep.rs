//! The selection of sites, and the points of a sweep.

use std::{sync::Arc, time::Duration};

use netbench_link::LinkChoice;
use netbench_model::{ConnectPlan, Site, Sweep, SweepAxis, SweepError, Target, suggestion};

use super::plan::Connect;
use crate::{
    cost::about,
    exit::{WrongInput, bail_input},
    output::meant_or,
    pipeline::Listed,
    sites_file::SitesFile,
};

/// Keeps only the named sites.
pub(super) fn only(file: &mut SitesFile, named: &[String]) -> Result<(), WrongInput> {
    if named.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = file.sites.iter().map(Site::name).collect();
    if let Some(unknown) = named.iter().find(|name| !names.contains(name)) {
        let meant = match names.len() {
            ..20 => suggestion(unknown, &names),
            _ => meant_or(unknown, &names, "netbench setup sites check lists them"),
        };
        bail_input!("--only: {} has no site {unknown:?}; {meant}", file.name);
    }
    Arc::make_mut(&mut file.sites).retain(|site| named.contains(&site.name()));
    Ok(())
}

/// Adds the sweep of the options to the plan, and replaces the sites by the sites at its points.
pub(super) fn sweep(options: &Connect, plan: &mut ConnectPlan) -> Result<(), WrongInput> {
    let axes = match options.preset {
        Some(preset) => preset.axes(),
        None if options.sweep.is_empty() => return Ok(()),
        None => options.sweep.clone(),
    };
    let sweep = Sweep::parse(&axes).map_err(|e| WrongInput(format!("--sweep {e}")))?;
    if plan.target != Target::Lab {
        bail_input!(
            "--sweep is for emulated sites: {} has real ones",
            plan.sites_file
        );
    }
    for axis in &sweep.axes {
        fits(axis, options)?;
    }
    let over = &options.over;
    let is_chosen = over.sites.is_some() || over.limit.is_some() || !options.only.is_empty();
    if !is_chosen && options.every == 1 {
        plan.sites.truncate(1);
    }
    plan.sites = sweep
        .expand(&plan.sites)
        .map_err(|error| refused(error, plan))?;
    plan.sweep = Some(sweep);
    Ok(())
}

/// Refuses an axis that another option contradicts.
fn fits(axis: &SweepAxis, options: &Connect) -> Result<(), WrongInput> {
    let name = &axis.name;
    if axis.is_of_link() && options.path.link == LinkChoice::None {
        bail_input!("--sweep {name} needs the emulated link, which --link none leaves out");
    }
    if axis.is_of_cpu() && options.cpu.is_some() {
        bail_input!("--sweep {name} and --cpu say two things of the same: leave one out");
    }
    if axis.is_of_groups() && !options.groups.is_empty() {
        bail_input!("--sweep {name} and --groups say two things of the same: leave one out");
    }
    Ok(())
}

/// Explains why a sweep is refused, with the time that it would take if only its size is wrong.
fn refused(error: SweepError, plan: &ConnectPlan) -> WrongInput {
    let SweepError::TooMany { points, .. } = error else {
        return WrongInput(format!("--sweep: {error}"));
    };
    let one = plan.time();
    let time = u32::try_from(points).map_or(Duration::MAX, |points| one.saturating_mul(points));
    WrongInput(format!(
        "--sweep: {error}, and would take about {}; fewer values make it shorter",
        about(time)
    ))
}
