//! A sweep: the time of connections at each point, its predicted part, and the difference between two stacks.

mod charts;
mod document;
mod predicted;
mod steps;
mod turns;

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use netbench_model::{
    Condition, ConnectManifest, LinkKind, Sample, Site, StackName, Sweep, SweepPoint, Unit,
};
use netbench_stats::{Pair, RoundsDifference, compare_rounds, difference_of_rounds, median};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use self::document::section;
use self::predicted::predict;
pub use self::{
    predicted::Predicted,
    steps::{StepOf, SweepStep},
    turns::SweepTurn,
};
use super::{Matched, match_up};
use crate::{Row, gate::Judged};

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
    /// The median of each connection's time beyond its predicted time.
    pub off_ns: Option<f64>,
    /// The accuracy of the prediction.
    pub fit: Fit,
}

/// The accuracy of a predicted time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Returns the condition and the two stacks.
    fn stacks(&self) -> (Condition, &StackName, &StackName) {
        (self.condition, &self.first_stack, &self.other_stack)
    }
}

/// Medians over pairs, other less first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceParts {
    /// Waiting for round trips.
    pub waiting_ns: f64,
    /// Computation of client and server.
    pub cpu_ns: f64,
    /// Transmission of bytes at the link's rate.
    pub bytes_ns: f64,
    /// The rest: losses, queues, waiting for a core.
    pub rest_ns: f64,
}

/// The samples of one point.
struct AtPoint<'a> {
    point: &'a SweepPoint,
    sites: HashMap<String, &'a Site>,
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
        let names = summary.sites.iter();
        summary.each_site = names
            .map(|name| {
                let own = swept.iter().copied();
                let own = own.filter(|site| swept_name(site) == Some(name));
                over(manifest, axes, &own.collect_vec(), &by_site)
            })
            .collect();
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
    let points = points(sites);
    let swept = sites.iter().filter_map(|site| swept_name(site));
    let mut summary = SweepSummary {
        axes: axes.clone(),
        sites: swept.unique().map(str::to_owned).collect(),
        times: Vec::new(),
        differences: Vec::new(),
        steps: Vec::new(),
        turns: Vec::new(),
        each_site: Vec::new(),
    };
    let mut names: Vec<Vec<&String>> = Vec::new();
    for at in &points {
        names.push(at.sites.keys().sorted().collect());
    }
    for condition in &plan.conditions {
        for (at, names) in points.iter().zip(&names) {
            let samples = names.iter().filter_map(|name| by_site.get(name.as_str()));
            let samples: Vec<&Sample> = samples.flatten().copied().collect();
            let model = Model::of(manifest, at);
            let of = |stack| time(*condition, stack, &samples, &model);
            summary.times.extend(plan.stacks.iter().map(of));
            if let Some((first, others)) = plan.stacks.split_first() {
                let of = |other| difference(*condition, first, other, &samples, &model);
                summary.differences.extend(others.iter().filter_map(of));
            }
        }
    }
    summary.steps = steps::steps(&summary, &points, by_site);
    summary.turns = turns::turns(&summary.axes.axes, &summary.differences);
    summary
}

/// Returns the points of a plan, in its order.
fn points<'a>(sites: &[&'a Site]) -> Vec<AtPoint<'a>> {
    let mut points: Vec<AtPoint<'a>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for site in sites.iter().copied() {
        let Some(point) = site.point.as_deref() else {
            continue;
        };
        let place = *places.entry(&point.name).or_insert_with(|| {
            points.push(AtPoint {
                point,
                sites: HashMap::new(),
            });
            points.len() - 1
        });
        points[place].sites.insert(site.name(), site);
    }
    points
}

/// The inputs from which the times of a point are predicted.
struct Model<'a> {
    at: &'a AtPoint<'a>,
    manifest: &'a ConnectManifest,
    client: netbench_model::ClientSettings,
    is_emulated: bool,
}

impl<'a> Model<'a> {
    fn of(manifest: &'a ConnectManifest, at: &'a AtPoint<'a>) -> Self {
        let link = manifest.link.as_ref().map(|link| link.kind);
        Self {
            at,
            manifest,
            client: at.point.client.settings(&manifest.plan.client),
            is_emulated: matches!(link, Some(LinkKind::User | LinkKind::Netem)),
        }
    }

    fn predict(&self, site: &str, measured: &netbench_model::Measured) -> Option<Predicted> {
        let site = self.at.sites.get(site).filter(|_| self.is_emulated)?;
        let cpu = self.at.point.client.cpu_percent;
        let cpu = cpu.or(self.manifest.plan.cpu_percent);
        Some(predict(site, &self.client, cpu, measured))
    }

    fn may_lose(&self) -> bool {
        let mut sites = self.at.sites.values();
        sites.any(|site| site.lab.link.loss.parts_per_million > 0)
    }

    fn fit(&self, total_ns: Option<f64>, off_ns: Option<f64>) -> Fit {
        match (total_ns, off_ns) {
            (Some(_), Some(_)) if self.may_lose() => Fit::Lossy,
            (Some(total), Some(off)) if off.abs() <= OFF_NS.max(OFF_PART * total) => Fit::Holds,
            (Some(_), Some(_)) => Fit::Off,
            _ => Fit::Unknown,
        }
    }
}

fn time(
    condition: Condition,
    stack: &StackName,
    samples: &[&Sample],
    model: &Model<'_>,
) -> SweepTime {
    let own = samples
        .iter()
        .filter(|sample| sample.condition == condition && sample.stack == *stack);
    let (good, bad): (Vec<&Sample>, Vec<&Sample>) = own
        .copied()
        .partition(|sample| sample.outcome.ok().is_some());
    let totals = |sample: &&Sample| Some(sample.outcome.ok()?.phases.total_ns as f64);
    let totals: Vec<f64> = good.iter().filter_map(totals).collect();
    let predicted = |sample: &&Sample| model.predict(&sample.site, sample.outcome.ok()?);
    let predicted: Vec<Predicted> = good.iter().filter_map(predicted).collect();
    let off = totals.iter().zip(&predicted);
    let off: Vec<f64> = off.map(|(total, times)| total - times.total_ns).collect();
    let (total_ns, off_ns) = (median(&totals), median(&off));
    SweepTime {
        condition,
        point: model.at.point.name.clone(),
        settings: model.at.point.settings.clone(),
        stack: stack.clone(),
        samples: good.len() as u64,
        failed: bad.iter().filter(|sample| sample.outcome.counts()).count() as u64,
        total_ns,
        predicted: medians(&predicted),
        off_ns,
        fit: model.fit(total_ns, off_ns),
    }
}

fn medians(of: &[Predicted]) -> Option<Predicted> {
    let median = |part: fn(&Predicted) -> f64| median(&of.iter().map(part).collect::<Vec<_>>());
    Some(Predicted {
        round_trips: median(|times| times.round_trips)?,
        waiting_ns: median(|times| times.waiting_ns)?,
        cpu_ns: median(|times| times.cpu_ns)?,
        bytes_ns: median(|times| times.bytes_ns)?,
        total_ns: median(|times| times.total_ns)?,
    })
}

fn difference(
    condition: Condition,
    first: &StackName,
    other: &StackName,
    samples: &[&Sample],
    model: &Model<'_>,
) -> Option<SweepDifference> {
    let pairs = match_up(samples, condition, first, other).matched;
    let total = |side: fn(&Matched<'_>) -> u64| {
        median(
            &pairs
                .iter()
                .map(|pair| side(pair) as f64)
                .collect::<Vec<_>>(),
        )
    };
    let ratios: Vec<Pair> = pairs.iter().map(Matched::totals).collect();
    let differences: Vec<f64> = pairs.iter().map(Matched::difference_ns).collect();
    Some(Row {
        key: PointOf {
            condition,
            point: model.at.point.name.clone(),
            settings: model.at.point.settings.clone(),
            first_stack: first.clone(),
            other_stack: other.clone(),
            difference: difference_of_rounds(&differences)?,
            parts: parts(&pairs, model),
        },
        unit: Unit::Nanoseconds,
        first: total(|pair| pair.first.phases.total_ns)?,
        other: total(|pair| pair.other.phases.total_ns)?,
        change: compare_rounds(&ratios)?,
        judged: Judged::default(),
    })
}

fn parts(pairs: &[Matched<'_>], model: &Model<'_>) -> Option<DifferenceParts> {
    let both = |pair: &Matched<'_>| {
        let first = model.predict(pair.site, pair.first)?;
        let other = model.predict(pair.site, pair.other)?;
        Some((first, other, pair.difference_ns()))
    };
    let both: Option<Vec<(Predicted, Predicted, f64)>> = pairs.iter().map(both).collect();
    let both = both?;
    let of = |part: fn(&Predicted) -> f64| {
        let parts = both
            .iter()
            .map(|(first, other, _)| part(other) - part(first));
        median(&parts.collect::<Vec<_>>())
    };
    let rest = both
        .iter()
        .map(|(first, other, all)| all - (other.total_ns - first.total_ns));
    Some(DifferenceParts {
        waiting_ns: of(|times| times.waiting_ns)?,
        cpu_ns: of(|times| times.cpu_ns)?,
        bytes_ns: of(|times| times.bytes_ns)?,
        rest_ns: median(&rest.collect::<Vec<_>>())?,
    })
}
