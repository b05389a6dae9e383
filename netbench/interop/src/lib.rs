//! Interoperability: the parameters that clients and servers can agree on, computed from the records of both.
//!
//! Pure functions of `netbench_model::scan`'s records. This crate must never connect to a host, read a file,
//! or know a TLS library: both the command that confirms predictions and the reports use it.
//!
//! Start reading at [`predict`], which returns the result of a handshake between one client and one site; a
//! [`LossReport`] does so for every client and site of a run. A [`Population`] has the shares of the features
//! that many sites support, [`Profiles`] the sites that comply with Mozilla's recommended configurations, a
//! [`PolicyResult`] the violations of a policy, and [`changes`] the differences between two scans of a site.
//! A [`WebModel`] has published shares of kinds of sites, and computes the part of the web that a switch
//! loses.

/// Number of a scan's sites that summaries name; the others are only counted by kind.
pub const LISTED: usize = 1_000;

mod diff;
mod features;
mod flight;
mod hello_limits;
mod loss;
mod policy;
mod population;
mod predict;
mod profiles;
mod trips;
mod web;

pub use diff::{ChangeKind, ScanChange, changes};
pub use features::{Feature, features};
pub use flight::{FlightSizes, SEGMENT_BYTES, openssl_hello_writes, segments, segments_of_writes};
pub use loss::{LeftOut, LossReport, Losses, LostGroup, SiteAgreements, TripTotals, confirmation};
pub use policy::{
    Broken, POLICIES, PolicyCheck, PolicyResult, SitePolicy, built_in_policy, check as check_policy,
};
pub use population::{
    Population, PopulationCount, PopulationKind, PopulationRow, ShareRange, SharesOfAll,
};
pub use predict::{is_untrusted, is_up_to_the_verifier, predict};
pub use profiles::{ProfileCounts, ProfileRow, Profiles};
pub use web::{WebKind, WebLoss, WebModel, WebSite};
