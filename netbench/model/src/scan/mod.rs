//! The records of a scan: a line of `scan.jsonl` for each site ([`SiteScan`]), the offers of the stacks of `--against`,
//! and the results of their handshakes (`against.json`, [`AgainstRecord`]).
//!
//! All text from a server has passed [`crate::sanitize`].

mod agreement;
mod chain;
mod features;
mod hello;
mod policy;
mod site;

pub use agreement::{
    AgainstRecord, Agreed, Agreement, Confirmation, Confirmed, HandshakeResult, LossReason,
    PacketsSeen, RoundTrips,
};
pub use chain::{Anchor, CertificateScan, ChainScan};
pub use features::{CompressionScan, EchConfigScan, Features, HttpsRecordScan, Observed};
pub use hello::{ExtensionOffer, Offer, ShareOffer};
pub use policy::{KeyRule, Policy, PolicyFeature, PolicyRule};
pub use site::{
    Effort, FailedClass, HelloLimits, Learned, NamedCode, Order, SCAN_SCHEMA_VERSION, ScanOutcome,
    SignatureScan, SiteOutcome, SiteScan, SuiteScan, Tolerance, VersionScan,
};
