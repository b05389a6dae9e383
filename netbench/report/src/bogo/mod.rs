//! What stacks passed of BoringSSL's tests, and how two of them differ.

mod chart;
mod defects;
mod document;
mod matrix;

pub(crate) use document::features_sections;
