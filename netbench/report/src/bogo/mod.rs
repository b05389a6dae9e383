//! Results of BoringSSL's tests for stacks, and the differences between two stacks.

mod defects;
mod document;
mod lost;
mod matrix;

pub(crate) use document::features_sections;
pub(crate) use lost::{Lost, LostFeature};
