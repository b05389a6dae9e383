//! What stacks passed of the BoGo tests, and how two of them differ, in each form.

use ::csv::{Terminator, WriterBuilder};
use netbench_bogo::{Coverage, Difference};
use serde::Serialize;

use crate::{
    bogo_document::{coverage_document, difference_document},
    bogo_table::{coverage_rows, difference_rows},
    markdown,
    terminal::{self, Style},
};

/// A form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Tables for a terminal of so many columns.
    Terminal(usize, Style),
    /// Markdown with GitHub's tables.
    Markdown,
    /// One value a row.
    Csv,
    /// As `schemas/bogo-coverage.json` and `schemas/bogo-difference.json` describe it.
    Json,
}

/// The coverage table in a form.
pub fn coverage(coverage: &Coverage, form: Form) -> Vec<u8> {
    match form {
        Form::Terminal(width, style) => terminal::blocks(coverage_document(coverage), width, style),
        Form::Markdown => markdown::blocks(coverage_document(coverage)),
        Form::Csv => csv(&coverage_rows(coverage)),
        Form::Json => json(coverage),
    }
}

/// The difference view in a form.
pub fn difference(difference: &Difference, form: Form) -> Vec<u8> {
    match form {
        Form::Terminal(width, style) => {
            terminal::blocks(difference_document(difference), width, style)
        }
        Form::Markdown => markdown::blocks(difference_document(difference)),
        Form::Csv => csv(&difference_rows(difference)),
        Form::Json => json(difference),
    }
}

fn csv(rows: &[Vec<String>]) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    for row in rows {
        // Writing to memory does not fail.
        let _written = writer.write_record(row);
    }
    writer.into_inner().unwrap_or_default()
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
