//! Servers of every kind, what a client should do with each, and what stacks did.

mod embedder;
mod judgement;
mod outside;
mod run;

pub use embedder::{EmbedderView, NextLoad, ToldCertificate};
pub use judgement::{Expected, Judgement, Refusal};
pub use outside::{OutsideClient, OutsideFound, OutsideKind};
pub use run::{CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample};
