use netbench_model::{Measure, Part, Unit};
use netbench_stats::{CASE_LEVEL, Interval, SAME_MARGIN};

use super::{CaseRow, StackFigures, SuiteSummary, preset, rows, summary::verdict_word};
use crate::{
    block::{Block, Document, Table, left, right},
    rows::Rows,
    text::{begun, machine, plain, shorten, stacks_with, time},
};

impl Document for SuiteSummary {
    fn blocks(&self) -> Vec<Block> {
        let mut blocks = vec![
            Block::Heading(format!("netbench suite: {}", plain(&self.run.name))),
            Block::Text(about(self)),
        ];
        for (other, _) in self.run.stacks.iter().skip(1) {
            blocks.push(Block::Headline(headline(self, other)));
        }
        blocks.extend(Block::warnings(&self.warnings));
        preset::table(&mut blocks, self);
        for part in Part::ALL {
            part_table(&mut blocks, self, *part);
        }
        blocks.extend(rest(self));
        blocks
    }

    fn rows(&self, table: &mut Rows) {
        rows::suite(self, table);
    }
}

/// What follows the parts.
pub(crate) fn rest(summary: &SuiteSummary) -> Vec<Block> {
    let mut blocks = Vec::new();
    spread(&mut blocks, summary);
    trouble(&mut blocks, summary);
    how(&mut blocks, summary);
    blocks
}

/// What was compared with what.
pub(crate) fn about(summary: &SuiteSummary) -> String {
    let stacks = summary.run.stacks.iter().map(|(name, about)| (name, about));
    format!(
        "{} cases, {} rounds, {} samples. {}.",
        summary.cases.len(),
        summary.run.rounds,
        summary.run.samples,
        stacks_with(stacks)
    )
}

/// What the run says of a stack, in a sentence.
pub(crate) fn headline(summary: &SuiteSummary, other: &netbench_model::StackName) -> String {
    let first = summary.run.stacks.first().map(|(name, _)| name.as_str());
    let first = first.unwrap_or_default();
    let tally = summary.tally(other);
    let count = |name: &str| tally.get(name).copied().unwrap_or(0);
    if tally.is_empty() {
        return format!("{other} and {first} cannot be compared: they have no round in common");
    }
    format!(
        "{other} against {first}: better in {} cases, worse in {}, the same in {}, undecided in {}.",
        count("faster"),
        count("slower"),
        count("same"),
        count("undecided")
    )
}

/// Heading, explanation and table of a part; nothing of a part that was not run.
pub(crate) fn part_table(blocks: &mut Vec<Block>, summary: &SuiteSummary, part: Part) {
    let cases: Vec<&CaseRow> = summary
        .cases
        .iter()
        .filter(|case| case.part == part && !case.stacks.is_empty())
        .collect();
    if cases.is_empty() {
        return;
    }
    blocks.push(Block::Heading(title(part).to_owned()));
    blocks.push(Block::Text(explanation(part)));
    let stacks: Vec<_> = summary.run.stacks.iter().map(|(name, _)| name).collect();
    let mut columns = vec![left("case", 0)];
    columns.extend(stacks.iter().map(|stack| right(stack.as_str(), 1)));
    for other in stacks.iter().skip(1) {
        let factor = match stacks.len() {
            2 => "factor".to_owned(),
            _ => format!("× {other}"),
        };
        columns.push(right(&factor, 0));
        columns.push(right("interval", 2));
        columns.push(left("verdict", 0));
    }
    let rows = cases.iter().map(|case| {
        let mut row = vec![case.name.clone()];
        row.extend(stacks.iter().map(|stack| {
            let figures = case.stacks.iter().find(|f| f.stack == **stack);
            figures.map_or_else(|| "–".to_owned(), |figures| value(case, figures))
        }));
        for other in stacks.iter().skip(1) {
            let verdict = case.verdicts.iter().find(|v| v.other == **other);
            row.extend(match verdict {
                Some(verdict) => [
                    factor(verdict.paired.ratio),
                    factors(verdict.paired.interval),
                    verdict_word(verdict.paired.verdict, case.unit).to_owned(),
                ],
                None => ["–", "–", "–"].map(str::to_owned),
            });
        }
        row
    });
    let rows = rows.collect();
    blocks.push(Block::Table(Table { columns, rows }));
}

fn title(part: Part) -> &'static str {
    match part {
        Part::Bulk => "Application data",
        Part::Handshake => "Handshakes",
        Part::Verify => "Verification of a certificate chain alone",
        Part::Connector => "Making a client's configuration",
        Part::Memory => "Memory",
        Part::Threads => "Many threads",
        Part::Instructions => "Instructions",
    }
}

fn explanation(part: Part) -> String {
    let factor = "Factor: how many times less the other stack takes than the first; over 1 is in \
                  the other's favour.";
    let what = match part {
        Part::Bulk => "Plaintext a second, sending and receiving timed apart.",
        Part::Handshake => "Handshakes a second of each side, timed apart.",
        Part::Verify => "From DER to the verdict, name and dates included.",
        Part::Connector => "From trust roots to a configuration that a client can connect with.",
        Part::Memory => {
            "Peak resident size of a fresh process; what each session adds to the resident size; heap \
             and allocations of each session."
        }
        Part::Threads => {
            "Client and server of every thread together, configurations shared by all threads."
        }
        Part::Instructions => "Counted by callgrind, for one operation.",
    };
    format!("{what} {factor}")
}

/// A stack's figure as people read it.
pub(crate) fn value(case: &CaseRow, figures: &StackFigures) -> String {
    match (case.unit, case.part) {
        (Unit::Nanoseconds, Part::Verify | Part::Connector) => time(figures.low),
        (Unit::Nanoseconds, _) => match (figures.bytes_per_second, figures.per_second) {
            (Some(bytes), _) => format!("{} MB/s", grouped(bytes / 1e6)),
            (None, Some(rate)) => format!("{}/s", grouped(rate)),
            (None, None) => time(figures.low),
        },
        (Unit::Bytes, _) if case.case.measure == Measure::Peak => {
            format!("{} kB", grouped(figures.low / 1024.0))
        }
        (Unit::Bytes, _) => format!("{} B", grouped(figures.low)),
        (Unit::Allocations | Unit::Instructions, _) => grouped(figures.low),
    }
}

/// A number with its thousands apart, and a decimal only where it is under a hundred.
pub(super) fn grouped(value: f64) -> String {
    if value < 99.95 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// How many times less the other takes.
pub(crate) fn factor(ratio: f64) -> String {
    let factor = 1.0 / ratio;
    match factor {
        f if f < 9.995 => format!("{f:.3}×"),
        f if f < 99.95 => format!("{f:.1}×"),
        f => format!("{}×", grouped(f)),
    }
}

pub(super) fn factors(interval: Option<Interval>) -> String {
    match interval {
        None => "too few rounds".to_owned(),
        Some(i) => format!("{} … {}", factor(i.high), factor(i.low)),
    }
}

/// Mean, tail and CPU time of every operation, beside what verdicts rest on.
fn spread(blocks: &mut Vec<Block>, summary: &SuiteSummary) {
    let timed = summary.cases.iter().filter(|case| {
        case.unit == Unit::Nanoseconds && case.stacks.iter().any(|figures| figures.operations > 0)
    });
    let rows: Vec<(&CaseRow, &StackFigures)> = timed
        .flat_map(|case| case.stacks.iter().map(move |figures| (case, figures)))
        .collect();
    if rows.is_empty() {
        return;
    }
    blocks.push(Block::Heading("Every operation, in time".to_owned()));
    blocks.push(Block::Text(
        "Low: what verdicts and factors rest on, the 10th percentile within a turn, over undisturbed turns: what the stack \
         takes when nothing disturbs it. The others are over all operations, outliers (over three \
         medians) included. CPU: the thread's own clock, read around a fifth of the turns instead of the \
         wall clock; it costs a system call at each step."
            .to_owned(),
    ));
    let ns = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), time);
    blocks.push(
        Table::of(rows)
            .left("case", 0, |(case, _)| case.name.clone())
            .left("stack", 0, |(_, figures)| figures.stack.to_string())
            .right("low", 0, |(_, figures)| time(figures.low))
            .right("p50", 1, |(_, figures)| ns(figures.p50))
            .right("mean", 2, |(_, figures)| ns(figures.mean))
            .right("p95", 1, |(_, figures)| ns(figures.p95))
            .right("p99", 3, |(_, figures)| ns(figures.p99))
            .right("max", 5, |(_, figures)| ns(figures.max))
            .right("MAD", 6, |(_, figures)| ns(figures.mad))
            .right("CPU p50", 4, |(_, figures)| ns(figures.cpu_p50))
            .right("operations", 4, |(_, figures)| {
                grouped(figures.operations as f64)
            })
            .right("outliers", 5, |(_, figures)| figures.outliers.to_string())
            .block(),
    );
}

fn trouble(blocks: &mut Vec<Block>, summary: &SuiteSummary) {
    if !summary.failures.is_empty() {
        blocks.push(Block::Heading("What failed, and why".to_owned()));
        blocks.push(
            Table::of(&summary.failures)
                .left("scenario", 0, |row| row.scenario.clone())
                .left("stack", 0, |row| row.stack.to_string())
                .left("class", 1, |row| row.class.clone().unwrap_or_default())
                .right("trials", 1, |row| row.trials.to_string())
                .left("the stack's words", 0, |row| shorten(&plain(&row.reason)))
                .block(),
        );
    }
    for row in &summary.unsupported {
        blocks.push(Block::Text(format!(
            "Unsupported: {} on {}: {}",
            row.scenario,
            row.stack,
            plain(&row.reason)
        )));
    }
}

fn how(blocks: &mut Vec<Block>, summary: &SuiteSummary) {
    blocks.push(Block::Heading("How it was measured".to_owned()));
    blocks.push(Block::Text(
        "Stacks take turns of a few milliseconds, each in a process of its own that is fresh in every \
         round; every operation is timed."
            .to_owned(),
    ));
    let verdicts: usize = summary.cases.iter().map(|case| case.verdicts.len()).sum();
    if verdicts > 0 {
        blocks.push(Block::Text(format!(
            "Verdicts rest on pairs of turns in which nothing disturbed the machine ({:.0} % of them), with \
             rounds resampled. “same” needs the interval within ±{:.0} %. Intervals are of {:.0} %{}: if the \
             stacks were equal, at most about {:.1} of these {verdicts} verdicts would say otherwise by \
             chance.",
            (1.0 - summary.disturbed_share()) * 100.0,
            SAME_MARGIN * 100.0,
            CASE_LEVEL * 100.0,
            if summary.run.until_decided {
                ", for all looks at the verdicts together"
            } else {
                ""
            },
            (1.0 - CASE_LEVEL) * verdicts as f64,
        )));
    }
    let run = &summary.run;
    blocks.push(Block::Text(machine(&summary.environment)));
    blocks.push(Block::Text(begun(
        &run.netbench,
        run.seed,
        &run.started,
        &run.command,
    )));
}
