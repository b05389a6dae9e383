use super::Explanation;
use crate::document::{Chart, Dot, Dots, Drawing, Item};

/// Number of values of characteristics that are drawn at most; the table has all.
const DRAWN: usize = 24;

/// Charts the ratio of each value of a characteristic.
pub(super) fn chart(explanation: &Explanation) -> Option<Item> {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    let rows = &explanation.characteristics;
    let dots: Vec<Dot> = rows
        .iter()
        .take(DRAWN)
        .map(|row| Dot {
            name: format!("{} {} ({})", row.characteristic, row.value, row.sites),
            ratio: row.change.ratio,
            interval: row.change.interval,
            verdict: row.change.verdict,
        })
        .collect();
    let level = rows
        .iter()
        .find_map(|row| row.change.interval)
        .map_or(0.0, |interval| interval.level * 100.0);
    (!dots.is_empty()).then(|| {
        Item::Charts(vec![Chart {
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
    }])})
}
