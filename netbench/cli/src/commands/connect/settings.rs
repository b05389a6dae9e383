use std::{collections::BTreeSet, time::Duration};

use netbench_model::{
    Alpn, ClientSettings, Condition, Group, Manifest, Profile, SignatureScheme, StackName, Suite,
    Target, TlsVersion,
};
use netbench_runner::Workers;

use super::args::Connect;
use crate::{
    exit::WrongInput,
    sites_file::{self, SitesFile},
    stack_names::stack_names,
    targets::{Sites, roots},
};

/// What the user asked for, read and found right: everything but what only workers can tell.
pub(crate) struct Settings {
    pub(crate) stacks: Vec<StackName>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) rounds: u32,
    pub(crate) jobs: u32,
    pub(crate) target: Target,
    pub(crate) over: Sites,
    pub(crate) timeout: Duration,
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
        let file = sites_file::read(options.which.sites.as_deref())?;
        let target = if options.which.live {
            Target::Live
        } else {
            Target::Lab
        };
        if target == Target::Live && options.kept_in.resume.is_none() && options.jobs > 16 {
            return Err(WrongInput("--live takes at most 16 --jobs".to_owned()).into());
        }
        Ok(Self {
            stacks: stacks(&options.compared.stack)?,
            conditions: each_once("--condition", &options.condition)?,
            rounds: options.rounds,
            jobs: options.jobs,
            target,
            over: Sites::of_options(
                file,
                roots(&options.trust.source(), options.roots_count)?,
                &options.which,
                &options.seen,
                &options.begun,
            )?,
            timeout: options.timeout,
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
        let plan = &manifest.plan;
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: plan.sites.clone(),
        };
        let over = Sites::of_run(
            &manifest.name,
            &manifest.origin,
            file,
            &plan.roots,
            Some(manifest.link.kind),
            plan.seed,
        )?;
        Ok(Self {
            stacks: plan.stacks.clone(),
            conditions: plan.conditions.clone(),
            rounds: plan.rounds,
            jobs: options.jobs,
            target: plan.target,
            over,
            timeout: Duration::from_millis(plan.timeout_ms),
            offers: Offers::Settled(plan.client.clone()),
        })
    }

    /// The stacks that workers are needed for, the lab's servers among them.
    pub(crate) fn workers(&self) -> BTreeSet<String> {
        let clients = self.stacks.iter().map(|stack| stack.stack().to_owned());
        match self.target {
            Target::Lab => clients.chain(self.over.servers()).collect(),
            Target::Live => clients.collect(),
        }
    }

    /// What every client offers, now that the workers have said what they can do.
    pub(crate) fn client(&self, fleet: &Workers) -> anyhow::Result<ClientSettings> {
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
