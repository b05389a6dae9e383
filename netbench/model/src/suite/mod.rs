//! The plan and the samples of the in-memory suite, and the catalogue of its scenarios.

mod catalogue;
mod run;
mod sample;
mod system_calls;

pub use catalogue::{Preset, catalogue};
pub use run::{IdleReference, LayoutRecord, PinRecord, SuiteManifest, SuitePlan};
pub use sample::{Distribution, SliceFigures, SuiteMeasured, SuiteOutcome, SuiteSample};
pub use system_calls::{MEMORY_CALLS, SystemCalls};
