use netbench_stats::Verdict;

use crate::{rows::Rows, text::plain};

/// What has a report: it can be rendered in every form.
pub trait Document: serde::Serialize {
    /// The report, in the order in which its questions are asked. All text is plain already.
    fn blocks(&self) -> Vec<Block>;

    /// Every figure, one to a row.
    fn rows(&self, rows: &mut Rows);
}

/// A part of a report, before it has a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A heading; the first is the title.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// The sentence that a reader in a hurry needs.
    Headline(String),
    /// What a reader must know before quoting a figure.
    Warning(String),
    /// A table.
    Table(Table),
}

/// A table. Columns with a `rank` above 0 may be left out where there is no room, the highest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// To which side its cells are set.
    pub align: Align,
    /// How easily it is left out: 0 never.
    pub rank: u8,
}

/// To which side a cell is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

pub(crate) fn left(name: &str, rank: u8) -> Column {
    Column {
        name: plain(name),
        align: Align::Left,
        rank,
    }
}

pub(crate) fn right(name: &str, rank: u8) -> Column {
    Column {
        name: plain(name),
        align: Align::Right,
        rank,
    }
}

/// The verdict that a cell holds, if it is one: forms may colour it.
pub(crate) fn verdict_of(cell: &str) -> Option<Verdict> {
    match cell {
        "faster" | "smaller" | "fewer" => Some(Verdict::Faster),
        "slower" | "larger" | "more" | "regressed" => Some(Verdict::Slower),
        "same" => Some(Verdict::Same),
        "undecided" => Some(Verdict::Undecided),
        _ => None,
    }
}
