//! The sites of a comparison by phase: a sentence for each phase, and a table of all phases.

use std::collections::BTreeMap;

use netbench_model::{Phase, StackName};

use super::{
    Comparison, ConnectSummary, SitePhase, SiteRow, SiteTally, compare::is_judged,
    summary::phase_words,
};
use crate::{
    cell::Cell,
    document::{Excerpt, Filling, Item, Table},
    text::capital,
};

/// Number of rows at either end that text formats show. Sites have the order of the table of totals.
const SHOWN: usize = 4;

/// Number of sites up to which the table has all of them: a page with the phases of ten thousand would be too large to
/// open.
const WHOLE: usize = 1_000;

/// Number of sites at either end that the table has of more.
const ENDS: usize = 100;

/// Returns the sentences and the table; empty if no site has enough rounds for an interval.
pub(super) fn items(comparison: &Comparison, summary: &ConnectSummary) -> Vec<Item> {
    let phases = comparison.site_phases.iter();
    let phases: Vec<&SitePhase> = phases.filter(|of| of.sites.has_intervals()).collect();
    if phases.is_empty() {
        return Vec::new();
    }
    let about = comparison.about();
    let mut items = vec![Item::Heading(format!("Site by site, each phase: {about}"))];
    let total = (Phase::Total, &comparison.sites);
    let tallies = phases.iter().map(|of| (of.phase, &of.sites));
    for (phase, tally) in tallies.chain([total]) {
        let sentence = sentence(phase, tally, &comparison.other, summary);
        items.push(Item::Text(sentence));
    }
    let sites = comparison.sites.rows.as_slice();
    let table = Table::of(tabulated(sites))
        .caption(format!("sites by phase, {about}"))
        .excerpt(Excerpt::Ends(SHOWN))
        .site(summary.run.target, |row| &row.key.site);
    let phases = phases.into_iter();
    let table = phases.fold(table, |table, of| columns(table, of, comparison));
    if sites.len() > WHOLE {
        items.push(Item::Text(format!(
            "The table has the {ENDS} sites at either end; JSON and CSV have all."
        )));
    }
    items.push(table.item());
    items
}

/// Returns the sites of the table, which are those at either end if there are too many.
fn tabulated(sites: &[SiteRow]) -> Vec<&SiteRow> {
    if sites.len() <= WHOLE {
        return sites.iter().collect();
    }
    let ends = [&sites[..ENDS], &sites[sites.len() - ENDS..]];
    ends.into_iter().flatten().collect()
}

/// Returns the number of sites on which a phase is faster with the other stack: `TLS handshake: rustls is faster on 90 of
/// 101 sites, …`. A phase without verdicts is described by the intervals.
fn sentence(
    phase: Phase,
    tally: &SiteTally,
    other: &StackName,
    summary: &ConnectSummary,
) -> String {
    let name = match phase {
        Phase::Total => "Whole connection".to_owned(),
        phase => capital(phase_words(phase)),
    };
    let sites = summary.count_rows(tally.rows.len());
    if is_judged(phase) {
        let faster = format!("{} of {sites}", tally.other_faster);
        return format!("{name}: {}", tally.in_words(other, &faster));
    }
    let [shorter, longer] = sides(tally);
    format!(
        "{name}: {other} takes less on {shorter} of {sites}, more on {longer}, and the interval contains 0 % or is \
         missing on {}. Wall clock includes other work of the machine, so there is no verdict.",
        tally.rows.len() - shorter - longer,
    )
}

/// Returns the number of sites whose interval lies below 1, and above it.
fn sides(tally: &SiteTally) -> [usize; 2] {
    let intervals = tally.rows.iter().filter_map(|row| row.change.interval);
    intervals.fold([0; 2], |[below, above], interval| {
        [
            below + usize::from(interval.high < 1.0),
            above + usize::from(interval.low > 1.0),
        ]
    })
}

/// Returns the word for a phase before the names of columns.
fn column(phase: Phase) -> &'static str {
    match phase {
        Phase::Connector | Phase::ConnectorWall => "connector",
        Phase::Tls => "handshake",
        Phase::Verify => "verification",
        phase => phase_words(phase),
    }
}

fn columns<'a>(
    table: Filling<&'a SiteRow>,
    SitePhase { phase, sites }: &SitePhase,
    comparison: &Comparison,
) -> Filling<&'a SiteRow> {
    let rows = sites.rows.iter();
    let rows: BTreeMap<&str, &SiteRow> = rows.map(|row| (name(row), row)).collect();
    let column = column(*phase);
    let (first, other) = (comparison.first.as_str(), comparison.other.as_str());
    // The shortest terminal has the handshake's change alone.
    let change_rank = match phase {
        Phase::Tls => 0,
        _ => 1,
    };
    table
        .time(&format!("{column} {first}"), 4, |site| {
            Some(rows.get(name(site))?.first)
        })
        .time(&format!("{column} {other}"), 4, |site| {
            Some(rows.get(name(site))?.other)
        })
        .of_stack(other, |table| {
            let verdict = is_judged(*phase).then(|| format!("{column} verdict"));
            table
                .ratio(&format!("{column} change"), change_rank, |site| {
                    Some(rows.get(name(site))?.change.ratio)
                })
                .col(&format!("{column} interval"), 3, |site| {
                    Some(Cell::Changes(rows.get(name(site))?.change.interval))
                })
                .col_if(verdict.as_deref(), 2, |site| {
                    let row = rows.get(name(site))?;
                    Some(Cell::Verdict(row.change.verdict, row.unit))
                })
        })
}

fn name(row: &SiteRow) -> &str {
    &row.key.site
}
