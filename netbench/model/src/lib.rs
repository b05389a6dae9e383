//! The data types of netbench: sites, stacks, samples, runs.
//!
//! This crate contains only data and parsing. It must never do I/O, read a clock or draw a random number. Start reading
//! at [`Sample`], then [`Site`] and [`Manifest`]. It exports all of `netbench-tls`, on which workers depend directly.

pub mod breakage;
pub mod browser;
pub mod chains;
pub mod compat;
mod compression;
mod connect_plan;
mod connect_to;
pub mod coverage;
mod cpu_share;
mod effect;
mod evaluation;
pub mod features;
mod library;
mod losses;
mod manifest;
mod origin;
mod packets;
mod processor;
pub mod roots;
mod run;
mod sample;
pub mod scan;
mod scan_run;
mod schema1;
pub mod ship;
mod site;
mod sites_file;
mod suite;
mod sweep;
mod tally;
mod thresholds;
mod urls;

pub use netbench_tls as tls;
pub use netbench_tls::*;

pub use compression::{CompressedChain, CompressionRecord};
pub use connect_plan::{
    ClientCertificate, ConnectManifest, ConnectPlan, RequestRecord, RootsRecord, RootsSource,
    Target,
};
pub use connect_to::{ConnectTo, destination};
pub use cpu_share::{CpuShare, NoCpuShare};
pub use effect::{Accepts, ClientUse, Standing, SwitchEffect, Weight};
pub use evaluation::{
    ConnectionSettings, Depth, EvaluationManifest, EvaluationPlan, Losses, LostSite, Outside,
    OutsideSite, PartRecord, PartState,
};
pub use library::Library;
pub use losses::{LinkDirection, LossLog, PacketLoad, SameLosses, same_losses};
pub use manifest::{Kind, Manifest, Plan, Record, Session};
pub use origin::{MergedRun, Origin, Shard, ShardRecord};
pub use packets::{AckWait, LinkPackets};
pub use processor::{NOT_SHOWN, hides_its_processor};
pub use run::{Environment, LinkCheck, LinkChoice, LinkKind, LinkRecord};
pub use sample::{Outcome, Sample, SampleKey};
pub use scan_run::{ScanManifest, ScanPlan, StartTls};
pub use schema1::upgrade_manifest;
pub use site::Site;
pub use sites_file::{SiteError, parse_sites};
pub use suite::{
    Distribution, IdleReference, LayoutRecord, MEMORY_CALLS, PinRecord, Preset, SliceFigures,
    SuiteManifest, SuiteMeasured, SuiteOutcome, SuitePlan, SuiteSample, SystemCalls, catalogue,
};
pub use sweep::{
    CertificatesPreset, LinkPreset, PointClient, Sweep, SweepAxis, SweepError, SweepPoint,
};
pub use tally::{Recorded, Tally};
pub use thresholds::{Amount, NamedThreshold, Quantity, Threshold, ThresholdError, Thresholds};
pub use urls::{parse_target, parse_target_of};

/// The version of every JSON document that netbench publishes (`run.json`, `samples.jsonl`, `summary.json`). The
/// version increases when a reader of the old format could misread the new one.
pub const SCHEMA_VERSION: u32 = 2;
