use itertools::Itertools;
use netbench_model::{StackName, SweepAxis};
use netbench_stats::spread;

use super::{SweepDifference, SweepTime};
use crate::{
    connect::charts::only_some,
    document::{Bar, BarGroup, Bars, Chart, Colours, Drawing, Heat, HeatCell, Item},
    row::{dot, dots},
    text::{count, interval_of_difference, signed_time, time},
};

/// Number of points that one chart shows.
const DRAWN: usize = 60;

/// Number of heat maps that are drawn: one for each combination of the values of further axes.
const MAPS: usize = 6;

const PARTS: [&str; 4] = ["round trips", "CPU", "bytes", "losses and the rest"];

/// Charts the paired change at each point.
pub(super) fn differences(
    rows: &[&SweepDifference],
    [first, other]: [&StackName; 2],
    about: &str,
) -> Item {
    let rounds = rows.iter().map(|row| row.change.pairs()).max().unwrap_or(0);
    dots(
        format!("From where on a difference is felt: {about}"),
        format!(
            "n = {} with up to {} each{}. Dots: the middle of the paired ratios (Hodges and Lehmann); lines: \
             intervals of at least 95 %.",
            count(rows.len(), "point", "points"),
            count(rounds, "round", "rounds"),
            only_some(rows.len(), DRAWN)
        ),
        [
            format!("{other} faster than {first}"),
            format!("{other} slower"),
        ],
        spread(rows.len(), DRAWN)
            .map(|at| rows[at])
            .map(|row| dot(row.key.point.clone(), &row.change)),
    )
}

/// Draws the change at each point as a heat map over the two axes with the most values. Returns `None` if only one axis has several
/// values.
pub(super) fn heat_maps(
    axes: &[&SweepAxis],
    rows: &[&SweepDifference],
    about: &str,
) -> Option<Item> {
    let by_length = axes.iter().sorted_by_key(|axis| axis.values.len()).rev();
    let (down, across) = by_length.copied().take(2).collect_tuple()?;
    let others = axes.iter().map(|axis| &axis.name);
    let others: Vec<&String> = others
        .filter(|name| **name != down.name && **name != across.name)
        .collect();
    let maps = rows.iter().map(|row| settings(row, &others)).unique();
    let maps: Vec<String> = maps.collect();
    let note = format!(
        "Other less first, the middle of the paired differences of the total time. Green: {}; red: slower; grey: the same or \
         undecided; the stronger, the larger.{}",
        rows.first().map_or_else(String::new, |row| format!(
            "{} is faster",
            row.key.other_stack
        )),
        match maps.len() {
            drawn if drawn <= MAPS => String::new(),
            all => format!(" {MAPS} of {all} combinations of the other settings are drawn."),
        }
    );
    let charts = maps.iter().take(MAPS).map(|of_map| {
        let own = rows.iter().filter(|row| settings(row, &others) == *of_map);
        Chart {
            title: format!(
                "The change by {} and {}: {about}{of_map}",
                down.name, across.name
            ),
            note: note.clone(),
            drawing: Drawing::Heat(Heat {
                across: across.clone(),
                down: down.clone(),
                cells: own.filter_map(|row| heat_cell(row, across, down)).collect(),
            }),
        }
    });
    Some(Item::Charts(charts.collect()))
}

/// Returns the values of a point on these axes, in words.
fn settings(row: &SweepDifference, axes: &[&String]) -> String {
    axes.iter()
        .map(|axis| {
            let value = row.key.settings.get(*axis).map_or("", String::as_str);
            format!(", {axis}={value}")
        })
        .collect()
}

fn heat_cell(row: &SweepDifference, across: &SweepAxis, down: &SweepAxis) -> Option<HeatCell> {
    let change_ns = row.key.difference.middle_ns;
    Some(HeatCell {
        place: (place(row, across)?, place(row, down)?),
        change_ns,
        text: signed_time(change_ns),
        about: interval_of_difference(&row.key.difference),
        verdict: row.change.verdict,
    })
}

/// Returns the index of a point's value on an axis.
fn place(row: &SweepDifference, axis: &SweepAxis) -> Option<usize> {
    let value = row.key.settings.get(&axis.name)?;
    axis.values.iter().position(|other| other == value)
}

/// Charts the median time of each stack at each point, in its predicted parts.
pub(super) fn times(rows: &[&SweepTime], about: &str) -> Option<Item> {
    let points: Vec<&str> = rows.iter().map(|row| row.point.as_str()).unique().collect();
    let drawn: Vec<&str> = spread(points.len(), DRAWN).map(|at| points[at]).collect();
    let groups = drawn.iter().map(|point| BarGroup {
        name: (*point).to_owned(),
        bars: rows
            .iter()
            .filter(|row| row.point == *point)
            .filter_map(|row| bar(row))
            .collect(),
    });
    let groups: Vec<BarGroup> = groups.filter(|group| !group.bars.is_empty()).collect();
    if groups.is_empty() {
        return None;
    }
    Some(Item::Charts(vec![Chart {
        title: format!("What the median time is made of at each point: {about}"),
        note: format!(
            "n = {}{}. The first three parts are predicted or measured by themselves, CPU without its overlap with transmissions. The last is the rest of the median.",
            count(points.len(), "point", "points"),
            only_some(points.len(), DRAWN)
        ),
        drawing: Drawing::Bars(Bars {
            colours: Colours::Parts,
            series: PARTS.map(str::to_owned).to_vec(),
            groups,
        }),
    }]))
}

fn bar(row: &SweepTime) -> Option<Bar> {
    let (total, times) = (row.total_ns?, row.predicted?);
    let rest = (total - times.total_ns).max(0.0);
    let parts = [times.waiting_ns, times.computing_ns(), times.bytes_ns, rest];
    Some(Bar {
        label: row.stack.to_string(),
        text: time(total),
        parts: parts.into_iter().enumerate().collect(),
    })
}
