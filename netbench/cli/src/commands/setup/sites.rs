use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use clap::{Subcommand, ValueHint};
use netbench_model::Target;
use netbench_report::count;

use crate::{
    exit::Ended,
    kinds::scan::record,
    output,
    sites_file::{BUILT_IN, read, refuse_what_is_not_emulated},
    targets::of_file,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Sites {
    /// Check a sites file and list every line that is wrong
    Check {
        /// File to check [default: the built-in one]
        #[arg(value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
    },
    /// Print the built-in sites file
    Print,
    /// Print a sites file that emulates the servers of a scan
    Record {
        /// Folder of the scan
        #[arg(value_hint = ValueHint::DirPath)]
        run: PathBuf,
    },
}

pub(crate) fn sites(options: &Sites) -> anyhow::Result<Ended> {
    match options {
        Sites::Print => output::write(BUILT_IN.as_bytes())?,
        Sites::Record { run } => return record::record(run),
        Sites::Check { file } => {
            let file = read(file.as_deref())?;
            if of_file(&file)? == Target::Lab {
                refuse_what_is_not_emulated(&file)?;
            }
            let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
            for site in file.sites.iter() {
                *servers.entry(&site.lab.server).or_default() += 1;
            }
            let rtts = file.sites.iter().map(|site| site.lab.link.rtt_ns);
            let rtts = rtts.collect::<BTreeSet<_>>().len();
            let sites = count(file.sites.len(), "site", "sites");
            let times = count(
                rtts,
                "distinct round-trip time",
                "distinct round-trip times",
            );
            let mut lines = vec![
                format!("{}: {sites}, no errors", file.name),
                format!("  {times}"),
            ];
            let served = servers.iter();
            lines.extend(served.map(|(server, sites)| format!("  {sites} served by {server}")));
            output::write_lines(&lines)?;
        }
    }
    Ok(Ended::Well)
}
