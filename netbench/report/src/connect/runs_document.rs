use netbench_model::{Phase, StackName};
use netbench_stats::{RunsRatio, SAME_MARGIN, Verdict};

use super::{
    runs::{ChangedSite, ConnectComparison, PhaseChange},
    summary::phase_words,
};
use crate::{
    cell::Cell,
    document::{
        Check, CheckSuite, Checked, Document, Excerpt, Extent, Item, Report, Section, Table,
    },
    gate::{Judged, Regression, Rows, needed_in_words},
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
                    "netbench compare: {} against {}",
                    self.other.run, self.first.run
                ),
            )
        }
    }
}

fn headline(comparison: &ConnectComparison) -> String {
    let of = |verdict| {
        let sites = comparison.sites.iter();
        sites.filter(|row| row.change.verdict == verdict).count()
    };
    let mut parts = Vec::new();
    if let Some(threshold) = comparison.threshold {
        let all = totals(comparison).map(|row| {
            let stacks = stacks(&row.first_stack, &row.other_stack);
            (
                format!("all sites ({stacks}, {})", row.condition),
                row.judged,
            )
        });
        let sites = comparison.sites.iter().map(|row| {
            let stacks = stacks(&row.first_stack, &row.other_stack);
            let name = format!("{} ({stacks}, {})", row.site, row.condition);
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
        let stacks = stacks(&row.first_stack, &row.other_stack);
        format!(
            "{stacks}, {}: {} in total ({}).",
            row.condition,
            change(row.change.ratio),
            interval(row.change.interval)
        )
    }));
    parts.push(format!(
        "Sites (with each condition and stack): faster {}, slower {}, the same {}, undecided {}, not judged {}.",
        of(Verdict::Faster),
        of(Verdict::Slower),
        of(Verdict::Same),
        of(Verdict::Undecided),
        of(Verdict::NotJudged),
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
    phases.filter(|row| row.phase == Phase::Total)
}

/// Returns the stack, or the first run's and the other's if they differ.
fn stacks(first: &StackName, other: &StackName) -> String {
    if first == other {
        first.to_string()
    } else {
        format!("{first} / {other}")
    }
}

fn judged(change: &RunsRatio, judged: &Judged) -> Cell {
    match judged.regression {
        Regression::Regressed => Cell::Regressed,
        Regression::CannotTell => Cell::text("cannot tell"),
        Regression::NotAsked | Regression::Within => Cell::verdict(change.verdict),
    }
}

fn reach(comparison: &ConnectComparison) -> Vec<Item> {
    Table::of(&comparison.reach)
        .site(comparison.target, |row| &row.site)
        .col("stack", 2, |row| {
            Cell::text(stacks(&row.first_stack, &row.other_stack))
        })
        .col("condition", 3, |row| Cell::text(row.condition))
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
            .col("condition", 3, |row| Cell::text(row.condition))
            .col("stack", 2, |row| {
                Cell::text(stacks(&row.first_stack, &row.other_stack))
            })
            .col("phase", 0, |row| Cell::text(phase_words(row.phase)))
            .col("first", 1, |row| Cell::Time(row.first_ns))
            .col("other", 1, |row| Cell::Time(row.other_ns))
            .col("change", 0, |row| Cell::Change(row.change.ratio))
            .col("interval", 2, |row| Cell::Changes(row.change.interval))
            .col("verdict", 0, |row| judged(&row.change, &row.judged))
            .would_decide(|row| row.judged.rounds_needed)
            .col("rounds", 4, |row| rounds(&row.change))
            .col("sites", 5, |row| Cell::count(row.sites))
            .item(),
    );
}

fn rounds(change: &RunsRatio) -> Cell {
    Cell::text(format!("{} / {}", change.first_rounds, change.other_rounds))
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
            .site(comparison.target, |row| &row.site)
            .col("stack", 2, |row| {
                Cell::text(stacks(&row.first_stack, &row.other_stack))
            })
            .col("condition", 3, |row| Cell::text(row.condition))
            .col("first", 1, |row| Cell::Time(row.first_ns))
            .col("other", 1, |row| Cell::Time(row.other_ns))
            .col("change", 0, |row| Cell::Change(row.change.ratio))
            .col("interval", 2, |row| Cell::Changes(row.change.interval))
            .col("verdict", 0, |row| judged(&row.change, &row.judged))
            .would_decide(|row| row.judged.rounds_needed)
            .col("rounds", 5, |row| rounds(&row.change))
            .col("differs", 4, |row| Cell::maybe(row.differs.as_ref()))
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
    let check = |name: String, class: String, ratio: &RunsRatio, judged: &Judged| {
        let words = format!(
            "{}: {} ({})",
            ratio.verdict,
            change(ratio.ratio),
            interval(ratio.interval)
        );
        Check {
            name,
            class: Some(class),
            outcome: judged.check(&words, &why_unknown(comparison, judged)),
            said: Some(words),
        }
    };
    let all = totals(comparison).map(|row| {
        let class = format!("{}.{}", row.condition, row.other_stack);
        check("all sites".to_owned(), class, &row.change, &row.judged)
    });
    let sites = comparison.sites.iter().map(|row| {
        let class = format!("{}.{}", row.condition, row.other_stack);
        check(named(&row.site), class, &row.change, &row.judged)
    });
    let lost = comparison
        .reach
        .iter()
        .filter(|row| row.regression == Regression::Regressed);
    let lost = lost.map(|row| Check {
        name: format!("{} is reached", named(&row.site)),
        class: Some(format!("{}.{}", row.condition, row.other_stack)),
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
