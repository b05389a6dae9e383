use super::{Format, Options};
use crate::document::Document;

pub(super) const FORMAT: Format = Format::new(
    "json",
    "json",
    "The whole summary, as netbench/schemas/ describes it",
    render,
);

fn render(document: &Document<'_>, _: &Options) -> Vec<u8> {
    let bytes = match document.data.as_slice() {
        [only] => serde_json::to_vec_pretty(only),
        all => serde_json::to_vec_pretty(all),
    };
    let mut bytes = bytes.unwrap_or_default();
    bytes.push(b'\n');
    bytes
}
