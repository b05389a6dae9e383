use std::fmt;

use itertools::Itertools;
use netbench_model::Phase;
use netbench_stats::{Basis, Change, SAME_MARGIN};

use super::{
    runs::{ConnectComparison, PhaseChange, StacksOfRuns},
    summary::phase_words,
};
use crate::{
    cell::Cell,
    differences::difference_items,
    document::{
        Check, CheckSuite, Checked, Document, Excerpt, Extent, Item, Report, Section, Table,
    },
    gate::{Judged, Regression, needed_in_words},
    row::{stacks, tally},
    text::{TOO_FEW, alike, change, interval, named_site, sites_of, some_of},
};

/// Number of names that a sentence has room for.
const NAMED: usize = 10;

impl Report for ConnectComparison {
    fn tells(&self) -> bool {
        !self.phases.is_empty() || !self.reach.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = vec![Item::Headline(headline(self))];
        items.extend(Item::warnings(&self.warnings));
        items.extend(reach(self));
        items.extend(difference_items(
            "What differs between the runs",
            &self.differences,
        ));
        items.extend(phases(self));
        items.extend(sites(self));
        items.extend(alone(self));
        let (first, other) = (&self.first.run, &self.other.run);
        let title = format!("netbench runs compare: {other} against {first}");
        Document {
            checks: vec![checks(self)],
            sites: Some(self.target),
            ..Document::of_section("compare", title, Section::only(items), self)
        }
    }
}

fn headline(comparison: &ConnectComparison) -> String {
    let all = totals(comparison).map(|row| (format!("all sites ({})", row.key.stacks), row.judged));
    let sites = comparison.sites.iter().map(|row| {
        let name = format!("{} ({})", row.key.site, row.key.stacks);
        (name, row.judged)
    });
    let rows: Vec<(String, Judged)> = all.chain(sites).collect();
    let headline = comparison.gate.headline(["row", "rows"], &rows);
    let mut parts = Vec::from_iter(headline);
    parts.extend(unknown(comparison, &rows));
    parts.extend(totals(comparison).map(|row| {
        format!(
            "{}: {} in total ({}).",
            row.key.stacks,
            change(row.change.ratio),
            interval(row.change.interval)
        )
    }));
    let verdicts = comparison.sites.iter().map(|row| row.change.verdict);
    let [faster, slower, same, undecided, not_judged] = tally(verdicts);
    parts.push(format!(
        "Sites (with each condition and stack): faster {faster}, slower {slower}, the same {same}, undecided {undecided}, \
         not judged {not_judged}."
    ));
    parts.join(" ")
}

/// Returns the rows for which a regression is neither shown nor excluded, by name, with the rounds that would
/// decide them.
fn unknown(comparison: &ConnectComparison, rows: &[(String, Judged)]) -> Option<String> {
    let rows = rows.iter();
    let rows = rows.filter(|(_, row)| row.regression == Regression::CannotTell);
    let reasons = rows.map(|(name, row)| (why_unknown(comparison, row), name));
    let named = alike(reasons)
        .into_iter()
        .map(|(why, names)| format!("{} ({why})", some_of(NAMED, names)));
    let named = some_of(NAMED, named);
    (!named.is_empty()).then(|| format!("Cannot be told: {named}."))
}

/// Returns the reason why a regression of a row is neither shown nor excluded.
fn why_unknown(comparison: &ConnectComparison, row: &Judged) -> String {
    match row.rounds_needed {
        Some(needed) => needed_in_words(needed),
        None => format!(
            "{TOO_FEW}: at least {} in each run are needed",
            comparison.rounds_needed
        ),
    }
}

fn totals(comparison: &ConnectComparison) -> impl Iterator<Item = &PhaseChange> {
    let phases = comparison.phases.iter();
    phases.filter(|row| row.key.phase == Phase::Total)
}

fn reach(comparison: &ConnectComparison) -> Vec<Item> {
    Table::of(&comparison.reach)
        .site(comparison.target, |row| &row.site)
        .text("stack", 2, |row| row.stacks.names())
        .text("condition", 3, |row| row.stacks.condition)
        .col("first failed", 0, |row| {
            Cell::Of(row.first_failed.0, row.first_failed.1)
        })
        .col("other failed", 0, |row| {
            Cell::Of(row.other_failed.0, row.other_failed.1)
        })
        .text("why", 1, |row| &row.why)
        .col("", 0, |row| match row.regression {
            Regression::Regressed => Cell::Regressed,
            _ => Cell::text(""),
        })
        .under("Sites that fail more often in one of the runs")
}

fn phases(comparison: &ConnectComparison) -> Vec<Item> {
    const HEADING: &str = "By phase, over all sites that both runs reach";
    if comparison.phases.is_empty() {
        let none = "There is no site that both runs reach with a stack of both.";
        return vec![Item::heading(HEADING), Item::text(none)];
    }
    Table::of(&comparison.phases)
        .text("condition", 3, |row| row.key.stacks.condition)
        .text("stack", 2, |row| row.key.stacks.names())
        .text("phase", 0, |row| phase_words(row.key.phase))
        .compared(|row| row)
        .col("rounds", 4, |row| rounds(&row.change))
        .count("sites", 5, |row| row.key.sites)
        .explained(
            HEADING,
            format!(
                "Of each round the median over its sites; the change is the median over all pairs of rounds of the two runs, the \
                 other's time against the first one's: more than 0 % is slower. Intervals hold for all rows together. A verdict \
                 needs the whole interval beyond ±{:.0} %.",
                SAME_MARGIN * 100.0
            ),
        )
}

fn rounds(change: &Change) -> Cell {
    match change.basis {
        Basis::Runs {
            first_rounds,
            other_rounds,
        } => Cell::text(format!("{first_rounds} / {other_rounds}")),
        Basis::Pairs { .. } | Basis::Rounds { .. } => Cell::count(change.pairs()),
    }
}

fn sites(comparison: &ConnectComparison) -> Vec<Item> {
    const SHOWN: usize = 12;
    let rows = comparison.sites.iter();
    let rows = rows.sorted_by(|a, b| b.change.ratio.total_cmp(&a.change.ratio));
    Table::of(rows)
        .excerpt(Excerpt::Ends(SHOWN))
        .site(comparison.target, |row| &row.key.site)
        .text("stack", 2, |row| row.key.stacks.names())
        .text("condition", 3, |row| row.key.stacks.condition)
        .compared(|row| row)
        .col("rounds", 5, |row| rounds(&row.change))
        .optional("differs", 4, |row| row.key.differs.as_ref())
        .explained(
            "Site by site, total time",
            format!(
                "Intervals hold for all rows together, which takes {} rounds in each run.",
                comparison.rounds_needed
            ),
        )
}

/// Lists the sites, stacks and conditions that only one of the runs has.
fn alone(comparison: &ConnectComparison) -> Vec<Item> {
    let ConnectComparison { first, other, .. } = comparison;
    let sites = [
        (first, &comparison.only_first),
        (other, &comparison.only_other),
    ];
    let sites = sites.into_iter().filter(|(_, sites)| !sites.is_empty());
    let sites = sites.map(|(side, sites)| {
        let of = sites_of(comparison.target, sites.len());
        format!("Only in {}: {of}, {}.", side.run, some_of(NAMED, sites))
    });
    let missing = &comparison.missing;
    let missing = (!missing.is_empty()).then(|| {
        format!(
            "Not compared, because only one run has it: {}.",
            missing.join(", ")
        )
    });
    sites.chain(missing).map(Item::Text).collect()
}

/// Builds a check for each site, and one for the total of each condition and stack.
fn checks(comparison: &ConnectComparison) -> CheckSuite {
    let target = comparison.target;
    let all = totals(comparison).map(|row| {
        let why = why_unknown(comparison, &row.judged);
        row.check("all sites".to_owned(), row.key.stacks.class(), &why)
    });
    let sites = comparison.sites.iter().map(|row| {
        let why = why_unknown(comparison, &row.judged);
        let name = named_site(target, &row.key.site);
        row.check(name, row.key.stacks.class(), &why)
    });
    let lost = comparison.reach.iter();
    let lost = lost.filter(|row| row.regression == Regression::Regressed);
    let lost = lost.map(|row| {
        let name = format!("{} is reached", named_site(target, &row.site));
        Check::new(name, Checked::failed(&row.why, "lost")).of(row.stacks.class())
    });
    let alone = [&comparison.only_first, &comparison.only_other];
    let alone = alone.into_iter().flatten();
    let alone = alone.map(|site| Check::skipped(named_site(target, site), "only one run has it"));
    CheckSuite::new(
        format!("{} against {}", comparison.other.run, comparison.first.run),
        all.chain(sites).chain(lost).chain(alone),
    )
}

impl StacksOfRuns {
    fn names(&self) -> String {
        stacks(&self.first_stack, &self.other_stack)
    }

    fn class(&self) -> String {
        format!("{}.{}", self.condition, self.other_stack)
    }
}

impl fmt::Display for StacksOfRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.names(), self.condition)
    }
}
