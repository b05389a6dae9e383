use netbench_model::{HandshakeKind, Measure, Part, Work};

use super::{
    CaseRow, SuiteSummary,
    cases::{row_name, value},
};
use crate::{
    document::{Bar, BarGroup, Bars, Chart, Colours, Drawing, Item},
    text::factor,
};

/// Builds the charts of a part: one for each kind of figure that may share an axis.
pub(super) fn charts(summary: &SuiteSummary, part: Part) -> Vec<Item> {
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
        Part::Verify | Part::Connector | Part::Crypto => {
            vec![chart("Time: less is better", &|_| true)]
        }
        Part::Threads | Part::Instructions => Vec::new(),
    };
    let charts = charts.into_iter().flatten();
    charts.map(|chart| Item::Charts(vec![chart])).collect()
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
                let verdict = case.against_first(&figures.stack);
                let value = value(case, figures);
                let text = value.render();
                Bar {
                    label: String::new(),
                    parts: vec![(at.unwrap_or(0), value.value().unwrap_or(0.0))],
                    text: match verdict {
                        Some(verdict) => format!("{text} · {}", factor(verdict.change.ratio)),
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
            "n = up to {} of each case, each in fresh processes. Bars: what the stack takes when nothing disturbs \
             it. After a bar, its factor: the time or size of {} over the bar's; above 1 the bar's stack is better. The table has the \
             intervals.",
            crate::text::count(rounds, "round", "rounds"),
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
