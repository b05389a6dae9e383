use itertools::Itertools;
use netbench_model::Unit;
use netbench_stats::Verdict;

use super::{CompareSummary, Compared, ComparedCase, Difference, Regression, document::reason};
use crate::{
    cell::{Cell, Digits},
    document::{Check, CheckSuite, Checked, Document, Extent, Item, Report, Section, Table},
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

/// A check for each case, which fails if the case regressed.
fn checks(summary: &CompareSummary) -> CheckSuite {
    let checks = summary.cases.iter().map(|case| {
        let words = format!(
            "{}: {} ({})",
            case.verdict,
            change(case.ratio),
            interval(case.interval)
        );
        Check {
            name: case.name.clone(),
            class: Some(case.other_stack.to_string()),
            outcome: match case.regression {
                Regression::Regressed => Checked::Failed {
                    why: words.clone(),
                    class: "regression".to_owned(),
                },
                Regression::Doubtful => Checked::Failed {
                    why: format!("{}, {}", change(case.ratio), why_unknown(case)),
                    class: "doubtful".to_owned(),
                },
                Regression::Unknown => Checked::Skipped {
                    why: why_unknown(case).to_owned(),
                },
                Regression::NotAsked | Regression::Within => Checked::Passed,
            },
            said: Some(words),
        }
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
        checks: checks.chain(missing).collect(),
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
            "netbench compare: {} against {}, run {}",
            side(&summary.other),
            side(&summary.first),
            summary.first.run
        )
    } else {
        format!(
            "netbench compare: {} against {}",
            summary.other.run, summary.first.run
        )
    }
}

fn headline(summary: &CompareSummary) -> String {
    let of = |verdict| {
        summary
            .cases
            .iter()
            .filter(|c| c.verdict == verdict)
            .count()
    };
    let tally = format!(
        "{}: better in {}, worse in {}, the same in {}, undecided in {}.",
        count(summary.cases.len(), "case", "cases"),
        of(Verdict::Faster),
        of(Verdict::Slower),
        of(Verdict::Same),
        of(Verdict::Undecided)
    );
    match summary.threshold {
        None => tally,
        Some(threshold) => format!(
            "{} regressed by more than {:.1} %. {tally}",
            match summary.regressed {
                0 => "No case".to_owned(),
                n => count(n, "case", "cases"),
            },
            threshold * 100.0
        ),
    }
}

/// The cases that a threshold cannot be held against, by name.
fn unknown(summary: &CompareSummary) -> impl Iterator<Item = String> {
    let named = |regression| -> Vec<String> {
        let cases = summary.cases.iter();
        let cases = cases.filter(|case| case.regression == regression);
        cases
            .map(|case| {
                format!(
                    "{} {} ({})",
                    case.name,
                    change(case.ratio),
                    why_unknown(case)
                )
            })
            .collect()
    };
    let of = |regression, words: &str| {
        let cases = named(regression);
        let counted = count(cases.len(), "case", "cases");
        (!cases.is_empty()).then(|| format!("{counted} {words}: {}.", cases.join("; ")))
    };
    let doubtful = "changed by more than the threshold without enough to tell whether by chance; measure again";
    let unknown = "cannot be judged, though within the threshold";
    [
        of(Regression::Doubtful, doubtful),
        of(Regression::Unknown, unknown),
    ]
    .into_iter()
    .flatten()
}

/// Why nothing can be said of a case.
fn why_unknown(case: &ComparedCase) -> &'static str {
    case.undecided.map_or(TOO_FEW, reason)
}

/// What of the settings and machines of runs differs.
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
    let stacks = |case: &ComparedCase| match (&case.first_stack, &case.other_stack) {
        (first, other) if first == other => Cell::text(first),
        (first, other) => Cell::text(format!("{first} / {other}")),
    };
    let value = |case: &ComparedCase, value: f64| match case.unit {
        Unit::Nanoseconds => Cell::Time(value),
        Unit::Bytes => Cell::Bytes(value),
        Unit::Allocations | Unit::Instructions => Cell::number(value, Digits::Grouped, ""),
    };
    // Rows that differ by nothing else need it.
    let alone = summary.cases.iter().map(stacks).all_equal();
    let rank = if alone { 3 } else { 0 };
    items.push(
        Table::of(&summary.cases)
            .col("case", 0, |case| Cell::text(&case.name))
            .col("stack", rank, |case| stacks(case))
            .col("first", 1, |case| value(case, case.first))
            .col("other", 1, |case| value(case, case.other))
            .col("change", 0, |case| Cell::Change(case.ratio))
            .col("interval", 2, |case| Cell::Changes(case.interval))
            .col("verdict", 0, |case| match case.regression {
                Regression::Regressed => Cell::Regressed,
                Regression::Doubtful => Cell::text("doubtful"),
                _ => Cell::Verdict(case.verdict, case.unit),
            })
            .col("factor", 4, |case| Cell::Factor(case.ratio))
            .col("as factors", 5, |case| Cell::Factors(case.interval))
            .item(),
    );
}
