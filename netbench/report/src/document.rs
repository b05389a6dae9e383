//! A report, independent of its format.

use std::borrow::Cow;

use netbench_model::{Environment, Manifest, Target, WorkerRecord};
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;

use crate::{
    RunHead,
    cell::Cell,
    evaluation::question::{Asked, Subject},
};

mod chart;
mod checks;
mod filling;
mod outline;

pub(crate) use chart::{
    Bar, BarGroup, Bars, Chart, Colours, Dot, Dots, Drawing, Heat, HeatCell, Line, Lines, Matrix,
    MatrixRow, Point, Points, Ranked, Ranking, Scatter, Series,
};
pub(crate) use checks::{Check, CheckSuite, Checked};
pub(crate) use filling::Filling;
pub(crate) use outline::Part;

/// A value that has a report.
pub trait Report {
    /// Returns whether there is a figure to read.
    fn tells(&self) -> bool {
        true
    }

    /// Returns whether all checks passed.
    fn passes(&self) -> bool {
        true
    }

    /// Returns the report, which any of [`crate::FORMATS`] turns into bytes: [`crate::Format::extent`] states how much
    /// of it the format shows.
    fn document(&self, extent: Extent) -> Document<'_>;
}

/// A report. Its texts are as they came; formats make them harmless.
#[derive(Default)]
pub struct Document<'a> {
    /// The command whose report it is: `connect`.
    pub kind: &'static str,
    /// The place of its sections in the report of an evaluation.
    pub(crate) place: Place,
    /// The title: `netbench connect: a-run`.
    pub title: String,
    /// The compared stacks: `rustls-aws-lc in place of openssl`. Empty if the report compares no stacks.
    pub about: String,
    /// The run's name; empty if the report is of no run.
    pub name: String,
    /// The origin and the date: `a-run (netbench 0.1.0, started …)`. Empty if the report is of no run.
    pub made: String,
    /// A description of the measurement, for a reader who has never seen the tool.
    pub lead: String,
    /// All answers in one sentence; empty if there is no decision to make.
    pub sentence: String,
    /// Questions of a decision maker, with their answers.
    pub questions: Vec<Asked>,
    /// The differences of each pair of stacks, a line for each.
    pub(crate) differences: Vec<String>,
    /// The rest, in order.
    pub sections: Vec<Section>,
    /// The machines that the report depends on.
    pub(crate) machines: Vec<Machine<'a>>,
    /// The checks, passed and failed, for JUnit.
    pub(crate) checks: Vec<CheckSuite>,
    /// The summary, for JSON and CSV; several if runs are shown side by side.
    pub(crate) data: Vec<&'a dyn Data>,
    /// The target of the sites that `data` and `of_parts` name, for CSV; none where they name no sites.
    pub(crate) sites: Option<Target>,
    /// Summaries of its parts that are not in `data`, for CSV.
    pub(crate) of_parts: Vec<(&'static str, &'a dyn Data)>,
}

/// The place of a part's sections in the report of an evaluation, in the order of the places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum Place {
    /// The sections of connections, which come first.
    Connections,
    /// The sections of all other parts.
    #[default]
    Others,
    /// The sections of scans, which come last. Their data is in no other summary.
    Scans,
}

/// A summary, with the schema that declares its keys and units.
pub(crate) trait Data: erased_serde::Serialize {
    /// Returns the schema of the summary.
    fn schema(&self) -> Schema;
}

impl<T: Serialize + JsonSchema> Data for T {
    fn schema(&self) -> Schema {
        schema_for!(T)
    }
}

erased_serde::serialize_trait_object!(Data);

/// The machine of a run, and its workers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine<'a> {
    /// The run's name.
    pub(crate) run: &'a str,
    pub(crate) environment: &'a Environment,
    /// The processes that measured and served.
    pub(crate) workers: &'a [WorkerRecord],
}

/// A part of a report.
#[derive(Default)]
pub struct Section {
    /// Its id, unique in the document: letters, digits and hyphens.
    pub id: String,
    /// Its heading; empty if the title suffices.
    pub heading: String,
    /// A paragraph that explains the section.
    pub explanation: String,
    /// The contents, in order.
    pub(crate) items: Vec<Item>,
    /// The reason why the section, or a part of it, is missing.
    pub missing: Option<String>,
    /// Whether a page shows only the heading until a reader unfolds the section. Formats without folds show the whole.
    pub(crate) is_folded: bool,
    /// The question of an evaluation whose details it has.
    pub(crate) details_of: Option<Subject>,
}

/// The extent of a report. All checks and data are in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The part that fits on a terminal.
    Brief,
    /// The whole, with the sections that only a format with charts has room for.
    Full,
}

/// An element of a section.
pub(crate) enum Item {
    Heading(String),
    Text(String),
    /// The sentence for a reader in a hurry.
    Headline(String),
    /// A warning that a reader must know before quoting a figure.
    Warning(String),
    /// Charts, for formats that draw: several are small and side by side.
    Charts(Vec<Chart>),
    Table(Table),
}

/// A table. Columns with a `rank` above 0 may be left out if there is no room, the highest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Table {
    /// The caption; empty if the preceding heading suffices.
    pub(crate) caption: String,
    pub(crate) columns: Vec<Column>,
    /// Its rows, each with a cell for each column.
    pub(crate) rows: Vec<Vec<Cell>>,
    /// The rows that text formats show.
    pub(crate) excerpt: Excerpt,
    /// Whether a page shows only the heading until a reader unfolds the table.
    pub(crate) folded: Folded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// The stack of the figures, if the name does not include it. Formats with room name it.
    pub(crate) stack: Option<String>,
    pub(crate) align: Align,
    /// The priority for leaving the column out; 0 means never.
    pub(crate) rank: u8,
}

/// The alignment of a cell: words to the left, figures to the right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// The condition under which a page folds a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Folded {
    /// The table is folded if it is long.
    Long,
    /// The table is never folded: the report exists to show it.
    Never,
}

/// The rows of a table that text formats show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excerpt {
    Whole,
    /// This many rows at either end.
    Ends(usize),
    /// The first rows, of this number.
    First(usize),
}

impl<'a> Document<'a> {
    /// Returns an empty document of this kind.
    pub(crate) fn new(kind: &'static str, title: String) -> Self {
        Self {
            kind,
            title,
            ..Self::default()
        }
    }

    /// Returns a document with one section, which shows the data.
    pub(crate) fn of_section(
        kind: &'static str,
        title: impl Into<String>,
        section: Section,
        data: &'a dyn Data,
    ) -> Self {
        Self {
            sections: vec![section],
            data: vec![data],
            ..Self::new(kind, title.into())
        }
    }

    /// Returns the document of a run, which shows the data.
    pub(crate) fn of_run(kind: &'static str, run: &RunHead, data: &'a dyn Data) -> Self {
        let RunHead {
            name,
            netbench,
            started,
            ..
        } = run;
        Self {
            name: name.clone(),
            made: format!("{name} (netbench {netbench}, started {started})"),
            data: vec![data],
            ..Self::new(kind, format!("netbench {kind}: {name}"))
        }
    }

    /// Joins several documents side by side: ids get a number and headings the run's name.
    pub fn side_by_side(documents: Vec<Self>) -> Self {
        let mut documents = documents;
        if documents.len() == 1
            && let Some(only) = documents.pop()
        {
            return only;
        }
        let title = format!("{} runs side by side", documents.len());
        let kind = documents.first().map_or("report", |first| first.kind);
        let mut all = Self::new(kind, title);
        let (mut leads, mut sentences, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for (number, mut document) in documents.into_iter().enumerate() {
            document.number(number + 1);
            for section in &mut document.sections {
                section.heading = format!("{}: {}", section.heading, document.name);
            }
            for asked in &mut document.questions {
                asked.about = format!("{}, {}", asked.about, document.name);
            }
            leads.push(document.lead);
            if !document.sentence.is_empty() {
                sentences.push(format!("{}: {}", document.name, document.sentence));
            }
            made.push(document.made);
            all.questions.append(&mut document.questions);
            all.differences.append(&mut document.differences);
            all.sections.append(&mut document.sections);
            all.sites = all.sites.or(document.sites);
            all.machines.append(&mut document.machines);
            all.checks.append(&mut document.checks);
            all.data.append(&mut document.data);
        }
        all.lead = leads.join(" ");
        all.sentence = sentences.join(" ");
        all.made = made.join(", ");
        all
    }

    /// Appends the document's number to the ids of its sections.
    pub(crate) fn number(&mut self, number: usize) {
        for section in &mut self.sections {
            section.id = format!("{}-{number}", section.id);
        }
        for asked in &mut self.questions {
            for section in [&mut asked.section, &mut asked.act].into_iter().flatten() {
                *section = format!("{section}-{number}");
            }
        }
    }
}

impl Section {
    /// Returns a section without an explanation.
    pub(crate) fn new(id: &str, heading: impl Into<String>, items: Vec<Item>) -> Self {
        Self {
            id: id.to_owned(),
            heading: heading.into(),
            items,
            ..Self::default()
        }
    }

    pub(crate) fn explained(self, explanation: impl Into<String>) -> Self {
        Self {
            explanation: explanation.into(),
            ..self
        }
    }

    pub(crate) fn missing(self, missing: Option<impl Into<String>>) -> Self {
        Self {
            missing: missing.map(Into::into),
            ..self
        }
    }

    /// Makes a page show only the heading until a reader unfolds the section.
    pub(crate) fn folded(self) -> Self {
        Self {
            is_folded: true,
            ..self
        }
    }

    /// Returns a section without a heading, for a document with only one section.
    pub(crate) fn only(items: Vec<Item>) -> Self {
        Self {
            id: "report".to_owned(),
            items,
            ..Self::default()
        }
    }
}

impl<'a> Machine<'a> {
    pub(crate) fn of<P>(run: &'a Manifest<P>) -> Self {
        Self {
            run: &run.name,
            environment: &run.environment,
            workers: &run.workers,
        }
    }
}

impl Item {
    pub(crate) fn warnings(texts: &[String]) -> impl Iterator<Item = Self> {
        texts.iter().cloned().map(Self::Warning)
    }

    pub(crate) fn heading(text: impl Into<String>) -> Self {
        Self::Heading(text.into())
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }
}

impl Table {
    /// Returns a table with a row for each item; columns are added with functions that make their cells.
    pub(crate) fn of<T>(items: impl IntoIterator<Item = T>) -> Filling<T> {
        let items: Vec<T> = items.into_iter().collect();
        Filling {
            table: Self {
                caption: String::new(),
                columns: Vec::new(),
                rows: vec![Vec::new(); items.len()],
                excerpt: Excerpt::Whole,
                folded: Folded::Long,
            },
            items,
            stack: None,
        }
    }

    /// Returns the rows that text formats show; one of them states how many are left out.
    pub(crate) fn shown(&self) -> Vec<Cow<'_, [Cell]>> {
        let (first, last) = match self.excerpt {
            Excerpt::Whole => (self.rows.len(), 0),
            Excerpt::Ends(count) => (count, count),
            Excerpt::First(count) => (count, 0),
        };
        let rows = self.rows.iter().map(|row| Cow::Borrowed(row.as_slice()));
        let mut shown: Vec<Cow<'_, [Cell]>> = rows.collect();
        let hidden = shown.len().saturating_sub(first + last);
        // A line stating that two rows are left out is no shorter than the rows.
        if hidden > 2 {
            let mut gap = vec![Cell::text(""); self.columns.len()];
            gap[0] = Cell::text(format!("… {hidden} more"));
            shown.splice(first..first + hidden, [Cow::Owned(gap)]);
        }
        shown
    }
}
