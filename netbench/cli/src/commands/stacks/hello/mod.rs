pub(crate) mod args;

use std::sync::Arc;

use netbench_model::{RootsSource, Site, parse_target};
use netbench_report::HelloReport;
use netbench_runner::{
    Workers,
    scan::{EXAMPLE_HOST, client_settings, offers},
};

use self::args::Hello;
use crate::{
    exit::{Ended, WrongInput, bail_input},
    output::{self, shown},
    stack_names::stack_names,
    targets, workers,
};

/// Makes each stack send its ClientHello, and decodes it.
pub(crate) fn hello(options: &Hello) -> anyhow::Result<Ended> {
    let site = match &options.target {
        Some(text) => parse_target(text).map_err(WrongInput)?,
        None => example_site()?,
    };
    let stacks = stack_names(&options.stacks.names());
    let wanted = stacks
        .iter()
        .map(|stack| stack.stack().to_owned())
        .collect();
    if let Some(unused) = workers::unused(&wanted, &options.own.worker) {
        let (names, unused) = (options.stacks.names().join(","), shown(unused));
        bail_input!(
            "--worker {unused}: the stack {unused} is not among those of --stack; `--stack {names},{unused}` adds it"
        );
    }
    let programs = workers::find(&wanted, &options.own.worker)?;
    let probed = Workers::probe(programs, None, Arc::default())?;
    let roots = targets::roots(&RootsSource::Mozilla, None)?;
    let profile = options.client_profile.into();
    let client = client_settings(profile, &stacks, &probed);
    let hellos = offers(&stacks, &probed, None, &client, &roots.pem, &site)?;
    output::print(&HelloReport::new(hellos), &options.output)?;
    Ok(Ended::Well)
}

/// Returns the site to which hellos are addressed by default.
pub(crate) fn example_site() -> Result<Site, WrongInput> {
    parse_target(EXAMPLE_HOST).map_err(WrongInput)
}
