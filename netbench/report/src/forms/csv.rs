use csv::{Terminator, WriterBuilder};

use super::{Form, Goes, Options, Takes};
use crate::{
    document::{Document, Extent},
    figures::Value,
    text::plain,
};

/// One figure a row (RFC 4180, but for line ends of one character).
pub(super) const FORM: Form = Form {
    name: "csv",
    extension: "csv",
    about: "Every figure, one a row",
    takes: Takes::OneRun,
    goes: Goes::Stdout,
    extent: Extent::Brief,
    render,
};

const COLUMNS: [&str; 8] = [
    "table",
    "condition",
    "first",
    "other",
    "item",
    "figure",
    "value",
    "unit",
];

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let mut writer = WriterBuilder::new()
        .terminator(Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Into memory: it cannot fail but for want of it.
    let _ = writer.write_record(COLUMNS);
    for figure in &document.figures {
        let about = &figure.about;
        let value = match &figure.value {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => cell(text),
        };
        let _ = writer.write_record([
            plain(&about.table),
            plain(&about.condition),
            plain(&about.first),
            plain(&about.other),
            cell(&figure.item),
            plain(&figure.figure),
            value,
            plain(&figure.unit),
        ]);
    }
    writer.into_inner().unwrap_or_default()
}

/// A text that no spreadsheet takes for a formula.
fn cell(text: &str) -> String {
    let text = plain(text);
    if text.starts_with(['=', '+', '-', '@']) {
        format!("'{text}")
    } else {
        text
    }
}
