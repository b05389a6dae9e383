use netbench_model::{Preset, StackName};
use netbench_stats::CASE_MARGIN;

use super::{
    CaseRow, CaseVerdict, SuiteSummary,
    cases::{row_name, value},
    released::released,
};
use crate::{
    cell::Cell,
    document::{Chart, Drawing, Item, Point, Table},
    row::differs,
    text::{count, factor},
};

/// Returns whether a run is of versions of one stack, each of which is compared with the preceding one.
pub(super) fn is_history(preset: Option<&str>) -> bool {
    preset == Some(Preset::History.name())
}

/// Builds a chart of each case, a row for each case with a column for each version, and the steps beyond noise.
pub(super) fn items(summary: &SuiteSummary, cases: &[&CaseRow]) -> Vec<Item> {
    let versions = &summary.run.stacks;
    let names = versions.iter().map(|(version, _)| version);
    let table = Table::of(cases)
        .text("case", 0, |case| row_name(&case.name))
        .cols(names, |case, at| figure(case, &versions[at].0));
    let charts: Vec<Chart> = cases
        .iter()
        .filter(|case| case.stacks.len() > 1)
        .map(|case| chart(case, versions))
        .collect();
    let charts = (!charts.is_empty()).then_some(Item::Charts(charts));
    let mut items = Vec::from_iter(charts);
    items.extend(table.explained(
        "Version by version",
        format!(
            "▲ and ▼: better or worse than the version before it by more than noise, and how much: its whole interval is beyond \
             ±{} %.",
            CASE_MARGIN * 100.0
        ),
    ));
    items.extend(beyond_noise(cases));
    items
}

impl CaseRow {
    /// Returns the verdict on a version compared with the preceding one.
    fn step_to(&self, version: &StackName) -> Option<&CaseVerdict> {
        self.steps.iter().find(|step| step.other == *version)
    }
}

/// Formats the figure of a version, with the step to it if that is beyond noise.
fn figure(case: &CaseRow, version: &StackName) -> Option<Cell> {
    let figure = value(case, case.of(version)?);
    let change = case.step_to(version).map(|step| step.change);
    Some(match change.filter(|change| differs(change.verdict)) {
        Some(change) => Cell::Step(Box::new(figure), change.verdict, change.ratio),
        None => figure,
    })
}

fn beyond_noise(cases: &[&CaseRow]) -> [Item; 2] {
    let steps = cases.iter().flat_map(|case| {
        let steps = case.steps.iter();
        let steps = steps.filter(|step| differs(step.change.verdict));
        steps.map(move |step| (*case, step))
    });
    let table = Table::of(steps)
        .text("case", 0, |(case, _)| row_name(&case.name))
        .text("from", 0, |(_, step)| &step.first)
        .text("to", 0, |(_, step)| &step.other)
        .factors([("factor", 0), ("interval", 1)], |(_, step)| {
            Some((step.change.ratio, step.change.interval))
        })
        .col("verdict", 0, |(case, step)| case.verdict(step))
        .item_or("No version differs from the one before it by more than noise.");
    [Item::heading("Steps beyond noise"), table]
}

fn chart(case: &CaseRow, versions: &[(StackName, String)]) -> Chart {
    let points = versions.iter().map(|(version, library)| {
        let label = version.as_str();
        let figure = case.of(version).map(|figures| value(case, figures));
        let step = case.step_to(version);
        let against = step.map(|step| {
            let within = Cell::Factors(step.change.interval).render();
            let by = factor(step.change.ratio);
            format!("{by} against {} ({within})", step.first)
        });
        Point {
            label: label
                .split_once('@')
                .map_or(label, |(_, line)| line)
                .to_owned(),
            released: released(library),
            value: figure.as_ref().and_then(Cell::value),
            text: figure.map(|figure| figure.render()).unwrap_or_default(),
            about: against.unwrap_or_default(),
            step: step.map(|step| step.change.verdict),
        }
    });
    let rounds = case.stacks.iter().map(|figures| figures.rounds).max();
    let points: Vec<Point> = points.collect();
    let by_date = match points.iter().all(|point| point.released.is_some()) {
        true => "By the date of release. ",
        false => "",
    };
    Chart {
        title: row_name(&case.name),
        note: format!(
            "{by_date}n = up to {} of each version. A triangle: better, a rhombus: worse than the version before it by more \
             than noise.",
            count(rounds.unwrap_or(0), "round", "rounds")
        ),
        drawing: Drawing::Steps(points),
    }
}
