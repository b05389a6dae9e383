//! Interoperability: what clients and servers can agree on, computed from what is recorded of them.
//!
//! Pure functions of `netbench_model::scan`'s records. This crate must never connect to anything, read a
//! file, or know a TLS library: both the command that confirms predictions and the reports use it.
//!
//! Start reading at [`predict`], which says of one client and one site what a handshake comes to; a
//! [`LossReport`] does so for every client and site of a run. [`population()`] has the shares of what many
//! sites support, [`profiles()`] which of them keep to Mozilla's recommended configurations, a [`PolicyResult`]
//! what breaks a policy, and [`changes`] what two scans of a site differ in. A [`WebModel`] has published shares of
//! kinds of sites, and says what a switch loses of the web.

/// Sites of a scan that summaries name one by one; of more they say how many there are of each sort.
pub const LISTED: usize = 1_000;

mod diff;
mod hello_limits;
mod loss;
mod policy;
mod population;
mod predict;
mod profiles;
mod trips;
mod web;

pub use diff::{ChangeKind, ScanChange, changes};
pub use loss::{LeftOut, LossReport, Losses, LostGroup, SiteAgreements, TripTotals, confirmation};
pub use policy::{
    Broken, POLICIES, PolicyCheck, PolicyResult, SitePolicy, built_in_policy, check as check_policy,
};
pub use population::{
    Population, PopulationCount, PopulationKind, PopulationRow, ShareRange, SharesOfAll, population,
};
pub use predict::{is_untrusted, is_up_to_the_verifier, predict};
pub use profiles::{ProfileCounts, ProfileRow, Profiles, profiles};
pub use trips::{INITIAL_WINDOW, SEGMENT_BYTES, segments, segments_of_openssl};
pub use web::{WebKind, WebLoss, WebModel, WebSite};
