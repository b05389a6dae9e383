//! The document of several joined evaluations: an article about a switch.

use itertools::Itertools;
use jiff::civil::Date;

use super::JoinedEvaluations;
use crate::{
    cell::Cell,
    differences::difference_items,
    document::{Document, Dot, Extent, Item, Report, Section, Table},
    evaluation::{
        Answer, Asked, Subject,
        document::{all_changes, checks},
    },
    row::dots,
    suite::joined_table,
    text::{count, in_place_of},
};

impl Report for JoinedEvaluations {
    fn tells(&self) -> bool {
        let mut questions = self.questions.iter();
        questions.any(|question| question.question.answer != Answer::Open)
            || !self.cases.is_empty()
            || !self.connections.is_empty()
    }

    fn passes(&self) -> bool {
        let mut questions = self.questions.iter();
        questions.all(|question| question.question.answer != Answer::No)
    }

    fn document(&self, _: Extent) -> Document<'_> {
        let about = in_place_of(&[self.from.0.as_str(), self.to.0.as_str()]);
        let questions = Subject::ALL.into_iter().zip(&self.questions);
        let asked = questions.map(|(subject, question)| Asked {
            subject,
            question: question.question.clone(),
            about: about.clone(),
            ..Asked::default()
        });
        let mut sections = Vec::new();
        for (question, number) in self.questions.iter().zip(1..) {
            let shown_by = (question.shown_by.as_slice(), self.runs.len() as u64);
            let id = format!("changes-{number}");
            sections.extend(all_changes(&question.question, &id, Some(shown_by)));
        }
        sections.extend([self.speed(), self.evaluations()]);
        Document {
            lead: self.lead(),
            sentence: self.sentence.clone(),
            questions: asked.collect(),
            sections,
            checks: vec![checks(
                &self.sentence,
                self.questions.iter().map(|joined| &joined.question),
            )],
            data: vec![self],
            ..Document::new("joined-evaluations", self.title())
        }
    }
}

impl JoinedEvaluations {
    /// Returns the title: `Moving a client from OpenSSL to rustls, November 2026`.
    fn title(&self) -> String {
        let [from, to] = [&self.from, &self.to].map(|(stack, library)| match name_of(library) {
            name if name.is_empty() => stack.to_string(),
            name => name,
        });
        let [first, last] = [self.runs.first(), self.runs.last()].map(|run| {
            let date: Option<Date> = run.and_then(|run| run.date().parse().ok());
            date.map(|date| date.strftime("%B %Y").to_string())
        });
        let when = [first, last].into_iter().flatten().unique().join(" to ");
        format!("Moving a client from {from} to {to}, {when}")
    }

    fn lead(&self) -> String {
        let days = self.runs.iter().map(|run| run.date()).unique().count();
        let processors = self.runs.iter().map(|run| &run.processor).unique();
        format!(
            "{} of {}, on {} from {} to {}, each by netbench evaluate: from {} ({}) to {} ({}). Processors: {}.",
            count(self.runs.len(), "evaluation", "evaluations"),
            "the same switch",
            count(days, "day", "days"),
            self.runs.first().map_or("", |run| run.date()),
            self.runs.last().map_or("", |run| run.date()),
            self.from.1,
            self.from.0,
            self.to.1,
            self.to.0,
            processors.format(", ")
        )
    }

    fn speed(&self) -> Section {
        let judged = self.cases.iter().filter_map(|case| {
            let joined = case.joined.filter(|_| case.undecided.is_none())?;
            Some(Dot {
                name: case.name.clone(),
                ratio: joined.ratio,
                interval: Some(joined.interval),
                verdict: joined.verdict,
            })
        });
        let chart = dots(
            format!("Each case in memory: {} beside {}", self.to.0, self.from.0),
            "Dots: the joined ratio; lines: its interval of 95 %, which has the differences between evaluations.".to_owned(),
            [
                format!("{} is faster, or takes less", self.to.0),
                format!("{} is slower, or takes more", self.to.0),
            ],
            judged,
        );
        let mut items = vec![chart];
        items.extend(joined_table(&self.cases, self.runs.len()));
        Section::new("speed", "Every case in memory", items).explained(
            "The evaluations measured each ratio on different days, which vary about the one that is looked for. A case is here if \
             two evaluations have it.",
        )
    }

    /// Returns the section with the evaluations, their answers and their commands.
    fn evaluations(&self) -> Section {
        let mut table = Table::of(self.runs.iter().enumerate())
            .text("evaluation", 0, |(_, run)| &run.evaluation)
            .text("started", 0, |(_, run)| &run.run.started);
        for question in &self.questions {
            table = table.col(&question.question.question, 0, |(at, _)| {
                let answer = question.answers.get(*at).copied().flatten();
                Cell::maybe(answer.map(Answer::words))
            });
        }
        let table = table
            .text("in its own words", 1, |(_, run)| &run.sentence)
            .text("to repeat it", 2, |(_, run)| run.run.again(Some(run.seed)));
        let mut items = vec![table.item()];
        items.extend(self.left_open.iter().map(Item::text));
        items.extend(difference_items(
            "What differs from the first evaluation",
            &self.differences,
        ));
        items.extend(Item::warnings(&self.warnings));
        let section = Section::new("evaluations", "The evaluations", items).explained(
            "An answer stands if every evaluation that gives one gives the same; an evaluation that tested too little leaves a \
             question open.",
        );
        section.folded()
    }
}

/// Returns the name of a library without its version and provider: `OpenSSL` of `OpenSSL 3.5.5 27 Jan 2026`.
fn name_of(library: &str) -> String {
    let words = library.split_whitespace();
    let words = words.take_while(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
