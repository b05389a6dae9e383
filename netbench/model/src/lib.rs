//! The data types of netbench: sites, stacks, samples, runs.
//!
//! This crate contains only data and parsing. It must never do I/O, read a clock or draw a random number. Start reading
//! at [`Sample`], then [`Site`] and [`Manifest`].

pub mod breakage;
pub mod browser;
pub mod chains;
pub mod compat;
mod condition;
mod connect_plan;
mod connect_to;
pub mod coverage;
mod cpu_share;
mod effect;
mod evaluation;
mod failure;
mod library;
mod link_profile;
mod losses;
mod manifest;
mod named;
mod origin;
mod packets;
pub mod roots;
mod run;
mod sample;
mod sanitize;
pub mod scan;
mod scan_run;
mod schema1;
mod set_up;
pub mod ship;
mod site;
mod sites_file;
mod stack;
mod suite;
mod sweep;
mod tally;
pub mod tls;
mod units;
mod urls;
mod variant;

pub use condition::{Condition, Role};
pub use connect_plan::{
    ClientCertificate, ClientSettings, ConnectManifest, ConnectPlan, Profile, RequestRecord,
    RootsRecord, RootsSource, Target,
};
pub use connect_to::{ConnectTo, destination};
pub use cpu_share::{CpuShare, NoCpuShare};
pub use effect::{Accepts, ClientUse, Standing, SwitchEffect, Weight};
pub use evaluation::{
    ConnectionSettings, Depth, EvaluationManifest, EvaluationPlan, Losses, LostSite, Outside,
    OutsideSite, PartRecord, PartState,
};
pub use failure::{CertificateFault, Failure, FailureClass, FailureReason, FailureWord};
pub use library::Library;
pub use link_profile::{LinkProfile, LossRate, Queue};
pub use losses::{LinkDirection, LossLog, PacketLoad, SameLosses, same_losses};
pub use manifest::{Kind, Manifest, Plan, Record, ServerCount, Session};
pub use named::suggestion;
pub use origin::{MergedRun, Origin, Shard, ShardRecord};
pub use packets::{AckWait, LinkPackets};
pub use run::{Environment, LinkCheck, LinkKind, LinkRecord, WorkerRecord};
pub use sample::{
    Measured, Negotiated, Outcome, Phase, Phases, Sample, SampleKey, ServerView, TcpInfo, Transfer,
};
pub use sanitize::{sanitize, sanitize_prefix};
pub use scan_run::{ScanManifest, ScanPlan, StartTls};
pub use schema1::upgrade_manifest;
pub use set_up::{ProcessCost, SetUpStep, Spent, StepCost};
pub use site::{ChainProfile, Fault, HostName, KeyType, LabProfile, Site, Switch};
pub use sites_file::{SiteError, parse_sites};
pub use stack::StackName;
pub use suite::{
    Aead, Case, ClientAuth, Distribution, HandshakeKind, HeapUse, Held, HeldAfter, IdleReference,
    LayoutRecord, Measure, ParallelWork, Part, PinRecord, Preset, Primitive, ReferenceFigures,
    RootsForm, Scenario, SessionSettings, SliceFigures, SuiteManifest, SuiteMeasured, SuiteOutcome,
    SuitePlan, SuiteSample, Unit, Work, burst_bytes, catalogue,
};
pub use sweep::{LinkPreset, PointClient, Sweep, SweepAxis, SweepError, SweepPoint};
pub use tally::{AskedFor, Recorded, Tally};
pub use tls::{Alert, Alpn, CipherSuite, Group, SignatureScheme, TlsVersion};
pub use units::{BitRate, ParseUnitError, parse_bytes, parse_duration, parse_loss, parse_rate};
pub use urls::{authority, bracketed, parse_target, parse_target_of};
pub use variant::{Variant, VariantError, Variants};

/// The version of every JSON document that netbench publishes (`run.json`, `samples.jsonl`, `summary.json`). The
/// version increases when a reader of the old format could misread the new one.
pub const SCHEMA_VERSION: u32 = 2;
