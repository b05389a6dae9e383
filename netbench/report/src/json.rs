//! JSON, as `schemas/connect-summary.json` describes it.

use crate::ConnectSummary;

/// The summary as one JSON document with a last line end.
pub fn render(summary: &ConnectSummary) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(summary).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
