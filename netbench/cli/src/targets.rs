//! Sites as `connect` and `scan` are told of them, and what they stand on: the lab behind a link, or the
//! hosts as they are.

use std::time::Duration;

use anyhow::Context;
use netbench_lab::{Lab, Roots};
use netbench_link::{Link, LinkChoice, LinkPlan, LinkSite};
use netbench_model::{LinkKind, Origin, RootsRecord, RootsSource, ShardRecord, Site};
use netbench_runner::{Targets, Workers, resolve};

use crate::{
    exit::WrongInput,
    options::{Begun, Seen, Which},
    progress::Progress,
    run,
    shard::{self, ShardArg},
    sites_file::SitesFile,
    stack_names::new_seed,
};

/// How long a real name may take to resolve.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);

/// Which sites, and how they are seen, read and found right.
pub(crate) struct Sites {
    pub(crate) file: SitesFile,
    pub(crate) roots: Roots,
    pub(crate) link: LinkChoice,
    pub(crate) shard: Option<ShardRecord>,
    pub(crate) vantage: String,
    pub(crate) seed: u64,
}

impl Sites {
    /// Of `file`, what the command line asks for.
    pub(crate) fn of_options(
        mut file: SitesFile,
        roots: Roots,
        which: &Which,
        seen: &Seen,
        begun: &Begun,
    ) -> anyhow::Result<Self> {
        if let Some(limit) = which.limit {
            file.sites.truncate(limit as usize);
        }
        let shard = seen.shard.map(ShardArg::shard).transpose()?;
        let shard = shard
            .map(|shard| shard::cut(&mut file.sites, shard))
            .transpose()?;
        Ok(Self {
            file,
            roots,
            link: seen.link,
            shard,
            vantage: seen.vantage.clone().unwrap_or_else(run::host),
            seed: begun.seed.unwrap_or_else(new_seed),
        })
    }

    /// Of the run `name`, which is to be gone on with. Its `file` has the sites that it was begun with.
    pub(crate) fn of_run(
        name: &str,
        origin: &Origin,
        file: SitesFile,
        roots: &RootsRecord,
        link: Option<LinkKind>,
        seed: u64,
    ) -> anyhow::Result<Self> {
        shard::may_go_on(name, origin, file.sites.len())?;
        let now = self::roots(&roots.source, Some(roots.count))?;
        if now.sha256 != roots.sha256 {
            return Err(WrongInput(format!(
                "the trust roots are not those that run {name} was begun with, so that it cannot go on"
            ))
            .into());
        }
        Ok(Self {
            file,
            roots: now,
            link: match link {
                Some(LinkKind::User) => LinkChoice::User,
                Some(LinkKind::Netem) => LinkChoice::Netem,
                Some(LinkKind::None | LinkKind::Live) | None => LinkChoice::None,
            },
            shard: origin.shard,
            vantage: origin.vantage.clone(),
            seed,
        })
    }

    /// The stacks that serve them in the lab.
    pub(crate) fn servers(&self) -> impl Iterator<Item = String> {
        self.file.sites.iter().map(|site| site.lab.server.clone())
    }

    /// Opens the link to the emulated sites. Must be called while the process has one thread, as
    /// [`Link::open`] must.
    pub(crate) fn open_link(&self) -> anyhow::Result<Link> {
        let site = |site: &Site| LinkSite {
            name: site.name(),
            profile: site.lab.link,
        };
        let plan = LinkPlan {
            choice: self.link,
            sites: self.file.sites.iter().map(site).collect(),
            seed: self.seed,
        };
        Link::open(plan).context("cannot emulate the link")
    }

    /// Raises the lab behind the link, or without one finds the hosts; and makes the trust roots that go
    /// with it.
    pub(crate) fn ground(
        &self,
        link: Option<Link>,
        fleet: &Workers,
        progress: &Progress,
    ) -> anyhow::Result<(Targets, String)> {
        let sites = &self.file.sites;
        let Some(link) = link else {
            let addresses = resolve(sites, RESOLVE_LIMIT);
            return Ok((Targets::Live(addresses), self.roots.pem.clone()));
        };
        progress.stage(&format!("link: {}", link.why()));
        let lab = Lab::new(sites).context("cannot make the lab's certificates")?;
        let roots = self.roots.clone().with_lab_ca(lab.ca_pem());
        let ground = Targets::lab(link, &lab, sites, fleet)?;
        Ok((ground, roots.pem))
    }

    /// The trust roots, for a manifest.
    pub(crate) fn roots_record(&self) -> RootsRecord {
        RootsRecord {
            source: self.roots.source.clone(),
            count: self.roots.count,
            sha256: self.roots.sha256.clone(),
        }
    }

    /// Where a run of them comes from, for a manifest.
    pub(crate) fn origin(&self) -> Origin {
        Origin {
            vantage: self.vantage.clone(),
            shard: self.shard,
            merged: Vec::new(),
        }
    }
}

/// Trust roots, cut or filled to `count`.
pub(crate) fn roots(source: &RootsSource, count: Option<u32>) -> anyhow::Result<Roots> {
    let roots = Roots::load(source).map_err(|e| WrongInput(e.to_string()))?;
    Ok(match count {
        Some(count) if count != roots.count => roots
            .resized(count)
            .map_err(|e| WrongInput(format!("--roots-count: {e}")))?,
        _ => roots,
    })
}
