use std::{sync::Arc, time::Duration};

use netbench_model::{ScanManifest, ScanPlan, StartTls, Target};
use netbench_report::{Needs, count};
use netbench_scan::{ClientIdentity, Limits, ScanPart};
use netbench_stats::SplitMix;

use super::{args::Scan, policy::policy};
use crate::{
    client::{Shown, Unstored, millis},
    cost::Scans,
    exit::{WrongInput, bail_input},
    sites_file::SitesFile,
    stack_names::stack_names,
    targets::{self, Names, Network, Sites, roots},
};

/// The user's options, read and validated.
pub(crate) struct ScanSettings {
    pub(crate) over: Sites,
    pub(crate) plan: ScanPlan,
    /// The certificate that stacks present.
    pub(crate) shown: Shown,
}

impl ScanSettings {
    pub(crate) fn of_options(options: &Scan) -> anyhow::Result<Self> {
        let port = options.start_tls.map_or(targets::HTTPS, StartTls::port);
        let (file, place) = targets::asked(&options.over, &options.targets, port)?;
        if options.start_tls.is_some() && place == Target::Lab {
            bail_input!("--starttls is for URLs and for --live: emulated sites begin with TLS");
        }
        let live = place == Target::Live;
        let rate = options.rate.or(LIVE_RATE.filter(|_| live));
        let mut over = Sites::of_options(
            network(place, file.sites.len(), rate),
            file,
            roots(&options.roots.source(), None)?,
            &options.targets,
            &options.path,
            &options.start,
        )?;
        over.names = Names::AsTheyCome;
        let sampled_of = options
            .sample
            .map(|sample| draw(&mut over, sample))
            .transpose()?;
        let policy = options.policy.as_deref().map(policy).transpose()?;
        if policy.is_none() && options.output.format().needs == Needs::Checks {
            bail_input!(
                "--format {} is of what passes or fails: it takes a --policy",
                options.output.format().name
            );
        }
        let parts = ScanPart::ALL.map(|part| part.name().to_owned()).into_iter();
        let shown = Shown(options.identity.load()?);
        let plan = ScanPlan {
            place,
            sites_file: over.file.name.clone(),
            sites_sha256: over.file.sha256.clone(),
            sites: Arc::clone(&over.file.sites),
            parts: parts.filter(|part| options.parts.contains(part)).collect(),
            jobs: options.jobs.unwrap_or(if live { 50 } else { 500 }),
            rate,
            timeout_ms: millis(options.timeout),
            site_timeout_ms: millis(options.site_timeout),
            retries: options.retries,
            roots: over.roots_record(),
            seed: over.seed,
            against: stack_names(&options.against),
            client_profile: options.client_profile.into(),
            confirm: options.confirm,
            confirm_reached: options.confirm_reached,
            summary: options.summary,
            sni: options.sni.clone(),
            policy,
            sampled_of,
            client_certificate: shown.record(),
            connect_to: over.connect_to.clone(),
            start_tls: options.start_tls,
        };
        let settings = Self { over, plan, shown };
        settings.identity()?;
        Ok(settings)
    }

    pub(super) fn of_manifest(
        manifest: &ScanManifest,
        unstored: &Unstored,
    ) -> anyhow::Result<Self> {
        let plan = manifest.plan.clone();
        let file = SitesFile {
            name: plan.sites_file.clone(),
            sha256: plan.sites_sha256.clone(),
            sites: Arc::clone(&plan.sites),
            // The sites of a run that has begun can be emulated.
            not_emulated: None,
        };
        let network = network(plan.place, plan.sites.len(), plan.rate);
        let rules = &plan.connect_to;
        let mut over = Sites::of_run(manifest, network, file, &plan.roots, rules, plan.seed)?;
        over.names = Names::AsTheyCome;
        let shown = Shown(unstored.identity.load()?);
        shown.must_be(&manifest.name, plan.client_certificate.as_ref())?;
        Ok(Self { over, plan, shown })
    }

    pub(crate) fn scans(&self) -> Scans<'_> {
        Scans {
            sites: &self.over.file.sites,
            reached: self.over.reached(),
            parts: self.plan.parts.len(),
            jobs: self.plan.jobs,
            rate: self.plan.rate,
            confirmed: self.plan.confirm.saturating_add(self.plan.confirm_reached),
            stacks: self.plan.against.len(),
        }
    }

    /// Returns the certificate that the scan presents.
    pub(crate) fn identity(&self) -> Result<Option<ClientIdentity>, WrongInput> {
        let shown = self.shown.0.as_ref();
        let read = shown.map(|shown| ClientIdentity::of_pem(&shown.chain_pem, &shown.key_pem));
        read.transpose()
            .map_err(|error| WrongInput(format!("--client-cert: {error}")))
    }

    /// Returns the limits of the scanner. A real host gets one connection at a time.
    pub(crate) fn limits(&self) -> Limits {
        let plan = &self.plan;
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
}

/// Connections begun in a second at most over the real network, unless `--rate` says otherwise.
const LIVE_RATE: Option<f64> = Some(100.0);

/// Keeps `sample` of the sites, drawn by the run's seed, in the order of the file. Returns the number of all sites.
fn draw(over: &mut Sites, sample: u32) -> Result<u32, WrongInput> {
    let whole = over.file.sites.len();
    if sample as usize > whole {
        bail_input!(
            "--sample {sample}: the file has only {}",
            count(whole, "site", "sites")
        );
    }
    let mut places: Vec<usize> = (0..whole).collect();
    SplitMix::new(over.seed).shuffle(&mut places);
    places.truncate(sample as usize);
    places.sort_unstable();
    let mut drawn = places.into_iter().peekable();
    let mut at = 0..whole;
    Arc::make_mut(&mut over.file.sites).retain(|_| {
        let at = at.next();
        drawn.next_if(|next| Some(*next) == at).is_some()
    });
    Ok(u32::try_from(whole).unwrap_or(u32::MAX))
}

fn network(place: Target, sites: usize, rate: Option<f64>) -> Network {
    let rate = rate.unwrap_or(f64::INFINITY);
    match place {
        Target::Lab => Network::Lab,
        Target::Loopback => Network::Loopback,
        Target::Live => Network::Live {
            how: format!(
                "scanning {} over the real network, at most {rate} connections a second, one at a \
                 time to each",
                count(sites, "host", "hosts")
            ),
        },
    }
}
