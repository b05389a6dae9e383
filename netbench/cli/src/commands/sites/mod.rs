pub(crate) mod args;

use std::collections::BTreeMap;

use self::args::{Sites, SitesCommand};
use super::scan::record;
use crate::{
    exit::Ended,
    output,
    sites_file::{BUILT_IN, read},
};

pub(crate) fn sites(options: &Sites) -> anyhow::Result<Ended> {
    match &options.command {
        SitesCommand::Print => output::write(BUILT_IN.as_bytes())?,
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
            let mut lines = vec![
                format!("{}: {} sites, no errors", file.name, file.sites.len()),
                format!("  {} distinct round-trip times", rtts.len()),
            ];
            let served = servers.iter();
            lines.extend(served.map(|(server, count)| format!("  {count} served by {server}")));
            output::write_lines(&lines)?;
        }
    }
    Ok(Ended::Well)
}
