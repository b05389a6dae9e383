pub(crate) mod args;

use std::collections::BTreeMap;

use self::args::{Sites, SitesCommand};
use super::scan::record;
use crate::{
    exit::Ended,
    sites_file::{BUILT_IN, read},
};

/// Checks, prints or records a sites file.
pub(crate) fn sites(options: &Sites) -> anyhow::Result<Ended> {
    match &options.command {
        SitesCommand::Print => print!("{BUILT_IN}"),
        SitesCommand::Record { run } => return record::record(run),
        SitesCommand::Check { file } => {
            let file = read(file.as_deref())?;
            let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
            for site in &file.sites {
                *servers.entry(&site.lab.server).or_default() += 1;
            }
            let mut rtts: Vec<_> = file.sites.iter().map(|site| site.lab.link.rtt_ns).collect();
            rtts.sort_unstable();
            rtts.dedup();
            println!("{}: {} sites, all lines right", file.name, file.sites.len());
            println!("  {} distinct round-trip times", rtts.len());
            for (server, count) in servers {
                println!("  {count} served by {server}");
            }
        }
    }
    Ok(Ended::Well)
}
