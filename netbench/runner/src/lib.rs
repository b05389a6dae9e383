//! Execution of a plan: starts workers, sends trials, verifies and appends samples.
//!
//! This crate must never print, never compute a figure from samples, and never let a worker's fault end a run.
//! Start reading at [`Plan`], then [`execute`]; `schedule.rs` defines the order of trials. The in-memory suite is
//! in `suite/`: [`SuiteTrials`], then [`execute_suite`]. [`scan`] has the requests of a scan to stacks, [`compat`]
//! tests servers of every kind, [`chains`] and [`roots`] test verifiers, and [`browser`] makes browsers visit
//! sites.

pub mod browser;
pub mod chains;
pub mod compat;
mod environment;
mod event;
mod execute;
mod fips;
mod groups;
mod lab_targets;
mod launch;
mod licences;
mod nonsense;
mod plan;
mod proof;
mod queue;
mod resolve;
pub mod roots;
pub mod scan;
mod schedule;
mod slot;
mod stacks;
mod suite;
mod targets;
mod throttle;
mod versions;
mod worker;

pub use environment::environment;
pub use event::{Event, Listener};
pub use execute::{RunError, execute};
pub use fips::{Fips, stacks_with_fips};
pub use groups::end_workers;
pub use lab_targets::LabTargets;
pub use launch::{Launch, Layout};
pub use licences::{Licence, licences};
pub use plan::Plan;
pub use resolve::{resolve, unresolved};
pub use schedule::{Unit, schedule};
pub use slot::TIME_OUTS;
pub use stacks::{
    Build, BuildVariant, GO_LINKER, StackError, WorkerProgram, WorkerSource, Workers, go_build,
    installed_servers, is_installed_server, java_build, known_stacks,
};
pub use suite::{
    MIN_TURNS, MaterialError, Materials, SuiteError, SuiteEvent, SuiteFeedback, SuiteListener,
    SuiteTrials, THREADS_TURN, WARM_UP, WrongWork, execute_suite, prove_held, prove_prepared,
    prove_slice,
};
pub use targets::{HostAddress, Targets, TargetsError};
pub use versions::Pin;
pub use worker::{Worker, WorkerError};
