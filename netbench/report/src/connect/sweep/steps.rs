//! The additional time of the second value of an axis with two values over the first, for example of the hybrid
//! group, or of a CPU quota of a quarter.

use std::collections::{BTreeMap, HashMap};

use itertools::Itertools;
use netbench_model::{Condition, Sample, StackName, SweepAxis};
use netbench_stats::RoundsDifference;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AtPoint, SweepSummary, SweepTime};
use crate::{Row, connect::pairs::Times};

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
    let times = times.into_group_map_by(|time| time.point.as_str());
    let mut steps = Vec::new();
    for axis in &summary.axes.axes {
        let [from, to] = axis.values.as_slice() else {
            continue;
        };
        let seconds: BTreeMap<_, _> = others(points, &axis.name, to).collect();
        for (settings, first) in others(points, &axis.name, from) {
            let Some(&second) = seconds.get(&settings) else {
                continue;
            };
            let [from_times, to_times] =
                [first, second].map(|at| times.get(at.point.name.as_str()).into_iter().flatten());
            for (from_time, to_time) in from_times.zip(to_times) {
                let firsts = totals(first, from_time, by_site);
                let seconds = totals(second, to_time, by_site);
                let pairs = firsts.into_iter().filter_map(|(visit, (first_ns, block))| {
                    let (other_ns, _) = *seconds.get(&visit)?;
                    Some(Times {
                        first_ns,
                        other_ns,
                        block,
                    })
                });
                let sides = [(from, *from_time), (to, *to_time)];
                steps.extend(step(axis, sides, settings.clone(), &pairs.collect_vec()));
            }
        }
    }
    steps
}

fn step(
    axis: &SweepAxis,
    [(from, from_time), (to, to_time)]: [(&String, &SweepTime); 2],
    settings: BTreeMap<String, String>,
    pairs: &[Times],
) -> Option<SweepStep> {
    let predicted = to_time.predicted.zip(from_time.predicted);
    let key = StepOf {
        condition: from_time.condition,
        stack: from_time.stack.clone(),
        axis: axis.name.clone(),
        from: from.clone(),
        to: to.clone(),
        settings,
        difference: Times::differences(pairs)?,
        more_round_trips: predicted.map(|(to, from)| to.round_trips - from.round_trips),
    };
    Times::row(key, pairs)
}

/// Returns the points at which an axis has this value, in their order, with the values of the other axes.
fn others<'a>(
    points: &'a [AtPoint<'a>],
    axis: &'a str,
    value: &'a str,
) -> impl Iterator<Item = (BTreeMap<String, String>, &'a AtPoint<'a>)> {
    points.iter().filter_map(move |at| {
        let mut settings = at.point.settings.clone();
        (settings.remove(axis)? == value).then_some((settings, at))
    })
}

/// A round's visit to a site.
type Visit<'a> = (u32, u32, &'a str);

/// Returns the total times of a stack's connections at a point, each with its process.
fn totals<'a>(
    at: &'a AtPoint<'a>,
    time: &SweepTime,
    by_site: &HashMap<&str, Vec<&Sample>>,
) -> BTreeMap<Visit<'a>, (u64, u32)> {
    let mut totals = BTreeMap::new();
    for (name, site) in &at.sites {
        let samples = by_site.get(name.as_str()).into_iter().flatten();
        let own = samples.filter(|s| s.condition == time.condition && s.stack == time.stack);
        totals.extend(own.filter_map(|sample| {
            let visit = (sample.session, sample.round, site.host.as_str());
            Some((visit, (sample.outcome.ok()?.phases.total_ns, sample.block)))
        }));
    }
    totals
}
