//! BoringSSL's BoGo runner: built from a pinned source, run against shims, and summarized by feature.
//!
//! The runner is a Go program with thousands of protocol tests; for each it starts a shim, a program that
//! drives one TLS library according to the test's flags. This crate must never link a TLS library, and it
//! never prints. A test that a shim passes without doing anything proves nothing: the [`Catalog`], made from
//! a run of a shim that only fails, has these tests, and they count for no shim.
//!
//! Start reading at [`Runner::make`], then [`run`], [`coverage_of`] and [`difference_between`];
//! [`StoredOutcomes`] provides coverage and differences without a run.

mod baseline;
mod boringssl;
mod capability;
mod catalog;
mod command;
mod config;
mod coverage;
mod defects;
mod difference;
mod embedded;
mod error;
mod feature;
mod go_shim;
mod linked;
mod matrix;
mod outcomes_file;
mod patterns;
mod results;
mod run;
mod runner;
mod shims;
mod source;
mod stored;
mod tables;
mod topic;

pub use baseline::{Baseline, Departure};
pub use boringssl::boringssl_shim;
pub use catalog::{About, Catalog, Expects};
pub use config::ShimConfig;
pub use coverage::{ShimResults, coverage_of};
pub use defects::defects_of;
pub use difference::difference_between;
pub use embedded::OutcomesIn;
pub use error::BogoError;
pub use feature::{FEATURES, Feature, Features};
pub use go_shim::{GoShim, go_shim};
pub use linked::{LinkedLibrary, linked_library};
pub use matrix::matrix_of;
pub use patterns::TestPatterns;
pub use results::{Results, TestResult};
pub use run::{RunOptions, run};
pub use runner::Runner;
pub use shims::{
    GoToolchain, KNOWN_SHIMS, KnownShim, LibraryVersion, MadeBy, NULL_SHIM, SHIMS_FOLDER,
    SHIMS_PACKAGE, ShimExecutable,
};
pub use stored::{StoredOutcomes, catalog_path, outcomes_path, store};
pub use topic::{TOPICS, Topic};
