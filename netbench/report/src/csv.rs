//! CSV, one value a row (RFC 4180, but for line ends of one character).

use crate::{block::Document, rows::Rows};

/// The report as CSV with a header line.
pub fn render(report: &impl Document) -> Vec<u8> {
    let mut rows = Rows::new();
    report.rows(&mut rows);
    rows.finish()
}
