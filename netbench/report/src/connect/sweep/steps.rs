//! The additional time of the second value of an axis with two values over the first, for example of the hybrid
//! group, or of a CPU quota of a quarter.

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use netbench_model::{Condition, Sample, StackName, SweepAxis, Unit};
use netbench_stats::{Pair, RoundsDifference, compare_rounds, difference_of_rounds, median};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AtPoint, SweepSummary, SweepTime};
use crate::{Row, gate::Judged};

/// The difference between one stack's connections at two points that differ in one setting, with their median totals;
/// every ratio and difference is of the second point from the first.
pub type SweepStep = Row<StepOf>;

/// The points of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepOf {
    /// The condition.
    pub condition: Condition,
    /// The stack.
    pub stack: StackName,
    /// The axis, such as `hybrid`.
    #[schemars(extend("x-key" = "item"))]
    pub axis: String,
    /// Its first value.
    #[schemars(extend("x-key" = "item"))]
    pub from: String,
    /// Its second value.
    #[schemars(extend("x-key" = "item"))]
    pub to: String,
    /// The values of the other axes.
    pub settings: BTreeMap<String, String>,
    /// The difference over the same rounds, second less first.
    pub difference: RoundsDifference,
    /// The predicted round trips of the second value less those of the first; absent without a prediction.
    #[schemars(extend("x-unit" = ""))]
    pub more_round_trips: Option<f64>,
}

/// Returns the steps of each axis with two values.
pub(super) fn steps(
    summary: &SweepSummary,
    points: &[AtPoint<'_>],
    by_site: &HashMap<&str, Vec<&Sample>>,
) -> Vec<SweepStep> {
    let times = summary.times.iter();
    let times: HashMap<&str, Vec<&SweepTime>> = times
        .map(|time| (time.point.as_str(), time))
        .into_group_map();
    let times_at = |at: &AtPoint<'_>| times.get(at.point.name.as_str()).into_iter().flatten();
    let mut steps = Vec::new();
    for axis in &summary.axes.axes {
        let [from, to] = axis.values.as_slice() else {
            continue;
        };
        let seconds: BTreeMap<_, _> = others(points, &axis.name, to).collect();
        for (settings, first) in others(points, &axis.name, from) {
            let Some(second) = seconds.get(&settings) else {
                continue;
            };
            for (from_time, to_time) in times_at(first).zip(times_at(second)) {
                let sides = [(first, from_time), (*second, to_time)];
                let taken = sides.map(|(at, time)| totals(at, time, by_site));
                let pairs: Vec<(&Total, &Total)> = taken[0]
                    .iter()
                    .filter_map(|(visit, total)| Some((total, taken[1].get(visit)?)))
                    .collect();
                let step = Stepped {
                    axis,
                    settings: &settings,
                    times: [from_time, to_time],
                };
                steps.extend(step.over(&pairs));
            }
        }
    }
    steps
}

/// Returns the points at which an axis has this value, in their order, with the values of the other axes.
fn others<'a>(
    points: &'a [AtPoint<'a>],
    axis: &'a str,
    value: &'a str,
) -> impl Iterator<Item = (BTreeMap<String, String>, &'a AtPoint<'a>)> {
    let with = move |at: &'a AtPoint<'a>| {
        let mut settings = at.point.settings.clone();
        (settings.remove(axis)? == value).then_some((settings, at))
    };
    points.iter().filter_map(with)
}

/// A round's visit to a site.
type Visit<'a> = (u32, u32, &'a str);

/// A connection's total time.
struct Total {
    ns: u64,
    block: u32,
}

/// Returns the total times of a stack's connections at a point.
fn totals<'a>(
    at: &'a AtPoint<'a>,
    time: &SweepTime,
    by_site: &HashMap<&str, Vec<&Sample>>,
) -> BTreeMap<Visit<'a>, Total> {
    let mut totals = BTreeMap::new();
    for (name, site) in &at.sites {
        let samples = by_site.get(name.as_str()).into_iter().flatten();
        let own = samples.filter(|s| s.condition == time.condition && s.stack == time.stack);
        for sample in own {
            if let Some(measured) = sample.outcome.ok() {
                let total = Total {
                    ns: measured.phases.total_ns,
                    block: sample.block,
                };
                totals.insert((sample.session, sample.round, site.host.as_str()), total);
            }
        }
    }
    totals
}

struct Stepped<'a> {
    axis: &'a SweepAxis,
    settings: &'a BTreeMap<String, String>,
    times: [&'a SweepTime; 2],
}

impl Stepped<'_> {
    fn over(&self, pairs: &[(&Total, &Total)]) -> Option<SweepStep> {
        let ratios = pairs
            .iter()
            .map(|(a, b)| Pair::from_ns(a.ns, b.ns, a.block));
        let differences = pairs.iter().map(|(a, b)| b.ns as f64 - a.ns as f64);
        let side = |of: fn(&(&Total, &Total)) -> u64| {
            median(&pairs.iter().map(|pair| of(pair) as f64).collect::<Vec<_>>())
        };
        let [from, to] = self.times;
        let trips = |time: &SweepTime| Some(time.predicted?.round_trips);
        Some(Row {
            key: StepOf {
                condition: from.condition,
                stack: from.stack.clone(),
                axis: self.axis.name.clone(),
                from: self.axis.values.first()?.clone(),
                to: self.axis.values.get(1)?.clone(),
                settings: self.settings.clone(),
                difference: difference_of_rounds(&differences.collect::<Vec<_>>())?,
                more_round_trips: trips(to).zip(trips(from)).map(|(to, from)| to - from),
            },
            unit: Unit::Nanoseconds,
            first: side(|pair| pair.0.ns)?,
            other: side(|pair| pair.1.ns)?,
            change: compare_rounds(&ratios.collect::<Vec<_>>())?,
            judged: Judged::default(),
        })
    }
}
