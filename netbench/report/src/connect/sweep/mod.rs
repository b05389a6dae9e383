//! A sweep: the time of connections at each point, its predicted part, and the difference between two stacks.

mod charts;
mod compressed;
mod document;
mod flights;
mod overlap;
mod predicted;
mod steps;
mod turns;

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use netbench_model::{
    ClientSettings, CompressionRecord, Condition, ConnectManifest, CpuShare, LinkKind, Measured,
    Sample, Site, StackName, Sweep, SweepPoint,
};
use netbench_stats::{RoundsDifference, median};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use self::document::section;
use self::predicted::predict;
pub use self::{
    compressed::{ChainSizes, Compressed},
    flights::{FlightDirection, FlightStep},
    predicted::Predicted,
    steps::{StepOf, SweepStep},
    turns::SweepTurn,
};
use super::pairs::{Matched, Times, match_up, median_of};
use crate::{Row, differences::against_first};

/// The results of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepSummary {
    /// The swept axes.
    pub axes: Sweep,
    /// The sites that were swept.
    pub sites: Vec<String>,
    /// Each stack's times at each point.
    pub times: Vec<SweepTime>,
    /// The differences between stacks at each point.
    pub differences: Vec<SweepDifference>,
    /// The additional time of the second value over the first, for each axis with two values.
    #[serde(default)]
    pub steps: Vec<SweepStep>,
    /// The values of an axis between which the verdict changes.
    #[serde(default)]
    pub turns: Vec<SweepTurn>,
    /// The sizes of a server's first flight at which another round trip is needed, if chains of three sizes or more were swept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flights: Vec<FlightStep>,
    /// The sizes of the swept chains with certificate compression, if the run recorded them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain_sizes: Vec<ChainSizes>,
    /// The same for each site separately, if there are several: they may differ by a round trip.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub each_site: Vec<SweepSummary>,
}

/// A stack's times at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepTime {
    /// The condition.
    pub condition: Condition,
    /// The point.
    #[schemars(extend("x-key" = "item"))]
    pub point: String,
    /// Its value on each axis.
    pub settings: BTreeMap<String, String>,
    /// The stack.
    pub stack: StackName,
    /// Number of successful connections.
    pub samples: u64,
    /// Number of failed connections.
    pub failed: u64,
    /// Median total; absent if every connection failed.
    pub total_ns: Option<f64>,
    /// The predicted time without losses, each part its median; absent if no link is emulated.
    pub predicted: Option<Predicted>,
    /// Bytes that the client received in the handshake, median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flight_bytes: Option<f64>,
    /// Bytes that the client sent in the handshake, median, if servers require its certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_flight_bytes: Option<f64>,
    /// The predicted savings of compressed certificates; absent where the run recorded no sizes of chains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressed: Option<Compressed>,
    /// The median of each connection's time beyond its predicted time.
    pub off_ns: Option<f64>,
    /// The accuracy of the prediction.
    pub fit: Fit,
}

/// The accuracy of a predicted time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// Within 3 % or 0.5 ms.
    Holds,
    /// Outside these limits.
    Off,
    /// Packets may be lost; losses are not predicted.
    Lossy,
    /// There is no prediction to compare with.
    Unknown,
}

impl Fit {
    fn word(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Off => "OFF",
            Self::Lossy => "lossy",
            Self::Unknown => "–",
        }
    }
}

/// The tolerance of a predicted time: a part of the measured one, and a fixed time.
const OFF_PART: f64 = 0.03;
const OFF_NS: f64 = 500_000.0;

/// The difference between two stacks at a point, with their median totals.
pub type SweepDifference = Row<PointOf>;

/// The point of a row, and the composition of the difference there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PointOf {
    /// The condition.
    pub condition: Condition,
    /// The point.
    #[schemars(extend("x-key" = "item"))]
    pub point: String,
    /// Its value on each axis.
    pub settings: BTreeMap<String, String>,
    /// The first stack.
    pub first_stack: StackName,
    /// The other stack.
    #[schemars(extend("x-key" = "other"))]
    pub other_stack: StackName,
    /// The difference over the same rounds, other less first.
    pub difference: RoundsDifference,
    /// The predicted part of the difference, and its composition; absent if no link is emulated.
    pub parts: Option<DifferenceParts>,
}

impl PointOf {
    fn stacks(&self) -> (Condition, &StackName, &StackName) {
        (self.condition, &self.first_stack, &self.other_stack)
    }
}

/// Medians over pairs, other less first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceParts {
    /// Waiting for round trips.
    pub waiting_ns: f64,
    /// Computation of client and server, less the overlap with transmissions.
    pub cpu_ns: f64,
    /// Transmission of bytes at the link's rate.
    pub bytes_ns: f64,
    /// The rest: losses, queues, waiting for a core.
    pub rest_ns: f64,
}

/// A point, with the inputs from which times there are predicted.
struct AtPoint<'a> {
    point: &'a SweepPoint,
    sites: HashMap<String, &'a Site>,
    client: ClientSettings,
    cpu: Option<CpuShare>,
    is_emulated: bool,
    compression: Option<&'a CompressionRecord>,
}

/// Summarizes the sweep from `measured`, the last samples of all trials. Returns `None` if the run is not a sweep.
pub(super) fn sweep(manifest: &ConnectManifest, measured: &[&Sample]) -> Option<SweepSummary> {
    let plan = &manifest.plan;
    let axes = plan.sweep.as_ref()?;
    let swept: Vec<&Site> = plan
        .sites
        .iter()
        .filter(|site| site.point.is_some())
        .collect();
    let by_site = measured
        .iter()
        .copied()
        .into_group_map_by(|s| s.site.as_str());
    let mut summary = over(manifest, axes, &swept, &by_site);
    if summary.sites.len() > 1 {
        for name in &summary.sites {
            let own = swept.iter().copied();
            let own = own.filter(|site| swept_name(site) == Some(name));
            let own = over(manifest, axes, &own.collect_vec(), &by_site);
            summary.each_site.push(own);
        }
    }
    Some(summary)
}

/// Returns the name of the swept site that a site of the plan is one point of.
fn swept_name(site: &Site) -> Option<&str> {
    Some(&site.point.as_deref()?.of)
}

/// Summarizes the sweep over these sites of the plan, which are pooled.
fn over(
    manifest: &ConnectManifest,
    axes: &Sweep,
    sites: &[&Site],
    by_site: &HashMap<&str, Vec<&Sample>>,
) -> SweepSummary {
    let plan = &manifest.plan;
    let points = points(manifest, sites);
    let swept = sites.iter().filter_map(|site| swept_name(site));
    let mut summary = SweepSummary {
        axes: axes.clone(),
        sites: swept.unique().map(str::to_owned).collect(),
        times: Vec::new(),
        differences: Vec::new(),
        steps: Vec::new(),
        turns: Vec::new(),
        flights: Vec::new(),
        chain_sizes: Vec::new(),
        each_site: Vec::new(),
    };
    for condition in &plan.conditions {
        for at in &points {
            let names = at.sites.keys().sorted();
            let samples = names.filter_map(|name| by_site.get(name.as_str()));
            let samples: Vec<&Sample> = samples.flatten().copied().collect();
            let stacks = plan.stacks.iter();
            let times = stacks.map(|stack| at.time(*condition, stack, &samples));
            summary.times.extend(times);
            let differences = against_first(&plan.stacks)
                .filter_map(|(first, other)| at.difference(*condition, first, other, &samples));
            summary.differences.extend(differences);
        }
    }
    summary.steps = steps::steps(&summary, &points, by_site);
    summary.flights = flights::flights(&summary, &points);
    summary.chain_sizes = compressed::chains(&summary, &points, plan.compression.as_ref());
    summary.turns = turns::turns(&summary.axes.axes, &summary.differences);
    summary
}

/// Returns the points of a plan, in its order.
fn points<'a>(manifest: &'a ConnectManifest, sites: &[&'a Site]) -> Vec<AtPoint<'a>> {
    let link = manifest.link.as_ref().map(|link| link.kind);
    let plan = &manifest.plan;
    let sites = sites.iter().copied();
    let swept = sites.filter_map(|site| Some((site.point.as_deref()?, site)));
    let mut points: Vec<AtPoint<'a>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (point, site) in swept {
        let place = *places.entry(&point.name).or_insert(points.len());
        if place == points.len() {
            points.push(AtPoint {
                point,
                sites: HashMap::new(),
                client: point.client.settings(&plan.client),
                cpu: point.client.cpu_percent.or(plan.cpu_percent),
                is_emulated: matches!(link, Some(LinkKind::User | LinkKind::Netem)),
                compression: plan.compression.as_ref(),
            });
        }
        points[place].sites.insert(site.name(), site);
    }
    points
}

impl AtPoint<'_> {
    fn predict(&self, stack: &StackName, site: &str, measured: &Measured) -> Option<Predicted> {
        let site = self.sites.get(site).filter(|_| self.is_emulated)?;
        Some(predict(site, stack, &self.client, self.cpu, measured))
    }

    /// Returns whether the servers require certificates of their clients.
    fn asks_clients(&self) -> bool {
        let mut sites = self.sites.values();
        sites.any(|site| site.lab.client_chain.is_some())
    }

    fn fit(&self, total_ns: Option<f64>, off_ns: Option<f64>) -> Fit {
        let mut sites = self.sites.values();
        match total_ns.zip(off_ns) {
            None => Fit::Unknown,
            Some(_) if sites.any(|site| site.lab.link.loss.parts_per_million > 0) => Fit::Lossy,
            Some((total, off)) if off.abs() <= OFF_NS.max(OFF_PART * total) => Fit::Holds,
            Some(_) => Fit::Off,
        }
    }

    fn time(&self, condition: Condition, stack: &StackName, samples: &[&Sample]) -> SweepTime {
        let own = samples.iter();
        let own = own.filter(|sample| sample.condition == condition && sample.stack == *stack);
        let measured = own
            .clone()
            .filter_map(|sample| Some((&sample.site, sample.outcome.ok()?)));
        let measured: Vec<(&String, &Measured)> = measured.collect();
        let predicted: Vec<Predicted> = measured
            .iter()
            .filter_map(|(site, of)| self.predict(stack, site, of))
            .collect();
        let failed = own.filter(|s| s.outcome.ok().is_none() && s.outcome.counts());
        let off = measured.iter().zip(&predicted);
        let off = off.map(|((_, of), times)| of.phases.total_ns as f64 - times.total_ns);
        let off_ns = median(&off.collect_vec());
        let total_ns = median_of(&measured, |(_, of)| of.phases.total_ns as f64);
        let flight_bytes = median_of(&measured, |(_, of)| of.transfer.handshake_bytes_in as f64);
        let client_bytes = median_of(&measured, |(_, of)| of.transfer.handshake_bytes_out as f64);
        SweepTime {
            condition,
            point: self.point.name.clone(),
            settings: self.point.settings.clone(),
            stack: stack.clone(),
            samples: measured.len() as u64,
            failed: failed.count() as u64,
            total_ns,
            predicted: medians(&predicted),
            flight_bytes,
            client_flight_bytes: client_bytes.filter(|_| self.asks_clients()),
            compressed: compressed::compressed(self, stack, &measured),
            off_ns,
            fit: self.fit(total_ns, off_ns),
        }
    }

    fn difference(
        &self,
        condition: Condition,
        first: &StackName,
        other: &StackName,
        samples: &[&Sample],
    ) -> Option<SweepDifference> {
        let pairs = match_up(samples, condition, first, other).matched;
        let times: Vec<Times> = pairs.iter().map(Matched::totals).collect();
        let key = PointOf {
            condition,
            point: self.point.name.clone(),
            settings: self.point.settings.clone(),
            first_stack: first.clone(),
            other_stack: other.clone(),
            difference: Times::differences(&times)?,
            parts: self.parts([first, other], &pairs),
        };
        Times::row(key, &times)
    }

    fn parts(
        &self,
        [first, other]: [&StackName; 2],
        pairs: &[Matched<'_>],
    ) -> Option<DifferenceParts> {
        let parts = pairs.iter().map(|pair| {
            let first = self.predict(first, pair.site, pair.first)?;
            let other = self.predict(other, pair.site, pair.other)?;
            let difference_ns = pair.totals().difference_ns();
            Some(DifferenceParts {
                waiting_ns: other.waiting_ns - first.waiting_ns,
                cpu_ns: other.computing_ns() - first.computing_ns(),
                bytes_ns: other.bytes_ns - first.bytes_ns,
                rest_ns: difference_ns - (other.total_ns - first.total_ns),
            })
        });
        let parts: Vec<DifferenceParts> = parts.collect::<Option<_>>()?;
        Some(DifferenceParts {
            waiting_ns: median_of(&parts, |parts| parts.waiting_ns)?,
            cpu_ns: median_of(&parts, |parts| parts.cpu_ns)?,
            bytes_ns: median_of(&parts, |parts| parts.bytes_ns)?,
            rest_ns: median_of(&parts, |parts| parts.rest_ns)?,
        })
    }
}

fn medians(of: &[Predicted]) -> Option<Predicted> {
    Some(Predicted {
        round_trips: median_of(of, |times| times.round_trips)?,
        waiting_ns: median_of(of, |times| times.waiting_ns)?,
        cpu_ns: median_of(of, |times| times.cpu_ns)?,
        bytes_ns: median_of(of, |times| times.bytes_ns)?,
        overlap_ns: median_of(of, |times| times.overlap_ns)?,
        total_ns: median_of(of, |times| times.total_ns)?,
    })
}
