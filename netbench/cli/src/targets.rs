//! The sites of `connect` and `scan`, and the ways to reach them: the lab behind a link, or real hosts.

use std::{collections::BTreeSet, io, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use netbench_lab::{Lab, Roots, RootsError};
use netbench_link::{Link, LinkChoice, LinkError, LinkPlan, LinkSite};
use netbench_model::{
    ConnectTo, Failure, FailureWord, HostName, LinkKind, Manifest, Origin, RootsRecord,
    RootsSource, Site, Target, authority, destination, parse_target, suggestion,
};
use netbench_protocol::Resolve;
use netbench_runner::{
    HostAddress, LabTargets, Targets, Workers, resolve, scan::EXAMPLE_HOST, unresolved,
};

use crate::{
    exit::{NoNetwork, WrongInput, bail_input, cannot_continue, in_a_line},
    loopback,
    options::{PathOptions, RootsOptions, SiteOptions, TargetOptions},
    progress::Progress,
    run,
    shard::{self, ShardArg},
    sites_file::{self, HTTPS, SitesFile},
};

/// The longest time in which a real name must resolve.
const RESOLVE_LIMIT: Duration = Duration::from_secs(5);

/// The requirements of a run for its sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    /// Times, which require a network. Names of real hosts are resolved before the run, because all trials must have the
    /// same address.
    Times,
    /// Only answers, which loopback provides too. Names are resolved before each site.
    Answers,
}

/// The sites of a plan, and the way to reach them.
pub(crate) struct Sites {
    pub(crate) target: Target,
    /// How real hosts are reached, which is printed before the first connection.
    pub(crate) how: String,
    pub(crate) sites: Arc<Vec<Site>>,
    pub(crate) roots: Roots,
    pub(crate) link: LinkChoice,
    /// Rules that redirect connections to some hosts.
    pub(crate) connect_to: Vec<ConnectTo>,
    pub(crate) seed: u64,
    pub(crate) needs: Needs,
}

impl Sites {
    /// Refuses a run that cannot be measured: a merged one, or one of sites that are not where its plan says.
    pub(crate) fn validate<P>(&self, run: &Manifest<P>) -> anyhow::Result<()> {
        shard::may_go_on(&run.name, &run.origin, self.sites.len())?;
        if self.target == Target::Loopback {
            all_on_loopback(&self.sites, &self.connect_to)?;
        }
        Ok(())
    }

    /// Returns the servers of emulated sites, for which workers are needed.
    pub(crate) fn servers(&self) -> BTreeSet<String> {
        let servers = self.sites.iter().map(|site| site.lab.server.clone());
        match self.target {
            Target::Lab => servers.collect(),
            Target::Loopback | Target::Live => BTreeSet::new(),
        }
    }

    /// Opens the link to the sites, if they are emulated. Must be called while the process has one thread, like
    /// [`Link::open`].
    ///
    /// # Errors
    /// [`NoNetwork`] if this machine refuses the link, and the run needs its times.
    pub(crate) fn open_link(&self) -> anyhow::Result<Option<Link>> {
        if self.target != Target::Lab {
            return Ok(None);
        }
        let sites: Vec<LinkSite> = self
            .sites
            .iter()
            .map(|site| LinkSite {
                name: site.name(),
                profile: site.lab.link,
            })
            .collect();
        let plan = LinkPlan {
            choice: self.link,
            sites: sites.clone(),
            seed: self.seed,
        };
        match (Link::open(plan), self.link, self.needs) {
            (Ok(link), ..) => Ok(Some(link)),
            (Err(error @ LinkError::TooManySites { .. }), ..) => Err(error.into()),
            (Err(error), LinkChoice::Auto, Needs::Answers) => {
                Ok(Some(Link::loopback(sites, format!("auto: {error}"))))
            }
            (Err(error), LinkChoice::Auto | LinkChoice::User | LinkChoice::Tun, _) => {
                Err(NoNetwork(error).into())
            }
            (Err(error), LinkChoice::Netem | LinkChoice::None, _) => {
                Err(error).context("cannot emulate the link")
            }
        }
    }

    /// Starts the lab behind the link, or resolves the hosts if there is no link. Also returns the trust roots for
    /// them.
    pub(crate) fn targets(
        &self,
        link: Option<Link>,
        workers: &Workers,
        progress: &Progress,
    ) -> anyhow::Result<(Targets, String)> {
        if self.target == Target::Live {
            progress.stage(&format!("--live: {}", self.how));
        }
        let sites = &self.sites;
        let Some(link) = link else {
            return Ok((Targets::Hosts(self.hosts()), self.roots.pem.clone()));
        };
        progress.stage(&format!("link: {}", link.why()));
        let lab = Lab::new(sites).context("cannot make the lab's certificates")?;
        let roots = self.roots.clone().with_lab_ca(lab.ca_pem());
        let targets = LabTargets::start(link, lab, sites, workers)?;
        if let Some(what) = targets.not_served() {
            progress.stage(&what);
        }
        Ok((Targets::Lab(Box::new(targets)), roots.pem))
    }

    fn hosts(&self) -> Vec<Result<HostAddress, Failure>> {
        let places: Vec<_> = self
            .sites
            .iter()
            .map(|site| place(site, &self.connect_to))
            .collect();
        match self.target {
            Target::Live if self.needs == Needs::Answers => self.at(places.iter().map(|_| None)),
            Target::Live => self.where_resolved(resolve(&places, RESOLVE_LIMIT)),
            Target::Lab | Target::Loopback => self.at(places
                .iter()
                .map(|(host, port)| loopback::reachable(host, *port))),
        }
    }

    /// Returns the addresses of the sites, in their order.
    pub(crate) fn at(
        &self,
        addresses: impl IntoIterator<Item = Option<SocketAddr>>,
    ) -> Vec<Result<HostAddress, Failure>> {
        let sites = self.sites.iter();
        let found = addresses.into_iter().zip(sites).map(|(address, site)| {
            let why = "no address of it is known";
            address.ok_or_else(|| unresolved(site.host.as_str(), FailureWord::NotFound, why))
        });
        self.where_resolved(found)
    }

    fn where_resolved(
        &self,
        addresses: impl IntoIterator<Item = Result<SocketAddr, Failure>>,
    ) -> Vec<Result<HostAddress, Failure>> {
        let addresses = addresses.into_iter().zip(self.sites.iter());
        let hosts = addresses.map(|(address, site)| {
            let looked_up = self.target == Target::Live
                && destination(&self.connect_to, &site.host, site.port).is_none();
            Ok(HostAddress {
                address: address?,
                resolve: if looked_up {
                    Resolve::System
                } else {
                    Resolve::Given
                },
            })
        });
        hosts.collect()
    }
}

/// Returns the trust roots of a run, which must be those of its plan.
pub(crate) fn roots_of_run<P>(run: &Manifest<P>, plan: &RootsRecord) -> anyhow::Result<Roots> {
    let roots = roots(&plan.source, Some(plan.count))?;
    if roots.sha256 != plan.sha256 {
        return Err(cannot_continue(
            &run.name,
            "it was started with other trust roots",
        ));
    }
    Ok(roots)
}

/// Returns the link of a run: the one with which it began, or the one that its plan requests.
pub(crate) fn link_of_run<P>(run: &Manifest<P>, asked: Option<&str>) -> anyhow::Result<LinkChoice> {
    Ok(match run.link.as_ref().map(|link| link.kind) {
        _ if !run.has_begun() => link(asked)?,
        Some(LinkKind::User) => LinkChoice::User,
        Some(LinkKind::Netem) => LinkChoice::Netem,
        Some(LinkKind::None | LinkKind::Live) | None => LinkChoice::None,
    })
}

/// Returns the link that a plan requests.
pub(crate) fn link(asked: Option<&str>) -> Result<LinkChoice, WrongInput> {
    let link = asked.map_or(Ok(LinkChoice::Auto), str::parse);
    link.map_err(WrongInput)
}

/// Returns the trust roots of the options, for a plan.
pub(crate) fn roots_record(
    options: &RootsOptions,
    count: Option<u32>,
) -> anyhow::Result<RootsRecord> {
    let roots = roots(&options.roots, count)?;
    Ok(RootsRecord {
        source: roots.source,
        count: roots.count,
        sha256: roots.sha256,
    })
}

/// Returns the origin of a run of all sites on this machine.
pub(crate) fn here() -> Origin {
    Origin {
        vantage: run::host(),
        ..Origin::default()
    }
}

/// Returns the origin of a run on this machine, and keeps only the sites of its shard.
pub(crate) fn origin(path: &PathOptions, sites: &mut Vec<Site>) -> anyhow::Result<Origin> {
    let shard = path.shard.map(ShardArg::shard).transpose()?;
    let cut = shard.map(|shard| shard::cut(sites, shard));
    Ok(Origin {
        vantage: path.vantage.clone().unwrap_or_else(run::host),
        shard: cut.transpose()?,
        merged: Vec::new(),
    })
}

/// Returns a link that the user requested by its name, for a plan.
pub(crate) fn requested(link: LinkChoice) -> Option<String> {
    (link != LinkChoice::Auto).then(|| link.to_string())
}

/// Returns the sites of the command line, and their target. Sites without a port are at `default_port`.
pub(crate) fn asked(
    over: &SiteOptions,
    targets: &TargetOptions,
    default_port: u16,
) -> anyhow::Result<(SitesFile, Target)> {
    let mut file = if targets.targets.is_empty() {
        let mut file = sites_file::read(over.sites.as_deref())?;
        if default_port != HTTPS {
            sites_file::set_default_port(&mut file, default_port)?;
        }
        file
    } else {
        sites_file::of_targets(&targets.targets, default_port)?
    };
    if let Some(limit) = over.limit {
        Arc::make_mut(&mut file.sites).truncate(limit as usize);
    }
    let target = match (over.live, targets.targets.is_empty()) {
        (true, _) => Target::Live,
        (false, true) => of_file(&file)?,
        (false, false) => Target::Loopback,
    };
    match target {
        Target::Lab if !targets.connect_to.is_empty() => {
            bail_input!(
                "--connect-to is for URLs and for --live: emulated sites are where they are"
            )
        }
        Target::Loopback => {
            all_on_loopback(&file.sites, &targets.connect_to)?;
            sites_file::refuse_fields_of_the_lab(&file)?;
        }
        Target::Lab => sites_file::refuse_what_is_not_emulated(&file)?,
        Target::Live => {}
    }
    Ok((file, target))
}

/// Returns the target of a file's sites without `--live`: the lab, or loopback if the lines have hosts of this machine.
///
/// # Errors
/// Some sites are emulated, and others are on this machine.
pub(crate) fn of_file(file: &SitesFile) -> Result<Target, WrongInput> {
    let mut sites = file.sites.iter();
    let here = sites.clone().find(|site| loopback::is_by_form(&site.host));
    match (here, sites.find(|site| !loopback::is_by_form(&site.host))) {
        (None, _) => Ok(Target::Lab),
        (Some(_), None) => Ok(Target::Loopback),
        (Some(here), Some(elsewhere)) => bail_input!(
            "{}: {} is on this machine, but {} would be emulated: put them in two files, or use --live for both",
            file.name,
            here.name(),
            elsewhere.name()
        ),
    }
}

/// Returns the site to which hellos are addressed by default.
pub(crate) fn example_site() -> Result<Site, WrongInput> {
    parse_target(EXAMPLE_HOST).map_err(WrongInput)
}

/// Returns the host and the port to which connections to a site go.
pub(crate) fn place(site: &Site, rules: &[ConnectTo]) -> (HostName, u16) {
    destination(rules, &site.host, site.port).unwrap_or_else(|| (site.host.clone(), site.port))
}

/// Refuses sites that are reachable only over a real network.
fn all_on_loopback(sites: &[Site], rules: &[ConnectTo]) -> Result<(), WrongInput> {
    let elsewhere = sites.iter().find_map(|site| {
        let (host, port) = place(site, rules);
        loopback::addresses(&host)
            .is_empty()
            .then(|| (site, authority(&host, port)))
    });
    match elsewhere {
        None => Ok(()),
        Some((site, at))
            if site.host.address().is_some() || at != authority(&site.host, site.port) =>
        {
            bail_input!("{at} is not on this machine; --live connects over the real network")
        }
        Some((site, at)) => bail_input!(
            "{at} is not on this machine, as far as /etc/hosts tells. --live connects over the real network, and \
             --connect-to {}:{}:127.0.0.1:PORT to a server of this machine",
            site.host,
            site.port
        ),
    }
}

/// Explains why there are no trust roots, and suggests similar names.
fn no_roots(source: &RootsSource, error: RootsError) -> String {
    let missing = matches!(&error, RootsError::Unreadable(_, source) if source.kind() == io::ErrorKind::NotFound);
    let why = in_a_line(&anyhow::Error::new(error));
    match source {
        RootsSource::File(file) if missing && !file.contains('/') => {
            format!(
                "{why}; {}",
                suggestion(file, &["mozilla", "native", "a PEM file"])
            )
        }
        _ => why,
    }
}

/// Loads trust roots, and cuts or fills them to `count`.
pub(crate) fn roots(source: &RootsSource, count: Option<u32>) -> anyhow::Result<Roots> {
    let roots = Roots::load(source).map_err(|error| WrongInput(no_roots(source, error)))?;
    Ok(match count {
        Some(count) if count != roots.count => roots
            .resized(count)
            .map_err(|e| WrongInput(format!("--roots-count: {e}")))?,
        _ => roots,
    })
}
