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

impl Block {
    /// Each of these texts as a warning.
    pub(crate) fn warnings(texts: &[String]) -> impl Iterator<Item = Self> {
        texts.iter().map(|text| Self::Warning(plain(text)))
    }
}

impl Table {
    /// A table with a row for each item; columns are added with what their cells are made of.
    pub(crate) fn of<T>(items: impl IntoIterator<Item = T>) -> Filling<T> {
        let items: Vec<T> = items.into_iter().collect();
        Filling {
            columns: Vec::new(),
            rows: vec![Vec::new(); items.len()],
            items,
        }
    }
}

/// A table as its columns are added.
pub(crate) struct Filling<T> {
    items: Vec<T>,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

impl<T> Filling<T> {
    /// A column of words.
    pub(crate) fn left(self, name: &str, rank: u8, cell: impl Fn(&T) -> String) -> Self {
        self.column(left(name, rank), cell)
    }

    /// A column of figures.
    pub(crate) fn right(self, name: &str, rank: u8, cell: impl Fn(&T) -> String) -> Self {
        self.column(right(name, rank), cell)
    }

    fn column(mut self, column: Column, cell: impl Fn(&T) -> String) -> Self {
        self.columns.push(column);
        for (row, item) in self.rows.iter_mut().zip(&self.items) {
            row.push(cell(item));
        }
        self
    }

    pub(crate) fn block(self) -> Block {
        Block::Table(Table {
            columns: self.columns,
            rows: self.rows,
        })
    }
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
