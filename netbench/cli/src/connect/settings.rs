use std::collections::BTreeSet;
use std::time::Duration;

use netbench_lab::Roots;
use netbench_link::LinkChoice;
use netbench_model::{
    Alpn, ClientSettings, Condition, Group, LinkKind, Manifest, Profile, RootsSource, ShardRecord,
    SignatureScheme, StackName, Suite, Target, TlsVersion,
};
use netbench_runner::Fleet;

use crate::{
    args::Connect,
    exit::WrongInput,
    run,
    shard::{self, ShardArg},
    sites::{self, SitesFile},
    stack_names::{new_seed, stack_names},
};

/// What the user asked for, read and found right: everything but what only workers can tell.
pub(crate) struct Settings {
    pub(crate) seed: u64,
    pub(crate) stacks: Vec<StackName>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) rounds: u32,
    pub(crate) jobs: u32,
    pub(crate) target: Target,
    pub(crate) sites: SitesFile,
    pub(crate) roots: Roots,
    pub(crate) timeout: Duration,
    pub(crate) link: LinkChoice,
    pub(crate) shard: Option<ShardRecord>,
    pub(crate) vantage: String,
    offers: Offers,
}

/// What clients offer: as asked for, or as an earlier session of the run settled it.
enum Offers {
    Asked {
        profile: Profile,
        versions: Vec<TlsVersion>,
        groups: Vec<Group>,
        alpn: Vec<Alpn>,
    },
    Settled(ClientSettings),
}

impl Settings {
    /// From the command line.
    pub(crate) fn of_options(options: &Connect) -> anyhow::Result<Self> {
        let mut sites = sites::read(options.which.sites.as_deref())?;
        if let Some(limit) = options.which.limit {
            sites.sites.truncate(limit as usize);
        }
        let shard = options.seen.shard.map(ShardArg::shard).transpose()?;
        let shard = shard
            .map(|shard| shard::cut(&mut sites.sites, shard))
            .transpose()?;
        let target = if options.which.live {
            Target::Live
        } else {
            Target::Lab
        };
        if target == Target::Live && options.kept_in.resume.is_none() && options.jobs > 16 {
            return Err(WrongInput("--live takes at most 16 --jobs".to_owned()).into());
        }
        Ok(Self {
            seed: options.begun.seed.unwrap_or_else(new_seed),
            stacks: stacks(&options.compared.stack)?,
            conditions: each_once("--condition", &options.condition)?,
            rounds: options.rounds,
            jobs: options.jobs,
            target,
            sites,
            roots: roots(&options.trust.source(), options.roots_count)?,
            timeout: options.timeout,
            link: options.seen.link,
            shard,
            vantage: options.seen.vantage.clone().unwrap_or_else(run::host),
            offers: Offers::Asked {
                profile: options.client_profile.into(),
                versions: each_once("--tls", &options.tls)?,
                groups: each_once("--groups", &options.groups)?,
                alpn: each_once("--alpn", &options.alpn)?,
            },
        })
    }

    /// From the run that is to be gone on with.
    pub(crate) fn of_manifest(options: &Connect, manifest: &Manifest) -> anyhow::Result<Self> {
        shard::may_go_on(&manifest.name, &manifest.origin, manifest.plan.sites.len())?;
        let plan = &manifest.plan;
        let roots = roots(&plan.roots.source, Some(plan.roots.count))?;
        if roots.sha256 != plan.roots.sha256 {
            return Err(WrongInput(format!(
                "the trust roots are not those that run {} was begun with, so that it cannot go on",
                manifest.name
            ))
            .into());
        }
        Ok(Self {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            conditions: plan.conditions.clone(),
            rounds: plan.rounds,
            jobs: options.jobs,
            target: plan.target,
            sites: SitesFile {
                name: plan.sites_file.clone(),
                sha256: plan.sites_sha256.clone(),
                sites: plan.sites.clone(),
            },
            roots,
            timeout: Duration::from_millis(plan.timeout_ms),
            link: match manifest.link.kind {
                LinkKind::User => LinkChoice::User,
                LinkKind::Netem => LinkChoice::Netem,
                LinkKind::None | LinkKind::Live => LinkChoice::None,
            },
            shard: manifest.origin.shard,
            vantage: manifest.origin.vantage.clone(),
            offers: Offers::Settled(plan.client.clone()),
        })
    }

    /// The stacks that workers are needed for, the lab's servers among them.
    pub(crate) fn workers(&self) -> BTreeSet<String> {
        let clients = self.stacks.iter().map(|stack| stack.stack().to_owned());
        let servers = self.sites.sites.iter().map(|site| site.lab.server.clone());
        match self.target {
            Target::Lab => clients.chain(servers).collect(),
            Target::Live => clients.collect(),
        }
    }

    /// What every client offers, now that the workers have said what they can do.
    pub(crate) fn client(&self, fleet: &Fleet) -> anyhow::Result<ClientSettings> {
        let (profile, versions, asked, alpn) = match &self.offers {
            Offers::Settled(settings) => return Ok(settings.clone()),
            Offers::Asked {
                profile,
                versions,
                groups,
                alpn,
            } => (profile, versions, groups, alpn),
        };
        let chosen = || {
            self.stacks
                .iter()
                .filter_map(|stack| fleet.description(stack.stack()))
        };
        let groups: Vec<Group> = if asked.is_empty() {
            let able = |group: &Group| chosen().all(|stack| stack.groups.contains(group));
            Group::ALL.iter().copied().filter(able).collect()
        } else {
            asked.clone()
        };
        if groups.is_empty() {
            return Err(WrongInput("the stacks have no group in common".to_owned()).into());
        }
        let offered = |suite: &Suite| {
            versions.contains(&suite.version())
                && chosen().all(|stack| stack.suites.contains(suite))
        };
        Ok(ClientSettings {
            profile: *profile,
            versions: versions.clone(),
            suites: Suite::MODERN.iter().copied().filter(offered).collect(),
            groups,
            signatures: SignatureScheme::ALL.to_vec(),
            alpn: alpn.clone(),
        })
    }
}

fn roots(source: &RootsSource, count: Option<u32>) -> anyhow::Result<Roots> {
    let roots = Roots::load(source).map_err(|e| WrongInput(e.to_string()))?;
    Ok(match count {
        Some(count) if count != roots.count => roots
            .resized(count)
            .map_err(|e| WrongInput(format!("--roots-count: {e}")))?,
        _ => roots,
    })
}

fn stacks(names: &[String]) -> anyhow::Result<Vec<StackName>> {
    let labels = stack_names(names);
    if labels.len() < 2 {
        return Err(WrongInput(
            "--stack needs at least two stacks to compare, such as openssl,rustls-aws-lc"
                .to_owned(),
        )
        .into());
    }
    Ok(labels)
}

fn each_once<T: PartialEq + Copy + std::fmt::Display>(
    option: &str,
    values: &[T],
) -> anyhow::Result<Vec<T>> {
    let mut kept: Vec<T> = Vec::new();
    for value in values {
        if kept.contains(value) {
            return Err(WrongInput(format!("{option} names {value} twice")).into());
        }
        kept.push(*value);
    }
    Ok(kept)
}
