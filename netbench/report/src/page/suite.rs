use netbench_model::{HandshakeKind, Measure, Part, Unit, Work};

use super::{Bar, BarGroup, Bars, Chart, Drawing, Item, Section, items_of};
use crate::{
    CaseRow, SuiteSummary,
    suite::{
        document::{self as tables, factor, value},
        preset,
    },
};

/// The section of a run of the in-memory suite.
pub fn suite_section(id: &str, heading: &str, summary: &SuiteSummary) -> Section {
    let mut items: Vec<Item> = summary
        .run
        .stacks
        .iter()
        .skip(1)
        .map(|(other, _)| Item::Headline(tables::headline(summary, other)))
        .collect();
    items.extend(summary.warnings.iter().cloned().map(Item::Warning));
    let mut table = Vec::new();
    preset::table(&mut table, summary);
    items.extend(items_of(table));
    for part in Part::ALL {
        let mut blocks = Vec::new();
        tables::part_table(&mut blocks, summary, *part);
        let charts = charts(summary, *part);
        for item in items_of(blocks) {
            if matches!(item, Item::Table(_)) {
                items.extend(charts.iter().cloned().map(Item::Chart));
            }
            items.push(item);
        }
    }
    items.extend(items_of(tables::rest(summary)));
    let missing = (!summary.measures()).then(|| "No figures: no trial ended well.".to_owned());
    Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        explanation: format!(
            "What the libraries themselves take: client and server in one process, bytes moved in memory, no network. {}",
            tables::about(summary)
        ),
        items,
        missing,
    }
}

/// The charts of a part: one for each kind of figure that may share an axis.
fn charts(summary: &SuiteSummary, part: Part) -> Vec<Chart> {
    let chart = |title: &str, wanted: &dyn Fn(&CaseRow) -> bool| {
        let cases = summary.cases.iter();
        let cases =
            cases.filter(|case| case.part == part && !case.stacks.is_empty() && wanted(case));
        bars(summary, title, cases)
    };
    let full = |case: &CaseRow| {
        matches!(
            case.case.scenario.work,
            Work::Handshake {
                kind: HandshakeKind::Full,
                ..
            }
        )
    };
    let charts = match part {
        Part::Bulk => vec![chart(
            "Application data per second: more is better",
            &|_| true,
        )],
        Part::Handshake => vec![
            chart("Full handshakes per second: more is better", &full),
            chart("Resumed handshakes per second: more is better", &|case| {
                !full(case)
            }),
        ],
        Part::Memory => vec![
            chart("Peak memory of a process: less is better", &|case| {
                case.case.measure == Measure::Peak
            }),
            chart("Heap that one session holds: less is better", &|case| {
                case.case.measure == Measure::Heap
            }),
        ],
        Part::Verify | Part::Connector => vec![chart("Time: less is better", &|_| true)],
        Part::Threads | Part::Instructions => Vec::new(),
    };
    charts.into_iter().flatten().collect()
}

fn bars<'a>(
    summary: &SuiteSummary,
    title: &str,
    cases: impl Iterator<Item = &'a CaseRow>,
) -> Option<Chart> {
    let stacks: Vec<String> = summary
        .run
        .stacks
        .iter()
        .map(|(name, _)| name.to_string())
        .collect();
    let mut rounds = 0;
    let groups: Vec<BarGroup> = cases
        .map(|case| {
            let bars = case.stacks.iter().map(|figures| {
                rounds = rounds.max(figures.rounds);
                let at = stacks.iter().position(|s| s == figures.stack.as_str());
                let verdict = case.verdicts.iter().find(|v| v.other == figures.stack);
                let text = value(case, figures);
                Bar {
                    label: String::new(),
                    parts: vec![(at.unwrap_or(0), length(case, figures))],
                    text: match verdict {
                        Some(verdict) => format!("{text} · {}", factor(verdict.paired.ratio)),
                        None => text,
                    },
                }
            });
            BarGroup {
                bars: bars.collect(),
                name: short(&case.name),
            }
        })
        .collect();
    (!groups.is_empty()).then(|| Chart {
        title: title.to_owned(),
        note: format!(
            "n = up to {rounds} rounds of each case, each in fresh processes. Bars: what the stack takes when nothing disturbs \
             it. After a bar, its factor: how many times less it takes than {}, over 1 in its favour; the table has the \
             intervals.",
            stacks.first().map_or("the first", String::as_str)
        ),
        drawing: Drawing::Bars(Bars {
            series: stacks,
            groups,
        }),
    })
}

fn length(case: &CaseRow, figures: &crate::StackFigures) -> f64 {
    match (case.unit, case.part) {
        (Unit::Nanoseconds, Part::Verify | Part::Connector) => figures.low,
        (Unit::Nanoseconds, _) => figures
            .bytes_per_second
            .or(figures.per_second)
            .unwrap_or(figures.low),
        _ => figures.low,
    }
}

/// The name of a case without its part and its usual amounts, and with spaces.
pub(crate) fn short(name: &str) -> String {
    let name = preset::row_name(name);
    let name = match name.split_once(['_', '-']) {
        Some(("bulk" | "handshake" | "memory", rest)) => rest.to_owned(),
        _ => name,
    };
    name.replace('_', " ")
}
