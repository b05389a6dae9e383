use std::time::Duration;

use netbench_model::{
    Alpn, CipherSuite, ClientSettings, Condition, ConnectManifest, ConnectPlan, CpuShare, Group,
    Profile, SignatureScheme, StackName, Sweep, Target, TlsVersion,
};
use netbench_protocol::HttpRequest;
use netbench_report::count;
use netbench_runner::{Plan, Workers};

use super::{args::Connect, sweep};
use crate::{
    client::{self, Shown, Unstored, all_can, millis},
    cost::Connections,
    exit::bail_input,
    sites_file::SitesFile,
    stack_names::stack_names,
    targets::{self, Network, Sites, roots},
};

/// The user's options, read and validated: everything except the facts that only workers know.
pub(crate) struct ConnectSettings {
    pub(crate) stacks: Vec<StackName>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) rounds: u32,
    pub(crate) jobs: u32,
    /// The CPU quota, or `None` for no limit.
    pub(crate) cpu: Option<CpuShare>,
    /// The sweep, if there is one; `over` then has each site at every point.
    pub(crate) sweep: Option<Sweep>,
    pub(crate) over: Sites,
    pub(crate) timeout: Duration,
    /// The pause, or `None` for the default one.
    asked_pause: Option<Duration>,
    /// The request that is sent to every site, each at the site's own path.
    pub(crate) request: HttpRequest,
    /// The certificate that clients present.
    pub(crate) shown: Shown,
    offers: Offers,
}

/// The offers of the clients: as the user chose them, or as an earlier session of the run settled
/// them.
enum Offers {
    Asked {
        profile: Profile,
        versions: Vec<TlsVersion>,
        groups: Vec<Group>,
        alpn: Vec<Alpn>,
    },
    Settled(ClientSettings),
}

impl ConnectSettings {
    pub(crate) fn of_options(options: &Connect) -> anyhow::Result<Self> {
        let (mut file, target) = targets::asked(&options.over, &options.targets, targets::HTTPS)?;
        let every = options.every as usize;
        let sites: Vec<_> = file.sites.iter().step_by(every).cloned().collect();
        file.sites = sites.into();
        sweep::only(&mut file, &options.only)?;
        let sweep = sweep::sweep(options, &mut file, target)?;
        let request = client::request(&options.request.method, &options.unstored.header);
        client::only_for_servers(target, &request, &options.unstored.identity)?;
        let pause = options.request.pause;
        let network = network(target, file.sites.len(), pause);
        if options.over.live && options.jobs > 16 {
            bail_input!("--live takes at most 16 --jobs");
        }
        Ok(Self {
            stacks: stacks(&options.stacks.names())?,
            conditions: each_once("--condition", &options.condition)?,
            rounds: options.rounds,
            jobs: options.jobs,
            cpu: options.cpu,
            sweep,
            over: Sites::of_options(
                network,
                file,
                roots(&options.roots.source(), options.roots_count)?,
                &options.targets,
                &options.path,
                &options.start,
            )?,
            timeout: options.timeout,
            asked_pause: pause,
            request,
            shown: Shown(options.unstored.identity.load()?),
            offers: Offers::Asked {
                profile: options.profile()?,
                versions: each_once("--tls", &options.tls)?,
                groups: each_once("--groups", &options.groups)?,
                alpn: each_once("--alpn", &options.alpn)?,
            },
        })
    }

    pub(super) fn of_manifest(
        manifest: &ConnectManifest,
        unstored: &Unstored,
    ) -> anyhow::Result<Self> {
        let plan = &manifest.plan;
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: plan.sites.clone().into(),
            // The sites of a run that has begun can be emulated.
            not_emulated: None,
        };
        let pause = plan.pause_ms.map(Duration::from_millis);
        let over = Sites::of_run(
            manifest,
            network(plan.target, plan.sites.len(), pause),
            file,
            &plan.roots,
            &plan.connect_to,
            plan.seed,
        )?;
        let shown = Shown(unstored.identity.load()?);
        shown.must_be(&manifest.name, plan.client_certificate.as_ref())?;
        Ok(Self {
            stacks: plan.stacks.clone(),
            conditions: plan.conditions.clone(),
            rounds: plan.rounds,
            jobs: plan.jobs,
            cpu: plan.cpu_percent,
            sweep: plan.sweep.clone(),
            over,
            timeout: Duration::from_millis(plan.timeout_ms),
            asked_pause: pause,
            request: client::request_again(&manifest.name, &plan.request, &unstored.header)?,
            shown,
            offers: Offers::Settled(plan.client.clone()),
        })
    }

    /// Returns the pause between two connections to one site.
    pub(crate) fn pause(&self) -> Duration {
        let target = self.over.network.target();
        self.asked_pause.unwrap_or(target.usual_pause())
    }

    /// Refuses stacks that do not support the settings, and would measure something else.
    pub(crate) fn stacks_can(&self, workers: &Workers) -> anyhow::Result<()> {
        let stacks = || self.stacks.iter().map(StackName::stack);
        let paths = self.over.file.sites.iter().any(|site| site.path != "/");
        if paths || !self.request.is_usual() {
            let what = "send a path, method or headers of your own";
            all_can(stacks(), workers, "request", what)?;
        }
        if self.shown.0.is_some() {
            let what = "show a client certificate";
            all_can(stacks(), workers, "client-certificate", what)?;
        }
        Ok(())
    }

    pub(crate) fn connections(&self) -> Connections<'_> {
        Connections {
            sites: &self.over.file.sites,
            conditions: &self.conditions,
            stacks: self.stacks.len(),
            rounds: self.rounds,
            jobs: self.jobs,
            timeout: self.timeout,
            pause: self.pause(),
            reached: self.over.reached(),
        }
    }

    pub(crate) fn record(&self, plan: &Plan) -> ConnectPlan {
        ConnectPlan {
            seed: plan.seed,
            stacks: plan.stacks.clone(),
            conditions: plan.conditions.clone(),
            rounds: plan.rounds,
            jobs: plan.jobs,
            cpu_percent: plan.cpu,
            target: plan.target,
            sites_file: self.over.file.name.clone(),
            sites_sha256: self.over.file.sha256.clone(),
            sites: plan.sites.clone(),
            sweep: self.sweep.clone(),
            client: plan.client.clone(),
            roots: self.over.roots_record(),
            timeout_ms: millis(plan.timeout),
            pause_ms: self.asked_pause.map(millis),
            connect_to: self.over.connect_to.clone(),
            request: client::record(&self.request),
            client_certificate: self.shown.record(),
        }
    }

    /// Returns the offer that all clients make, given the workers' capabilities.
    pub(crate) fn client(&self, workers: &Workers) -> anyhow::Result<ClientSettings> {
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
                .filter_map(|stack| workers.description(stack.stack()))
        };
        let groups: Vec<Group> = if asked.is_empty() {
            let able = |group: &Group| chosen().all(|stack| stack.groups.contains(group));
            Group::OFFERED.iter().copied().filter(able).collect()
        } else {
            asked.clone()
        };
        if groups.is_empty() {
            bail_input!("the stacks have no group in common");
        }
        let offered = |suite: &CipherSuite| {
            versions.contains(&suite.version())
                && chosen().all(|stack| stack.suites.contains(suite))
        };
        let verified =
            |scheme: &SignatureScheme| chosen().all(|stack| stack.signatures.contains(scheme));
        Ok(ClientSettings {
            profile: *profile,
            versions: versions.clone(),
            suites: CipherSuite::OFFERED
                .iter()
                .copied()
                .filter(offered)
                .collect(),
            groups,
            signatures: SignatureScheme::OFFERED
                .iter()
                .copied()
                .filter(verified)
                .collect(),
            alpn: alpn.clone(),
        })
    }
}

fn network(target: Target, sites: usize, pause: Option<Duration>) -> Network {
    let pause = pause.unwrap_or(target.usual_pause());
    match target {
        Target::Lab => Network::Lab,
        Target::Loopback => Network::Loopback,
        Target::Live => Network::Live {
            how: format!(
                "connecting over the real network to {}, one connection at a time to each, with a \
                 pause of {pause:?} between",
                count(sites, "host", "hosts")
            ),
        },
    }
}

fn stacks(names: &[String]) -> anyhow::Result<Vec<StackName>> {
    let labels = stack_names(names);
    if labels.len() < 2 {
        bail_input!("--stack needs at least two stacks to compare, such as openssl,rustls-aws-lc");
    }
    Ok(labels)
}

fn each_once<T: PartialEq + Copy + std::fmt::Display>(
    option: &str,
    values: &[T],
) -> anyhow::Result<Vec<T>> {
    let mut once: Vec<T> = Vec::new();
    for value in values {
        if once.contains(value) {
            bail_input!("{option} names {value} twice");
        }
        once.push(*value);
    }
    Ok(once)
}
