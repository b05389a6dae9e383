use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use netbench_model::{
    Condition, LinkRecord, Recorded, StackName, Target,
    browser::{BrowserManifest, Departures, Mark, Sandbox, Visit, VisitOutcome, VisitSample},
};
use netbench_stats::{Figures, Resampling};

use super::{
    AttemptRow, BrowserHead, BrowserSummary, ClientRow, FarVisit, ObjectsRow, PacketsRow,
    VisitComparison, VisitFailure, VisitNegotiated, VisitPhase, VisitPhaseRow, VisitUnsupported,
    VisitsOf,
};
use crate::{
    connect::Times,
    row::counted,
    run::{RunHead, SummaryHead, about_stack, incomplete},
};

/// Computes the summary of a run. The same manifest and samples give the same summary.
pub fn summarize_browser(manifest: &BrowserManifest, samples: &[VisitSample]) -> BrowserSummary {
    let plan = &manifest.plan;
    let samples = latest(samples);
    let stacks = plan.clients.iter().skip(plan.browsers.len());
    let mut warnings = manifest.warnings.clone();
    warnings.extend(incomplete(
        manifest,
        &plan.tally(&samples.iter().copied().cloned().collect::<Vec<_>>()),
    ));
    if !samples.is_empty() && samples.iter().all(|sample| sample.link.is_none()) {
        warnings.push(
            "this link does not look at packets: times were not compared with them, and where else clients tried \
             to go is not known"
                .to_owned(),
        );
    }
    for browser in &plan.browsers {
        if browser.sandbox == Sandbox::Off {
            warnings.push(format!("{} ran without its sandbox", browser.name));
        }
    }
    warnings.extend(voids(&samples));
    BrowserSummary {
        head: SummaryHead::of(manifest),
        run: BrowserHead {
            head: RunHead::of(manifest),
            sites: plan.sites.len() as u64,
            rounds: plan.rounds,
            page: plan.page.clone(),
            browsers: plan.browsers.clone(),
            stacks: stacks
                .map(|stack| (stack.clone(), about(manifest, stack)))
                .collect(),
        },
        clients: (plan.conditions.iter())
            .cartesian_product(&plan.clients)
            .map(|(condition, client)| client_row(manifest, &samples, *condition, client))
            .collect(),
        comparisons: comparisons(manifest, &samples),
        negotiated: negotiated(&samples),
        failures: failures(&samples),
        unsupported: unsupported(&samples),
        packets: plan
            .browsers
            .iter()
            .filter_map(|browser| packets(&samples, &StackName::new(browser.name.as_str())))
            .collect(),
        observed: samples.iter().filter(|s| s.link.is_some()).count() as u64,
        elsewhere: elsewhere(&samples),
        link: manifest
            .link
            .clone()
            .unwrap_or_else(|| LinkRecord::without(Target::Lab)),
        warnings,
    }
}

/// Returns the samples, with only the last of a visit that was made twice.
fn latest(samples: &[VisitSample]) -> Vec<&VisitSample> {
    let mut last: BTreeMap<_, &VisitSample> = BTreeMap::new();
    for sample in samples {
        let (condition, round, site, client) = sample.key();
        let key = (round, site, condition, client);
        let known = last.entry(key).or_insert(sample);
        if sample.outcome.counts() || !known.outcome.counts() {
            *known = sample;
        }
    }
    last.into_values().collect()
}

fn about(manifest: &BrowserManifest, client: &StackName) -> String {
    let mut browsers = manifest.plan.browsers.iter();
    match browsers.find(|browser| browser.name == client.as_str()) {
        Some(browser) => format!("{}, {}", browser.version, browser.library),
        None => about_stack(&manifest.workers, client, |worker| Some(&worker.connector)),
    }
}

fn client_row(
    manifest: &BrowserManifest,
    samples: &[&VisitSample],
    condition: Condition,
    client: &StackName,
) -> ClientRow {
    let own: Vec<&&VisitSample> = samples
        .iter()
        .filter(|sample| sample.condition == condition && sample.client == *client)
        .filter(|sample| {
            let outcome = &sample.outcome;
            outcome.counts() && !matches!(outcome, VisitOutcome::Unsupported { .. })
        })
        .collect();
    let visits: Vec<&Visit> = own.iter().filter_map(|s| s.outcome.ok()).collect();
    let phases = VisitPhase::of_plan(&manifest.plan).iter();
    let phases = phases.filter_map(|phase| {
        let times: Vec<u64> = visits.iter().filter_map(|v| phase.of(v)).collect();
        Some(VisitPhaseRow {
            phase: *phase,
            figures: Figures::of_ns(&times)?,
        })
    });
    let took: Vec<f64> = own
        .iter()
        .filter(|sample| sample.outcome.ok().is_some())
        .map(|sample| sample.took_ms as f64)
        .collect();
    ClientRow {
        condition,
        client: client.clone(),
        library: about(manifest, client),
        visits: own.len() as u64,
        loaded: visits.len() as u64,
        phases: phases.collect(),
        took_ms: netbench_stats::median(&took),
        objects: objects_row(&own),
    }
}

fn objects_row(own: &[&&VisitSample]) -> Option<ObjectsRow> {
    let loads = own
        .iter()
        .filter_map(|sample| Some((sample, sample.outcome.ok()?.objects?)));
    let (mut objects, mut reused, mut connections) = (Vec::new(), Vec::new(), Vec::new());
    for (sample, load) in loads {
        objects.push(f64::from(load.loaded));
        reused.push(f64::from(load.reused));
        connections.extend(sample.link.as_ref().map(|link| f64::from(link.connections)));
    }
    Some(ObjectsRow {
        objects: netbench_stats::median(&objects)?,
        reused: netbench_stats::median(&reused)?,
        connections: netbench_stats::median(&connections),
    })
}

fn comparisons(manifest: &BrowserManifest, samples: &[&VisitSample]) -> Vec<VisitComparison> {
    let plan = &manifest.plan;
    let Some((first, others)) = plan.clients.split_first() else {
        return Vec::new();
    };
    let mut by_client: BTreeMap<_, BTreeMap<_, &Visit>> = BTreeMap::new();
    for sample in samples {
        if let Some(visit) = sample.outcome.ok() {
            let visits = by_client.entry((sample.condition, &sample.client));
            let place = (sample.session, sample.unit, &sample.site);
            visits.or_default().insert(place, visit);
        }
    }
    let phases = VisitPhase::of_plan(plan);
    let verdicts = plan.conditions.len() * others.len() * phases.len();
    let resampling = Resampling::for_family(plan.seed, verdicts);
    let mut rows = Vec::new();
    for condition in &plan.conditions {
        for other in others {
            let [first_visits, visits] =
                [first, other].map(|client| by_client.get(&(*condition, client)));
            let (mut pairs, mut other_work) = (Vec::new(), 0);
            for (place, a) in first_visits.into_iter().flatten() {
                match visits.and_then(|visits| visits.get(place)) {
                    // The requests and offers of a browser are its own: only identical handshakes can be
                    // compared.
                    Some(b) if a.client.same_work(&b.client) => pairs.push((place.1, *a, *b)),
                    Some(_) => other_work += 1,
                    None => {}
                }
            }
            rows.extend(phases.iter().copied().filter_map(|phase| {
                let times = pairs.iter();
                let times = times.filter_map(|(unit, a, b)| {
                    Some(Times {
                        first_ns: phase.of(a)?,
                        other_ns: phase.of(b)?,
                        // Each visit starts its own browser, so no two pairs share a process.
                        block: u32::try_from(*unit).unwrap_or(u32::MAX),
                    })
                });
                let key = VisitsOf {
                    condition: *condition,
                    first_client: first.clone(),
                    other_client: other.clone(),
                    phase,
                    other_work,
                };
                Times::pooled(key, &times.collect_vec(), &resampling)
            }));
        }
    }
    rows
}

fn negotiated(samples: &[&VisitSample]) -> Vec<VisitNegotiated> {
    let rows = samples.iter().filter_map(|sample| {
        let agreed = &sample.outcome.ok()?.client;
        Some(VisitNegotiated {
            client: sample.client.clone(),
            condition: sample.condition,
            version: agreed.version.map_or_else(String::new, |v| v.to_string()),
            suite: agreed.suite.map(|suite| suite.to_string()),
            group: agreed.group.map(|group| group.to_string()),
            alpn: agreed.alpn.clone(),
            visits: 0,
        })
    });
    counted(rows)
        .map(|(row, visits)| VisitNegotiated { visits, ..row })
        .collect()
}

fn failures(samples: &[&VisitSample]) -> Vec<VisitFailure> {
    let rows = samples.iter().filter_map(|sample| match &sample.outcome {
        VisitOutcome::Failed(failure) => Some(VisitFailure {
            site: sample.site.clone(),
            client: sample.client.clone(),
            condition: sample.condition,
            class: failure.class,
            reason: failure.reason.to_string(),
            code: failure.detail.clone(),
            visits: 0,
        }),
        _ => None,
    });
    counted(rows)
        .map(|(row, visits)| VisitFailure { visits, ..row })
        .collect()
}

/// Returns the visits that were not made, by client and reason: they are not failures of the sites.
fn voids(samples: &[&VisitSample]) -> Vec<String> {
    let rows = samples.iter().filter_map(|sample| match &sample.outcome {
        VisitOutcome::Discarded { reason } => Some((&sample.client, reason)),
        _ => None,
    });
    counted(rows)
        .map(|((client, reason), visits)| {
            let visits = BrowserSummary::visits(visits);
            format!("{visits} of {client} not made: {reason}; `netbench run` makes them")
        })
        .collect()
}

fn unsupported(samples: &[&VisitSample]) -> Vec<VisitUnsupported> {
    let rows = samples.iter().filter_map(|sample| match &sample.outcome {
        VisitOutcome::Unsupported { reason } => Some(VisitUnsupported {
            client: sample.client.clone(),
            condition: sample.condition,
            reason: reason.clone(),
            visits: 0,
        }),
        _ => None,
    });
    counted(rows)
        .map(|(row, visits)| VisitUnsupported { visits, ..row })
        .collect()
}

fn packets(samples: &[&VisitSample], client: &StackName) -> Option<PacketsRow> {
    let departures: Vec<OfVisit<'_>> = samples
        .iter()
        .filter(|sample| sample.client == *client)
        .filter_map(|sample| {
            let found = Departures::of(sample.outcome.ok()?, sample.link.as_ref()?)?;
            Some((*sample, found))
        })
        .collect();
    let taken = departures
        .iter()
        .filter_map(|(sample, _)| sample.outcome.ok());
    let from_packets: BTreeSet<Mark> = taken.flat_map(|visit| visit.from_packets.clone()).collect();
    let far = departures
        .iter()
        .filter(|(_, found)| found.are_far() || found.response_is_far());
    Some(PacketsRow {
        client: client.clone(),
        visits: departures.len() as u64,
        from_packets: from_packets.into_iter().collect(),
        tcp_departure_ns: median(&departures, |found| found.tcp_ns),
        tls_departure_ns: median(&departures, |found| found.tls_ns),
        both_departure_ns: median(&departures, |found| found.both_ns()),
        first_byte_departure_ns: median(&departures, |found| found.first_byte_ns),
        end_departure_ns: median(&departures, |found| found.end_ns),
        handshakes: number(&departures, |found| found.tls_ns.is_some()),
        far_in_both: number(&departures, Departures::are_far_in_both),
        responses: number(&departures, |found| {
            found.first_byte_ns.or(found.end_ns).is_some()
        }),
        far_in_response: number(&departures, Departures::response_is_far),
        far: far
            .map(|(sample, found)| FarVisit {
                site: sample.site.clone(),
                condition: sample.condition,
                round: sample.round,
                tcp_departure_ns: found.tcp_ns,
                tls_departure_ns: found.tls_ns,
                first_byte_departure_ns: found.first_byte_ns,
                end_departure_ns: found.end_ns,
                scheduled: sample.outcome.ok().and_then(|visit| visit.scheduled),
            })
            .collect(),
    })
}

type OfVisit<'a> = (&'a VisitSample, Departures);

/// Returns the median of differences without their signs.
fn median(visits: &[OfVisit<'_>], of: fn(&Departures) -> Option<i64>) -> Option<f64> {
    let sizes = visits.iter().filter_map(|(_, found)| of(found));
    let sizes: Vec<f64> = sizes.map(|ns| ns.unsigned_abs() as f64).collect();
    netbench_stats::median(&sizes)
}

fn number(visits: &[OfVisit<'_>], is: fn(Departures) -> bool) -> u64 {
    visits.iter().filter(|(_, found)| is(*found)).count() as u64
}

fn elsewhere(samples: &[&VisitSample]) -> Vec<AttemptRow> {
    let rows = samples.iter().flat_map(|sample| {
        let link = sample.link.iter();
        let tried = link.flat_map(|link| {
            let names = link.names.iter().map(|name| format!("name {name}"));
            names.chain(link.elsewhere.iter().map(|attempt| attempt.to.clone()))
        });
        let tried = tried.unique();
        tried.map(|to| (sample.client.clone(), to))
    });
    counted(rows)
        .map(|((client, to), visits)| AttemptRow { client, to, visits })
        .collect()
}
