use std::borrow::Cow;

use netbench_model::{ConnectManifest, LinkRecord, Profile, Recorded, Sample, StackName};

use super::{
    cold::cold,
    compare::compare,
    early_data::early_data,
    ech::ech,
    failures,
    losses::{LossSummary, losses},
    pairs::latest,
    summary::{ConnectSummary, Head, NegotiatedRow},
    sweep::sweep,
    warnings::warnings,
};
use crate::{
    differences::{Compared, against_first},
    row::counted,
    run::{RunHead, SummaryHead},
};

/// Computes the summary of a run. The same manifest and samples give the same summary.
///
/// `samples` are all of the run's, in the order in which they were taken.
pub fn summarize(manifest: &ConnectManifest, samples: &[Sample]) -> ConnectSummary {
    let plan = &manifest.plan;
    let tally = plan.tally(samples);
    let requires = plan.requires();
    let samples: Cow<'_, [Sample]> = match tally.foreign {
        0 => Cow::Borrowed(samples),
        _ => (samples.iter().filter(|sample| requires(sample)).cloned()).collect(),
    };
    let measured = latest(&samples);
    let mut comparisons = Vec::new();
    let mut left_out = Vec::new();
    for condition in &plan.conditions {
        for (first, other) in against_first(&plan.stacks) {
            let (comparison, excluded) = compare(manifest, &measured, *condition, first, other);
            comparisons.push(comparison);
            left_out.extend(excluded);
        }
    }
    let losses = losses(manifest, &measured);
    let mut warnings = warnings(manifest, &samples, &tally);
    warnings.extend(losses.as_ref().and_then(LossSummary::warning));
    let mut summary = ConnectSummary {
        head: SummaryHead::of(manifest),
        run: head(manifest, &measured),
        comparisons,
        sweep: sweep(manifest, &measured),
        cold: cold(&plan.stacks, &samples),
        early_data: early_data(manifest, &measured),
        ech: ech(manifest, &measured),
        failures: failures::failures(&measured),
        unsupported: failures::unsupported(&measured),
        left_out,
        negotiated: negotiated(&measured),
        link: manifest
            .link
            .clone()
            .unwrap_or_else(|| LinkRecord::without(plan.target)),
        losses,
        warnings,
        environment: manifest.environment.facts.clone(),
    };
    let other_work = other_work(&summary, &plan.stacks);
    summary.warnings.extend(other_work);
    summary
}

/// Returns a warning for each stack that negotiated different parameters from the first with most sites, because
/// each offered the settings of its library.
pub(crate) fn other_work(summary: &ConnectSummary, stacks: &[StackName]) -> Vec<String> {
    if summary.run.client_profile != Some(Profile::Library) {
        return Vec::new();
    }
    let pairs = against_first(stacks).filter(|(first, other)| {
        summary.did_other_work(first, other)
            || !summary.compares() && summary.left_out.iter().any(|row| row.other == **other)
    });
    pairs
        .map(|(first, other)| {
            let why = summary.most_different(other);
            let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
            format!(
                "{first} and {other} agreed on different things with most sites{why}, and pairs with different work are \
                 not compared: `--client-profile default` has both offer the same"
            )
        })
        .collect()
}

pub(crate) fn head(manifest: &ConnectManifest, measured: &[&Sample]) -> Head {
    let plan = &manifest.plan;
    let sites = plan.site_count();
    let per_round = plan.sites.len() * plan.stacks.len() * plan.conditions.len();
    Head {
        head: RunHead::of(manifest),
        target: plan.target,
        sites,
        points: plan
            .sweep
            .as_ref()
            .map(|_| plan.sites.len() as u64 / sites.max(1)),
        rounds: plan.rounds,
        client_profile: Some(plan.client.profile),
        stacks: side(manifest, &plan.stacks).stacks.into_iter().collect(),
        samples: measured.len() as u64,
        planned: per_round as u64 * u64::from(plan.rounds),
        origin: manifest.origin.clone(),
    }
}

/// Returns a run with these stacks, each with its connector.
pub(super) fn side<'a>(
    manifest: &ConnectManifest,
    stacks: impl IntoIterator<Item = &'a StackName>,
) -> Compared {
    Compared::of(manifest, stacks, |worker| Some(&worker.connector))
}

fn negotiated(measured: &[&Sample]) -> Vec<NegotiatedRow> {
    let rows = measured.iter().filter_map(|sample| {
        let measured = sample.outcome.ok()?;
        let (negotiated, server) = (&measured.client, measured.server.as_ref());
        Some(NegotiatedRow {
            condition: sample.condition,
            stack: sample.stack.clone(),
            version: negotiated
                .version
                .map_or_else(String::new, |v| v.to_string()),
            suite: negotiated
                .suite
                .map_or_else(String::new, |suite| suite.to_string()),
            group: negotiated.group.map(|group| group.to_string()),
            alpn: negotiated.alpn.clone(),
            resumed: negotiated.resumed,
            early_data: negotiated.early_data,
            ech: server.and_then(|server| server.negotiated.ech),
            connections: 0,
        })
    });
    counted(rows)
        .map(|(row, connections)| NegotiatedRow { connections, ..row })
        .collect()
}
