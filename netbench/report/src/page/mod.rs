//! One self-contained HTML page of what runs say: no network, no other file.
//!
//! [`Page`] and what is in it are pure data; [`html`] makes the page of it. Pages of runs are
//! put together from [`connect_section`], [`suite_section`], [`document_section`] and
//! [`environment_section`], with a [`Question`] for each thing that a reader wants to know;
//! [`page_of_runs`] does so for kept runs.

mod chart;
mod connect;
mod connect_charts;
mod coverage;
mod environment;
mod evaluation;
mod explain;
mod html;
mod markup;
mod questions;
mod runs;
mod suite;
mod table;

pub use chart::{
    Bar, BarGroup, Bars, Chart, Dot, Dots, Drawing, Ecdf, Matrix, MatrixRow, Points, Scatter,
    Series,
};
pub use connect::connect_section;
pub use coverage::coverage_chart;
pub use environment::{Machine, environment_section};
pub use evaluation::page_of_evaluation;
pub use explain::explain_section;
pub use html::html;
pub use questions::{fast_enough, fast_in_memory, not_answered, works};
pub use runs::{KeptRun, page_of_runs};
pub use suite::suite_section;
pub use table::{Cell, PageColumn, PageTable};

pub use crate::{Answer, KeyFigure as Figure};

use crate::block::{Block, Document};

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// One sentence on what was compared, for a reader who has never seen the tool.
    pub lead: String,
    /// By what and when it was made.
    pub made: String,
    /// The questions, with their answers, at the top.
    pub questions: Vec<Question>,
    /// The rest, in order.
    pub sections: Vec<Section>,
}

/// A question of someone who decides, and what the runs answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Of what with what: `rustls-aws-lc in place of openssl`.
    pub about: String,
    /// The answer.
    pub answer: Answer,
    /// Why, in one sentence.
    pub why: String,
    /// The one or two figures that carry it.
    pub figures: Vec<Figure>,
    /// What would break, or be worse; each in a few words.
    pub breaks: Vec<String>,
    /// The id of the section that has the rest.
    pub section: Option<String>,
}

/// A part of the page.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Its id on the page, unique there: letters, digits and hyphens.
    pub id: String,
    /// Its heading.
    pub heading: String,
    /// One paragraph on what it shows.
    pub explanation: String,
    /// What is in it, in order.
    pub items: Vec<Item>,
    /// Why it, or some of it, is missing.
    pub missing: Option<String>,
}

/// A thing in a section.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// The sentence for a reader in a hurry.
    Headline(String),
    /// What a reader must know before quoting a figure.
    Warning(String),
    /// A chart of its own.
    Chart(Chart),
    /// Small charts, side by side where there is room.
    Charts(Vec<Chart>),
    /// A table. Long ones are folded.
    Table(PageTable),
}

/// A section of any report: its text and its tables. `heading` takes the place of the report's own.
pub fn document_section(id: &str, heading: &str, report: &impl Document) -> Section {
    let mut blocks = report.blocks().into_iter().peekable();
    if matches!(blocks.peek(), Some(Block::Heading(_))) {
        blocks.next();
    }
    let explanation = match blocks.peek() {
        Some(Block::Text(text)) => {
            let text = text.clone();
            blocks.next();
            text
        }
        _ => String::new(),
    };
    Section {
        id: id.to_owned(),
        heading: heading.to_owned(),
        explanation,
        items: items_of(blocks),
        missing: None,
    }
}

/// The blocks of a report as things in a section. A table is named by the heading before it.
pub fn items_of(blocks: impl IntoIterator<Item = Block>) -> Vec<Item> {
    let mut heading = String::new();
    let item = |block| match block {
        Block::Heading(text) => {
            heading.clone_from(&text);
            Item::Heading(text)
        }
        Block::Text(text) => Item::Text(text),
        Block::Headline(text) => Item::Headline(text),
        Block::Warning(text) => Item::Warning(text),
        Block::Table(table) => Item::Table(PageTable::of_block(&heading, table)),
    };
    blocks.into_iter().map(item).collect()
}
