//! The in-memory suite as data: what is done, what of it is measured, and what came of it.

mod catalogue;
mod measure;
mod name;
mod run;
mod sample;
mod scenario;

pub use catalogue::{Preset, catalogue};
pub use measure::{Case, Measure, Unit, burst_bytes};
pub use run::{IdleReference, LayoutRecord, PinRecord, SuiteManifest, SuitePlan};
pub use sample::{
    Distribution, HeapUse, Held, ReferenceFigures, SliceFigures, SuiteMeasured, SuiteOutcome,
    SuiteSample,
};
pub use scenario::{
    Aead, ClientAuth, HandshakeKind, HeldAfter, ParallelWork, Part, Primitive, RootsForm, Scenario,
    SessionSettings, Work,
};
