//! The work of the in-memory suite: the scenarios, their measures, and figures that workers report.

mod figures;
mod measure;
mod name;
mod primitive;
mod scenario;

pub use figures::{HeapUse, Held, ReferenceFigures};
pub use measure::{Case, Measure, Unit, burst_bytes};
pub use primitive::Primitive;
pub use scenario::{
    Aead, ClientAuth, HandshakeKind, HeapState, HeldAfter, ParallelWork, Part, RootsForm, Scenario,
    SessionSettings, Timing, Work,
};
