use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FeatureCase, WebSeen};
use crate::{Kind, Manifest, Plan, Record, Recorded, StackName, compat::OutsideClient};

/// The plan of a run of `browser features`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeaturesPlan {
    /// The names of the browsers.
    pub clients: Vec<StackName>,
    /// The browsers, in the same order.
    pub browsers: Vec<OutsideClient>,
    /// The cases, in the catalogue's order.
    pub cases: Vec<FeatureCase>,
    /// The SHA-256 digest of the catalogue, which also has the scripts of the pages.
    pub catalogue_sha256: String,
    /// The time limit of a page for its report, in milliseconds.
    pub limit_ms: u64,
}

impl Plan for FeaturesPlan {
    const KIND: Kind = Kind::new("features");
}

/// The manifest of a run of `browser features`.
pub type FeaturesManifest = Manifest<FeaturesPlan>;

/// The outcome of one case in one browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FeatureSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The name of the case.
    pub case: String,
    /// The browser.
    pub browser: StackName,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: FeatureOutcome,
}

/// The outcome of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum FeatureOutcome {
    /// The page reported.
    Reported {
        /// The server's record, with the report.
        seen: WebSeen,
    },
    /// The page did not report within the time limit, and the browser goes on.
    Silent {
        /// The time limit, in milliseconds.
        after_ms: u64,
        /// The code of the error page that the browser showed, if it showed one.
        shown: Option<String>,
        /// The server's record.
        seen: WebSeen,
    },
    /// The browser ended, or hangs.
    Crash {
        /// A description of the end.
        detail: String,
    },
    /// The outcome cannot be determined.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl Record for FeatureSample {
    fn schema(&self) -> u32 {
        self.schema
    }
}

impl Recorded for FeaturesPlan {
    type Record = FeatureSample;
    type Counted = FeatureSample;

    type Key<'a> = (&'a str, &'a StackName);

    fn key(sample: &FeatureSample) -> Self::Key<'_> {
        (&sample.case, &sample.browser)
    }

    fn planned(&self) -> u64 {
        (self.cases.len() * self.clients.len()) as u64
    }

    fn requires(&self) -> impl Fn(&FeatureSample) -> bool {
        let cases: HashSet<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        move |sample| cases.contains(sample.case.as_str()) && self.clients.contains(&sample.browser)
    }
}
