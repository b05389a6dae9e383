use std::collections::{BTreeMap, HashMap};

use netbench_interop::{LossReport, PolicyResult, Population, Profiles, population, profiles};
use netbench_model::{
    Origin, Profile, SCHEMA_VERSION, ScanManifest, StackName, Target,
    scan::{AgainstRecord, ScanOutcome, SiteScan},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sample::Drawn;
use crate::{run::command, text::count};

/// What a scan found: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanSummary {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// What was done.
    pub run: ScanHead,
    /// Every site, in the order of the sites file.
    pub sites: Vec<SiteScan>,
    /// What the stacks of `--against` would lose.
    pub loss: Option<LossReport>,
    /// The population table of `--summary`.
    pub population: Option<Population>,
    /// Mozilla's profiles, with `--summary`.
    pub profiles: Option<Profiles>,
    /// What breaks the policy of `--policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyResult>,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScanHead {
    /// The run's name.
    pub name: String,
    /// The version of netbench.
    pub netbench: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// The last command line.
    pub command: Vec<String>,
    /// Where the sites are.
    pub place: Target,
    /// Sites that were to be scanned.
    pub planned: u32,
    /// Of how many sites these were drawn at random, with `--sample`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled_of: Option<u32>,
    /// Sites that were scanned wholly.
    pub scanned: u32,
    /// Sites that were scanned in part.
    pub partial: u32,
    /// Sites that could not be scanned, by class.
    pub failed: BTreeMap<String, u32>,
    /// TCP connections.
    pub connections: u64,
    /// Of these, for versions, suites with their order, and groups.
    pub enumeration_connections: u64,
    /// Connections that were tried again.
    pub retries: u64,
    /// Bytes sent and received.
    pub bytes: u64,
    /// How connectors of the stacks of `--against` were set up. None in summaries of earlier versions.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// The stacks of `--against`, each with its library.
    pub stacks: BTreeMap<StackName, String>,
    /// Vantage point, shard, and the runs it was merged from.
    #[serde(default)]
    pub origin: Origin,
}

/// Sums a scan up. Of a site that was scanned twice the last counts.
pub fn summarize_scan(
    manifest: &ScanManifest,
    scans: Vec<SiteScan>,
    against: Option<AgainstRecord>,
) -> ScanSummary {
    let mut by_name: HashMap<String, SiteScan> = HashMap::with_capacity(scans.len());
    for scan in scans {
        by_name.insert(scan.site.clone(), scan);
    }
    let plan = &manifest.plan;
    let sites: Vec<SiteScan> = plan
        .sites
        .iter()
        .filter_map(|site| by_name.remove(&site.name()))
        .collect();
    let loss = against.map(|record| LossReport::new(record.offers, &sites, record.confirmed));
    let mut warnings = manifest.warnings.clone();
    if let Some(loss) = &loss {
        let wrong = loss.mismatches().count();
        if wrong > 0 {
            warnings.push(format!(
                "{} did not come as predicted: the table of handshakes says which",
                count(wrong, "real handshake", "real handshakes")
            ));
        }
    }
    let missing = plan.sites.len() - sites.len();
    if missing > 0 {
        let (sites, are) = match missing {
            1 => ("1 site".to_owned(), "is"),
            missing => (format!("{missing} sites"), "are"),
        };
        warnings.push(format!(
            "{sites} {are} not scanned: the run was ended early"
        ));
    }
    let run = head(manifest, &sites);
    let mut population = plan.summary.then(|| population(&sites));
    if let (Some(population), Some(drawn)) = (&mut population, run.drawn()) {
        drawn.widen(population);
    }
    let policy = plan.policy.clone();
    ScanSummary {
        schema: SCHEMA_VERSION,
        run,
        population,
        policy: policy.map(|policy| PolicyResult::new(policy, &sites)),
        profiles: plan.summary.then(|| profiles(&sites)),
        sites,
        loss,
        warnings,
    }
}

impl ScanHead {
    /// The sample that its sites are; none where they are all.
    pub(super) fn drawn(&self) -> Option<Drawn> {
        let of = self.sampled_of?;
        Some(Drawn {
            sites: self.planned,
            of,
        })
    }
}

fn head(manifest: &ScanManifest, sites: &[SiteScan]) -> ScanHead {
    let (mut scanned, mut partial) = (0, 0);
    let mut failed: BTreeMap<String, u32> = BTreeMap::new();
    for site in sites {
        match &site.outcome {
            ScanOutcome::Scanned => scanned += 1,
            ScanOutcome::Partial { .. } => partial += 1,
            ScanOutcome::Failed { class, .. } => {
                *failed.entry(class.name().to_owned()).or_default() += 1;
            }
        }
    }
    let sum = |of: fn(&SiteScan) -> u64| sites.iter().map(of).sum();
    let library = |stack: &StackName| {
        let worker = manifest.workers.iter().find(|w| w.stack == stack.stack());
        worker.map(|w| w.library.clone()).unwrap_or_default()
    };
    ScanHead {
        name: manifest.name.clone(),
        netbench: manifest.netbench.clone(),
        started: manifest.started.clone(),
        command: manifest
            .sessions
            .last()
            .map(|session| command(&session.command, &manifest.origin))
            .unwrap_or_default(),
        place: manifest.plan.place,
        planned: u32::try_from(manifest.plan.sites.len()).unwrap_or(u32::MAX),
        sampled_of: manifest.plan.sampled_of,
        scanned,
        partial,
        failed,
        client_profile: Some(manifest.plan.client_profile),
        connections: sum(|site| site.effort.connections.into()),
        enumeration_connections: sum(|site| site.effort.enumeration_connections.into()),
        retries: sum(|site| site.effort.retries.into()),
        bytes: sum(|site| site.effort.bytes_in + site.effort.bytes_out),
        stacks: manifest
            .plan
            .against
            .iter()
            .map(|stack| (stack.clone(), library(stack)))
            .collect(),
        origin: manifest.origin.clone(),
    }
}
