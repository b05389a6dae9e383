//! `netbench scan`: scans the sites, collects the hellos of the stacks' workers, predicts the sites that each stack
//! loses, and confirms the predictions by handshakes.

pub(crate) mod args;
mod diff;
mod policy;
pub(crate) mod record;
mod settings;

use std::{
    collections::{BTreeSet, HashSet},
    net::SocketAddr,
    time::Duration,
};

use netbench_interop::{LossReport, Losses};
use netbench_model::{
    ClientSettings, Plan, Profile, ScanManifest, ScanPlan, Site, StackName,
    scan::{AgainstRecord, Agreement, Offer, SiteOutcome, SiteScan},
};
use netbench_runner::{
    Targets,
    scan::{Chosen, Clients, Most, Reached, choose, client_settings, confirm, offers},
};
use netbench_scan::{Place, ScanClient, ScanEvent, ScanTarget, TrustAnchors, Witness, scan_all};
use netbench_store::{Appender, Index, RunFolder};

use self::args::{Scan, ScanCommand};
pub(crate) use self::settings::ScanSettings;
use crate::{
    client::{Unstored, all_can},
    commands::stacks::hello::example_site,
    cost::Cost,
    exit::Ended,
    kinds::{self, scan::AGAINST},
    pipeline::{self, Measured, Ready, Setup},
    progress::outcome_of,
    stack_names::clients,
    targets::{Needs, Network, Sites},
};

pub(crate) fn scan(options: &Scan) -> anyhow::Result<Ended> {
    if let Some(ScanCommand::Diff(diff)) = &options.command {
        return diff::diff(diff);
    }
    let settings = ScanSettings::of_options(options)?;
    let asked = options.start.asked(&options.output);
    pipeline::start(settings, &options.stored_in, "scan", asked)
}

/// Returns the predicted time of a run with these options.
pub(crate) fn time(options: &Scan) -> anyhow::Result<Duration> {
    match options.command {
        Some(ScanCommand::Diff(_)) => Ok(Duration::ZERO),
        None => Ok(ScanSettings::of_options(options)?.cost().time),
    }
}

impl Measured for ScanSettings {
    type Plan = ScanPlan;

    const UNIT: (&'static str, &'static str) = ("site", "sites");

    fn of_run(manifest: &ScanManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        unstored.refuse_headers(&ScanPlan::KIND)?;
        Self::of_manifest(manifest, unstored)
    }

    fn workers(&self) -> BTreeSet<String> {
        clients(&self.plan.against)
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn needs(&self) -> Needs {
        Needs::Answers
    }

    fn cost(&self) -> Cost {
        self.scans().cost()
    }

    fn ready<'a>(
        &'a self,
        setup: &'a Setup,
        _earlier: Option<&ScanManifest>,
    ) -> anyhow::Result<Ready<'a, ScanPlan>> {
        let (workers, inside) = (&setup.workers, setup.inside.as_ref());
        let client = client_settings(self.plan.client_profile, &self.plan.against, workers);
        let mut offers = offers(
            &self.plan.against,
            workers,
            inside,
            &client,
            &setup.roots_pem,
            &example_site()?,
        )?;
        for offer in &mut offers {
            offer.has_certificate = self.shown.0.is_some();
            offer.has_nagle = self.plan.client_profile == Profile::Servo;
        }
        if self.shown.0.is_some() {
            let stacks = self.plan.against.iter().map(StackName::stack);
            let what = "show a client certificate";
            all_can(stacks, workers, "client-certificate", what)?;
        }
        Ok(Ready {
            plan: self.plan.clone(),
            checks: Vec::new(),
            measure: Box::new(move |folder, appender| {
                scan_sites(self, folder, appender, setup)?;
                against(self, folder, setup, &client, offers)
            }),
        })
    }
}

/// Scans the sites that no earlier session has scanned.
fn scan_sites(
    settings: &ScanSettings,
    folder: &RunFolder,
    mut appender: Appender,
    setup: &Setup,
) -> anyhow::Result<()> {
    let (addresses, progress) = (setup.targets()?, &setup.progress);
    let sites = &settings.over.file.sites;
    let mut done: HashSet<String> = HashSet::new();
    // Failed sites are scanned again.
    folder.each_record(|earlier: SiteOutcome| {
        if earlier.outcome.is_scanned() {
            done.insert(earlier.site);
        }
    })?;
    let due = |site: &Site| !done.contains(&site.name());
    let count = sites.iter().filter(|site| due(site)).count();
    let each = settings.cost().each();
    let left = each.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
    progress.begin(sites.len() as u64, (sites.len() - count) as u64, left);
    let targets = sites.iter().enumerate().filter(|(_, site)| due(site));
    let targets = targets.map(|(i, site)| ScanTarget {
        site: site.name(),
        host: settings.plan.sni.as_ref().unwrap_or(&site.host).to_string(),
        port: site.port,
        path: site.path.clone(),
        place: place(&settings.over, addresses, i, site),
        start_tls: settings.plan.start_tls,
    });
    let client = ScanClient {
        roots: TrustAnchors::of_pem(&setup.roots_pem),
        identity: settings.identity()?,
    };
    let limits = settings.limits();
    let work = || {
        scan_all::<anyhow::Error>(targets, limits, client, &setup.stop, |event| {
            let ScanEvent::Done(scan) = event;
            appender.append(scan)?;
            let told = || format!("{}: {}", scan.site, outcome_of(scan));
            progress.sampled(told, !scan.is_scanned(), each);
            Ok(())
        })
    };
    match addresses.link() {
        Some(link) => link.client_namespace().run(work)?,
        None => work(),
    }
}

fn place(over: &Sites, addresses: &Targets, index: usize, site: &Site) -> Place {
    if matches!(over.network, Network::Live { .. }) {
        let (host, port) = over.place(site);
        return match host.address() {
            Some(ip) => Place::At(SocketAddr::new(ip, port)),
            None => Place::Named(host.to_string(), port),
        };
    }
    match addresses.address(index) {
        Ok(address) => Place::At(address),
        Err(failure) => Place::Nowhere(failure.detail),
    }
}

/// Predicts the connections of the stacks, confirms the predictions by handshakes, and stores both.
fn against(
    settings: &ScanSettings,
    folder: &RunFolder,
    setup: &Setup,
    client: &ClientSettings,
    offers: Vec<Offer>,
) -> anyhow::Result<()> {
    if offers.is_empty() {
        return Ok(());
    }
    let ScanPlan {
        against: stacks,
        sites,
        confirm: lost,
        confirm_reached: reached,
        ..
    } = &settings.plan;
    let most = Most {
        lost: *lost as usize,
        reached: *reached as usize,
    };
    let index = kinds::scan::index(folder)?;
    let (predicted, reached) = predict(offers, sites, &index)?;
    setup.progress.stage("confirming by handshakes");
    let mut chosen = Vec::new();
    let mut found = vec![None; sites.len()];
    for place in choose(&predicted, sites, &reached, most) {
        let scan: Option<SiteScan> = index.read(&sites[place].name())?;
        if let Some(scan) = scan {
            found[place] = scan.address;
            let offers = predicted.offers.iter();
            chosen.push(Chosen {
                site: place,
                agreements: offers
                    .map(|offer| netbench_interop::predict(offer, &scan))
                    .collect(),
                witness: Witness::of(&scan),
            });
        }
    }
    let found = match settings.over.network {
        Network::Live { .. } => Some(Targets::Hosts(settings.over.at(found))),
        Network::Lab | Network::Loopback => None,
    };
    let targets = match &found {
        Some(found) => found,
        None => setup.targets()?,
    };
    let identity = settings.shown.identity();
    let clients = Clients {
        workers: &setup.workers,
        targets,
        place: setup.inside.as_ref(),
        client,
        roots_pem: &setup.roots_pem,
        identity: identity.as_ref(),
        stop: &setup.stop,
    };
    let confirmed = confirm(&clients, stacks, sites, &chosen);
    let record = AgainstRecord {
        offers: predicted.offers,
        confirmed,
    };
    folder.write_file(AGAINST, &serde_json::to_vec_pretty(&record)?)?;
    Ok(())
}

/// Predicts the losses of the stacks among the scanned sites, and the sites that each stack reaches.
fn predict(
    offers: Vec<Offer>,
    sites: &[Site],
    index: &Index,
) -> anyhow::Result<(LossReport, Vec<Reached>)> {
    let mut losses = Losses::new(offers, Vec::new());
    let mut reached = Vec::new();
    for (place, site) in sites.iter().enumerate() {
        let scan: Option<SiteScan> = index.read(&site.name())?;
        let Some(scan) = scan else { continue };
        if losses.add(&scan).iter().all(Agreement::agrees) {
            let mut leaves = scan.chains.iter().filter_map(|c| c.certificates.first());
            reached.push(Reached {
                site: place,
                signs: leaves.any(|leaf| leaf.is_ca),
            });
        }
    }
    Ok((losses.report(), reached))
}
