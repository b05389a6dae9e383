//! Comparison of two runs of `connect`, such as before and after an upgrade, site by site.

mod changes;

use std::collections::BTreeSet;

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, LinkRecord, Phase, Sample, Site, StackName, Target,
};
use netbench_stats::{FAMILY_LEVEL, rounds_apart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::changes::{Rounds, phase_change, reach, site_change};
use super::{
    compare::{is_judged, phases_of},
    pairs::latest,
    summarize::side,
};
use crate::{
    Row, SummaryHead,
    differences::{
        Compared, Difference, Fact, alone, both, compared_stacks, differing, of_machine, only,
    },
    gate::{Gated, Regression},
    row::differs,
    text::change,
};

/// The changes from one run of `connect` to another. Every ratio is the other run's time over the first one's: over
/// 1, the other is slower.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectComparison {
    /// The schema, the kind and the seed.
    #[serde(flatten)]
    pub head: SummaryHead,
    /// The run that is compared with.
    pub first: Compared,
    /// The run that is compared.
    pub other: Compared,
    /// The target of the sites; emulated if those of either run are.
    #[serde(default)]
    pub target: Target,
    /// The gate. Its rows are phases (by total time), sites, and sites that fail.
    #[serde(flatten)]
    pub gate: Gated,
    /// Each phase over all sites that both runs reach.
    pub phases: Vec<PhaseChange>,
    /// Each site that both runs reach, by total time.
    pub sites: Vec<ChangedSite>,
    /// Sites that fail more often in one of the runs.
    pub reach: Vec<ReachChange>,
    /// Sites that only the first run has.
    pub only_first: Vec<String>,
    /// Sites that only the other run has.
    pub only_other: Vec<String>,
    /// Stacks and conditions that only one of the runs has.
    pub missing: Vec<String>,
    /// The differences in settings and machine.
    pub differences: Vec<Difference>,
    /// The number of rounds that each run needs for a site to have a verdict.
    pub rounds_needed: u64,
    /// Warnings that a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// A phase of connections to all sites that both runs reach, with the medians over sites and rounds; the ratio is of the
/// rounds, each the median over its sites.
pub type PhaseChange = Row<PhaseOfRuns>;

/// The phase of a row, and the stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseOfRuns {
    /// The stacks and the condition.
    #[serde(flatten)]
    pub stacks: StacksOfRuns,
    /// The phase.
    pub phase: Phase,
    /// Number of sites.
    pub sites: u64,
}

/// A site that both runs reach, with the median totals.
pub type ChangedSite = Row<SiteOfRuns>;

/// The site of a row, and the stacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteOfRuns {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The stacks and the condition.
    #[serde(flatten)]
    pub stacks: StacksOfRuns,
    /// The first difference in negotiated parameters or answers, first and other: `group x25519 / X25519MLKEM768`.
    pub differs: Option<String>,
}

/// A stack of each run, under one condition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StacksOfRuns {
    /// The condition.
    pub condition: Condition,
    /// The first run's stack.
    pub first_stack: StackName,
    /// The other run's stack.
    #[schemars(extend("x-key" = "other"))]
    pub other_stack: StackName,
}

/// A site that fails more often in one of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReachChange {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The stacks and the condition.
    #[serde(flatten)]
    pub stacks: StacksOfRuns,
    /// Failed trials of the first run, and all of its trials.
    pub first_failed: (u64, u64),
    /// Failed trials of the other run, and all of its trials.
    pub other_failed: (u64, u64),
    /// The reason of the first failure.
    pub why: String,
    /// Whether it is a regression: every trial fails where one did not.
    pub regression: Regression,
}

/// Compares two runs. `stacks` names a stack of each; without it, every stack that both runs have is compared.
pub fn compare_runs_of_connect(
    first: (&ConnectManifest, &[Sample]),
    other: (&ConnectManifest, &[Sample]),
    stacks: Option<(&StackName, &StackName)>,
    threshold: Option<f64>,
) -> ConnectComparison {
    let (plan, other_plan) = (&first.0.plan, &other.0.plan);
    let pairs = compared_stacks(&plan.stacks, &other_plan.stacks, stacks);
    let conditions: Vec<&Condition> = both(&plan.conditions, &other_plan.conditions).collect();
    let [sites, other_sites] =
        [plan, other_plan].map(|plan| plan.sites.iter().map(Site::name).collect::<Vec<String>>());
    let common: BTreeSet<&str> = both(&sites, &other_sites).map(String::as_str).collect();
    let samples = [latest(first.1), latest(other.1)];

    let found = conditions.iter().cartesian_product(&pairs);
    let found: Vec<Rounds<'_>> = found
        .map(|(condition, (a, b))| Rounds::of(**condition, [a, b], &samples, &common))
        .collect();
    let phases = phases_of([plan.target, other_plan.target]);
    let phases: Vec<Phase> = phases.filter(|phase| is_judged(*phase)).collect();
    let phase_level = level(found.len() * phases.len());
    let site_level = level(found.iter().map(|rounds| rounds.reached().count()).sum());
    let phases: Vec<PhaseChange> = found
        .iter()
        .cartesian_product(phases)
        .filter_map(|(rounds, phase)| phase_change(rounds, phase, phase_level, threshold))
        .collect();
    let sites_changed: Vec<ChangedSite> = found
        .iter()
        .flat_map(|rounds| rounds.reached().map(move |site| (rounds, site)))
        .filter_map(|(rounds, site)| {
            let row = site_change(rounds, site, site_level, threshold)?;
            Some(match rounds.reached().count() {
                1 => with_total(row, &phases),
                _ => row,
            })
        })
        .collect();
    let reach: Vec<ReachChange> = found
        .iter()
        .flat_map(|rounds| reach(rounds, threshold))
        .collect();
    let of_phases = phases.iter().map(|row| row.judged.regression);
    let of_sites = sites_changed.iter().map(|row| row.judged.regression);
    let of_reach = reach.iter().map(|row| row.regression);
    let outcomes = of_phases.chain(of_sites).chain(of_reach);
    ConnectComparison {
        head: SummaryHead::new("connect-compare"),
        first: side(first.0, pairs.iter().map(|pair| &pair.0)),
        other: side(other.0, pairs.iter().map(|pair| &pair.1)),
        target: plan.target.with(other_plan.target),
        gate: Gated::of(threshold, outcomes),
        only_first: only(&sites, &other_sites),
        only_other: only(&other_sites, &sites),
        missing: if stacks.is_some() {
            only(&plan.conditions, &other_plan.conditions)
        } else {
            let stacks = alone(&plan.stacks, &other_plan.stacks);
            [stacks, alone(&plan.conditions, &other_plan.conditions)].concat()
        },
        differences: differing(facts(first.0), &facts(other.0)),
        rounds_needed: rounds_apart(site_level) as u64,
        warnings: warnings(first.0, other.0, &pairs, &phases),
        phases,
        sites: sites_changed,
        reach,
    }
}

/// Replaces the row of the only site, which has the samples of the total and therefore its interval.
fn with_total(site: ChangedSite, phases: &[PhaseChange]) -> ChangedSite {
    let mut rows = phases.iter();
    let total = rows.find(|row| row.key.phase == Phase::Total && row.key.stacks == site.key.stacks);
    match total {
        Some(total) => Row {
            change: total.change,
            judged: total.judged,
            ..site
        },
        None => site,
    }
}

/// Returns the level of each interval at which those of this many rows hold together.
fn level(rows: usize) -> f64 {
    1.0 - (1.0 - FAMILY_LEVEL) / rows.max(1) as f64
}

fn facts(run: &ConnectManifest) -> Vec<Fact> {
    let plan = &run.plan;
    let link = match &run.link {
        Some(link) => link.kind,
        None => LinkRecord::without(plan.target).kind,
    };
    let client = &plan.client;
    let cpu = plan.cpu_percent.map(|share| share.to_string());
    let roots = format!("{}, {}", plan.roots.count, plan.roots.sha256);
    let decisive = [
        ("sites are", format!("{:?}", plan.target)),
        ("link", format!("{link:?}")),
        ("profiles of the emulated sites", profiles(run)),
        ("--client-profile", format!("{:?}", client.profile)),
        ("--jobs", plan.jobs.to_string()),
        ("--cpu", cpu.unwrap_or_else(|| "no limit".to_owned())),
        ("trust roots", roots),
        ("--method", plan.request.method.clone()),
    ];
    let certificate = format!("{:?}", plan.client_certificate);
    let harmless = [
        ("names of headers", plan.request.headers.join(", ")),
        ("versions offered", format!("{:?}", client.versions)),
        ("suites offered", format!("{:?}", client.suites)),
        ("groups offered", format!("{:?}", client.groups)),
        ("protocols offered", format!("{:?}", client.alpn)),
        ("--timeout", format!("{} ms", plan.timeout_ms)),
        ("--connect-to", format!("{:?}", plan.connect_to)),
        ("client certificate", certificate),
        ("rounds", plan.rounds.to_string()),
    ];
    Fact::list(decisive, harmless)
        .chain(of_machine(run))
        .collect()
}

/// Returns the lines by which the lab emulates the sites: only in the lab does a line of the file determine the
/// measured network.
fn profiles(run: &ConnectManifest) -> String {
    if run.plan.target != Target::Lab {
        return String::new();
    }
    run.plan.sites.iter().map(Site::to_line).join("\n")
}

fn warnings(
    first: &ConnectManifest,
    other: &ConnectManifest,
    pairs: &[(StackName, StackName)],
    phases: &[PhaseChange],
) -> Vec<String> {
    let mut warnings = vec![
        "The two runs were not measured side by side: what changed on the machine or in the network between them is \
         in the changes. Intervals say nothing of that. One run with both stacks tells more."
            .to_owned(),
    ];
    let unfinished = [first, other].into_iter();
    let unfinished = unfinished.filter(|run| run.finished.is_none());
    warnings.extend(unfinished.map(|run| format!("{} was not finished.", run.name)));
    for (a, b) in pairs {
        let [before, after] = [(first, a), (other, b)].map(|(run, stack)| {
            let mut workers = run.workers.iter();
            workers.find(|worker| worker.stack == stack.stack())
        });
        if before.is_none() || before != after {
            continue;
        }
        let moved = phases.iter().find(|row| {
            let of = &row.key.stacks;
            (&of.first_stack, &of.other_stack, row.key.phase) == (a, b, Phase::Total)
                && differs(row.change.verdict)
        });
        if let Some(row) = moved {
            warnings.push(format!(
                "{a} is the same program in both runs, and its total time changed by {} ({}): changes of other stacks \
                 that are no larger are the machine's or the network's.",
                change(row.change.ratio),
                row.key.stacks.condition
            ));
        }
    }
    warnings
}
