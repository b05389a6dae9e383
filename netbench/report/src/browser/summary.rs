use std::collections::{BTreeMap, BTreeSet};

use netbench_model::{
    Condition, FailureClass, LinkRecord, Recorded, SCHEMA_VERSION, StackName, Target,
    browser::{
        BrowserManifest, BrowserRecord, Departures, Visit, VisitOutcome, VisitSample, VisitTimes,
    },
};
use netbench_stats::{Figures, Pair, PairedRatio, Resampling, compare};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    run::{RunHead, about_stack, incomplete},
    text::count,
};

/// What a run of `browser` says: its `summary.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserSummary {
    /// [`netbench_model::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// What was done.
    pub run: BrowserHead,
    /// Each client under each condition.
    pub clients: Vec<ClientRow>,
    /// Each client but the first, held against the first.
    pub comparisons: Vec<VisitComparison>,
    /// What was negotiated.
    pub negotiated: Vec<VisitNegotiated>,
    /// Visits that failed, with the codes of error pages.
    pub failures: Vec<VisitFailure>,
    /// The browsers' own times against those of their packets.
    pub packets: Vec<PacketsRow>,
    /// Visits during which the link took note of all packets.
    pub observed: u64,
    /// Where else the clients tried to go. Nothing of it left the lab.
    pub elsewhere: Vec<AttemptRow>,
    /// The path between clients and sites.
    pub link: LinkRecord,
    /// What a reader must know before quoting a figure.
    pub warnings: Vec<String>,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserHead {
    /// What all runs have.
    #[serde(flatten)]
    pub head: RunHead,
    /// How many sites.
    pub sites: u64,
    /// How many rounds.
    pub rounds: u32,
    /// What the browsers are, and how they were started.
    pub browsers: Vec<BrowserRecord>,
    /// The stacks beside them, with their libraries.
    pub stacks: BTreeMap<StackName, String>,
}

/// What visits of one client took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientRow {
    /// The condition.
    pub condition: Condition,
    /// The browser or stack.
    pub client: StackName,
    /// Its library.
    pub library: String,
    /// Visits made.
    pub visits: u64,
    /// Of those, the pages that were loaded.
    pub loaded: u64,
    /// Its times, where any page was loaded.
    pub phases: Vec<VisitPhaseRow>,
    /// The median of a visit with the browser's start and end, in milliseconds.
    pub took_ms: Option<f64>,
}

/// One phase of a client's visits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitPhaseRow {
    /// The phase.
    pub phase: VisitPhase,
    /// Its times.
    pub figures: Figures,
}

/// A phase of a visit; see [`VisitTimes`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VisitPhase {
    /// TCP connect.
    Tcp,
    /// The TLS handshake.
    Tls,
    /// From the request to the response's first byte.
    FirstByte,
    /// From TCP connect to the response's last byte.
    Total,
}

impl VisitPhase {
    /// Every one, in order.
    pub const ALL: [Self; 4] = [Self::Tcp, Self::Tls, Self::FirstByte, Self::Total];

    /// In words for who has not read the manual.
    pub fn words(self) -> &'static str {
        match self {
            Self::Tcp => "TCP connect",
            Self::Tls => "TLS handshake",
            Self::FirstByte => "first byte",
            Self::Total => "total",
        }
    }

    fn of(self, times: &VisitTimes) -> u64 {
        match self {
            Self::Tcp => times.tcp_ns,
            Self::Tls => times.tls_ns,
            Self::FirstByte => times.first_byte_ns,
            Self::Total => times.total_ns,
        }
    }
}

/// A client held against the first: visits of the same site right after one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VisitComparison {
    /// The condition.
    pub condition: Condition,
    /// The first client.
    pub first: StackName,
    /// The other.
    pub other: StackName,
    /// The phase.
    pub phase: VisitPhase,
    /// The first one's times, of the pairs compared.
    pub first_figures: Figures,
    /// The other's.
    pub other_figures: Figures,
    /// The paired ratio, other over first.
    pub paired: PairedRatio,
    /// Pairs that are left out because the two negotiated something else.
    pub other_work: u64,
}

/// What was negotiated, and how often.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitNegotiated {
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The TLS version.
    pub version: String,
    /// The suite.
    pub suite: Option<String>,
    /// The group.
    pub group: Option<String>,
    /// The application protocol.
    pub alpn: Option<String>,
    /// How many visits.
    pub visits: u64,
}

/// Visits of a client to a site that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct VisitFailure {
    /// The site.
    pub site: String,
    /// The browser or stack.
    pub client: StackName,
    /// The condition.
    pub condition: Condition,
    /// The class of failure.
    pub class: FailureClass,
    /// Why, in a word that all clients share.
    pub reason: String,
    /// The code of the error page, or what else the client says.
    pub code: String,
    /// How many visits.
    pub visits: u64,
}

/// The times of a browser against those of its packets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PacketsRow {
    /// The browser.
    pub client: StackName,
    /// The visits whose packets the link saw.
    pub visits: u64,
    /// How far TCP connect is from the packets at the median, without its sign, in nanoseconds.
    pub tcp_departure_ns: f64,
    /// How far the handshake is.
    pub tls_departure_ns: f64,
    /// How far both together are.
    pub both_departure_ns: f64,
    /// Visits where either is over a millisecond.
    pub far: Vec<FarVisit>,
}

/// A visit whose times are not those of its packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FarVisit {
    /// The site.
    pub site: String,
    /// The condition.
    pub condition: Condition,
    /// The round.
    pub round: u32,
    /// How much more the browser says of TCP connect, in nanoseconds.
    pub tcp_departure_ns: i64,
    /// How much more it says of the handshake.
    pub tls_departure_ns: i64,
}

/// A name or an address that clients tried and that is not the lab's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct AttemptRow {
    /// The browser or stack.
    pub client: StackName,
    /// What it was: `name updates.example`, `tcp 192.0.2.1:443`.
    pub to: String,
    /// In how many visits.
    pub visits: u64,
}

/// Computes what a run says. The same manifest and samples give the same summary.
pub fn summarize_browser(manifest: &BrowserManifest, samples: &[VisitSample]) -> BrowserSummary {
    let plan = &manifest.plan;
    let samples = latest(samples);
    let about = |client: &StackName| {
        let browser = plan.browsers.iter().find(|b| b.name == client.as_str());
        match browser {
            Some(browser) => format!("{}, {}", browser.version, browser.library),
            None => about_stack(&manifest.workers, client, |worker| Some(&worker.connector)),
        }
    };
    let stacks = plan.clients.iter().skip(plan.browsers.len());
    let mut warnings = manifest.warnings.clone();
    warnings.extend(incomplete(
        manifest,
        &plan.tally(&samples.iter().copied().cloned().collect::<Vec<_>>()),
    ));
    if !samples.is_empty() && samples.iter().all(|sample| sample.link.is_none()) {
        warnings.push(
            "this link does not look at packets: times were not held against them, and where else clients tried \
             to go is not known"
                .to_owned(),
        );
    }
    for browser in &plan.browsers {
        if browser.sandbox == netbench_model::browser::Sandbox::Off {
            warnings.push(format!("{} ran without its sandbox", browser.name));
        }
    }
    BrowserSummary {
        schema: SCHEMA_VERSION,
        run: BrowserHead {
            head: RunHead::of(manifest, plan.seed),
            sites: plan.sites.len() as u64,
            rounds: plan.rounds,
            browsers: plan.browsers.clone(),
            stacks: stacks.map(|stack| (stack.clone(), about(stack))).collect(),
        },
        clients: each(manifest)
            .map(|(condition, client)| client_row(&samples, condition, client, about(client)))
            .collect(),
        comparisons: comparisons(manifest, &samples),
        negotiated: negotiated(&samples),
        failures: failures(&samples),
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

/// Of a visit that was made twice, the last one.
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

fn each(manifest: &BrowserManifest) -> impl Iterator<Item = (Condition, &StackName)> {
    let plan = &manifest.plan;
    let conditions = plan.conditions.iter();
    conditions.flat_map(|condition| plan.clients.iter().map(|client| (*condition, client)))
}

fn client_row(
    samples: &[&VisitSample],
    condition: Condition,
    client: &StackName,
    library: String,
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
    let phase = |phase: VisitPhase| {
        let times: Vec<u64> = visits.iter().map(|v| phase.of(&v.times)).collect();
        let figures = Figures::of_ns(&times)?;
        Some(VisitPhaseRow { phase, figures })
    };
    let took: Vec<f64> = own
        .iter()
        .filter(|sample| sample.outcome.ok().is_some())
        .map(|sample| sample.took_ms as f64)
        .collect();
    ClientRow {
        condition,
        client: client.clone(),
        library,
        visits: own.len() as u64,
        loaded: visits.len() as u64,
        phases: VisitPhase::ALL.into_iter().filter_map(phase).collect(),
        took_ms: netbench_stats::median(&took),
    }
}

fn comparisons(manifest: &BrowserManifest, samples: &[&VisitSample]) -> Vec<VisitComparison> {
    let plan = &manifest.plan;
    let Some((first, others)) = plan.clients.split_first() else {
        return Vec::new();
    };
    let mut by_visit: BTreeMap<(Condition, u32, u64, &str, &StackName), &Visit> = BTreeMap::new();
    for sample in samples {
        if let Some(visit) = sample.outcome.ok() {
            let (condition, _, site, client) = sample.key();
            by_visit.insert(
                (condition, sample.session, sample.unit, site, client),
                visit,
            );
        }
    }
    let verdicts = plan.conditions.len() * others.len() * VisitPhase::ALL.len();
    let resampling = Resampling::for_family(plan.seed, verdicts);
    let mut rows = Vec::new();
    for condition in &plan.conditions {
        for other in others {
            let mut pairs = Vec::new();
            let mut other_work = 0;
            for ((of, session, unit, site, client), a) in &by_visit {
                if of != condition || *client != first {
                    continue;
                }
                let key = (*condition, *session, *unit, *site, other);
                match by_visit.get(&key) {
                    // A browser sends and offers what it does by itself: only the same handshake can be compared.
                    Some(b) if a.client.same_work(&b.client) => pairs.push((*unit, *a, *b)),
                    Some(_) => other_work += 1,
                    None => {}
                }
            }
            rows.extend(VisitPhase::ALL.into_iter().filter_map(|phase| {
                let times = |side: fn(&(u64, &Visit, &Visit)) -> VisitTimes| -> Vec<u64> {
                    pairs.iter().map(|pair| phase.of(&side(pair))).collect()
                };
                let (firsts, seconds) = (times(|(_, a, _)| a.times), times(|(_, _, b)| b.times));
                let paired: Vec<Pair> = pairs
                    .iter()
                    .zip(firsts.iter().zip(&seconds))
                    // A browser's process is its visit's own, so that no two pairs share one.
                    .map(|((unit, ..), (a, b))| {
                        Pair::from_ns(*a, *b, u32::try_from(*unit).unwrap_or(u32::MAX))
                    })
                    .collect();
                Some(VisitComparison {
                    condition: *condition,
                    first: first.clone(),
                    other: other.clone(),
                    phase,
                    first_figures: Figures::of_ns(&firsts)?,
                    other_figures: Figures::of_ns(&seconds)?,
                    paired: compare(&paired, &resampling)?,
                    other_work,
                })
            }));
        }
    }
    rows
}

fn negotiated(samples: &[&VisitSample]) -> Vec<VisitNegotiated> {
    let mut counts: BTreeMap<VisitNegotiated, u64> = BTreeMap::new();
    for sample in samples {
        let Some(visit) = sample.outcome.ok() else {
            continue;
        };
        let agreed = &visit.client;
        let row = VisitNegotiated {
            client: sample.client.clone(),
            condition: sample.condition,
            version: agreed.version.map_or_else(String::new, |v| v.to_string()),
            suite: agreed.suite.map(|suite| suite.to_string()),
            group: agreed.group.map(|group| group.to_string()),
            alpn: agreed.alpn.clone(),
            visits: 0,
        };
        *counts.entry(row).or_default() += 1;
    }
    let counted = |(row, visits)| VisitNegotiated { visits, ..row };
    counts.into_iter().map(counted).collect()
}

fn failures(samples: &[&VisitSample]) -> Vec<VisitFailure> {
    let mut counts: BTreeMap<VisitFailure, u64> = BTreeMap::new();
    for sample in samples {
        let VisitOutcome::Failed(failure) = &sample.outcome else {
            continue;
        };
        let row = VisitFailure {
            site: sample.site.clone(),
            client: sample.client.clone(),
            condition: sample.condition,
            class: failure.class,
            reason: failure.reason.to_string(),
            code: failure.detail.clone(),
            visits: 0,
        };
        *counts.entry(row).or_default() += 1;
    }
    let counted = |(row, visits)| VisitFailure { visits, ..row };
    counts.into_iter().map(counted).collect()
}

fn packets(samples: &[&VisitSample], client: &StackName) -> Option<PacketsRow> {
    let departures: Vec<(&VisitSample, Departures)> = samples
        .iter()
        .filter(|sample| sample.client == *client)
        .filter_map(|sample| {
            let found = Departures::of(sample.outcome.ok()?, sample.link.as_ref()?)?;
            Some((*sample, found))
        })
        .collect();
    let median = |of: fn(&Departures) -> i64| {
        let sizes: Vec<f64> = departures
            .iter()
            .map(|(_, found)| of(found).unsigned_abs() as f64)
            .collect();
        netbench_stats::median(&sizes)
    };
    let far = departures.iter().filter(|(_, found)| found.are_far());
    Some(PacketsRow {
        client: client.clone(),
        visits: departures.len() as u64,
        tcp_departure_ns: median(|found| found.tcp_ns)?,
        tls_departure_ns: median(|found| found.tls_ns)?,
        both_departure_ns: median(|found| found.both_ns())?,
        far: far
            .map(|(sample, found)| FarVisit {
                site: sample.site.clone(),
                condition: sample.condition,
                round: sample.round,
                tcp_departure_ns: found.tcp_ns,
                tls_departure_ns: found.tls_ns,
            })
            .collect(),
    })
}

fn elsewhere(samples: &[&VisitSample]) -> Vec<AttemptRow> {
    let mut counts: BTreeMap<(StackName, String), u64> = BTreeMap::new();
    for sample in samples {
        let Some(link) = &sample.link else { continue };
        let names = link.names.iter().map(|name| format!("name {name}"));
        let addresses = link.elsewhere.iter().map(|attempt| attempt.to.clone());
        let each: BTreeSet<String> = names.chain(addresses).collect();
        for to in each {
            *counts.entry((sample.client.clone(), to)).or_default() += 1;
        }
    }
    let row = |((client, to), visits)| AttemptRow { client, to, visits };
    counts.into_iter().map(row).collect()
}

impl BrowserSummary {
    /// Packets to addresses that are not the lab's, of all visits.
    pub(crate) fn strays(&self) -> impl Iterator<Item = &AttemptRow> {
        self.elsewhere
            .iter()
            .filter(|row| !row.to.starts_with("name "))
    }

    /// How many visits there were, and of how many the page was loaded.
    pub(crate) fn loaded(&self) -> (u64, u64) {
        let sum = |of: fn(&ClientRow) -> u64| self.clients.iter().map(of).sum();
        (sum(|row| row.loaded), sum(|row| row.visits))
    }

    /// `3 visits`.
    pub(crate) fn visits(of: u64) -> String {
        count(of, "visit", "visits")
    }
}
