use itertools::Itertools;
use netbench_model::Target;

use super::{CharacteristicRow, ExplainSummary, Explanation, ModeCause};
use crate::{
    cell::{Cell, Digits},
    connect::cold_items,
    document::{Document, Excerpt, Extent, Item, Report, Section, Table},
    row::{dot, dots, in_words},
    text::verdict,
};

/// Number of sites that text formats show.
const SITES_SHOWN: usize = 30;

/// Number of values of characteristics that are drawn at most; the table has all.
const DRAWN: usize = 24;

impl Report for ExplainSummary {
    fn tells(&self) -> bool {
        let mut explanations = self.explanations.iter();
        explanations.any(|explanation| explanation.overall.is_some())
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let title = format!("netbench runs explain: {}", self.run.head.name);
        let mut section = section(self);
        // A run's own report has these items elsewhere.
        section.items.extend(cold_items(&self.cold));
        Document {
            sites: Some(self.run.target),
            ..Document::of_section("explain", title, section, self)
        }
    }
}

/// Returns the whole explanation, for a separate document or as a section of another.
pub(super) fn section(summary: &ExplainSummary) -> Section {
    let mut items = Vec::new();
    for explanation in &summary.explanations {
        one(&mut items, explanation, summary.run.target);
    }
    if summary.conditions.len() > 1 {
        items.push(Item::heading("By condition"));
        let rows = summary.conditions.iter().map(|condition| {
            let stacks = format!("{} / {}", condition.other, condition.first);
            (Some(stacks), &condition.row)
        });
        let others = summary.conditions.iter().map(|condition| &condition.other);
        items.extend(values(rows, &others.unique().join(" or ")));
    }
    items.extend(bimodal(summary));
    Section::only(items).explained(
        "Each row compares the sites that have a value with all other sites of this run. A ratio is the \
                      other stack's total over the first one's. The intervals of one table hold together at 99 %. What \
                      goes with being faster need not be its cause: values often come together.",
    )
}

fn one(items: &mut Vec<Item>, explanation: &Explanation, target: Target) {
    let (first, other) = (explanation.first.as_str(), explanation.other.as_str());
    items.push(Item::Heading(format!(
        "{}: {other} against {first}",
        explanation.condition
    )));
    if let Some(overall) = &explanation.overall {
        items.push(Item::Headline(format!(
            "Over all sites, {}: {}.",
            verdict(overall.verdict, first, other),
            in_words(overall)
        )));
    }
    items.extend(explanation.sentences.iter().map(Item::text));
    items.extend(chart(explanation));
    let rows = explanation.characteristics.iter();
    items.extend(values(rows.map(|row| (None, row)), other));
    items.extend(
        Table::of(&explanation.against)
            .excerpt(Excerpt::First(SITES_SHOWN))
            .site(target, |row| &row.site)
            .ratio("change", 0, |row| row.ratio)
            .difference("by", 1, |row| row.difference_ns)
            .col("characteristics", 2, |row| {
                let reported = ["key", "version", "group", "round trip", "chain bytes"].iter();
                let reported = reported.filter_map(|name| row.characteristics.get(*name));
                Cell::text(reported.format(", "))
            })
            .under("Sites that go the other way"),
    );
}

/// Charts the ratio of each value of a characteristic.
fn chart(explanation: &Explanation) -> Option<Item> {
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

/// Tabulates the values of characteristics, with the names of the stacks if they are not obvious.
fn values<'a>(
    rows: impl Iterator<Item = (Option<String>, &'a CharacteristicRow)>,
    other: &str,
) -> Option<Item> {
    let rows: Vec<(Option<String>, &CharacteristicRow)> = rows.collect();
    let (stacks, _) = rows.first()?;
    let named = stacks.is_some().then_some("stacks");
    let table = Table::of(rows)
        .col_if(named, 3, |(stacks, _)| Cell::maybe(stacks.as_ref()))
        .text("characteristic", 0, |(_, row)| &row.characteristic)
        .text("value", 0, |(_, row)| &row.value)
        .count("sites", 2, |(_, row)| row.sites)
        .of_stack(other, |table| {
            table
                .ratio("change", 0, |(_, row)| row.change.ratio)
                .difference("by", 3, |(_, row)| row.difference_ns)
                .ratio("against the rest", 1, |(_, row)| row.contrast.ratio)
                .interval("interval", 4, |(_, row)| row.contrast.interval)
                .col("verdict", 1, |(_, row)| Cell::verdict(row.contrast.verdict))
        });
    Some(table.item())
}

fn bimodal(summary: &ExplainSummary) -> Vec<Item> {
    Table::of(&summary.bimodal)
        .site(summary.run.target, |row| &row.site)
        .text("stack", 0, |row| &row.stack)
        .text("condition", 2, |row| row.condition)
        .time("fast", 1, |row| row.lower_ns)
        .time("slow", 1, |row| row.upper_ns)
        .difference("apart", 2, |row| row.upper_ns - row.lower_ns)
        .col("round trips apart", 4, |row| {
            Cell::number(row.round_trips, Digits::Decimals(2), "")
        })
        .text("in the part", 3, |row| &row.part)
        .text("because of", 0, |row| row.cause.map_or("not confirmed", ModeCause::name))
        .col("in the slower mode", 0, |row| {
            Cell::Of(row.slower, row.connections)
        })
        .explained(
            "Bimodal totals",
            "On these sites some connections took longer than others of the same stack, by most of a round trip or more. A \
             cause is named only where the packets of nearly all slower connections show it and those of nearly all faster ones \
             do not: a segment that was sent again, or data that left as soon as an acknowledgement came. Packets are known \
             on emulated links in user space; elsewhere the kernel counts what the client sent again. A median of such totals \
             jumps from one mode to the other, so the number of connections in the slower mode is more reliable.",
        )
}
