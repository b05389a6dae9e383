use netbench_model::{ConnectManifest, Sample};

use super::{Chart, Dot, Dots, Drawing, Item, Section, document_section};
use crate::{Explanation, explain};

/// Values of characteristics that are drawn at most; the table has all.
const DRAWN: usize = 24;

/// Which characteristics of a site go with one stack's being faster. None where nothing can be compared.
pub fn explain_section(
    id: &str,
    heading: &str,
    manifest: &ConnectManifest,
    samples: &[Sample],
) -> Option<Section> {
    let summary = explain(manifest, samples, None);
    if summary
        .explanations
        .iter()
        .all(|explanation| explanation.characteristics.is_empty())
    {
        return None;
    }
    let mut section = document_section(id, heading, &summary);
    let charts = summary.explanations.iter().filter_map(chart);
    let charts: Vec<Item> = charts.map(Item::Chart).collect();
    section.items.splice(0..0, charts);
    Some(section)
}

fn chart(explanation: &Explanation) -> Option<Chart> {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    let rows = &explanation.characteristics;
    let dots: Vec<Dot> = rows
        .iter()
        .take(DRAWN)
        .map(|row| Dot {
            name: format!("{} {} ({})", row.characteristic, row.value, row.sites),
            ratio: row.paired.ratio,
            interval: row.paired.interval.map(|i| (i.low, i.high)),
            verdict: row.paired.verdict,
        })
        .collect();
    let level = rows
        .iter()
        .find_map(|row| row.paired.interval)
        .map_or(0.0, |interval| interval.level * 100.0);
    (!dots.is_empty()).then(|| Chart {
        title: format!(
            "Total time by what a site is like: {other} against {first}, {} connections",
            explanation.condition
        ),
        note: format!(
            "n in brackets: sites with that value, {} of {} values. Dots: the median ratio over their pairs; \
             lines: intervals of {level:.2} %, resampled over processes.",
            dots.len(),
            rows.len()
        ),
        drawing: Drawing::Dots(Dots {
            less: format!("{other} is faster"),
            more: format!("{other} is slower"),
            dots,
        }),
    })
}
