//! The selection of sites, and the points of a sweep.

use std::{sync::Arc, time::Duration};

use netbench_link::LinkChoice;
use netbench_model::{Group, Site, Sweep, SweepAxis, SweepError, Switch, Target, suggestion};
use netbench_runner::Workers;

use super::{args::Connect, settings::ConnectSettings};
use crate::{
    cost::{Connections, Reached, about},
    exit::{WrongInput, bail_input},
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
            _ => match suggestion(unknown, &names) {
                one if one.starts_with("did") => one,
                _ => "netbench setup sites check lists them".to_owned(),
            },
        };
        bail_input!("--only: {} has no site {unknown:?}; {meant}", file.name);
    }
    Arc::make_mut(&mut file.sites).retain(|site| named.contains(&site.name()));
    Ok(())
}

/// Returns the sweep of the options, and replaces the sites by the sites at its points.
pub(super) fn sweep(
    options: &Connect,
    file: &mut SitesFile,
    target: Target,
) -> anyhow::Result<Option<Sweep>> {
    let axes = match options.preset {
        Some(preset) => preset.axes(),
        None if options.sweep.is_empty() => return Ok(None),
        None => options.sweep.clone(),
    };
    let sweep = Sweep::parse(&axes).map_err(|e| WrongInput(format!("--sweep {e}")))?;
    if target != Target::Lab {
        bail_input!("--sweep is for emulated sites: {} has real ones", file.name);
    }
    for axis in &sweep.axes {
        fits(axis, options)?;
    }
    let over = &options.over;
    let is_chosen = over.sites.is_some() || over.limit.is_some() || !options.only.is_empty();
    if !is_chosen && options.every == 1 {
        Arc::make_mut(&mut file.sites).truncate(1);
    }
    let sites = sweep.expand(&file.sites);
    file.sites = sites.map_err(|error| refused(error, options, file))?.into();
    Ok(Some(sweep))
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
fn refused(error: SweepError, options: &Connect, file: &SitesFile) -> WrongInput {
    let SweepError::TooMany { points, .. } = error else {
        return WrongInput(format!("--sweep: {error}"));
    };
    let one = Connections {
        sites: &file.sites,
        conditions: &options.condition,
        stacks: options.stacks.names().len(),
        rounds: options.rounds,
        jobs: options.jobs,
        timeout: options.timeout,
        pause: Duration::ZERO,
        reached: Reached::Links,
    };
    let time = u32::try_from(points).map_or(Duration::MAX, |points| {
        one.cost().time.saturating_mul(points)
    });
    WrongInput(format!(
        "--sweep: {error}, and would take about {}; fewer values make it shorter",
        about(time)
    ))
}

impl ConnectSettings {
    /// Refuses stacks that do not support the offers of the sweep.
    pub(super) fn sweep_can(&self, workers: &Workers) -> Result<(), WrongInput> {
        const HYBRID: Group = Group::X25519MLKEM768;
        let own = |site: &Site| site.point.as_deref()?.client.hybrid;
        let mut sites = self.over.file.sites.iter();
        if !sites.any(|site| own(site) == Some(Switch::On)) {
            return Ok(());
        }
        for stack in &self.stacks {
            let known = workers.description(stack.stack());
            if !known.is_some_and(|known| known.groups.contains(&HYBRID)) {
                let library = known.map_or("", |known| known.record.library.as_str());
                bail_input!(
                    "--sweep hybrid=on: {stack} ({library}) has no {HYBRID}; `netbench stacks list` says which stacks are \
                     there"
                );
            }
        }
        Ok(())
    }

    /// Returns the number of distinct client settings.
    pub(super) fn ways_of_clients(&self) -> usize {
        let mut ways = Vec::new();
        for site in self.over.file.sites.iter() {
            let own = site.point.as_deref().map(|point| point.client);
            if !ways.contains(&own) {
                ways.push(own);
            }
        }
        ways.len()
    }
}
