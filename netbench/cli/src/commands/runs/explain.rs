use std::path::PathBuf;

use clap::{Args, ValueHint};
use netbench_model::{ConnectPlan, Plan, StackName, SuitePlan};
use netbench_report::{SuiteExplained, summarize_suite};

use crate::{
    exit::{Ended, bail_input},
    options::Output,
    output, stored,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  netbench runs explain runs/…                   each stack against the first
  netbench runs explain runs/… --from openssl --to rustls-ring
  netbench runs explain runs/… --json | jq '.explanations[].sentences'
  netbench suite handshake crypto && netbench runs explain runs/…
                                                 what of a handshake is cryptography";

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Folder of a run of connect, or of suite with the parts handshake and crypto
    #[arg(value_hint = ValueHint::DirPath)]
    pub(crate) run: PathBuf,
    /// Stack to compare with
    #[arg(long, value_name = "STACK", requires = "to")]
    pub(crate) from: Option<String>,
    /// Stack to compare
    #[arg(long, value_name = "STACK", requires = "from")]
    pub(crate) to: Option<String>,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// Explains which characteristics of a site go with one stack's being faster.
pub(crate) fn explain(options: &Explain) -> anyhow::Result<Ended> {
    if stored::kind(&options.run)? == SuitePlan::KIND {
        return suite(options);
    }
    let [from, to] = [&options.from, &options.to].map(|name| name.as_ref().map(StackName::new));
    let stacks = from.iter().chain(&to);
    let (manifest, samples) = stored::read_with::<ConnectPlan>(&options.run, stacks)?;
    if from.is_some() && from == to {
        bail_input!("--from and --to are the same stack");
    }
    let summary = netbench_report::explain(&manifest, &samples, from.as_ref().zip(to.as_ref()));
    output::print(&summary, &options.output)?;
    Ok(output::ended(&summary))
}

/// Explains how much of a full handshake is cryptography.
fn suite(options: &Explain) -> anyhow::Result<Ended> {
    if options.from.is_some() {
        bail_input!(
            "--from and --to are for runs of connect; of a run of suite every stack is shown"
        );
    }
    let (manifest, samples) = stored::read::<SuitePlan>(&options.run)?;
    let explained = SuiteExplained(summarize_suite(&manifest, &samples));
    output::print(&explained, &options.output)?;
    Ok(output::ended(&explained))
}
