use netbench_link::bench::run_bench;

use crate::{
    args::{Link, LinkCommand},
    exit::Ended,
};

/// Measures the emulated link itself.
pub(crate) fn link(options: &Link) -> anyhow::Result<Ended> {
    match &options.command {
        LinkCommand::Bench { link, json } => {
            let bench = run_bench(*link)?;
            println!("{}", serde_json::to_string_pretty(&bench)?);
        }
    }
    Ok(Ended::Well)
}
