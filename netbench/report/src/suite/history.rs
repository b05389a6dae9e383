use netbench_model::{Preset, StackName};
use netbench_stats::{CASE_MARGIN, Verdict};

use super::{
    CaseRow, CaseVerdict, SuiteSummary,
    cases::{row_name, value},
    released::released,
};
use crate::{
    cell::Cell,
    document::{Chart, Drawing, Item, Point, Steps, Table},
    text::factor,
};

/// Returns whether a run is of versions of one stack, each of which is compared with the preceding one.
pub(super) fn is_history(preset: Option<&str>) -> bool {
    preset == Some(Preset::History.name())
}

/// Builds a row for each case with a column for each version, the steps beyond noise, and a chart of each case.
pub(super) fn items(summary: &SuiteSummary, cases: &[&CaseRow]) -> Vec<Item> {
    let versions = &summary.run.stacks;
    let mut table =
        Table::of(cases.to_vec()).col("case", 0, |case| Cell::text(row_name(&case.name)));
    for (version, _) in versions {
        table = table.col(version.as_str(), 0, |case| figure(case, version));
    }
    let mut items = vec![
        Item::heading("Version by version"),
        Item::Text(format!(
            "▲ and ▼: better or worse than the version before it by more than noise, and how much: its whole interval is beyond \
             ±{} %.",
            CASE_MARGIN * 100.0
        )),
        table.item(),
    ];
    items.extend(beyond_noise(cases));
    let charts: Vec<Chart> = cases
        .iter()
        .filter(|case| case.stacks.len() > 1)
        .map(|case| chart(case, versions))
        .collect();
    if !charts.is_empty() {
        items.push(Item::Charts(charts));
    }
    items
}

impl CaseRow {
    /// Returns the verdict on a version compared with the preceding one.
    fn step_to(&self, version: &StackName) -> Option<&CaseVerdict> {
        self.steps.iter().find(|step| step.other == *version)
    }
}

/// Returns whether a version is better or worse than the preceding one by more than noise.
fn is_beyond_noise(step: &CaseVerdict) -> bool {
    matches!(step.change.verdict, Verdict::Faster | Verdict::Slower)
}

/// Formats the figure of a version, with the step to it if that is beyond noise.
fn figure(case: &CaseRow, version: &StackName) -> Cell {
    let Some(figures) = case.of(version) else {
        return Cell::Missing;
    };
    let figure = value(case, figures);
    let mark = match case.step_to(version).map(|step| &step.change) {
        Some(paired) if paired.verdict == Verdict::Faster => "▲",
        Some(paired) if paired.verdict == Verdict::Slower => "▼",
        _ => return figure,
    };
    let step = case.step_to(version);
    let by = step
        .map(|step| factor(step.change.ratio))
        .unwrap_or_default();
    Cell::text(format!("{} {mark}{by}", figure.render()))
}

fn beyond_noise(cases: &[&CaseRow]) -> Vec<Item> {
    let steps = cases.iter().flat_map(|case| {
        let steps = case.steps.iter().filter(|step| is_beyond_noise(step));
        steps.map(move |step| (*case, step))
    });
    let steps: Vec<(&CaseRow, &CaseVerdict)> = steps.collect();
    let heading = Item::heading("Steps beyond noise");
    if steps.is_empty() {
        let none = "No version differs from the one before it by more than noise.";
        return vec![heading, Item::text(none)];
    }
    let table = Table::of(steps)
        .col("case", 0, |(case, _)| Cell::text(row_name(&case.name)))
        .col("from", 0, |(_, step)| Cell::text(&step.first))
        .col("to", 0, |(_, step)| Cell::text(&step.other))
        .col("factor", 0, |(_, step)| Cell::Factor(step.change.ratio))
        .col("interval", 1, |(_, step)| {
            Cell::Factors(step.change.interval)
        })
        .col("verdict", 0, |(case, step)| {
            Cell::Verdict(step.change.verdict, case.unit)
        });
    vec![heading, table.item()]
}

fn chart(case: &CaseRow, versions: &[(StackName, String)]) -> Chart {
    let points = versions.iter().map(|(version, library)| {
        let label = version.as_str();
        let figure = case.of(version).map(|figures| value(case, figures));
        let step = case.step_to(version);
        let against = step.map(|step| {
            let paired = &step.change;
            let (by, within) = (
                factor(paired.ratio),
                Cell::Factors(paired.interval).render(),
            );
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
            crate::text::count(rounds.unwrap_or(0), "round", "rounds")
        ),
        drawing: Drawing::Steps(Steps { points }),
    }
}
