//! The data of the in-memory suite: the scenarios, their measures, and their outcomes.

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
