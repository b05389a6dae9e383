use super::{Form, Goes, Needs, Options, Takes};
use crate::document::{Document, Extent};

/// The summary, as the schemas under `netbench/schemas/` describe it.
pub(super) const FORM: Form = Form {
    name: "json",
    extension: "json",
    about: "The whole summary, as netbench/schemas/ describes it",
    takes: Takes::OneRun,
    goes: Goes::Stdout,
    extent: Extent::Brief,
    needs: Needs::Nothing,
    render,
};

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let bytes = match document.data.as_slice() {
        [only] => serde_json::to_vec_pretty(only),
        all => serde_json::to_vec_pretty(all),
    };
    let mut bytes = bytes.unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
