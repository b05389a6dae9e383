use itertools::Itertools;
use netbench_stats::spread;

use super::{SweepDifference, SweepTime};
use crate::{
    document::{Bar, BarGroup, Bars, Chart, Colours, Dot, Dots, Drawing, Item},
    text::time,
};

/// Number of points that one chart shows.
const DRAWN: usize = 60;

const PARTS: [&str; 4] = ["round trips", "CPU", "bytes", "losses and the rest"];

/// Charts the paired change at each point.
pub(super) fn differences(rows: &[&SweepDifference], about: &str) -> Item {
    let (first, other) = rows.first().map_or(("", ""), |row| {
        (row.key.first_stack.as_str(), row.key.other_stack.as_str())
    });
    let rounds = rows.iter().map(|row| row.change.pairs()).max().unwrap_or(0);
    let drawn = spread(rows.len(), DRAWN).map(|at| rows[at]);
    let dots = drawn.map(|row| Dot {
        name: row.key.point.clone(),
        ratio: row.change.ratio,
        interval: row.change.interval,
        verdict: row.change.verdict,
    });
    Item::Charts(vec![Chart {
        title: format!("From where on a difference is felt: {about}"),
        note: format!(
            "n = {} with up to {} each{}. Dots: the middle of the paired ratios (Hodges and Lehmann); lines: \
             intervals of at least 95 %.",
            crate::text::count(rows.len(), "point", "points"),
            crate::text::count(rounds, "round", "rounds"),
            only_some(rows.len())
        ),
        drawing: Drawing::Dots(Dots {
            less: format!("{other} faster than {first}"),
            more: format!("{other} slower"),
            dots: dots.collect(),
        }),
    }])
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
            "n = {}{}. The first three parts are predicted or measured by themselves, the last is what is left of the median.",
            crate::text::count(points.len(), "point", "points"),
            only_some(points.len())
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
    let parts = [times.waiting_ns, times.cpu_ns, times.bytes_ns, rest];
    Some(Bar {
        label: row.stack.to_string(),
        text: time(total),
        parts: parts.into_iter().enumerate().collect(),
    })
}

fn only_some(points: usize) -> String {
    if points > DRAWN {
        format!("; {DRAWN} of them are drawn, evenly spread")
    } else {
        String::new()
    }
}
