use super::Explanation;
use crate::{
    document::Item,
    row::{dot, dots},
};

/// Number of values of characteristics that are drawn at most; the table has all.
const DRAWN: usize = 24;

/// Charts the ratio of each value of a characteristic.
pub(super) fn chart(explanation: &Explanation) -> Option<Item> {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    let rows = &explanation.characteristics;
    let drawn = &rows[..rows.len().min(DRAWN)];
    let level = rows
        .iter()
        .find_map(|row| row.change.interval)
        .map_or(0.0, |interval| interval.level * 100.0);
    let title = format!(
        "Total time by what a site is like: {other} against {first}, {} connections",
        explanation.condition
    );
    let note = format!(
        "n in brackets: sites with that value, {} of {} values. Dots: the median ratio over their pairs; \
         lines: intervals of {level:.2} %, resampled over processes.",
        drawn.len(),
        rows.len()
    );
    let dots_of = drawn.iter().map(|row| {
        let name = format!("{} {} ({})", row.characteristic, row.value, row.sites);
        dot(name, &row.change)
    });
    let words = ["faster", "slower"].map(|word| format!("{other} is {word}"));
    (!rows.is_empty()).then(|| dots(title, note, words, dots_of))
}
