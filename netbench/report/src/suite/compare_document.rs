use itertools::Itertools;

use super::{CompareSummary, Compared, ComparedCase, Difference, document::not_judged};
use crate::{
    cell::Cell,
    document::{Check, CheckSuite, Checked, Document, Extent, Item, Report, Section, Table},
    gate::{Regression, Rows, needed_in_words},
    row::{stacks, tally},
    text::{TOO_FEW, change, count, interval},
};

impl Report for CompareSummary {
    fn tells(&self) -> bool {
        !self.cases.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = vec![Item::Headline(headline(self))];
        items.extend(unknown(self).map(Item::Warning));
        items.extend(Item::warnings(&self.warnings));
        differences(
            &mut items,
            "What differs between the runs",
            &self.differences,
        );
        cases(&mut items, self);
        if self.threshold.is_none() && !self.unmeasured.is_empty() {
            items.push(Item::Text(format!(
                "Not compared, because {UNMEASURED}: {}.",
                self.unmeasured.join(", ")
            )));
        }
        if !self.missing.is_empty() {
            items.push(Item::Text(format!(
                "Not compared, because only one side has figures: {}.",
                self.missing.join(", ")
            )));
        }
        Document {
            sections: vec![Section::only(items)],
            checks: vec![checks(self)],
            data: vec![self],
            ..Document::new("compare", title(self))
        }
    }
}

/// Builds a check for each case, which fails if the case regressed.
fn checks(summary: &CompareSummary) -> CheckSuite {
    let checks = summary.cases.iter().map(|case| {
        let class = case.key.other_stack.to_string();
        case.check(case.key.name.clone(), class, &why_unknown(case))
    });
    let unmeasured = summary.unmeasured.iter().map(|name| Check {
        name: name.clone(),
        class: None,
        outcome: match summary.threshold {
            Some(_) => Checked::Failed {
                why: format!("cannot tell: {UNMEASURED}"),
                class: "cannot-tell".to_owned(),
            },
            None => Checked::Skipped {
                why: UNMEASURED.to_owned(),
            },
        },
        said: None,
    });
    let missing = summary.missing.iter().map(|name| Check {
        name: name.clone(),
        class: None,
        outcome: Checked::Skipped {
            why: "only one side has figures".to_owned(),
        },
        said: None,
    });
    CheckSuite {
        name: format!("{} against {}", summary.other.run, summary.first.run),
        checks: checks.chain(unmeasured).chain(missing).collect(),
    }
}

fn title(summary: &CompareSummary) -> String {
    let side = |side: &Compared| {
        let stacks: Vec<_> = side
            .stacks
            .iter()
            .map(|(name, about)| format!("{name} ({})", about))
            .collect();
        stacks.join(", ")
    };
    if summary.paired {
        format!(
            "netbench runs compare: {} against {}, run {}",
            side(&summary.other),
            side(&summary.first),
            summary.first.run
        )
    } else {
        format!(
            "netbench runs compare: {} against {}",
            summary.other.run, summary.first.run
        )
    }
}

fn headline(summary: &CompareSummary) -> String {
    let [better, worse, same, undecided, not_judged] = tally(summary.cases.iter());
    let tally = format!(
        "{}: better in {better}, worse in {worse}, the same in {same}, undecided in {undecided}, not judged in \
         {not_judged}.",
        count(summary.cases.len(), "case", "cases"),
    );
    match summary.threshold {
        None => tally,
        Some(threshold) => {
            let rows = summary.cases.iter();
            let rows = Rows {
                threshold,
                words: ["case", "cases"],
                regressed: summary.regressed,
                cannot_tell: summary.cannot_tell,
                rows: rows
                    .map(|case| (named(summary, case), case.judged))
                    .collect(),
            };
            format!("{} {tally}", rows.headline())
        }
    }
}

/// Returns the name of a case, with its stack if several are compared.
fn named(summary: &CompareSummary, case: &ComparedCase) -> String {
    let mut stacks = summary.cases.iter().map(|case| &case.key.other_stack);
    match stacks.all_equal() {
        true => case.key.name.clone(),
        false => format!("{} with {}", case.key.name, case.key.other_stack),
    }
}

/// Returns the cases for which a regression is neither shown nor excluded, by name, with the rounds that would
/// decide them.
fn unknown(summary: &CompareSummary) -> Option<String> {
    let cases = summary.cases.iter();
    let cases = cases.filter(|case| case.judged.regression == Regression::CannotTell);
    let cases = cases.map(|case| {
        let (name, why) = (named(summary, case), why_unknown(case));
        format!(
            "{name} {} ({}; {why})",
            change(case.change.ratio),
            interval(case.change.interval)
        )
    });
    let unmeasured = summary.threshold.iter().flat_map(|_| &summary.unmeasured);
    let unmeasured = unmeasured.map(|name| format!("{name} ({UNMEASURED})"));
    let named: Vec<String> = cases.chain(unmeasured).collect();
    (!named.is_empty())
        .then(|| format!("Cannot tell whether these regressed: {}.", named.join("; ")))
}

/// The reason why a case with figures of only one side is undecided.
const UNMEASURED: &str = "the other has no figures";

/// Returns the reason why a regression of a case is neither shown nor excluded.
fn why_unknown(case: &ComparedCase) -> String {
    match (case.key.undecided, case.judged.rounds_needed) {
        (Some(held_back), _) => not_judged(held_back),
        (None, Some(needed)) => needed_in_words(needed),
        (None, None) => TOO_FEW.to_owned(),
    }
}

/// Tabulates the differences in settings and machines of runs.
pub(crate) fn differences(items: &mut Vec<Item>, heading: &str, differences: &[Difference]) {
    if differences.is_empty() {
        return;
    }
    items.push(Item::heading(heading));
    items.push(
        Table::of(differences)
            .col("what", 0, |row| Cell::text(&row.what))
            .col("first", 0, |row| Cell::text(&row.first))
            .col("other", 0, |row| Cell::text(&row.other))
            .col("", 0, |row| {
                Cell::text(if row.harmless { "" } else { "not comparable" })
            })
            .item(),
    );
}

fn cases(items: &mut Vec<Item>, summary: &CompareSummary) {
    items.push(Item::heading("Case by case"));
    items.push(Item::text(
        "Change: the other's figure against the first one's; more than 0 % is worse. Factor: the first one's figure over \
         the other's.",
    ));
    let stacks = |case: &ComparedCase| stacks(&case.key.first_stack, &case.key.other_stack);
    // The stacks are shown always if rows differ by them.
    let alone = summary.cases.iter().map(stacks).all_equal();
    let rank = if alone { 3 } else { 0 };
    let table = Table::of(&summary.cases)
        .col("case", 0, |case| Cell::text(&case.key.name))
        .col("stack", rank, |case| Cell::text(stacks(case)))
        .compared(|case| case);
    // Most comparisons have a verdict on every case.
    let is_held_back = summary
        .cases
        .iter()
        .any(|case| case.key.undecided.is_some());
    let table = match is_held_back {
        true => table.col("", 0, |case| {
            Cell::text(case.key.undecided.map_or_else(String::new, not_judged))
        }),
        false => table,
    };
    items.push(
        table
            .col("operations a turn", 3, |case| {
                Cell::maybe(case.key.turn_operations)
            })
            .col("factor", 4, |case| Cell::Factor(case.change.ratio))
            .col("as factors", 5, |case| Cell::Factors(case.change.interval))
            .item(),
    );
}
