//! JSON, as the schemas under `schemas/` describe it.

use crate::block::Document;

/// The summary as one JSON document with a last line end.
pub fn render(summary: &impl Document) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(summary).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
