//! What sites stand on: the lab behind a link, or the hosts as they are.

use std::time::Duration;

use anyhow::Context;
use netbench_lab::{Lab, Roots};
use netbench_link::{Link, LinkChoice, LinkPlan, LinkSite};
use netbench_model::Site;
use netbench_runner::{Fleet, Ground, resolve};

use crate::progress::Progress;

/// How long a real name may take to resolve.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);

/// Opens the link to emulated sites. Must be called while the process has one thread, as [`Link::open`]
/// must.
pub(crate) fn open_link(choice: LinkChoice, sites: &[Site], seed: u64) -> anyhow::Result<Link> {
    let site = |site: &Site| LinkSite {
        name: site.name(),
        profile: site.lab.link,
    };
    let plan = LinkPlan {
        choice,
        sites: sites.iter().map(site).collect(),
        seed,
    };
    Link::open(plan).context("cannot emulate the link")
}

/// Raises the lab behind a link, and makes the trust roots that go with it.
pub(crate) fn lab(
    link: Link,
    sites: &[Site],
    roots: &Roots,
    fleet: &Fleet,
    progress: &Progress,
) -> anyhow::Result<(Ground, String)> {
    progress.stage(&format!("link: {}", link.why()));
    let lab = Lab::new(sites).context("cannot make the lab's certificates")?;
    let roots = roots.clone().with_lab_ca(lab.ca_pem());
    let ground = Ground::lab(link, &lab, sites, fleet)?;
    Ok((ground, roots.pem))
}

/// Finds the addresses of hosts.
pub(crate) fn hosts(sites: &[Site], roots: &Roots) -> (Ground, String) {
    let addresses = resolve(sites, RESOLVE_LIMIT);
    (Ground::Live(addresses), roots.pem.clone())
}
