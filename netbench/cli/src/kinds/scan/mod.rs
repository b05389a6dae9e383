//! `netbench scan`: scans the sites, collects the hellos of the stacks' workers, predicts the sites that each stack
//! loses, and confirms the predictions by handshakes.

mod cost;
mod diff;
mod merge;
mod plan;
pub(crate) mod record;

use std::{
    collections::HashSet,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use netbench_compat::NameServer;
use netbench_interop::{LossReport, Losses};
use netbench_link::{LinkError, Namespace};
use netbench_model::{
    Plan, Profile, ScanManifest, ScanPlan, Site, StackName, Target,
    scan::{AgainstRecord, Agreement, Offer, SiteOutcome, SiteScan},
};
use netbench_protocol::Operation;
use netbench_report::{ScanSummary, summarize_scan};
use netbench_runner::{
    Targets,
    scan::{Chosen, Clients, Most, Reached, choose, client_settings, confirm, offers},
};
use netbench_scan::{
    ClientIdentity, Place, ScanClient, ScanTarget, TrustAnchors, Witness, scan_all,
};
use netbench_store::{Index, RunFolder, StoreError};

pub(crate) use self::plan::{EXAMPLES, Scan, plan};
use self::plan::{ScanCommand, how, limits};
use crate::{
    client::{Shown, Unstored, all_can},
    exit::{Ended, WrongInput},
    pipeline::{self, Listed, Measured, MergeRuns, Session, Setup, Told},
    stored::wrong,
    targets::{self, Needs, Sites, example_site},
};

/// The file of the data that a scan stores about the stacks of `--against`.
const AGAINST: &str = "against.json";

/// Returns the position of each site's scan in the folder. If a site was scanned twice, the last scan counts.
fn index(folder: &RunFolder) -> Result<Index, StoreError> {
    folder.index(|outcome: SiteOutcome| outcome.site)
}

pub(crate) fn scan(options: &Scan) -> anyhow::Result<Ended> {
    if let Some(ScanCommand::Diff(diff)) = &options.command {
        return diff::diff(diff);
    }
    let unstored = Unstored {
        identity: options.identity.clone(),
        header: Vec::new(),
    };
    let asked = options.start.asked(&options.output, unstored);
    pipeline::start::<ScanRun>(plan(options)?, &options.stored_in, "scan", asked)
}

impl Listed for ScanPlan {
    const UNIT: (&'static str, &'static str) = ("site", "sites");
    const SHORTER: &'static str = "a --limit or fewer --parts";

    fn stacks(&self) -> &[StackName] {
        &self.against
    }

    fn cases(&self) -> u64 {
        self.sites.len() as u64
    }

    fn time(&self) -> Duration {
        cost::time(self)
    }
}

/// The sites of a plan, and the certificate that it only describes.
pub(crate) struct ScanRun {
    over: Sites,
    /// The certificate that the scan and the stacks present.
    shown: Shown,
    /// The hellos of the stacks, which their workers send.
    offers: Vec<Offer>,
}

impl Measured for ScanRun {
    type Plan = ScanPlan;
    type Report = ScanSummary;

    const MERGE: Option<MergeRuns> = Some(merge::merge);

    const FILES: &'static [&'static str] = &[AGAINST];

    fn read(folder: &RunFolder) -> anyhow::Result<ScanSummary> {
        let manifest: ScanManifest = folder.manifest().map_err(wrong)?;
        let against = folder.read_json(AGAINST).map_err(wrong)?;
        let index = index(folder).map_err(wrong)?;
        let sites = manifest.plan.sites.iter();
        let scans = sites.filter_map(|site| index.read(&site.name()).transpose());
        summarize_scan(&manifest, scans, against).map_err(wrong)
    }

    fn accept(unstored: &Unstored) -> anyhow::Result<()> {
        Ok(unstored.refuse_headers(&ScanPlan::KIND)?)
    }

    fn open(run: &ScanManifest, unstored: &Unstored) -> anyhow::Result<Self> {
        let plan = &run.plan;
        let over = Sites {
            target: plan.place,
            how: how(plan),
            sites: Arc::clone(&plan.sites),
            roots: targets::roots_of_run(run, &plan.roots)?,
            link: targets::link_of_run(run, plan.link.as_deref())?,
            connect_to: plan.connect_to.clone(),
            seed: plan.seed,
            needs: Needs::Answers,
        };
        over.validate(run)?;
        let shown = unstored.identity.load()?;
        shown.must_be(&run.name, plan.client_certificate.as_ref())?;
        let opened = Self {
            over,
            shown,
            offers: Vec::new(),
        };
        opened.identity()?;
        Ok(opened)
    }

    fn sites(&self) -> Option<&Sites> {
        Some(&self.over)
    }

    fn ready(&mut self, setup: &Setup, run: &mut ScanManifest) -> anyhow::Result<()> {
        let (workers, plan) = (&setup.workers, &run.plan);
        self.offers = offers(
            &plan.against,
            workers,
            setup.inside.as_ref(),
            &client_settings(plan.client_profile, &plan.against, workers),
            &setup.roots_pem,
            &example_site()?,
        )?;
        for offer in &mut self.offers {
            offer.has_certificate = self.shown.0.is_some();
            offer.has_nagle = plan.client_profile == Profile::Servo;
        }
        if self.shown.0.is_some() {
            let stacks = plan.against.iter().map(StackName::stack);
            let what = "show a client certificate";
            all_can(stacks, workers, Operation::ClientCertificate, what)?;
        }
        Ok(())
    }

    fn measure(self, session: Session<'_, ScanPlan>) -> anyhow::Result<()> {
        let (plan, folder, setup) = (&session.run.plan, session.folder, session.setup);
        self.scan_sites(session)?;
        self.against(plan, folder, setup)
    }
}

impl Told for SiteScan {
    fn piece(&self) -> String {
        self.site.clone()
    }

    fn failed(&self) -> bool {
        !self.is_scanned()
    }
}

impl ScanRun {
    /// Returns the certificate that the scan presents.
    fn identity(&self) -> Result<Option<ClientIdentity>, WrongInput> {
        let shown = self.shown.0.as_ref();
        let read = shown.map(|shown| ClientIdentity::of_pem(&shown.chain_pem, &shown.key_pem));
        read.transpose()
            .map_err(|error| WrongInput(format!("--client-cert: {error}")))
    }

    /// Scans the sites that no earlier session has scanned.
    fn scan_sites(&self, session: Session<'_, ScanPlan>) -> anyhow::Result<()> {
        let (plan, setup) = (&session.run.plan, session.setup);
        let addresses = setup.targets()?;
        let mut done: HashSet<String> = HashSet::new();
        // Failed sites are scanned again.
        session.folder.each_record(|earlier: SiteOutcome| {
            if earlier.outcome.is_scanned() {
                done.insert(earlier.site);
            }
        })?;
        let mut keeper = session.keeper(done.len() as u64);
        let targets = plan.sites.iter().enumerate();
        let targets = targets.filter(|(_, site)| !done.contains(&site.name()));
        let targets = targets.map(|(i, site)| ScanTarget {
            site: site.name(),
            host: plan.sni.as_ref().unwrap_or(&site.host).to_string(),
            port: site.port,
            path: site.path.clone(),
            place: place(&self.over, addresses, i, site),
            start_tls: plan.start_tls,
        });
        let client = ScanClient {
            roots: TrustAnchors::of_pem(&setup.roots_pem),
            identity: self.identity()?,
            dns_server: plan.dns,
        };
        let zone = Some(&plan.sites).filter(|_| self.over.target == Target::Lab);
        let zone = zone.and_then(|sites| netbench_runner::zone(sites));
        inside(setup.inside.as_ref(), || {
            let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let names = zone.map(|zone| NameServer::start(zone, any));
            let names = names
                .transpose()
                .context("cannot start the DNS server of the emulated sites")?;
            let client = ScanClient {
                dns_server: names
                    .as_ref()
                    .map(NameServer::address)
                    .or(client.dns_server),
                ..client
            };
            scan_all::<anyhow::Error>(targets, limits(plan), client, &setup.stop, |scan| {
                Ok(keeper.append(scan)?)
            })
        })?
    }

    /// Predicts the connections of the stacks, confirms the predictions by handshakes, and stores both.
    fn against(self, plan: &ScanPlan, folder: &RunFolder, setup: &Setup) -> anyhow::Result<()> {
        if self.offers.is_empty() {
            return Ok(());
        }
        let (stacks, sites) = (&plan.against, &plan.sites);
        let most = Most {
            lost: plan.confirm as usize,
            reached: plan.confirm_reached as usize,
        };
        let index = index(folder)?;
        let (predicted, reached) = predict(self.offers, sites, &index)?;
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
        let found = match self.over.target {
            Target::Live => Some(Targets::Hosts(self.over.at(found))),
            Target::Lab | Target::Loopback => None,
        };
        let targets = match &found {
            Some(found) => found,
            None => setup.targets()?,
        };
        let identity = self.shown.identity();
        let client = client_settings(plan.client_profile, stacks, &setup.workers);
        let clients = Clients {
            workers: &setup.workers,
            targets,
            place: setup.inside.as_ref(),
            client: &client,
            roots_pem: &setup.roots_pem,
            identity: identity.as_ref(),
            answer_limit: limits(plan).timeout,
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
}

/// Runs the work in a namespace, or in that of this process.
fn inside<T: Send>(
    namespace: Option<&Namespace>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, LinkError> {
    match namespace {
        Some(namespace) => namespace.run(work),
        None => Ok(work()),
    }
}

fn place(over: &Sites, addresses: &Targets, index: usize, site: &Site) -> Place {
    if over.target == Target::Live {
        let (host, port) = targets::place(site, &over.connect_to);
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
