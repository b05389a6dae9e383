use itertools::Itertools;

use super::{CompareSummary, ComparedCase, cases::not_judged};
use crate::{
    cell::Cell,
    differences::difference_items,
    document::{Check, CheckSuite, Checked, Document, Extent, Item, Report, Section, Table},
    gate::{Judged, Regression, needed_in_words},
    row::{stacks, tally, tally_in_words},
    text::{TOO_FEW, change, count, interval, stacks_with},
};

impl Report for CompareSummary {
    fn tells(&self) -> bool {
        !self.cases.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = vec![Item::Headline(headline(self))];
        items.extend(unknown(self).map(Item::Warning));
        items.extend(Item::warnings(&self.warnings));
        items.extend(difference_items(
            "What differs between the runs",
            &self.differences,
        ));
        cases(&mut items, self);
        if self.gate.threshold.is_none() && !self.unmeasured.is_empty() {
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
            checks: vec![checks(self)],
            ..Document::of_section("compare", title(self), Section::only(items), self)
        }
    }
}

/// Builds a check for each case, which fails if the case regressed.
fn checks(summary: &CompareSummary) -> CheckSuite {
    let checks = summary.cases.iter().map(|case| {
        let class = case.key.other_stack.to_string();
        case.check(case.key.name.clone(), class, &why_unknown(case))
    });
    let unmeasured = summary
        .unmeasured
        .iter()
        .map(|name| match summary.gate.threshold {
            Some(_) => Check::new(name, Checked::cannot_tell(UNMEASURED)),
            None => Check::skipped(name, UNMEASURED),
        });
    let missing = summary.missing.iter();
    let missing = missing.map(|name| Check::skipped(name, "only one side has figures"));
    CheckSuite::new(
        format!("{} against {}", summary.other.run, summary.first.run),
        checks.chain(unmeasured).chain(missing),
    )
}

fn title(summary: &CompareSummary) -> String {
    let (first, other) = (&summary.first, &summary.other);
    if summary.paired {
        let [of_first, of_other] = [first, other].map(|side| {
            let stacks = side.stacks.iter();
            stacks_with(stacks.map(|(name, about)| (name, about)))
        });
        format!(
            "netbench runs compare: {of_other} against {of_first}, run {}",
            first.run
        )
    } else {
        format!("netbench runs compare: {} against {}", other.run, first.run)
    }
}

fn headline(summary: &CompareSummary) -> String {
    let cases = summary.cases.iter();
    let counts = tally(cases.clone().map(|case| case.change.verdict));
    let tally = format!(
        "{}: {}",
        count(summary.cases.len(), "case", "cases"),
        tally_in_words(counts[0], counts)
    );
    let rows = cases.map(|case| (named(summary, case), case.judged));
    let rows: Vec<(String, Judged)> = rows.collect();
    let headline = summary.gate.headline(["case", "cases"], &rows);
    headline.into_iter().chain([tally]).join(" ")
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
        let (change, ends) = (change(case.change.ratio), interval(case.change.interval));
        format!("{name} {change} ({ends}; {why})")
    });
    let unmeasured = summary
        .gate
        .threshold
        .iter()
        .flat_map(|_| &summary.unmeasured);
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

fn cases(items: &mut Vec<Item>, summary: &CompareSummary) {
    items.push(Item::heading("Case by case"));
    items.push(Item::text(
        "Change: the other's figure against the first one's; more than 0 % is worse. Factor: the first one's figure over \
         the other's.",
    ));
    // The stacks are shown always if rows differ by them.
    let alone = summary.cases.iter().map(stacks_of).all_equal();
    let rank = if alone { 3 } else { 0 };
    // Most comparisons have a verdict on every case.
    let mut reasons = summary.cases.iter().map(|case| case.key.undecided);
    let has_reasons = reasons.any(|reason| reason.is_some());
    items.push(
        Table::of(&summary.cases)
            .text("case", 0, |case| &case.key.name)
            .text("stack", rank, |case| stacks_of(case))
            .compared(|case| case)
            .col_if(has_reasons.then_some(""), 0, |case| {
                Cell::text(case.key.undecided.map(not_judged).unwrap_or_default())
            })
            .optional("operations a turn", 3, |case| case.key.turn_operations)
            .factors([("factor", 4), ("as factors", 5)], |case| {
                Some((case.change.ratio, case.change.interval))
            })
            .item(),
    );
}

fn stacks_of(case: &ComparedCase) -> String {
    stacks(&case.key.first_stack, &case.key.other_stack)
}
