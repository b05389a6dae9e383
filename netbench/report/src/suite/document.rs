use std::sync::Arc;

use itertools::Itertools;
use netbench_model::{Part, StackName, SuiteManifest, SuiteSample, Timing, Unit};
use netbench_stats::{CASE_LEVEL, CASE_MARGIN, Choice};

use super::{
    CaseRow, CaseVerdict, SuiteSummary, breakdown,
    cases::{by_stack, not_judged, value},
    charts::{charts, has_many},
    checks::checks,
    history::is_history,
    latency, life, page_faults, preset,
    questions::{SECTION, answers, only_sizes, questions},
    summarize_suite, system_calls,
};
use crate::{
    cell::{Cell, Digits},
    document::{Document, Extent, Item, Machine, Report, Section, Table},
    evaluation::none_is_no,
    row::{tally, tally_in_words},
    text::{alike, count, in_place_of, machine, shorten, stacks_with, would_decide},
};

/// A run of the in-memory suite with the data of its report.
#[derive(Debug, Clone)]
pub struct SuiteReport {
    /// The run's manifest.
    pub manifest: SuiteManifest,
    /// The summary of its samples.
    pub summary: Arc<SuiteSummary>,
}

impl SuiteReport {
    /// Returns the report of a run's manifest and all of its samples.
    pub fn new(manifest: SuiteManifest, samples: &[SuiteSample]) -> Self {
        Self {
            summary: Arc::new(summarize_suite(&manifest, samples)),
            manifest,
        }
    }
}

impl Report for SuiteReport {
    fn tells(&self) -> bool {
        self.summary.tells()
    }

    fn passes(&self) -> bool {
        self.summary.head.thresholds.are_usual() || none_is_no(&questions(&self.summary))
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let summary = &*self.summary;
        let run = &summary.run;
        let stacks: Vec<&str> = run.stacks.iter().map(|(name, _)| name.as_str()).collect();
        Document {
            about: match stacks.as_slice() {
                [first, .., last] if is_history(run.preset.as_deref()) => {
                    format!("{} versions, from {first} to {last}", stacks.len())
                }
                _ => in_place_of(&stacks),
            },
            lead: format!(
                "{} in memory: what the libraries themselves take, without a network.",
                count(summary.cases.len(), "case", "cases")
            ),
            questions: match has_many(summary) {
                true => Vec::new(),
                false => questions(summary),
            },
            sections: vec![section(summary)],
            machines: vec![Machine::of(&self.manifest)],
            checks: checks(summary),
            ..Document::of_run("suite", &summary.run.head, summary)
        }
    }
}

fn section(summary: &SuiteSummary) -> Section {
    let run = &summary.run;
    let mut items = Vec::new();
    if has_many(summary) {
        // The versions of a history are compared one after another.
        if !is_history(run.preset.as_deref()) {
            items.extend(preset::pictures(summary));
            items.extend(answers(summary));
        }
    } else {
        let others = run.stacks.iter().skip(1);
        items.extend(others.map(|(other, _)| Item::Headline(headline(summary, other))));
    }
    items.extend(Item::warnings(&summary.warnings));
    preset::table(&mut items, summary);
    for part in Part::ALL {
        part_table(&mut items, summary, *part);
    }
    undecided(&mut items, summary);
    items.extend(breakdown::items(summary));
    items.extend(life::items(summary));
    items.extend(latency::items(summary));
    items.extend(other_figures(summary));
    items.extend(after_pause(summary));
    items.extend(page_faults::items(summary));
    items.extend(system_calls::items(summary));
    items.extend(spread(summary));
    trouble(&mut items, summary);
    how(&mut items, summary);
    let heading = match (&run.preset, only_sizes(summary)) {
        (_, true) => "In memory: sizes".to_owned(),
        (Some(preset), _) => format!("In memory: {preset}"),
        (None, _) => "In memory".to_owned(),
    };
    Section::new(SECTION, heading, items)
        .explained(format!(
            "What the libraries themselves take: client and server in one process, bytes moved in memory, no network. \
             {}, {}, {}. {}.",
            count(summary.cases.len(), "case", "cases"),
            count(run.rounds, "round", "rounds"),
            count(run.samples, "sample", "samples"),
            match run.stacks.as_slice() {
                [first, _, _, ..] => stacks_with([(&first.0, &first.1)]),
                stacks => stacks_with(stacks.iter().map(|(name, about)| (name, about))),
            }
        ))
        .missing((!summary.measures()).then_some("No figures: no trial ended well."))
}

/// Summarizes the run's verdicts on a stack in a sentence.
fn headline(summary: &SuiteSummary, other: &StackName) -> String {
    let first = summary.run.stacks.first().map(|(name, _)| name.as_str());
    let first = first.unwrap_or_default();
    let verdicts = summary.verdicts().map(|(_, verdict)| verdict);
    let verdicts = verdicts.filter(|verdict| verdict.other == *other);
    let counts = tally(verdicts.map(|verdict| verdict.change.verdict));
    if counts == [0; 5] {
        return format!("{other} and {first} cannot be compared: they have no round in common");
    }
    let better = count(counts[0], "case", "cases");
    format!(
        "{other} against {first}: {}",
        tally_in_words(better, counts)
    )
}

/// Adds heading, explanation, charts and table of a part, if the part was run.
fn part_table(items: &mut Vec<Item>, summary: &SuiteSummary, part: Part) {
    let cases = summary.cases.iter();
    let cases = cases.filter(|case| case.part == part && !case.stacks.is_empty());
    let cases: Vec<&CaseRow> = cases.collect();
    if cases.is_empty() {
        return;
    }
    items.push(Item::heading(title(part)));
    items.push(Item::Text(explanation(part)));
    let mut scenarios = cases.iter().map(|case| case.case.scenario);
    if scenarios.any(|scenario| scenario.timing == Timing::Bench) {
        items.push(Item::text(BENCH_TIMING));
    }
    items.extend(charts(summary, part));
    let table = Table::of(cases).text("case", 0, |case| &case.name);
    items.push(by_stack(table, summary, value).item());
}

/// The explanation of cases with [`Timing::Bench`].
const BENCH_TIMING: &str = "_bench-timing: a part of the work is timed, as by the programs of published tables. Sessions \
     exist before their handshake is timed. The library keeps records while a write is timed, and has those that are read \
     before the reading is timed, where it permits both. Data are read in place where the library permits it, and otherwise \
     into a buffer of the size of a write.";

fn title(part: Part) -> &'static str {
    match part {
        Part::Bulk => "Application data",
        Part::Handshake => "Handshakes",
        Part::Verify => "Verification of a certificate chain alone",
        Part::Connector => "Making a client's configuration",
        Part::Crypto => "Cryptography of a handshake",
        Part::Memory => "Memory",
        Part::Threads => "Many threads",
        Part::Instructions => "Instructions",
    }
}

fn explanation(part: Part) -> String {
    let factor =
        "Factor: the first stack's time or size over the other's; above 1 the other is better.";
    let what = match part {
        Part::Bulk => "Plaintext a second, sending and receiving timed apart.",
        Part::Handshake => "Handshakes a second of each side, timed apart.",
        Part::Verify => "From DER to the verdict, name and dates included.",
        Part::Connector => "From trust roots to a configuration that a client can connect with.",
        Part::Crypto => {
            "One operation, as the library's own handshake does it. key-share: the client makes its key pair; respond: the \
             server makes its own and the secret; agree: the client computes the secret."
        }
        Part::Memory => {
            "Peak resident size of a fresh process; what each session adds to the resident size; heap \
             and allocations of each session. Half of the sessions are of clients and half of servers (1,000 sessions are \
             500 of each), so a session's figure is half of a client's and a server's together. The heap of a client's and of \
             a server's session is measured apart (heap-client, heap-server) where allocations are counted."
        }
        Part::Threads => {
            "The throughput of all threads together, client and server of each; configurations and verifiers are shared by all \
             threads."
        }
        Part::Instructions => "Counted by callgrind, for one operation.",
    };
    format!("{what} {factor}")
}

/// Tabulates the rounds that would decide each undecided case.
fn undecided(items: &mut Vec<Item>, summary: &SuiteSummary) {
    let rows = summary.cases.iter().flat_map(|case| {
        let verdicts = case.verdicts.iter().chain(&case.steps);
        verdicts.filter_map(move |verdict| Some((case, verdict, verdict.rounds_needed?)))
    });
    let has_few_rounds = rows
        .clone()
        .any(|(case, ..)| matches!(case.part, Part::Memory | Part::Instructions));
    // With two stacks, every row would repeat one name.
    let stack = (summary.run.stacks.len() != 2).then_some("stack");
    let table = Table::of(rows)
        .text("case", 0, |(case, ..)| &case.name)
        .col_if(stack, 0, |(_, verdict, _)| {
            Cell::text(format!("{} against {}", verdict.other, verdict.first))
        })
        .text("would decide", 0, |(.., needed)| would_decide(*needed));
    items.extend(table.under("Undecided cases, and the rounds that would decide them"));
    if has_few_rounds {
        items.push(Item::text(
            "Memory and instructions are measured in three rounds of a run at most: `netbench runs compare --join` joins \
             several runs.",
        ));
    }
}

/// Tabulates the same factors by figures other than the one that verdicts rest on, and the reasons why some have no
/// verdict.
fn other_figures(summary: &SuiteSummary) -> Vec<Item> {
    let rows = summary.verdicts();
    Table::of(rows.filter(|(_, verdict)| verdict.all_turns.is_some()))
        .text("case", 0, |(case, _)| &case.name)
        .text("stack", 0, |(_, verdict)| &verdict.other)
        .factor("10th percentile", 0, |(_, verdict)| verdict.change.ratio)
        .factor("median", 1, |(_, verdict)| Some(verdict.median?.ratio))
        .factor("mean", 1, |(_, verdict)| Some(verdict.mean?.ratio))
        .factor("all turns", 1, |(_, verdict)| verdict.all_turns)
        .optional("operations a turn", 1, |(_, verdict)| verdict.turn_operations)
        .col("quiet turns", 2, |(_, verdict)| match verdict.choice {
            Choice::Quiet => Cell::text(format!("{} of {}", verdict.quiet_turns(), verdict.turns)),
            Choice::All => Cell::Missing,
        })
        .text("", 0, |(_, verdict)| note(verdict))
        .explained(
            "The same factors by other figures",
            "Verdicts rest on the 10th percentile of a turn's operations, over quiet turns. Work that is done once in many \
             operations is in the mean and not in a low percentile: where the interval of the factor by median or mean \
             excludes that by the 10th percentile, it is marked. A factor over all turns that differs by more than the \
             interval says that a busy machine slows one stack more; there is then a verdict only where the stacks differ \
             by more than that.",
        )
}

/// Tabulates the first operations of the turns, as a separate condition.
fn after_pause(summary: &SuiteSummary) -> Vec<Item> {
    let rows = summary.verdicts();
    Table::of(rows.filter_map(|(case, verdict)| Some((case, verdict, verdict.after_pause?))))
        .text("case", 0, |(case, ..)| &case.name)
        .text("stack", 0, |(_, verdict, _)| &verdict.other)
        .time("time of the first", 1, |(case, verdict, _)| {
            case.of(&verdict.first)?.after_pause
        })
        .time("time", 1, |(case, verdict, _)| {
            case.of(&verdict.other)?.after_pause
        })
        .factors([("factor", 0), ("interval", 1)], |(.., figure)| {
            Some((figure.ratio, figure.interval))
        })
        .factor("factor warm", 0, |(_, verdict, _)| verdict.change.ratio)
        .explained(
            "After a pause",
            "All other tables are of the condition warm: operations after those that begin a turn, as in the libraries' own \
             benchmarks. This one is of the first operation of each turn, for which other work has emptied the caches: a \
             client that connects now and then. The two conditions are never mixed, and no verdict rests on this one.",
        )
}

/// Returns a short note on a verdict for a reader.
fn note(verdict: &CaseVerdict) -> String {
    let differing = [(verdict.median, "median"), (verdict.mean, "mean")].into_iter();
    let differing = differing.filter(|(figure, _)| figure.is_some_and(|figure| figure.disagrees));
    let differing = differing.map(|(_, name)| format!("the {name} differs"));
    verdict
        .undecided
        .map(not_judged)
        .into_iter()
        .chain(differing)
        .join("; ")
}

/// Tabulates mean, tail and CPU time of every operation, in addition to the figures that verdicts rest on.
fn spread(summary: &SuiteSummary) -> Vec<Item> {
    let timed = summary.cases.iter().filter(|case| {
        case.unit == Unit::Nanoseconds && case.stacks.iter().any(|figures| figures.operations > 0)
    });
    Table::of(timed.flat_map(|case| case.stacks.iter().map(move |figures| (case, figures))))
        .text("case", 0, |(case, _)| &case.name)
        .text("stack", 0, |(_, figures)| &figures.stack)
        .time("low", 0, |(_, figures)| figures.low)
        .time("p50", 1, |(_, figures)| figures.p50)
        .time("mean", 2, |(_, figures)| figures.mean)
        .time("p95", 1, |(_, figures)| figures.p95)
        .time("p99", 3, |(_, figures)| figures.p99)
        .time("max", 5, |(_, figures)| figures.max)
        .time("MAD", 6, |(_, figures)| figures.mad)
        .time("CPU p50", 4, |(_, figures)| figures.cpu_p50)
        .col("operations", 4, |(_, figures)| {
            Cell::number(figures.operations as f64, Digits::Grouped, "")
        })
        .count("outliers", 5, |(_, figures)| figures.outliers)
        .explained(
            "Every operation, in time",
            "Low: what verdicts and factors rest on, the 10th percentile within a turn, over quiet turns: what the \
             stack takes when nothing disturbs it. The others are over all operations after each turn's warm-up, outliers \
             (over three medians) included. CPU: the thread's own clock, read around a fifth of the turns instead of the wall clock; it costs a \
             system call at each step.",
        )
}

fn trouble(items: &mut Vec<Item>, summary: &SuiteSummary) {
    items.extend(
        Table::of(&summary.failures)
            .text("scenario", 0, |row| &row.scenario)
            .text("stack", 0, |row| &row.stack)
            .optional("class", 1, |row| row.class.as_ref())
            .count("trials", 1, |row| row.trials)
            .text("the stack's words", 0, |row| shorten(&row.reason))
            .under("What failed, and why"),
    );
    // A stack that lacks a feature lacks it in many scenarios.
    let rows = summary.unsupported.iter();
    let rows = rows.map(|row| ((&row.stack, &row.reason), &row.scenario));
    for ((stack, reason), scenarios) in alike(rows) {
        let others = match scenarios.len() - 1 {
            0 => String::new(),
            others => format!(
                " and {}",
                count(others, "other scenario", "other scenarios")
            ),
        };
        items.push(Item::Text(format!(
            "Unsupported: {}{others} on {stack}: {reason}",
            scenarios[0]
        )));
    }
}

fn how(items: &mut Vec<Item>, summary: &SuiteSummary) {
    items.push(Item::heading("How it was measured"));
    items.push(Item::text(
        if summary.verdicts().any(|(_, verdict)| verdict.after_pause.is_some()) {
            "Stacks take turns, each in a process of its own that is fresh in every round. All do equally many \
             operations in a turn: those that begin it warm it up, and figures are of the others, each timed."
        } else {
            "Stacks take turns of a few milliseconds, each in a process of its own that is fresh in every round; every \
             operation is timed."
        },
    ));
    if summary.compares() {
        items.push(Item::Text(format!(
            "Verdicts on timings rest on pairs of turns in which the machine was quiet ({:.0} % of them), as short \
             reference loops between the operations found it; the results play no part in that choice. Rounds are \
             resampled, each with processes of its own.",
            (1.0 - summary.disturbed_share()) * 100.0,
        )));
        items.push(Item::Text(format!(
            "“Better” and “worse” need the whole interval beyond ±{margin} %, “same” needs it within ±{margin} %, and \
             anything else is undecided: a stack that truly takes {margin} % more is called worse in at most {:.1} % of \
             runs, however long one measures, and equal stacks hardly ever. Intervals are of {:.0} %{}.",
            (1.0 - CASE_LEVEL) / 2.0 * 100.0,
            CASE_LEVEL * 100.0,
            if summary.run.until_decided {
                ", for all interim analyses together"
            } else {
                ""
            },
            margin = CASE_MARGIN * 100.0,
        )));
    }
    items.push(Item::Text(machine(&summary.environment)));
    items.push(Item::Text(summary.run.head.again(summary.head.seed)));
}
