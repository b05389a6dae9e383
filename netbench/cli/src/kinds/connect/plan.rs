use netbench_model::{
    CipherSuite, ClientSettings, ConnectManifest, ConnectPlan, Group, SignatureScheme, Site,
    StackName, Switch, Target,
};
use netbench_protocol::HttpRequest;
use netbench_report::count;
use netbench_runner::Workers;

use super::{args::Connect, sweep};
use crate::{
    client::{self, Shown, Unstored, all_can, millis},
    exit::{WrongInput, bail_input},
    options::each_once,
    run::Planned,
    sites_file,
    stack_names::{new_seed, stack_names},
    targets::{self, Names, Network, Sites},
};

/// Number of sites with `--quick`.
const QUICK_SITES: usize = 6;

/// Returns the plan of the options. Its client lists what the user chose; [`decide`] adds what only workers know.
pub(crate) fn plan(options: &Connect) -> anyhow::Result<Planned<ConnectPlan>> {
    let (mut file, target) = targets::asked(&options.over, &options.targets, sites_file::HTTPS)?;
    sweep::only(&mut file, &options.only)?;
    let request = client::request(&options.request.method, &options.unstored.header);
    client::only_for_servers(target, &request, &options.unstored.identity)?;
    if options.over.live && options.jobs > 16 {
        bail_input!("--live takes at most 16 --jobs");
    }
    let every = match options.quick {
        true => file.sites.len().div_ceil(QUICK_SITES),
        false => options.every as usize,
    };
    let mut plan = ConnectPlan {
        seed: options.start.seed.unwrap_or_else(new_seed),
        stacks: stacks(&options.stacks.names())?,
        conditions: each_once("--condition", &options.condition)?.to_vec(),
        rounds: options.rounds,
        jobs: options.jobs,
        cpu_percent: options.cpu,
        target,
        sites_sha256: file.sha256,
        sites: file.sites.iter().step_by(every).cloned().collect(),
        sites_file: file.name,
        sweep: None,
        client: ClientSettings {
            versions: each_once("--tls", &options.tls)?.to_vec(),
            groups: each_once("--groups", &options.groups)?.to_vec(),
            alpn: each_once("--alpn", &options.alpn)?.to_vec(),
            ..ClientSettings::undecided(options.profile()?)
        },
        roots: targets::roots_record(&options.roots, options.roots_count)?,
        timeout_ms: millis(options.timeout),
        pause_ms: options.request.pause.map(millis),
        connect_to: options.targets.connect_to.clone(),
        request: client::record(&request),
        client_certificate: Shown(options.unstored.identity.load()?).record(),
        link: targets::requested(options.path.link),
    };
    sweep::sweep(options, &mut plan)?;
    let origin = targets::origin(&options.path, &mut plan.sites)?;
    Ok(Planned {
        plan,
        origin,
        thresholds: options.thresholds.collected(),
    })
}

/// The sites of a plan, and the values that it only describes.
pub(crate) struct ConnectRun {
    pub(super) over: Sites,
    /// The request that is sent to every site, each at the site's own path.
    pub(super) request: HttpRequest,
    /// The certificate that clients present.
    pub(super) shown: Shown,
}

impl ConnectRun {
    pub(super) fn open(run: &ConnectManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let over = Sites {
            network: network(plan),
            sites: plan.sites.clone().into(),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: plan.connect_to.clone(),
            seed: plan.seed,
            names: Names::First,
        };
        over.validate(run)?;
        let shown = Shown(unstored.identity.load()?);
        shown.must_be(&run.name, plan.client_certificate.as_ref())?;
        Ok(Self {
            over,
            request: client::request_again(&run.name, &plan.request, &unstored.header)?,
            shown,
        })
    }

    /// Refuses stacks that do not support the plan, and would measure something else.
    pub(super) fn stacks_can(&self, plan: &ConnectPlan, workers: &Workers) -> anyhow::Result<()> {
        let stacks = || plan.stacks.iter().map(StackName::stack);
        let paths = plan.sites.iter().any(|site| site.path != "/");
        if paths || !self.request.is_usual() {
            let what = "send a path, method or headers of your own";
            all_can(stacks(), workers, "request", what)?;
        }
        if self.shown.0.is_some() {
            let what = "show a client certificate";
            all_can(stacks(), workers, "client-certificate", what)?;
        }
        Ok(sweep_can(plan, workers)?)
    }
}

/// Refuses stacks that do not support the offers of the sweep.
fn sweep_can(plan: &ConnectPlan, workers: &Workers) -> Result<(), WrongInput> {
    const HYBRID: Group = Group::X25519MLKEM768;
    let own = |site: &Site| site.point.as_deref()?.client.hybrid;
    if !plan.sites.iter().any(|site| own(site) == Some(Switch::On)) {
        return Ok(());
    }
    for stack in &plan.stacks {
        let known = workers.description(stack.stack());
        if !known.is_some_and(|known| known.groups.contains(&HYBRID)) {
            let library = known.map_or("", |known| known.record.library.as_str());
            bail_input!(
                "--sweep hybrid=on: {stack} ({library}) has no {HYBRID}; `netbench stacks list` says which stacks are \
                 there"
            );
        }
    }
    Ok(())
}

/// Decides the offer that all clients make, given the workers' capabilities.
pub(super) fn decide(plan: &mut ConnectPlan, workers: &Workers) -> anyhow::Result<()> {
    let stacks = plan.stacks.iter();
    let chosen: Vec<_> = stacks
        .filter_map(|stack| workers.description(stack.stack()))
        .collect();
    let client = &mut plan.client;
    if client.groups.is_empty() {
        let able = |group: &Group| chosen.iter().all(|stack| stack.groups.contains(group));
        client.groups = Group::OFFERED.iter().copied().filter(able).collect();
    }
    if client.groups.is_empty() {
        bail_input!("the stacks have no group in common");
    }
    let offered = |suite: &CipherSuite| {
        client.versions.contains(&suite.version())
            && chosen.iter().all(|stack| stack.suites.contains(suite))
    };
    let suites = CipherSuite::OFFERED.iter().copied();
    client.suites = suites.filter(offered).collect();
    let verified =
        |scheme: &SignatureScheme| chosen.iter().all(|stack| stack.signatures.contains(scheme));
    let schemes = SignatureScheme::OFFERED.iter().copied();
    client.signatures = schemes.filter(verified).collect();
    Ok(())
}

fn network(plan: &ConnectPlan) -> Network {
    match plan.target {
        Target::Lab => Network::Lab,
        Target::Loopback => Network::Loopback,
        Target::Live => Network::Live {
            how: format!(
                "connecting over the real network to {}, one connection at a time to each, with a \
                 pause of {:?} between",
                count(plan.sites.len(), "host", "hosts"),
                plan.pause()
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
