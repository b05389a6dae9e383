//! The questions about each stack of a run, as cards for a pair and as a table for more stacks.

use netbench_model::{Part, Target};

use super::{SuiteSummary, charts::is_measured};
use crate::{
    Asked,
    document::{Item, Table},
    evaluation::{Evidence, Subject, fast},
    text::in_place_of,
};

/// The id of the section with the run's figures.
pub(super) const SECTION: &str = "suite";

/// Returns, for each stack in place of the first, whether it is fast enough.
pub(super) fn questions(summary: &SuiteSummary) -> Vec<Asked> {
    let mut stacks = summary.run.stacks.iter().map(|(name, _)| name);
    let Some(from) = stacks.next() else {
        return Vec::new();
    };
    let stacks = stacks.filter(|stack| is_measured(summary, stack));
    stacks
        .map(|to| Asked {
            subject: Subject::Fast,
            question: fast::answer_in_memory(&Evidence {
                suites: vec![summary],
                ..Evidence::of([from, to], Target::Lab, &summary.head.thresholds)
            }),
            about: in_place_of(&[from.as_str(), to.as_str()]),
            section: Some(SECTION.to_owned()),
            warnings: summary.warnings.clone(),
            ..Asked::default()
        })
        .collect()
}

/// Builds a row for each stack with its answer: cards have room for a pair.
pub(super) fn answers(summary: &SuiteSummary) -> Vec<Item> {
    let Some((first, _)) = summary.run.stacks.first() else {
        return Vec::new();
    };
    let what = match only_sizes(summary) {
        true => format!("Does the stack take no more memory than {first}?"),
        false => format!("Is the stack fast enough in memory, in place of {first}?"),
    };
    let others = summary.run.stacks.iter().skip(1);
    let others = others.filter(|(name, _)| is_measured(summary, name));
    Table::of(others.zip(questions(summary)))
        .text("stack", 0, |((name, _), _)| name)
        .text("version", 2, |((_, about), _)| about)
        .text("answer", 0, |(_, asked)| asked.question.answer.words())
        .text("because", 1, |(_, asked)| asked.question.because.clone())
        .under(what)
}

/// Returns whether the run measured sizes alone.
pub(super) fn only_sizes(summary: &SuiteSummary) -> bool {
    summary.cases.iter().all(|case| case.part == Part::Memory)
}
