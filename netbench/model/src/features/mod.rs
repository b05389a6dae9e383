//! Features of the web that depend on the network: pages for browsers, the correct outcome of each page, and the
//! outcomes.

mod case;
mod judge;
mod run;
mod seen;
mod served;
mod times;

pub use case::{ExpectedConnections, ExpectedRequests, FeatureCase, Guards};
pub use run::{FeatureOutcome, FeatureSample, FeaturesManifest, FeaturesPlan};
pub use seen::{PageReport, Scheme, SeenConnection, SeenRequest, WebSeen};
pub use served::{WebCase, WebContent, WebResource, WebServing, WebSetup};
pub use times::Times;
