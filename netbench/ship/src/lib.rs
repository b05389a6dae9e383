//! The cost of shipping a stack: a minimal client of hyper is built with the stack, in a separate folder, and
//! the build and its program are measured.
//!
//! This crate must never know a TLS library except through the dependencies of its catalogue, print, or keep
//! a build.
//!
//! Start reading at [`Toolchain::ship`].

mod advisories;
mod build;
mod error;
mod project;
mod providers;
mod sources;
mod tools;

pub use build::{Reuse, Toolchain};
pub use error::ShipError;
pub use project::{BUILT_IN_LOCK, Project, lock_sha256};
pub use providers::providers_of_lock;
