use std::collections::BTreeMap;

use netbench_interop::{
    LISTED, LossReport, Losses, PolicyCheck, PolicyResult, Population, PopulationCount, Profiles,
};
use netbench_model::{
    Origin, Profile, ScanManifest, StackName, Target,
    scan::{AgainstRecord, Anchor, ScanOutcome, SiteScan},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::many::{Counting, ManySites};
use crate::{
    matrix::ComparedStack,
    run::{RunHead, SummaryHead},
    text::{count, missing_root},
};

/// The findings of a scan: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanSummary {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run's settings.
    pub run: ScanHead,
    /// Every site, in the order of the sites file. Empty if there are more than a thousand: each is a line of
    /// `scan.jsonl`.
    pub sites: Vec<SiteScan>,
    /// The support of the sites, if there are more than a thousand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub many: Option<ManySites>,
    /// The losses with the stacks of `--against`.
    pub loss: Option<LossReport>,
    /// The population table of `--summary`.
    pub population: Option<Population>,
    /// Mozilla's profiles, with `--summary`.
    pub profiles: Option<Profiles>,
    /// The violations of the policy of `--policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyResult>,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// The settings of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanHead {
    /// The fields that all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// The target of the sites.
    pub place: Target,
    /// Number of sites to scan.
    pub planned: u32,
    /// The number of sites from which these were drawn at random, with `--sample`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_of: Option<u32>,
    /// Number of completely scanned sites.
    pub scanned: u32,
    /// Number of partly scanned sites.
    pub partial: u32,
    /// Number of sites that could not be scanned, by class.
    pub failed: BTreeMap<String, u32>,
    /// Number of sites of which no chain leads to a root of the list. 0 in summaries of earlier versions.
    #[serde(default)]
    pub untrusted: u32,
    /// Number of TCP connections.
    pub connections: u64,
    /// Number of TCP connections for versions, suites with their order, and groups.
    pub enumeration_connections: u64,
    /// Number of connections that were retried.
    pub retries: u64,
    /// Number of bytes sent and received.
    pub bytes: u64,
    /// The configuration profile of the connectors of the stacks of `--against`. Absent in summaries of earlier
    /// versions.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// The stacks of `--against`, each with its library.
    pub stacks: BTreeMap<StackName, String>,
    /// Vantage point, shard, and the runs from which it was merged.
    #[serde(default)]
    pub origin: Origin,
}

/// Summarizes a scan. `scans` has the findings for each site, in the order of the plan, and each once.
///
/// # Errors
/// Returns the first error of `scans`.
pub fn summarize_scan<E>(
    manifest: &ScanManifest,
    scans: impl IntoIterator<Item = Result<SiteScan, E>>,
    against: Option<AgainstRecord>,
) -> Result<ScanSummary, E> {
    let plan = &manifest.plan;
    let mut run = head(manifest);
    let mut sites = Vec::new();
    let mut many = (plan.sites.len() > LISTED).then(Counting::default);
    let mut loss = against.map(|record| Losses::new(record.offers, record.confirmed));
    let mut population = plan.summary.then(PopulationCount::default);
    let mut profiles = plan.summary.then(Profiles::new);
    let mut policy = plan.policy.clone().map(PolicyCheck::new);
    for scan in scans {
        let scan = scan?;
        run.add(&scan);
        if let Some(loss) = &mut loss {
            loss.add(&scan);
        }
        population.iter_mut().for_each(|it| it.add(&scan));
        profiles.iter_mut().for_each(|it| it.add(&scan));
        policy.iter_mut().for_each(|it| it.add(&scan));
        match &mut many {
            Some(many) => many.add(&scan),
            None => sites.push(scan),
        }
    }
    let loss = loss.map(Losses::report);
    let mut population = population.map(PopulationCount::population);
    population.iter_mut().for_each(|it| run.widen(it));
    Ok(ScanSummary {
        head: SummaryHead::of(manifest),
        warnings: [manifest.warnings.clone(), warnings(&run, loss.as_ref())].concat(),
        run,
        sites,
        many: many.map(Counting::counted),
        loss,
        population,
        profiles,
        policy: policy.map(PolicyCheck::result),
    })
}

/// Returns the warnings of predictions that a handshake contradicted, and of sites that were not scanned.
fn warnings(run: &ScanHead, loss: Option<&LossReport>) -> Vec<String> {
    let wrong = loss.map_or(0, |loss| loss.mismatches().count());
    let wrong = (wrong > 0).then(|| {
        format!(
            "{} did not come as predicted: the table of handshakes says which",
            count(wrong, "real handshake", "real handshakes")
        )
    });
    let missing = run.planned.saturating_sub(run.sites());
    let missing = (missing > 0).then(|| {
        let sites = count(missing, "site is", "sites are");
        format!("{sites} not scanned: the run was ended early")
    });
    wrong.into_iter().chain(missing).collect()
}

/// Returns whether no chain of a site leads to a root of the list.
fn is_untrusted(site: &SiteScan) -> bool {
    let mut anchors = site.chains.iter().map(|chain| chain.anchor);
    !site.chains.is_empty()
        && anchors.all(|anchor| match anchor {
            Anchor::SelfSigned | Anchor::UnknownRoot | Anchor::Missing => true,
            Anchor::Known | Anchor::Unchecked => false,
        })
}

impl ScanSummary {
    /// Returns the cause and the remedy, if the certificates of half of the sites or more lead to no trusted root.
    /// Predictions for stacks state it themselves, so that the result is then `None`.
    pub(super) fn missing_root(&self) -> Option<String> {
        match self.loss {
            Some(_) => None,
            None => missing_root(self.run.untrusted.into(), self.run.sites().into()),
        }
    }
}

impl ScanHead {
    fn add(&mut self, site: &SiteScan) {
        match &site.outcome {
            ScanOutcome::Scanned => self.scanned += 1,
            ScanOutcome::Partial { .. } => self.partial += 1,
            ScanOutcome::Failed { class, .. } => {
                *self.failed.entry(class.name().to_owned()).or_default() += 1;
            }
        }
        self.untrusted += u32::from(is_untrusted(site));
        let effort = &site.effort;
        self.connections += u64::from(effort.connections);
        self.enumeration_connections += u64::from(effort.enumeration_connections);
        self.retries += u64::from(effort.retries);
        self.bytes += effort.bytes_in + effort.bytes_out;
    }

    /// Returns the number of sites with a result: scanned, in part, or failed.
    pub(super) fn sites(&self) -> u32 {
        self.scanned + self.partial + self.failed.values().sum::<u32>()
    }
}

/// Returns the head of a summary without sites.
fn head(manifest: &ScanManifest) -> ScanHead {
    ScanHead {
        head: RunHead::of(manifest),
        place: manifest.plan.place,
        planned: u32::try_from(manifest.plan.sites.len()).unwrap_or(u32::MAX),
        sampled_of: manifest.plan.sampled_of,
        client_profile: Some(manifest.plan.client_profile),
        stacks: ComparedStack::all(&manifest.plan.against, manifest)
            .into_iter()
            .map(|compared| (compared.stack, compared.library))
            .collect(),
        origin: manifest.origin.clone(),
        ..ScanHead::default()
    }
}
