//! TLS and netbench's workers as data: code points, failures, settings of clients and of the lab's servers, scenarios,
//! and the figures that a worker reports.
//!
//! Workers, the worker protocol and shims depend on this crate, so each change to it rebuilds all workers. Data of one
//! kind of run is in `netbench-model`. This crate must never do I/O, read a clock or draw a random number.

mod client;
mod condition;
mod failure;
mod host;
mod lab;
mod link_profile;
mod measured;
pub mod named;
mod page;
mod registry;
mod sanitize;
mod set_up;
mod stack;
mod suite;
mod units;
mod variant;
pub mod wire;
mod worker;

pub use client::{ClientSettings, Profile, TrustOrigin};
pub use condition::{Condition, Role};
pub use failure::{CertificateFault, Failure, FailureClass, FailureReason, FailureWord};
pub use host::{HostName, authority, bracketed, with_port};
pub use lab::{
    ChainProfile, ClientChain, EarlyDataPolicy, EchPolicy, Fault, KeyType, LabProfile, Switch,
};
pub use link_profile::{LinkProfile, LossRate, Queue, Window};
pub use measured::{
    EarlyDataStatus, EchStatus, Measured, Negotiated, Phase, Phases, ReplayStatus, ServerView,
    TcpInfo, Transfer,
};
pub use named::{one_of, suggestion};
pub use page::{ObjectsPage, PageRequest};
pub use registry::{
    Alert, Alpn, Authentication, CipherSuite, CipherSuiteFacts, ExtensionType, FfdheSize, Group,
    GroupKind, KeyExchange, Protection, SignatureScheme, TlsVersion, UnknownName, is_grease,
};
pub use sanitize::{sanitize, sanitize_prefix, shown};
pub use set_up::{ProcessCost, SetUpStep, Spent, StepCost};
pub use stack::StackName;
pub use suite::{
    Aead, Case, ClientAuth, HandshakeKind, HeapState, HeapUse, Held, HeldAfter, Measure,
    ParallelWork, Part, Primitive, ReferenceFigures, RootsForm, Scenario, SessionSettings, Timing,
    Unit, Work, burst_bytes,
};
pub use units::{BitRate, ParseUnitError, parse_bytes, parse_duration, parse_loss, parse_rate};
pub use variant::{Variant, VariantError, Variants};
pub use worker::{ServerCount, WorkerRecord};

/// Returns whether a value is the default of its type, which stored runs leave out.
pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
