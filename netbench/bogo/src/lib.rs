//! BoringSSL's BoGo runner: made from a pinned source, run against shims, and read feature by feature.
//!
//! The runner is a Go program with thousands of protocol tests; for each it starts a shim, a program
//! that drives one TLS library as the test's flags say. This crate must never know a TLS library, and
//! it never prints. A test that a shim passes by doing nothing proves nothing: the [`Catalog`], made
//! from a run of a shim that only fails, knows those tests, and they count for no one.
//!
//! Start reading at [`Runner::make`], then [`run`], [`Coverage`] and [`Difference`].

mod baseline;
mod boringssl;
mod catalog;
mod command;
mod config;
mod coverage;
mod difference;
mod error;
mod feature;
mod glob;
mod results;
mod run;
mod runner;
mod source;

pub use baseline::{Baseline, Departure, KeptTest};
pub use boringssl::boringssl_shim;
pub use catalog::{Catalog, Expects};
pub use config::{Category, ShimConfig};
pub use coverage::{Coverage, FeatureRow, Half, ShimSummary, Tally};
pub use difference::{Difference, DifferenceGroup};
pub use error::BogoError;
pub use feature::{FEATURES, Feature, Features};
pub use glob::{glob_matches, glob_matches_any};
pub use results::{Ending, Outcome, Results, TestResult};
pub use run::{Errors, Progress, RunOptions, run};
pub use runner::{Runner, RunnerId};
