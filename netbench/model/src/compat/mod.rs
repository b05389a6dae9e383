//! Servers of every kind, the correct behaviour of a client with each, and the behaviour of the stacks.

mod embedder;
mod judgement;
mod outside;
mod run;

pub use embedder::{EmbedderView, NextLoad, ToldCertificate};
pub use judgement::{Expected, Judgement, Refusal};
pub use outside::{OutsideClient, OutsideFound, OutsideKind};
pub use run::{CompatCase, CompatManifest, CompatOutcome, CompatPlan, CompatSample};
