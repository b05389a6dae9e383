use std::{collections::BTreeSet, sync::Arc};

use clap::{Args, ValueHint};
use netbench_model::{RootsSource, parse_target};
use netbench_report::HelloReport;
use netbench_runner::{
    Workers,
    scan::{client_settings, offers},
};

use crate::{
    exit::{Ended, WrongInput, bail_input},
    options::{Output, OwnWorkers, ProfileArg, StackOptions},
    output::{self, shown},
    stack_names::{clients, stack_names},
    targets::{self, example_site},
    workers,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench stacks hello
  netbench stacks hello https://example.com/         as example.com would get it
  netbench stacks hello --stack rustls-ring --client-profile default
  netbench stacks hello --json | jq '.hellos[] | {stack, wire_bytes, ja4}'";

#[derive(Debug, Args)]
#[command(mut_arg("stack", |stack| stack.help("Stacks to show")))]
pub(crate) struct Hello {
    /// Server that the hello is for, by URL or by host [default: host.example]; nothing is sent to it
    #[arg(value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) target: Option<String>,
    #[command(flatten)]
    pub(crate) stacks: StackOptions,
    /// How to set up the connectors
    #[arg(long, value_name = "P", value_enum, default_value_t = ProfileArg::Library)]
    pub(crate) client_profile: ProfileArg,
    #[command(flatten)]
    pub(crate) own: OwnWorkers,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Makes each stack send its ClientHello, and decodes it.
pub(crate) fn hello(options: &Hello) -> anyhow::Result<Ended> {
    let site = match &options.target {
        Some(text) => parse_target(text).map_err(WrongInput)?,
        None => example_site()?,
    };
    let stacks = stack_names(&options.stacks.names());
    let own = &options.own.worker;
    let needed = workers::needed(&clients(&stacks), &BTreeSet::new(), own)?;
    if let Some(unused) = workers::unused(&needed, own) {
        let (names, unused) = (options.stacks.names().join(","), shown(unused));
        bail_input!(
            "--worker {unused}: the stack {unused} is not among those of --stack; `--stack {names},{unused}` adds it"
        );
    }
    let programs = workers::find(needed)?;
    let probed = Workers::probe(programs, None, Arc::default())?;
    let roots = targets::roots(&RootsSource::Mozilla, None)?;
    let profile = options.client_profile.into();
    let client = client_settings(profile, &stacks, &probed);
    let hellos = offers(&stacks, &probed, None, &client, &roots.pem, &site)?;
    output::print(&HelloReport::new(hellos), &options.output)?;
    Ok(Ended::Well)
}
