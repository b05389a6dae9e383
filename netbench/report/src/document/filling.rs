//! The columns of a table, which are filled from the items of its rows.

use std::mem;

use netbench_model::Target;
use netbench_stats::{Interval, RoundsNeeded};

use super::{Align, Column, Excerpt, Folded, Item, Section, Table};
use crate::{
    cell::Cell,
    text::{shorten, site_words, would_decide},
};

/// A table whose columns are being added.
pub(crate) struct Filling<T> {
    pub(super) items: Vec<T>,
    pub(super) table: Table,
    /// The stack of the columns that are being added, if their names do not include it.
    pub(super) stack: Option<String>,
}

impl<T> Filling<T> {
    /// Adds a column. It is aligned to the right if it has figures.
    pub(crate) fn col<C: Into<Cell>>(
        mut self,
        name: &str,
        rank: u8,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        let mut align = Align::Left;
        for (row, item) in self.table.rows.iter_mut().zip(&self.items) {
            let cell = cell(item).into();
            if cell.is_figure() {
                align = Align::Right;
            }
            row.push(cell);
        }
        self.table.columns.push(Column {
            name: name.to_owned(),
            stack: self.stack.clone(),
            align,
            rank,
        });
        self
    }

    /// Adds columns of a stack that their names do not include. An empty name is of no stack.
    pub(crate) fn of_stack(mut self, stack: &str, columns: impl FnOnce(Self) -> Self) -> Self {
        let stack = (!stack.is_empty()).then(|| stack.to_owned());
        let outer = mem::replace(&mut self.stack, stack);
        let mut table = columns(self);
        table.stack = outer;
        table
    }

    pub(crate) fn text<W: ToString>(self, name: &str, rank: u8, words: impl Fn(&T) -> W) -> Self {
        self.col(name, rank, |item| Cell::text(words(item)))
    }

    /// Adds a column of words that some rows lack.
    pub(crate) fn optional<W: ToString>(
        self,
        name: &str,
        rank: u8,
        words: impl Fn(&T) -> Option<W>,
    ) -> Self {
        self.col(name, rank, |item| words(item).map(Cell::text))
    }

    /// Adds a column with the beginnings of long texts.
    pub(crate) fn short<W: AsRef<str>>(
        self,
        name: &str,
        rank: u8,
        words: impl Fn(&T) -> W,
    ) -> Self {
        self.text(name, rank, |item| shorten(words(item).as_ref()))
    }

    pub(crate) fn count<N: TryInto<u64>>(
        self,
        name: &str,
        rank: u8,
        count: impl Fn(&T) -> N,
    ) -> Self {
        self.col(name, rank, |item| Cell::count(count(item)))
    }

    /// Adds a column of the intervals of ratios, shown as changes.
    pub(crate) fn interval(
        self,
        name: &str,
        rank: u8,
        interval: impl Fn(&T) -> Option<Interval>,
    ) -> Self {
        self.col(name, rank, |item| Cell::Changes(interval(item)))
    }

    /// Adds a column if it has a name.
    pub(crate) fn col_if<C: Into<Cell>>(
        self,
        name: Option<&str>,
        rank: u8,
        cell: impl Fn(&T) -> C,
    ) -> Self {
        match name {
            Some(name) => self.col(name, rank, cell),
            None => self,
        }
    }

    /// Adds a column for each name. The cells are given the number of their column among these.
    pub(crate) fn cols<C: Into<Cell>>(
        self,
        names: impl IntoIterator<Item = impl ToString>,
        cell: impl Fn(&T, usize) -> C,
    ) -> Self {
        let names = names.into_iter().enumerate();
        names.fold(self, |table, (number, name)| {
            table.col(&name.to_string(), 0, |row| cell(row, number))
        })
    }

    /// Adds the column with the names of the sites of a target.
    pub(crate) fn site(self, target: Target, site: impl Fn(&T) -> &str) -> Self {
        let [one, _] = site_words(target);
        self.text(one, 0, |item| site(item).to_owned())
    }

    /// Adds a column whose cells name several sites of a target.
    pub(crate) fn which_sites(
        self,
        target: Target,
        rank: u8,
        sites: impl Fn(&T) -> String,
    ) -> Self {
        let [_, more] = site_words(target);
        self.text(&format!("which {more}"), rank, sites)
    }

    /// Adds a column with the rounds that would decide each undecided row, if there is such a row.
    pub(crate) fn would_decide(self, needed: impl Fn(&T) -> Option<RoundsNeeded>) -> Self {
        if self.items.iter().all(|item| needed(item).is_none()) {
            return self;
        }
        self.optional("would decide", 0, |item| needed(item).map(would_decide))
    }

    /// Sets the caption, for a table whose subject the preceding heading does not state.
    pub(crate) fn caption(mut self, caption: impl Into<String>) -> Self {
        self.table.caption = caption.into();
        self
    }

    /// Sets the rows that text formats show.
    pub(crate) fn excerpt(mut self, excerpt: Excerpt) -> Self {
        self.table.excerpt = excerpt;
        self
    }

    /// Makes a page show the table unfolded, regardless of its length.
    pub(crate) fn unfolded(mut self) -> Self {
        self.table.folded = Folded::Never;
        self
    }

    pub(crate) fn table(self) -> Table {
        self.table
    }

    /// Returns the table under a heading; empty if there are no rows.
    pub(crate) fn under(self, heading: impl Into<String>) -> Vec<Item> {
        match self.if_any() {
            Some(table) => vec![Item::heading(heading), table],
            None => Vec::new(),
        }
    }

    /// Returns the table; `None` if there are no rows.
    pub(crate) fn if_any(self) -> Option<Item> {
        (!self.table.rows.is_empty()).then(|| self.item())
    }

    /// Returns a section that has only the table; `None` if there are no rows.
    pub(crate) fn section(self, id: &str, heading: impl Into<String>) -> Option<Section> {
        let table = self.if_any()?;
        Some(Section::new(id, heading, vec![table]))
    }

    /// Returns the table, or these words if there are no rows.
    pub(crate) fn item_or(self, words: &str) -> Item {
        self.if_any().unwrap_or_else(|| Item::text(words))
    }

    pub(crate) fn item(self) -> Item {
        Item::Table(self.table)
    }
}

/// Defines the functions that add columns of one kind of values, which some rows may lack.
macro_rules! columns {
    ($($(#[$about:meta])* $column:ident: $cell:ident,)*) => {
        impl<T> Filling<T> {
            $($(#[$about])*
            pub(crate) fn $column<V: Into<Option<f64>>>(
                self,
                name: &str,
                rank: u8,
                value: impl Fn(&T) -> V,
            ) -> Self {
                self.col(name, rank, |item| value(item).into().map(Cell::$cell))
            })*
        }
    };
}

columns!(
    /// Adds a column of times in nanoseconds.
    time: Time,
    /// Adds a column of differences in nanoseconds, with their signs.
    difference: TimeDifference,
    /// Adds a column of ratios, shown as changes.
    ratio: Change,
    /// Adds a column of ratios, shown as factors.
    factor: Factor,
    /// Adds a column of sizes.
    bytes: Bytes,
);
