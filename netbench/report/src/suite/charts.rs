use itertools::Itertools;
use netbench_model::{HandshakeKind, Measure, Part, StackName, Work};
use netbench_stats::Verdict;

use super::{
    CaseRow, SuiteSummary,
    cases::{row_name, value},
};
use crate::{
    document::{BarGroup, Bars, Chart, Colours, Drawing, Item, Ranked, Ranking},
    row::{Named, bar},
    text::{count, factor},
};

/// Builds the charts of a part: one for each kind of figure that may share an axis.
pub(super) fn charts(summary: &SuiteSummary, part: Part) -> Vec<Item> {
    let charts: &[Named<CaseRow, bool>] = match part {
        Part::Bulk => &[("Application data per second: more is better", |_| true)],
        Part::Handshake => &[
            ("Full handshakes per second: more is better", is_full),
            ("Resumed handshakes per second: more is better", |case| {
                !is_full(case)
            }),
        ],
        Part::Memory => &[
            ("Peak memory of a process: less is better", |case| {
                case.case.measure == Measure::Peak
            }),
            ("Heap that one session holds: less is better", |case| {
                case.case.measure == Measure::Heap
            }),
        ],
        Part::Verify | Part::Connector | Part::Crypto => &[("Time: less is better", |_| true)],
        Part::Threads | Part::Instructions => &[],
    };
    let charts = charts.iter().filter_map(|(title, is_wanted)| {
        let cases = summary
            .cases
            .iter()
            .filter(|case| case.part == part && !case.stacks.is_empty() && is_wanted(case));
        bars(summary, title, cases)
    });
    charts.map(|chart| Item::Charts(vec![chart])).collect()
}

/// The largest number of rankings; of more cases, one of each kind has a ranking.
const RANKINGS: usize = 12;

/// Builds a ranking of all stacks for each of these cases, if there are more than two stacks: their tables and answers
/// show pairs.
pub(super) fn rankings(summary: &SuiteSummary, cases: &[&CaseRow]) -> Vec<Item> {
    let Some((first, _)) = summary.run.stacks.first().filter(|_| has_many(summary)) else {
        return Vec::new();
    };
    let mut cases = cases.to_vec();
    if cases.len() > RANKINGS {
        let cases_of = cases.into_iter();
        let kinds = cases_of.unique_by(|case| (case.part, case.case.measure, is_full(case)));
        cases = kinds.take(RANKINGS).collect();
    }
    let charts = cases.into_iter().map(|case| (case, ranked(case, first)));
    let charts = charts.filter(|(_, rows)| rows.len() > 1).map(|(case, rows)| {
        Item::Charts(vec![Chart {
            title: title(case),
            note: format!(
                "{}. After a figure, its factor: the time or size of {first} over the stack's. Lines: 95 % intervals.",
                row_name(&case.name)
            ),
            drawing: Drawing::Ranking(Ranking {
                first: first.to_string(),
                rows,
            }),
        }])
    });
    let mut items = charts.collect_vec();
    if !items.is_empty() {
        items.insert(0, Item::heading("All stacks, the best first"));
    }
    items
}

/// Returns the stacks with a figure that can be compared with the first one's, the best first.
fn ranked(case: &CaseRow, first: &StackName) -> Vec<Ranked> {
    let rows = case.stacks.iter().filter_map(|figures| {
        let verdict = case.against_first(&figures.stack);
        let change = verdict.map(|verdict| verdict.change);
        let ratio = change.map_or(1.0, |change| change.ratio);
        if change.is_none() && figures.stack != *first || !ratio.is_normal() || ratio < 0.0 {
            return None;
        }
        Some(Ranked {
            name: figures.stack.to_string(),
            text: value(case, figures).render(),
            ratio,
            interval: change.and_then(|change| change.interval),
            verdict: change.map_or(Verdict::Same, |change| change.verdict),
        })
    });
    rows.sorted_by(|a, b| a.ratio.total_cmp(&b.ratio)).collect()
}

/// Returns whether a run measured more than two stacks.
pub(super) fn has_many(summary: &SuiteSummary) -> bool {
    let stacks = summary.run.stacks.iter();
    stacks
        .filter(|(name, _)| is_measured(summary, name))
        .count()
        > 2
}

/// Returns whether any case has a figure of the stack: for others, no round decides anything.
pub(super) fn is_measured(summary: &SuiteSummary, stack: &StackName) -> bool {
    summary.cases.iter().any(|case| case.of(stack).is_some())
}

pub(super) fn is_full(case: &CaseRow) -> bool {
    matches!(
        case.case.scenario.work,
        Work::Handshake {
            kind: HandshakeKind::Full,
            ..
        }
    )
}

/// Returns the figure of a case in words, for the title of a chart.
fn title(case: &CaseRow) -> String {
    let measure = case.case.measure;
    match case.part {
        Part::Handshake => {
            let kind = if is_full(case) { "Full" } else { "Resumed" };
            format!("{kind} handshakes, {measure}: more is better")
        }
        Part::Bulk => format!("Application data, {measure}: more is better"),
        Part::Verify => "Verification of a chain: less is better".to_owned(),
        Part::Connector => "Making of a client's configuration: less is better".to_owned(),
        Part::Memory if measure == Measure::Peak => {
            "Peak memory of a process with many sessions: less is better".to_owned()
        }
        Part::Memory => "Memory of a session: less is better".to_owned(),
        Part::Crypto | Part::Threads | Part::Instructions => row_name(&case.name).to_string(),
    }
}

fn bars<'a>(
    summary: &SuiteSummary,
    title: &str,
    cases: impl Iterator<Item = &'a CaseRow>,
) -> Option<Chart> {
    let stacks = summary.run.stacks.iter();
    let stacks: Vec<String> = stacks.map(|(name, _)| name.to_string()).collect();
    let mut rounds = 0;
    let groups = cases.map(|case| {
        let bars = case.stacks.iter().map(|figures| {
            rounds = rounds.max(figures.rounds);
            let value = value(case, figures);
            let mut text = value.render();
            if let Some(verdict) = case.against_first(&figures.stack) {
                text = format!("{text} · {}", factor(verdict.change.ratio));
            }
            bar(&stacks, &figures.stack, value.value().unwrap_or(0.0), text)
        });
        BarGroup {
            bars: bars.collect(),
            name: short(&case.name),
        }
    });
    let groups: Vec<BarGroup> = groups.collect();
    (!groups.is_empty()).then(|| Chart {
        title: title.to_owned(),
        note: format!(
            "n = up to {} of each case, each in fresh processes. Bars: what the stack takes when nothing disturbs \
             it. After a bar, its factor: the time or size of {} over the bar's; above 1 the bar's stack is better. The table has the \
             intervals.",
            count(rounds, "round", "rounds"),
            stacks.first().map_or("the first", String::as_str)
        ),
        drawing: Drawing::Bars(Bars {
            colours: Colours::Stacks,
            series: stacks,
            groups,
        }),
    })
}

/// Shortens the name of a case: it omits its part, its usual amounts and redundant words, and has spaces, because a
/// phone has room for some fifty letters.
fn short(name: &str) -> String {
    let name = row_name(name).replace("_ECDHE", "");
    let name = name.replace("_SHA256", "").replace("_SHA384", "");
    let name = match name.split_once(['_', '-']) {
        Some(("bulk" | "handshake" | "memory", rest)) => rest.to_owned(),
        _ => name,
    };
    name.replace('_', " ")
}
