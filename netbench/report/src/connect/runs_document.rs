use std::fmt;

use netbench_model::Phase;
use netbench_stats::{Basis, Change, SAME_MARGIN};

use super::{
    runs::{ChangedSite, ConnectComparison, PhaseChange, StacksOfRuns},
    summary::phase_words,
};
use crate::{
    cell::Cell,
    document::{
        Check, CheckSuite, Checked, Document, Excerpt, Extent, Item, Report, Section, Table,
    },
    gate::{Judged, Regression, Rows, needed_in_words},
    row::{stacks, tally},
    suite::difference_items,
    text::{TOO_FEW, change, interval, named_site, sites_of, some_of},
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
        difference_items(
            &mut items,
            "What differs between the runs",
            &self.differences,
        );
        phases(&mut items, self);
        sites(&mut items, self);
        items.extend(alone(self));
        Document {
            sections: vec![Section::only(items)],
            checks: vec![checks(self)],
            data: vec![self],
            sites: Some(self.target),
            ..Document::new(
                "compare",
                format!(
                    "netbench runs compare: {} against {}",
                    self.other.run, self.first.run
                ),
            )
        }
    }
}

fn headline(comparison: &ConnectComparison) -> String {
    let mut parts = Vec::new();
    if let Some(threshold) = comparison.threshold {
        let all =
            totals(comparison).map(|row| (format!("all sites ({})", row.key.stacks), row.judged));
        let sites = comparison.sites.iter().map(|row| {
            let name = format!("{} ({})", row.key.site, row.key.stacks);
            (name, row.judged)
        });
        let rows = Rows {
            threshold,
            words: ["row", "rows"],
            regressed: comparison.regressed,
            cannot_tell: comparison.cannot_tell,
            rows: all.chain(sites).collect(),
        };
        parts.push(rows.headline());
        parts.extend(unknown(comparison, &rows));
    }
    parts.extend(totals(comparison).map(|row| {
        format!(
            "{}: {} in total ({}).",
            row.key.stacks,
            change(row.change.ratio),
            interval(row.change.interval)
        )
    }));
    let [faster, slower, same, undecided, not_judged] = tally(comparison.sites.iter());
    parts.push(format!(
        "Sites (with each condition and stack): faster {faster}, slower {slower}, the same {same}, undecided {undecided}, \
         not judged {not_judged}."
    ));
    parts.join(" ")
}

/// Returns the rows for which a regression is neither shown nor excluded, by name, with the rounds that would
/// decide them.
fn unknown(comparison: &ConnectComparison, rows: &Rows<'_>) -> Option<String> {
    let rows = rows.rows.iter();
    let rows = rows.filter(|(_, row)| row.regression == Regression::CannotTell);
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for (name, row) in rows {
        let why = why_unknown(comparison, row);
        match by_reason.iter_mut().find(|(reason, _)| *reason == why) {
            Some((_, names)) => names.push(name.clone()),
            None => by_reason.push((why, vec![name.clone()])),
        }
    }
    let reasons = by_reason.into_iter();
    let named: Vec<String> = reasons
        .map(|(why, names)| format!("{} ({why})", some_of(NAMED, names)))
        .collect();
    (!named.is_empty()).then(|| format!("Cannot be told: {}.", some_of(NAMED, named)))
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
        .col("stack", 2, |row| Cell::text(row.stacks.names()))
        .col("condition", 3, |row| Cell::text(row.stacks.condition))
        .col("first failed", 0, |row| {
            Cell::Of(row.first_failed.0, row.first_failed.1)
        })
        .col("other failed", 0, |row| {
            Cell::Of(row.other_failed.0, row.other_failed.1)
        })
        .col("why", 1, |row| Cell::text(&row.why))
        .col("", 0, |row| match row.regression {
            Regression::Regressed => Cell::Regressed,
            _ => Cell::text(""),
        })
        .under("Sites that fail more often in one of the runs")
}

fn phases(items: &mut Vec<Item>, comparison: &ConnectComparison) {
    items.push(Item::heading(
        "By phase, over all sites that both runs reach",
    ));
    if comparison.phases.is_empty() {
        items.push(Item::text(
            "There is no site that both runs reach with a stack of both.",
        ));
        return;
    }
    items.push(Item::Text(format!(
        "Of each round the median over its sites; the change is the median over all pairs of rounds of the two runs, the \
         other's time against the first one's: more than 0 % is slower. Intervals hold for all rows together. A verdict \
         needs the whole interval beyond ±{:.0} %.",
        SAME_MARGIN * 100.0
    )));
    items.push(
        Table::of(&comparison.phases)
            .col("condition", 3, |row| Cell::text(row.key.stacks.condition))
            .col("stack", 2, |row| Cell::text(row.key.stacks.names()))
            .col("phase", 0, |row| Cell::text(phase_words(row.key.phase)))
            .compared(|row| row)
            .col("rounds", 4, |row| rounds(&row.change))
            .col("sites", 5, |row| Cell::count(row.key.sites))
            .item(),
    );
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

fn sites(items: &mut Vec<Item>, comparison: &ConnectComparison) {
    const SHOWN: usize = 12;
    if comparison.sites.is_empty() {
        return;
    }
    items.push(Item::heading("Site by site, total time"));
    items.push(Item::Text(format!(
        "Intervals hold for all rows together, which takes {} rounds in each run.",
        comparison.rounds_needed
    )));
    let mut rows: Vec<&ChangedSite> = comparison.sites.iter().collect();
    rows.sort_by(|a, b| b.change.ratio.total_cmp(&a.change.ratio));
    items.push(
        Table::of(rows)
            .excerpt(Excerpt::Ends(SHOWN))
            .site(comparison.target, |row| &row.key.site)
            .col("stack", 2, |row| Cell::text(row.key.stacks.names()))
            .col("condition", 3, |row| Cell::text(row.key.stacks.condition))
            .compared(|row| row)
            .col("rounds", 5, |row| rounds(&row.change))
            .col("differs", 4, |row| Cell::maybe(row.key.differs.as_ref()))
            .item(),
    );
}

/// Lists the sites, stacks and conditions that only one of the runs has.
fn alone(comparison: &ConnectComparison) -> Vec<Item> {
    let sites = |run: &str, sites: &[String]| {
        let of = sites_of(comparison.target, sites.len());
        (!sites.is_empty()).then(|| format!("Only in {run}: {of}, {}.", some_of(NAMED, sites)))
    };
    let missing = &comparison.missing;
    [
        sites(&comparison.first.run, &comparison.only_first),
        sites(&comparison.other.run, &comparison.only_other),
        (!missing.is_empty()).then(|| {
            format!(
                "Not compared, because only one run has it: {}.",
                missing.join(", ")
            )
        }),
    ]
    .into_iter()
    .flatten()
    .map(Item::Text)
    .collect()
}

/// Builds a check for each site, and one for the total of each condition and stack.
fn checks(comparison: &ConnectComparison) -> CheckSuite {
    let named = |site: &str| named_site(comparison.target, site);
    let all = totals(comparison).map(|row| {
        let why = why_unknown(comparison, &row.judged);
        row.check("all sites".to_owned(), row.key.stacks.class(), &why)
    });
    let sites = comparison.sites.iter().map(|row| {
        let why = why_unknown(comparison, &row.judged);
        row.check(named(&row.key.site), row.key.stacks.class(), &why)
    });
    let lost = comparison
        .reach
        .iter()
        .filter(|row| row.regression == Regression::Regressed);
    let lost = lost.map(|row| Check {
        name: format!("{} is reached", named(&row.site)),
        class: Some(row.stacks.class()),
        outcome: Checked::Failed {
            why: row.why.clone(),
            class: "lost".to_owned(),
        },
        said: None,
    });
    let alone = [&comparison.only_first, &comparison.only_other];
    let alone = alone.into_iter().flatten().map(|site| Check {
        name: named(site),
        class: None,
        outcome: Checked::Skipped {
            why: "only one run has it".to_owned(),
        },
        said: None,
    });
    CheckSuite {
        name: format!("{} against {}", comparison.other.run, comparison.first.run),
        checks: all.chain(sites).chain(lost).chain(alone).collect(),
    }
}

impl StacksOfRuns {
    fn names(&self) -> String {
        stacks(&self.first_stack, &self.other_stack)
    }

    /// Returns the class of checks.
    fn class(&self) -> String {
        format!("{}.{}", self.condition, self.other_stack)
    }
}

impl fmt::Display for StacksOfRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.names(), self.condition)
    }
}
