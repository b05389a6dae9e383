use std::{sync::Arc, time::Duration};

use netbench_model::{ScanManifest, ScanPlan, Site, StartTls, Target, scan::Offer};
use netbench_report::{Needs, count};
use netbench_scan::{ClientIdentity, Limits, ScanPart};
use netbench_stats::SplitMix;

use super::{args::Scan, policy::policy};
use crate::{
    client::{Shown, Unstored, millis},
    exit::{WrongInput, bail_input},
    run::Planned,
    sites_file,
    stack_names::{new_seed, stack_names},
    targets::{self, Names, Network, Sites},
};

/// Returns the plan of the options.
pub(crate) fn plan(options: &Scan) -> anyhow::Result<Planned<ScanPlan>> {
    let port = options.start_tls.map_or(sites_file::HTTPS, StartTls::port);
    let (mut file, place) = targets::asked(&options.over, &options.targets, port)?;
    if options.start_tls.is_some() && place == Target::Lab {
        bail_input!("--starttls is for URLs and for --live: emulated sites begin with TLS");
    }
    let live = place == Target::Live;
    let sites = Arc::make_mut(&mut file.sites);
    let origin = targets::origin(&options.path, sites)?;
    let seed = options.start.seed.unwrap_or_else(new_seed);
    let sampled_of = options.sample.map(|sample| draw(sites, sample, seed));
    let policy = options.policy.as_deref().map(policy).transpose()?;
    if policy.is_none() && options.output.format().needs == Needs::Checks {
        bail_input!(
            "--format {} is of what passes or fails: it takes a --policy",
            options.output.format().name
        );
    }
    let parts = ScanPart::ALL.map(|part| part.name().to_owned()).into_iter();
    let plan = ScanPlan {
        place,
        sites_file: file.name,
        sites_sha256: file.sha256,
        sites: file.sites,
        parts: parts.filter(|part| options.parts.contains(part)).collect(),
        jobs: options.jobs.unwrap_or(if live { 50 } else { 500 }),
        rate: options.rate.or(LIVE_RATE.filter(|_| live)),
        timeout_ms: millis(options.timeout),
        site_timeout_ms: millis(options.site_timeout),
        retries: options.retries,
        roots: targets::roots_record(&options.roots, None)?,
        seed,
        against: stack_names(&options.against),
        client_profile: options.client_profile.into(),
        confirm: options.confirm,
        confirm_reached: options.confirm_reached,
        summary: options.summary,
        sni: options.sni.clone(),
        policy,
        sampled_of: sampled_of.transpose()?,
        client_certificate: Shown(options.identity.load()?).record(),
        connect_to: options.targets.connect_to.clone(),
        start_tls: options.start_tls,
        link: targets::requested(options.path.link),
    };
    Ok(Planned {
        plan,
        origin,
        thresholds: options.thresholds.collected(),
    })
}

/// The sites of a plan, and the certificate that it only describes.
pub(crate) struct ScanRun {
    pub(super) over: Sites,
    /// The certificate that the scan and the stacks present.
    pub(super) shown: Shown,
    /// The hellos of the stacks, which their workers send.
    pub(super) offers: Vec<Offer>,
}

impl ScanRun {
    pub(super) fn open(run: &ScanManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let over = Sites {
            network: network(plan),
            sites: Arc::clone(&plan.sites),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: plan.connect_to.clone(),
            seed: plan.seed,
            names: Names::AsTheyCome,
        };
        over.validate(run)?;
        let shown = Shown(unstored.identity.load()?);
        shown.must_be(&run.name, plan.client_certificate.as_ref())?;
        let opened = Self {
            over,
            shown,
            offers: Vec::new(),
        };
        opened.identity()?;
        Ok(opened)
    }

    /// Returns the certificate that the scan presents.
    pub(super) fn identity(&self) -> Result<Option<ClientIdentity>, WrongInput> {
        let shown = self.shown.0.as_ref();
        let read = shown.map(|shown| ClientIdentity::of_pem(&shown.chain_pem, &shown.key_pem));
        read.transpose()
            .map_err(|error| WrongInput(format!("--client-cert: {error}")))
    }
}

/// Returns the limits of the scanner. A real host gets one connection at a time.
pub(super) fn limits(plan: &ScanPlan) -> Limits {
    let default = Limits::default();
    let (per_site, per_address) = match plan.place {
        Target::Live => (1, 2),
        Target::Lab | Target::Loopback => (default.per_site, default.per_address),
    };
    let named = |name: &String| ScanPart::ALL.into_iter().find(|part| part.name() == name);
    Limits {
        sites: plan.jobs as usize,
        per_site,
        per_address,
        rate: plan.rate,
        timeout: Duration::from_millis(plan.timeout_ms),
        site_timeout: Duration::from_millis(plan.site_timeout_ms),
        retries: plan.retries,
        parts: plan.parts.iter().filter_map(named).collect(),
    }
}

/// Connections begun in a second at most over the real network, unless `--rate` says otherwise.
const LIVE_RATE: Option<f64> = Some(100.0);

/// Keeps `sample` of the sites, drawn by the run's seed, in the order of the file. Returns the number of all sites.
fn draw(sites: &mut Vec<Site>, sample: u32, seed: u64) -> Result<u32, WrongInput> {
    let whole = sites.len();
    if sample as usize > whole {
        bail_input!(
            "--sample {sample}: the file has only {}",
            count(whole, "site", "sites")
        );
    }
    let mut places: Vec<usize> = (0..whole).collect();
    SplitMix::new(seed).shuffle(&mut places);
    places.truncate(sample as usize);
    places.sort_unstable();
    let mut drawn = places.into_iter().peekable();
    let mut at = 0..whole;
    sites.retain(|_| {
        let at = at.next();
        drawn.next_if(|next| Some(*next) == at).is_some()
    });
    Ok(u32::try_from(whole).unwrap_or(u32::MAX))
}

fn network(plan: &ScanPlan) -> Network {
    let rate = plan.rate.unwrap_or(f64::INFINITY);
    match plan.place {
        Target::Lab => Network::Lab,
        Target::Loopback => Network::Loopback,
        Target::Live => Network::Live {
            how: format!(
                "scanning {} over the real network, at most {rate} connections a second, one at a \
                 time to each",
                count(plan.sites.len(), "host", "hosts")
            ),
        },
    }
}
