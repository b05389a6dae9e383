//! Execution of a plan: starts workers, sends trials, verifies and appends samples.
//!
//! This crate must never print, never compute a figure from samples, and never let a worker's fault end a run.
//! Start reading at [`Trials`], then [`execute`]; `schedule.rs` defines the order of trials. The in-memory suite is
//! in `suite/`: [`SuiteTrials`], then [`execute_suite`]. [`scan`] has the requests of a scan to stacks, [`compat`]
//! tests servers of every kind, [`chains`] and [`roots`] test verifiers, [`browser`] makes browsers visit sites, and
//! [`features`] tests them with pages.

mod abilities;
pub mod browser;
pub mod chains;
mod clock;
pub mod compat;
mod ech;
mod environment;
mod event;
mod execute;
pub mod features;
mod groups;
mod lab_targets;
mod launch;
mod nonsense;
mod plan;
mod proof;
mod queue;
mod replay;
mod requests;
mod resolve;
mod restarted;
pub mod roots;
pub mod scan;
mod schedule;
mod seats;
mod side_by_side;
mod slot;
mod suite;
mod targets;
mod throttle;
mod worker;
mod workers;

pub use ech::zone;
pub use environment::environment;
pub use event::{Event, Listener};
pub use execute::{RunError, execute};
pub use groups::end_workers;
pub use lab_targets::LabTargets;
pub use launch::{Launch, Layout};
pub use plan::Trials;
pub use resolve::{resolve, unresolved};
pub use schedule::{Unit, schedule};
pub use slot::TIME_OUTS;
pub use suite::{
    COUNTED_ROUNDS, MIN_TURNS, MaterialError, Materials, SuiteEvent, SuiteFeedback, SuiteListener,
    SuiteTrials, THREADS_TURN, WARM_UP, execute_suite, prove_held, prove_prepared, prove_slice,
};
pub use targets::{HostAddress, Targets, TargetsError};
pub use worker::{Worker, WorkerError};
pub use workers::{StackError, WorkerProgram, Workers};
