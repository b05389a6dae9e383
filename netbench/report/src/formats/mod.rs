//! The formats of a report: each is one function from a [`Document`] to bytes, and a line in [`FORMATS`].

mod brief;
mod csv;
mod html;
mod json;
mod junit;
mod markdown;
mod sarif;
mod terminal;

use crate::document::{Document, Extent, Report};

/// A format of a report.
#[derive(Debug)]
pub struct Format {
    /// The name, as the value of `--format`.
    pub name: &'static str,
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// A description of a few words.
    pub about: &'static str,
    /// The number of runs that the format accepts.
    pub takes: Takes,
    /// The default destination.
    pub goes: Goes,
    /// The extent of the report that the format shows.
    pub extent: Extent,
    /// The contents that the format requires of a report.
    pub needs: Needs,
    /// Renders the document in this format. `terminal` and `markdown` contain no control sequences of sites or
    /// files.
    pub render: fn(&Document<'_>, &Options) -> Vec<u8>,
}

impl Format {
    /// Returns a text format for one run and the standard output.
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

    /// Returns the reason why this document cannot be written in this format; `None` if it can.
    pub fn unsupported(&self, document: &Document<'_>) -> Option<String> {
        let lacking = match self.needs {
            Needs::Checks if document.checks.is_empty() => "nothing in it passes or fails",
            Needs::Charts if document.pictures().is_empty() => "it has no charts",
            Needs::Nothing | Needs::Checks | Needs::Charts => return None,
        };
        let (format, kind) = (self.name, document.kind);
        Some(format!(
            "there is no {format} of netbench {kind}: {lacking}"
        ))
    }

    /// Renders a report in this format.
    pub fn of(&self, report: &dyn Report, options: &Options) -> Vec<u8> {
        (self.render)(&report.document(self.extent), options)
    }
}

/// The number of runs that a format accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// One run.
    OneRun,
    /// One run, or several side by side.
    SeveralRuns,
}

/// The contents that a format requires of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// No special contents.
    Nothing,
    /// Checks that pass or fail.
    Checks,
    /// Charts.
    Charts,
}

/// The default destination of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goes {
    /// The standard output.
    Stdout,
    /// A file of this name in the run's folder.
    Folder(&'static str),
}

/// Options of formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Number of columns of the terminal.
    pub width: usize,
    /// Whether the terminal has colours.
    pub style: Style,
}

/// Whether to write colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// ANSI colours and bold.
    Color,
    /// Text without escape codes.
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

/// Every format. A new format is a new file and a line here.
pub static FORMATS: [Format; 9] = [
    terminal::FORMAT,
    brief::FORMAT,
    markdown::FORMAT,
    csv::FORMAT,
    json::FORMAT,
    junit::FORMAT,
    sarif::FORMAT,
    html::FORMAT,
    html::PICTURE,
];

/// Returns the format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
