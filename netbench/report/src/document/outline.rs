use std::borrow::Cow;

use super::{Chart, Document, Item, Section, Table};
use crate::evaluation::question::{Asked, Question};

/// A part of a document as formats without charts show it.
pub(crate) enum Part<'a> {
    /// A heading, by its level: 1 is the title.
    Heading(usize, &'a str),
    /// A paragraph.
    Text(Cow<'a, str>),
    /// The sentence for a reader in a hurry.
    Headline(Cow<'a, str>),
    /// A warning that a reader must know before quoting a figure.
    Warning(Cow<'a, str>),
    /// Lines with a mark before each, below a line that introduces them.
    List(&'static str, Cow<'a, [String]>),
    /// A table.
    Table(Cow<'a, Table>),
}

impl Document<'_> {
    /// Returns all parts except charts, in sequence.
    pub(crate) fn outline(&self) -> Vec<Part<'_>> {
        let mut parts = vec![Part::Heading(1, &self.title), Part::text(&self.lead)];
        if !self.sentence.is_empty() {
            parts.push(Part::Headline(self.sentence.as_str().into()));
        }
        for asked in &self.questions {
            question(&mut parts, asked);
        }
        for section in &self.sections {
            self::section(&mut parts, section);
        }
        parts.retain(|part| !part.is_empty());
        parts
    }

    pub(crate) fn pictures(&self) -> Vec<&Chart> {
        let items = self.sections.iter().flat_map(|section| &section.items);
        let charts = items.filter_map(|item| match item {
            Item::Charts(charts) => Some(charts),
            _ => None,
        });
        charts.flatten().collect()
    }
}

impl Section {
    /// Returns the number of headlines at the beginning. They precede the explanation: a reader wants the answer first.
    pub(crate) fn headlines(&self) -> usize {
        let items = self.items.iter();
        items
            .take_while(|item| matches!(item, Item::Headline(_)))
            .count()
    }
}

fn question<'a>(parts: &mut Vec<Part<'a>>, Asked { question, .. }: &'a Asked) {
    parts.extend([
        Part::Heading(2, &question.question),
        Part::Headline(question.in_a_sentence().into()),
        Part::Table(Cow::Owned(figures(question))),
    ]);
    let worst = question.worst().into_iter();
    parts.extend(worst.map(|(lead, lines)| Part::List(lead, Cow::Owned(lines))));
    parts.push(Part::List(
        "What would change for the better:",
        Cow::Borrowed(&question.gains),
    ));
    let missing = question.missing.iter();
    parts.extend(missing.map(|line| Part::Warning(format!("not tested: {line}").into())));
}

/// Returns the table of the figures that carry an answer.
fn figures(question: &Question) -> Table {
    let table = Table::of(&question.figures)
        .text("figure", 0, |figure| &figure.value)
        .text("of what", 0, |figure| &figure.label);
    table.table()
}

fn section<'a>(parts: &mut Vec<Part<'a>>, section: &'a Section) {
    let inside = if section.heading.is_empty() { 2 } else { 3 };
    let explanation = [
        Part::text(&section.explanation),
        Part::text(section.missing.as_deref().unwrap_or_default()),
    ];
    parts.push(Part::Heading(2, &section.heading));
    let begin = parts.len() + section.headlines();
    for (at, item) in section.items.iter().enumerate() {
        parts.push(match item {
            Item::Heading(_) if only_charts_follow(&section.items[at + 1..]) => continue,
            Item::Charts(_) => continue,
            Item::Heading(text) => Part::Heading(inside, text),
            Item::Text(text) => Part::text(text),
            Item::Headline(text) => Part::Headline(text.into()),
            Item::Warning(text) => Part::Warning(text.into()),
            Item::Table(table) => Part::Table(Cow::Borrowed(table)),
        });
    }
    parts.splice(begin..begin, explanation);
}

/// Returns whether the heading before these items has only charts under it.
fn only_charts_follow(items: &[Item]) -> bool {
    let mut other = items
        .iter()
        .skip_while(|item| matches!(item, Item::Charts(_)));
    matches!(items.first(), Some(Item::Charts(_)))
        && matches!(other.next(), None | Some(Item::Heading(_)))
}

impl<'a> Part<'a> {
    fn text(text: &'a str) -> Self {
        Self::Text(text.into())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Heading(_, text) => text.is_empty(),
            Self::Text(text) => text.is_empty(),
            Self::List(_, lines) => lines.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Headline(_) | Self::Warning(_) => false,
        }
    }
}
