use itertools::Itertools;
use netbench_model::{Condition, Measured, Phase, StackName};
use netbench_stats::{median, spread};

use super::{Comparison, ConnectSummary, PhaseRow, SiteRow, pairs::Matched};
use crate::{
    document::{Bar, BarGroup, Bars, Chart, Colours, Drawing, Item, Points, Scatter, Series},
    row::{Named, bar, dot, dots},
    text::{change, count, named_site, sites_of, time},
};

/// Number of marks of one chart at most: more marks are no easier to read, and a page has to open.
const DRAWN: usize = 400;

/// Charts clean, resumed, cold and early connections side by side, if there is more than one condition.
pub(super) fn conditions(summary: &ConnectSummary) -> Vec<Item> {
    let comparisons = summary.comparisons.as_slice();
    let conditions = Condition::ALL.iter().copied();
    let conditions: Vec<Condition> = conditions
        .filter(|condition| comparisons.iter().any(|row| row.condition == *condition))
        .collect();
    if conditions.len() < 2 {
        return Vec::new();
    }
    let stacks = comparisons.iter().flat_map(|row| [&row.first, &row.other]);
    let stacks: Vec<String> = stacks.unique().map(ToString::to_string).collect();
    let charts = [
        (Phase::Total, "Total time of a connection"),
        (Phase::Cpu, "CPU time of the client"),
    ];
    let charts =
        charts.map(|(phase, title)| by_condition(summary, &conditions, &stacks, phase, title));
    vec![
        Item::heading("Conditions side by side"),
        Item::Charts(charts.into()),
    ]
}

/// Charts one phase, with a group of bars for each condition.
fn by_condition(
    summary: &ConnectSummary,
    conditions: &[Condition],
    stacks: &[String],
    phase: Phase,
    title: &str,
) -> Chart {
    let mut counts = Vec::new();
    let mut groups = Vec::new();
    for condition in conditions {
        let comparisons = summary.comparisons.iter();
        let rows: Vec<(&Comparison, &PhaseRow)> = comparisons
            .filter(|comparison| comparison.condition == *condition)
            .filter_map(|comparison| Some((comparison, comparison.phase(phase)?)))
            .collect();
        let pairs = rows.iter().map(|(_, row)| row.change.pairs()).max();
        counts.push(format!("{} {condition}", pairs.unwrap_or(0)));
        let first = rows.first().map(|(comparison, row)| {
            let p50_ns = row.first.p50_ns;
            bar(stacks, &comparison.first, p50_ns, time(p50_ns))
        });
        let others = rows.iter().map(|(comparison, row)| {
            let p50_ns = row.other.p50_ns;
            let text = format!("{} · {}", time(p50_ns), change(row.change.ratio));
            bar(stacks, &comparison.other, p50_ns, text)
        });
        groups.push(BarGroup {
            name: condition.to_string(),
            bars: first.into_iter().chain(others).collect(),
        });
    }
    Chart {
        title: title.to_owned(),
        note: format!(
            "n = {} pairs. Clean: a new connector, nothing cached. Resumed: the site was visited once before and its \
             session is resumed. Cold: the first connection of a fresh process, where libraries pay for their set-up.{} Bars: medians over the pairs compared with {}. After a bar: its paired change against the first \
             stack, the median over pairs, which need not be the ratio of the two medians; intervals are below.",
            counts.join(", "),
            match conditions.contains(&Condition::EarlyData) {
                true => " Early-data: resumed, with the request before the end of the handshake.",
                false => "",
            },
            stacks.first().map_or("the first", String::as_str)
        ),
        drawing: Drawing::Bars(Bars {
            colours: Colours::Stacks,
            series: stacks.to_vec(),
            groups,
        }),
    }
}

/// Charts the change of each phase, with its interval.
pub(super) fn phases(comparison: &Comparison) -> Item {
    let rows = comparison.phases.iter();
    let pairs = rows.clone().map(|row| row.change.pairs()).max();
    let intervals = match rows.clone().find_map(|row| row.change.interval) {
        Some(interval) => format!(
            "lines: intervals of {:.2} % each, so wide that all hold together at 99 %",
            interval.level * 100.0
        ),
        None => "too few rounds for intervals".to_owned(),
    };
    let (first, other) = (&comparison.first, &comparison.other);
    dots(
        format!("How much longer or shorter {other} takes than {first}"),
        format!(
            "n = up to {} pairs. Dots: the median ratio over pairs; {intervals}. Circle: faster, triangle: slower, \
             square: the same within 1 %, hollow: undecided.",
            pairs.unwrap_or(0)
        ),
        ["faster", "slower"].map(|word| format!("{other} {word}")),
        rows.map(|row| dot(row.words().to_owned(), &row.change)),
    )
}

/// Charts each site's change, in rising order.
pub(super) fn sites(comparison: &Comparison, summary: &ConnectSummary) -> Item {
    let all = &comparison.sites.rows;
    let rounds = all.iter().map(|row| row.change.pairs()).max();
    let levels = all
        .iter()
        .filter_map(|row| Some(row.change.interval?.level));
    let intervals = match levels.min_by(f64::total_cmp) {
        None => "too few rounds for intervals".to_owned(),
        Some(level) => format!(
            "lines: intervals of at least {:.0} %, clipped at the edge of the chart",
            (level * 100.0).floor()
        ),
    };
    let (first, other) = (&comparison.first, &comparison.other);
    dots(
        format!("Total time with {other} against {first}, site by site"),
        format!(
            "n = {} with up to {} each, in rising order{}. Dots: the middle of the paired ratios \
             (Hodges and Lehmann); {intervals}. Names and figures: in the table, or by pointing at a dot.",
            of_rows(summary, all.len()),
            count(rounds.unwrap_or(0), "round", "rounds"),
            only_some(all.len(), DRAWN),
        ),
        ["faster", "slower"].map(|word| format!("{other} {word}")),
        spread(all.len(), DRAWN)
            .map(|at| &all[at])
            .map(|row| dot(named_site(summary.run.target, &row.key.site), &row.change)),
    )
}

/// Counts the rows of a chart: `101 emulated sites`.
fn of_rows(summary: &ConnectSummary, rows: usize) -> String {
    match summary.run.points {
        Some(_) => summary.count_rows(rows),
        None => sites_of(summary.run.target, rows),
    }
}

/// States that only some marks are drawn, if that is so.
pub(super) fn only_some(marks: usize, drawn: usize) -> String {
    if marks > drawn {
        format!("; {drawn} of them are drawn, evenly spread")
    } else {
        String::new()
    }
}

/// A part of a bar, with its length in nanoseconds.
type Part = Named<Measured>;

const CONNECTION: [Part; 5] = [
    ("name and TCP", |m| {
        (m.phases.dns_ns + m.phases.tcp_ns) as f64
    }),
    ("TLS handshake, without verification", |m| {
        m.phases.tls_ns as f64 - verify(m)
    }),
    ("chain verification", verify),
    ("waiting for the first byte", |m| {
        m.phases.first_byte_ns as f64
    }),
    ("the rest of the response", |m| {
        let p = &m.phases;
        let tcp = (p.dns_ns + p.tcp_ns) as f64;
        p.total_ns as f64 - rejected(m) - tcp - p.tls_ns as f64 - p.first_byte_ns as f64
    }),
];

/// The part of connections that were made after a rejection of Encrypted ClientHello.
const REJECTED: Part = ("the rejected connection", rejected);

const COMPUTING: [Part; 3] = [
    ("connector set-up", |m| {
        Phase::Connector.of(m).unwrap_or(0) as f64
    }),
    ("chain verification", verify),
    ("the rest of the client's CPU", |m| {
        m.phases.cpu_ns as f64 - verify(m)
    }),
];

fn rejected(measured: &Measured) -> f64 {
    measured.phases.rejected_ns.unwrap_or(0) as f64
}

fn verify(measured: &Measured) -> f64 {
    measured.phases.verify_ns.unwrap_or(0) as f64
}

/// Charts the mean connection and the mean of the client's computation, in parts.
pub(super) fn parts(comparison: &Comparison, pairs: &[Matched<'_>]) -> [Item; 2] {
    let mut both = pairs.iter().flat_map(|pair| [pair.first, pair.other]);
    let has_rejected = both.any(|measured| measured.phases.rejected_ns.is_some());
    let before = has_rejected.then_some(REJECTED);
    let connection: Vec<Part> = before.into_iter().chain(CONNECTION).collect();
    let charts: [(&str, &[Part]); 2] = [
        ("The whole connection, by phase", &connection),
        (
            "What the client computes, connector included: the part that the stack itself takes",
            &COMPUTING,
        ),
    ];
    charts.map(|(title, parts)| {
        let firsts = pairs.iter().map(|pair| pair.first);
        let others = pairs.iter().map(|pair| pair.other);
        let bars = vec![
            bar_of(&comparison.first, parts, firsts),
            bar_of(&comparison.other, parts, others),
        ];
        Item::Charts(vec![Chart {
            title: title.to_owned(),
            note: format!(
                "n = {} of each stack, those compared. Means, so that parts add up; point at a part for \
                 its share.",
                count(pairs.len(), "connection", "connections")
            ),
            drawing: Drawing::Bars(Bars {
                colours: Colours::Parts,
                series: parts.iter().map(|(name, _)| (*name).to_owned()).collect(),
                groups: vec![BarGroup {
                    name: String::new(),
                    bars,
                }],
            }),
        }])
    })
}

/// Returns the bar of a stack, with the mean of each part.
fn bar_of<'a>(
    stack: &StackName,
    parts: &[Part],
    measured: impl ExactSizeIterator<Item = &'a Measured> + Clone,
) -> Bar {
    let count = measured.len().max(1) as f64;
    let means: Vec<f64> = parts
        .iter()
        .map(|(_, part)| measured.clone().map(|m| part(m).max(0.0)).sum::<f64>() / count)
        .collect();
    Bar {
        label: stack.to_string(),
        text: time(means.iter().sum()),
        parts: means.into_iter().enumerate().collect(),
    }
}

/// Charts each site's median total over its round-trip time.
pub(super) fn against_rtt(comparison: &Comparison, summary: &ConnectSummary) -> Item {
    let rows = &comparison.sites.rows;
    let series = vec![
        points(&comparison.first, summary, rows, |row| row.first),
        points(&comparison.other, summary, rows, |row| row.other),
    ];
    let lines = series.iter().filter_map(|points| {
        let (slope, base) = points.line?;
        let base = time(base.max(0.0));
        Some(format!("{} {base} + {slope:.1} RTT", points.name))
    });
    let lines = match lines.collect::<Vec<_>>().join("; ") {
        none if none.is_empty() => none,
        lines => format!(": {lines}"),
    };
    Item::Charts(vec![Chart {
        title: "Total time against the round-trip time".to_owned(),
        note: format!(
            "n = {}, the median over rounds of each{}. Lines: the median of the slopes between all two sites \
             that are drawn (Theil and Sen){lines}. Where the lines lie on each other, the network takes nearly all of \
             the time.",
            of_rows(summary, rows.len()),
            only_some(rows.len(), DRAWN),
        ),
        drawing: Drawing::Scatter(Scatter {
            across: "round-trip time".to_owned(),
            up: "total time".to_owned(),
            series,
        }),
    }])
}

/// Returns the sites with a stack, by their round-trip times.
fn points(
    stack: &StackName,
    summary: &ConnectSummary,
    rows: &[SiteRow],
    total: fn(&SiteRow) -> f64,
) -> Points {
    let drawn = spread(rows.len(), DRAWN).map(|at| &rows[at]);
    let points = drawn.map(|row| {
        let name = named_site(summary.run.target, &row.key.site);
        (row.key.rtt_ns as f64, total(row), name)
    });
    let points: Vec<_> = points.collect();
    Points {
        name: stack.to_string(),
        line: line(&points),
        points,
    }
}

/// Fits a line that a few outliers do not move (Theil–Sen estimator). Returns `None` if all sites have the same
/// round-trip time.
fn line(points: &[(f64, f64, String)]) -> Option<(f64, f64)> {
    let slopes = points.iter().array_combinations();
    let slopes = slopes
        .filter(|[(x1, ..), (x2, ..)]| (x2 - x1).abs() > 1.0)
        .map(|[(x1, y1, _), (x2, y2, _)]| (y2 - y1) / (x2 - x1));
    let slope = median(&slopes.collect::<Vec<_>>())?;
    let rest: Vec<f64> = points.iter().map(|(x, y, _)| y - slope * x).collect();
    Some((slope, median(&rest)?))
}

pub(super) fn distributions(comparison: &Comparison, pairs: &[Matched<'_>]) -> Item {
    let charts = comparison.phases.iter().map(|row| {
        let times = pairs.iter();
        let times = times.map(|pair| [pair.first, pair.other].map(|side| row.key.phase.of(side)));
        Chart {
            title: row.words().to_owned(),
            note: format!(
                "n = {} of each stack: the share of them that took at most so long, on a logarithmic \
                 axis. The whole distribution, without an interval.",
                count(row.first.count, "connection", "connections")
            ),
            drawing: Drawing::Ecdf(vec![
                series(&comparison.first, times.clone().filter_map(|[first, _]| first)),
                series(&comparison.other, times.filter_map(|[_, other]| other)),
            ]),
        }
    });
    Item::Charts(charts.collect())
}

fn series(stack: &StackName, times_ns: impl Iterator<Item = u64>) -> Series {
    Series {
        name: stack.to_string(),
        sorted_ns: times_ns.sorted().map(|ns| ns as f64).collect(),
    }
}
