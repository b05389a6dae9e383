//! Artificial runs and evaluations, and reports as text. The tests of the command use them too.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test program uses some of it, and may panic; times are rounded"
)]

pub mod fixture;
pub mod formats;
pub mod made;
pub mod made_parts;
pub mod manifest;
pub mod published;
pub mod rows;
pub mod runs;
pub mod scan_made;
pub mod suite_made;
pub mod whole;
