use netbench_model::{Condition, Measured, Phase};
use netbench_stats::median;

use super::{Comparison, ConnectSummary, PhaseRow, SiteRow, pairs::Matched};
use crate::{
    document::{
        Bar, BarGroup, Bars, Chart, Dot, Dots, Drawing, Ecdf, Item, Points, Scatter, Series,
    },
    text::{change, time},
};

/// Clean against resumed against cold, where there is more than one of them.
pub(super) fn conditions(summary: &ConnectSummary) -> Vec<Item> {
    let conditions: Vec<Condition> = Condition::ALL
        .iter()
        .copied()
        .filter(|c| summary.comparisons.iter().any(|row| row.condition == *c))
        .collect();
    if conditions.len() < 2 {
        return Vec::new();
    }
    let mut stacks: Vec<String> = Vec::new();
    for comparison in &summary.comparisons {
        for stack in [&comparison.first, &comparison.other] {
            if !stacks.iter().any(|known| known == stack.as_str()) {
                stacks.push(stack.to_string());
            }
        }
    }
    let chart = |phase: Phase, title: &str| {
        let groups = conditions.iter().map(|condition| {
            let comparisons = summary
                .comparisons
                .iter()
                .filter(|row| row.condition == *condition);
            let rows: Vec<(&Comparison, &PhaseRow)> = comparisons
                .filter_map(|c| Some((c, c.phases.iter().find(|row| row.phase == phase)?)))
                .collect();
            let mut bars = Vec::new();
            if let Some((_, row)) = rows.first() {
                bars.push(bar(0, row.first.p50_ns, time(row.first.p50_ns)));
            }
            for (comparison, row) in rows {
                let at = stacks.iter().position(|s| s == comparison.other.as_str());
                let text = format!("{} · {}", time(row.other.p50_ns), change(row.paired.ratio));
                bars.push(bar(at.unwrap_or(0), row.other.p50_ns, text));
            }
            BarGroup {
                name: condition.to_string(),
                bars,
            }
        });
        let counts: Vec<String> = conditions
            .iter()
            .map(|condition| {
                let pairs = summary
                    .comparisons
                    .iter()
                    .filter(|row| row.condition == *condition)
                    .filter_map(|row| row.phases.iter().find(|row| row.phase == phase))
                    .map(|row| row.paired.pairs);
                format!("{} {condition}", pairs.max().unwrap_or(0))
            })
            .collect();
        let counts = counts.join(", ");
        Chart {
            title: title.to_owned(),
            note: format!(
                "n = {counts} pairs. Clean: a new connector, nothing cached. Resumed: the site was visited once before and its \
                 session is resumed. Cold: the first connection of a fresh process, where libraries pay for their set-up. Bars: medians over the pairs compared with {}. After a bar: its paired change against the first \
                 stack, the median over pairs, which need not be the ratio of the two medians; intervals are below.",
                stacks.first().map_or("the first", String::as_str)
            ),
            drawing: Drawing::Bars(Bars {
                series: stacks.clone(),
                groups: groups.collect(),
            }),
        }
    };
    vec![
        Item::heading("Conditions side by side"),
        Item::Charts(vec![
            chart(Phase::Total, "Total time of a connection"),
            chart(Phase::Cpu, "CPU time of the client"),
        ]),
    ]
}

fn bar(series: usize, value: f64, text: String) -> Bar {
    Bar {
        label: String::new(),
        parts: vec![(series, value)],
        text,
    }
}

/// The change of each phase, with its interval.
pub(super) fn phases(comparison: &Comparison) -> Item {
    let pairs = comparison.phases.iter().map(|row| row.paired.pairs);
    let level = comparison.phases.iter().find_map(|row| row.paired.interval);
    let intervals = match level {
        Some(interval) => format!(
            "lines: intervals of {:.2} % each, so wide that all hold together at 99 %",
            interval.level * 100.0
        ),
        None => "too few pairs for intervals".to_owned(),
    };
    let dot = |row: &PhaseRow| Dot {
        name: row.words().to_owned(),
        ratio: row.paired.ratio,
        interval: row.paired.interval.map(|i| (i.low, i.high)),
        verdict: row.paired.verdict,
    };
    Item::Charts(vec![Chart {
        title: format!(
            "How much longer or shorter {} takes than {}",
            comparison.other, comparison.first
        ),
        note: format!(
            "n = up to {} pairs. Dots: the median ratio over pairs; {intervals}. Circle: faster, triangle: slower, \
             square: the same within 1 %, hollow: undecided.",
            pairs.max().unwrap_or(0)
        ),
        drawing: Drawing::Dots(Dots {
            less: format!("{} faster", comparison.other),
            more: format!("{} slower", comparison.other),
            dots: comparison.phases.iter().map(dot).collect(),
        }),
    }])
}

/// Each site's change, in rising order.
pub(super) fn sites(comparison: &Comparison) -> Item {
    let tally = &comparison.sites;
    let level = tally.rows.iter().filter_map(|row| row.paired.interval);
    let level = level.map(|i| i.level).fold(f64::MAX, f64::min);
    let intervals = if level > 1.0 {
        "too few rounds for intervals".to_owned()
    } else {
        format!(
            "lines: intervals of at least {:.0} %, cut where they leave the chart",
            (level * 100.0).floor()
        )
    };
    let dot = |row: &SiteRow| Dot {
        name: row.site.clone(),
        ratio: row.paired.ratio,
        interval: row.paired.interval.map(|i| (i.low, i.high)),
        verdict: row.paired.verdict,
    };
    Item::Charts(vec![Chart {
        title: format!(
            "Total time with {} against {}, site by site",
            comparison.other, comparison.first
        ),
        note: format!(
            "n = {} sites with up to {} rounds each, in rising order. Dots: the middle of the paired ratios \
                 (Hodges and Lehmann); {intervals}. Names and figures: in the table, or by pointing at a dot.",
            tally.rows.len(),
            tally
                .rows
                .iter()
                .map(|row| row.paired.pairs)
                .max()
                .unwrap_or(0)
        ),
        drawing: Drawing::Dots(Dots {
            less: format!("{} faster", comparison.other),
            more: format!("{} slower", comparison.other),
            dots: tally.rows.iter().map(dot).collect(),
        }),
    }])
}

/// The mean connection and the mean of what the client computes, in parts.
pub(super) fn parts(comparison: &Comparison, pairs: &[Matched<'_>]) -> [Item; 2] {
    let sides: [(&str, Vec<&Measured>); 2] = [
        (
            comparison.first.as_str(),
            pairs.iter().map(|pair| pair.first).collect(),
        ),
        (
            comparison.other.as_str(),
            pairs.iter().map(|pair| pair.other).collect(),
        ),
    ];
    let chart = |title: &str, series: &[&str], of: &dyn Fn(&Measured) -> Vec<f64>| {
        let bars = sides.iter().map(|(stack, samples)| {
            let mut sums = vec![0.0; series.len()];
            for sample in samples {
                for (sum, part) in sums.iter_mut().zip(of(sample)) {
                    *sum += part.max(0.0);
                }
            }
            let mean = |sum: f64| sum / samples.len().max(1) as f64;
            Bar {
                label: (*stack).to_owned(),
                text: time(mean(sums.iter().sum())),
                parts: sums.into_iter().map(mean).enumerate().collect(),
            }
        });
        Chart {
            title: title.to_owned(),
            note: format!(
                "n = {} connections of each stack, those compared. Means, so that parts add up; point at a part for \
                 its share.",
                pairs.len()
            ),
            drawing: Drawing::Bars(Bars {
                series: series.iter().map(|name| (*name).to_owned()).collect(),
                groups: vec![BarGroup {
                    name: String::new(),
                    bars: bars.collect(),
                }],
            }),
        }
    };
    let connection = |sample: &Measured| {
        let p = &sample.phases;
        let verify = p.verify_ns.unwrap_or(0) as f64;
        let tcp = (p.dns_ns + p.tcp_ns) as f64;
        let (tls, first) = (p.tls_ns as f64, p.first_byte_ns as f64);
        let rest = p.total_ns as f64 - tcp - tls - first;
        vec![tcp, tls - verify, verify, first, rest]
    };
    let computing = |sample: &Measured| {
        let p = &sample.phases;
        let verify = p.verify_ns.unwrap_or(0) as f64;
        let connector = p.connector_ns.unwrap_or(0) as f64;
        vec![connector, verify, p.cpu_ns as f64 - verify]
    };
    let connection = chart(
        "The whole connection, by phase",
        &[
            "name and TCP",
            "TLS handshake, without verification",
            "chain verification",
            "waiting for the first byte",
            "the rest of the response",
        ],
        &connection,
    );
    let computing = chart(
        "What the client computes, connector included: the part that the stack itself takes",
        &[
            "connector set-up",
            "chain verification",
            "the rest of the client's CPU",
        ],
        &computing,
    );
    [connection, computing].map(|chart| Item::Charts(vec![chart]))
}

/// Each site's median total over its round-trip time.
pub(super) fn against_rtt(comparison: &Comparison) -> Item {
    let of = |name: &str, total: fn(&SiteRow) -> f64| {
        let points: Vec<(f64, f64, String)> = comparison
            .sites
            .rows
            .iter()
            .map(|row| (row.rtt_ns as f64, total(row), row.site.clone()))
            .collect();
        Points {
            name: name.to_owned(),
            line: line(&points),
            points,
        }
    };
    let series = vec![
        of(comparison.first.as_str(), |row| row.first_total_ns),
        of(comparison.other.as_str(), |row| row.other_total_ns),
    ];
    let lines: Vec<String> = series
        .iter()
        .filter_map(|points| {
            let (slope, base) = points.line?;
            let base = if base < 0.0 { 0.0 } else { base };
            Some(format!("{} {} + {slope:.1} RTT", points.name, time(base)))
        })
        .collect();
    Item::Charts(vec![Chart {
        title: "Total time against the round-trip time".to_owned(),
        note: format!(
            "n = {} sites, the median over rounds of each. Lines: the median of the slopes between all two sites \
             (Theil and Sen){}. Where the lines lie on each other, the network takes nearly all of the time.",
            comparison.sites.rows.len(),
            if lines.is_empty() {
                String::new()
            } else {
                format!(": {}", lines.join("; "))
            }
        ),
        drawing: Drawing::Scatter(Scatter {
            across: "round-trip time".to_owned(),
            up: "total time".to_owned(),
            series,
        }),
    }])
}

/// The line that a few strange sites do not move (Theil and Sen). None of sites that are all as far.
fn line(points: &[(f64, f64, String)]) -> Option<(f64, f64)> {
    let mut slopes = Vec::new();
    for (at, (x1, y1, _)) in points.iter().enumerate() {
        for (x2, y2, _) in &points[at + 1..] {
            if (x2 - x1).abs() > 1.0 {
                slopes.push((y2 - y1) / (x2 - x1));
            }
        }
    }
    let slope = median(&slopes)?;
    let rest: Vec<f64> = points.iter().map(|(x, y, _)| y - slope * x).collect();
    Some((slope, median(&rest)?))
}

/// The distribution of each phase that is compared.
pub(super) fn distributions(comparison: &Comparison, pairs: &[Matched<'_>]) -> Item {
    let chart = |row: &PhaseRow| {
        let series = |name: &str, of: &dyn Fn(&Matched<'_>) -> Option<u64>| {
            let mut sorted_ns: Vec<f64> = pairs.iter().filter_map(of).map(|ns| ns as f64).collect();
            sorted_ns.sort_by(f64::total_cmp);
            Series {
                name: name.to_owned(),
                sorted_ns,
            }
        };
        let phase = row.phase;
        Chart {
            title: row.words().to_owned(),
            note: format!(
                "n = {} connections of each stack: the share of them that took at most so long, on a logarithmic \
                 axis. The whole distribution, without an interval.",
                row.first.count
            ),
            drawing: Drawing::Ecdf(Ecdf {
                series: vec![
                    series(comparison.first.as_str(), &|pair| {
                        phase.of(&pair.first.phases)
                    }),
                    series(comparison.other.as_str(), &|pair| {
                        phase.of(&pair.other.phases)
                    }),
                ],
            }),
        }
    };
    Item::Charts(comparison.phases.iter().map(chart).collect())
}
