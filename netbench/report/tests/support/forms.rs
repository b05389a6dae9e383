//! Reports in their forms, as text.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::unwrap_used,
    reason = "each test binary uses some of it"
)]

use netbench_report::{Document, Options, Report, Style, form};

/// A report in the form of this name.
pub fn render(report: &dyn Report, name: &str) -> String {
    in_options(report, name, &Options::default())
}

/// A report for a terminal of `width` columns.
pub fn terminal(report: &dyn Report, width: usize) -> String {
    let options = Options {
        width,
        style: Style::Plain,
    };
    in_options(report, "terminal", &options)
}

/// A report in the form of this name, as asked for.
pub fn in_options(report: &dyn Report, name: &str, options: &Options) -> String {
    String::from_utf8(form(name).unwrap().of(report, options)).unwrap()
}

/// A document in the form of this name.
pub fn in_form(document: &Document<'_>, name: &str, options: &Options) -> String {
    String::from_utf8((form(name).unwrap().render)(document, options)).unwrap()
}
