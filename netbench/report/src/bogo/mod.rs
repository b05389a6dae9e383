//! What stacks passed of BoringSSL's tests, and how two of them differ.

mod chart;
mod document;
mod figures;

pub(crate) use document::features_sections;
pub(crate) use figures::{coverage as coverage_figures, difference as difference_figures};
