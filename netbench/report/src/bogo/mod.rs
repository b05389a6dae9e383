//! What stacks passed of BoringSSL's tests, and how two of them differ.

mod defects;
mod document;
mod lost;
mod matrix;

pub(crate) use document::features_sections;
pub(crate) use lost::{Lost, LostFeature, LostVersions};
