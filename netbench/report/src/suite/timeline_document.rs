use netbench_stats::Verdict;

use super::{HistoryCase, HistoryFigure, SuiteHistory, cases::row_name};
use crate::{
    cell::Cell,
    document::{Chart, Document, Drawing, Extent, Item, Point, Report, Section, Table},
    row::differs,
    text::{count, factor},
};

impl Report for SuiteHistory {
    fn tells(&self) -> bool {
        !self.cases.is_empty()
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let mut items = vec![Item::Headline(self.headline())];
        items.extend(Item::warnings(&self.left_out));
        let charts: Vec<Chart> = self.cases.iter().map(chart).collect();
        if !charts.is_empty() {
            items.push(Item::Charts(charts));
        }
        items.extend(self.steps());
        items.extend(self.case_by_case());
        items.extend(self.table_of_runs());
        let runs = count(self.runs.len(), "run", "runs");
        let title = format!("netbench runs history: {runs}");
        Document {
            lead: "Each case of the suite over time, as a factor: the figure of the run's first stack over that of the stack. Above \
                   1, the stack is better. A factor can move because a library, a compiler or the processor changed; if the \
                   first stack's own figure moved too, the machine may be another one with the same name."
                .to_owned(),
            ..Document::of_section("suite-history", title, Section::only(items), self)
        }
    }
}

impl SuiteHistory {
    fn headline(&self) -> String {
        let moved = self.moved().count();
        let lines = count(self.cases.len(), "line", "lines");
        match moved {
            _ if self.cases.is_empty() => {
                "No case has figures in two runs: runs of the same cases with the same first stack are followed.".to_owned()
            }
            0 => format!("{lines}, and none has moved between runs that can be compared."),
            moved => format!(
                "{lines}, which moved {} between runs that can be compared.",
                count(moved, "time", "times")
            ),
        }
    }

    /// Returns the figures that moved.
    fn moved(&self) -> impl Iterator<Item = (&HistoryCase, &HistoryFigure, &HistoryFigure)> {
        self.cases.iter().flat_map(|case| {
            let pairs = case.figures.iter().zip(case.figures.iter().skip(1));
            let moved = pairs.filter(|(_, after)| after.step.is_some_and(differs));
            moved.map(move |(before, after)| (case, before, after))
        })
    }

    fn steps(&self) -> Vec<Item> {
        Table::of(self.moved())
            .text("case", 0, |(case, ..)| row_name(&case.name))
            .text("stack", 0, |(case, ..)| &case.stack)
            .text("from", 1, |(_, before, _)| &before.run)
            .text("to", 0, |(.., after)| &after.run)
            .factor("before", 0, |(_, before, _)| before.ratio)
            .factor("after", 0, |(.., after)| after.ratio)
            .col("verdict", 0, |(case, _, after)| {
                let verdict = after.step.unwrap_or(Verdict::Undecided);
                Cell::Verdict(verdict, case.unit)
            })
            .ratio("first stack itself", 0, |(.., after)| after.first_change)
            .col("what differs", 1, |(.., after)| {
                match after.differs.as_slice() {
                    [] => Cell::text("nothing that is recorded"),
                    differs => Cell::text(differs.join("; ")),
                }
            })
            .under("Beyond noise")
    }

    fn case_by_case(&self) -> Vec<Item> {
        let ends = self
            .cases
            .iter()
            .filter_map(|case| Some((case, case.figures.first()?, case.figures.last()?)));
        Table::of(ends)
            .text("case", 0, |(case, ..)| row_name(&case.name))
            .text("stack", 0, |(case, ..)| &case.stack)
            .text("against", 1, |(case, ..)| &case.first)
            .count("runs", 1, |(case, ..)| case.figures.len() as u64)
            .factor("oldest", 0, |(_, oldest, _)| oldest.ratio)
            .factor("newest", 0, |(.., newest)| newest.ratio)
            .col("interval", 1, |(.., newest)| Cell::Factors(newest.interval))
            .text("newest figure", 2, |(.., newest)| &newest.text)
            .under("Case by case")
    }

    fn table_of_runs(&self) -> Vec<Item> {
        Table::of(&self.runs)
            .text("run", 0, |run| &run.run)
            .text("started", 0, |run| &run.started)
            .col("stacks", 1, |run| {
                let stacks = run.stacks.iter();
                let stacks = stacks.map(|(stack, library)| format!("{stack} ({library})"));
                Cell::text(stacks.collect::<Vec<_>>().join(", "))
            })
            .under("The runs")
    }
}

/// Returns the chart of a case over time. Only the first run of a day has its date below the line.
fn chart(case: &HistoryCase) -> Chart {
    let before = case.figures.iter().map(|figure| day(&figure.started));
    let before = std::iter::once("").chain(before);
    let points = case
        .figures
        .iter()
        .zip(before)
        .map(|(figure, before)| Point {
            label: match day(&figure.started) {
                same if same == before => String::new(),
                day => day.to_owned(),
            },
            // Runs of one day would lie on one another.
            released: None,
            value: Some(1.0 / figure.ratio),
            text: factor(figure.ratio),
            about: format!(
                "{}, {}, {}{}",
                Cell::Factors(figure.interval).render(),
                figure.text,
                figure.library,
                match figure.differs.as_slice() {
                    [] => String::new(),
                    differs => format!("; since the run before: {}", differs.join("; ")),
                }
            ),
            step: figure.step,
        });
    Chart {
        title: format!("{}: {} against {}", row_name(&case.name), case.stack, case.first),
        note: "A triangle: better, a rhombus: worse than in the run before, with intervals that have no value in common."
            .to_owned(),
        drawing: Drawing::Steps(points.collect()),
    }
}

/// Returns the month and the day of a time by RFC 3339: `11-28`.
fn day(time: &str) -> &str {
    time.get("2026-".len().."2026-11-28".len()).unwrap_or(time)
}
