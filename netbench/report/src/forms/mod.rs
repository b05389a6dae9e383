//! The forms of a report: each is one function from a [`Document`] to bytes, and a line in [`FORMS`].

mod csv;
mod html;
mod json;
mod junit;
mod markdown;
mod sarif;
mod terminal;

use crate::document::{Document, Extent, Report};

/// A form of a report.
#[derive(Debug)]
pub struct Form {
    /// Its name, as `--format` takes it.
    pub name: &'static str,
    /// How names of its files end, without the dot.
    pub extension: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// Where it goes if nobody says where.
    pub goes: Goes,
    /// How much of a report it shows.
    pub extent: Extent,
    /// What a report must have for it.
    pub needs: Needs,
    /// The document in this form. In `terminal` and `markdown` nothing is obeyed that a site or a file says.
    pub render: fn(&Document<'_>, &Options) -> Vec<u8>,
}

impl Form {
    /// A text of one run for the standard output.
    const fn new(
        name: &'static str,
        extension: &'static str,
        about: &'static str,
        render: fn(&Document<'_>, &Options) -> Vec<u8>,
    ) -> Self {
        Self {
            name,
            extension,
            about,
            takes: Takes::OneRun,
            goes: Goes::Stdout,
            extent: Extent::Brief,
            needs: Needs::Nothing,
            render,
        }
    }

    /// Why there is nothing to write of this document in this form; none where there is.
    pub fn unsupported(&self, document: &Document<'_>) -> Option<String> {
        let lacking = self.needs == Needs::Checks && document.checks.is_empty();
        let (form, kind) = (self.name, document.kind);
        lacking.then(|| {
            format!("there is no {form} of netbench {kind}: nothing in it passes or fails")
        })
    }

    /// A report in this form.
    pub fn of(&self, report: &dyn Report, options: &Options) -> Vec<u8> {
        (self.render)(&report.document(self.extent), options)
    }
}

/// How many runs a form takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// One.
    OneRun,
    /// One, or several side by side.
    SeveralRuns,
}

/// What a report must have for a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing that a report could lack.
    Nothing,
    /// Something that passes or fails.
    Checks,
}

/// Where a form goes if nobody says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goes {
    /// To the standard output.
    Stdout,
    /// Into a file of this name in the run's folder.
    Folder(&'static str),
}

/// What forms may be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Columns of the terminal.
    pub width: usize,
    /// Whether it has colours.
    pub style: Style,
}

/// Whether to write colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// ANSI colours and bold.
    Color,
    /// Text alone.
    Plain,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            width: 100,
            style: Style::Plain,
        }
    }
}

/// Every form. A new one is a file of its own and a line here.
pub static FORMS: [Form; 7] = [
    terminal::FORM,
    markdown::FORM,
    csv::FORM,
    json::FORM,
    junit::FORM,
    sarif::FORM,
    html::FORM,
];

/// The form of this name.
pub fn form(name: &str) -> Option<&'static Form> {
    FORMS.iter().find(|form| form.name == name)
}
