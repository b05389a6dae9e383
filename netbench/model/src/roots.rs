//! Trust stores of operating systems, and the roots that the stacks trust by default with each.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use netbench_tls::TrustOrigin;

use crate::{Kind, Manifest, Plan, Record, Recorded, StackName, chains::ChainOutcome};

/// The plan of a run of `compat roots`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsPlan {
    /// The stacks, in the given order.
    pub stacks: Vec<StackName>,
    /// The clients: stacks, each with a source of trust.
    pub clients: Vec<RootsClient>,
    /// The layouts.
    pub layouts: Vec<StoreLayout>,
    /// The sites.
    pub sites: Vec<RootsSite>,
}

impl Plan for RootsPlan {
    const KIND: Kind = Kind::new("roots");
}

/// The manifest of a run of `compat roots`.
pub type RootsManifest = Manifest<RootsPlan>;

/// A stack, and the source of its default roots.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct RootsClient {
    /// The stack.
    pub stack: StackName,
    /// The source of the stack's roots: `default-paths`. `None` for a stack that finds no roots without configuration.
    #[schemars(extend("x-key" = "item"))]
    pub source: Option<String>,
}

impl std::fmt::Display for RootsClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{} ({source})", self.stack),
            None => write!(f, "{}", self.stack),
        }
    }
}

/// A layout of a system's trust roots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreLayout {
    /// The name of the layout.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// A description of the layout.
    pub about: String,
    /// The sites that a user of such a system expects to load.
    pub trusts: Vec<String>,
}

/// A site, identified by its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSite {
    /// The name of the site: `corporate`.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// A description of the site's root.
    pub about: String,
    /// The host of the site.
    pub host: String,
}

/// The outcome of one client with one layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The name of the layout.
    pub layout: String,
    /// The client.
    #[serde(flatten)]
    pub client: RootsClient,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: RootsOutcome,
}

impl Record for RootsSample {
    fn schema(&self) -> u32 {
        self.schema
    }

    fn fault(&self) -> Option<&'static str> {
        let RootsOutcome::Made { connector_ns, .. } = self.outcome else {
            return None;
        };
        (connector_ns == 0).then_some("connector_ns is 0 of a connector that was made")
    }
}

/// The outcome of a client with its default trust.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum RootsOutcome {
    /// The client's connector was made.
    Made {
        /// Duration of making the connector, including reading the store, in nanoseconds.
        connector_ns: u64,
        /// Number of roots that the client has read, if it reports the number.
        roots: Option<u32>,
        /// The origin of the roots.
        origin: TrustOrigin,
        /// The verdict of the client on each site.
        sites: BTreeMap<String, ChainOutcome>,
    },
    /// The client's connector could not be made.
    Refused {
        /// The message of the library.
        detail: String,
    },
    /// The process ended, or did not answer.
    Broken {
        /// A description of the failure.
        detail: String,
    },
    /// The client does not support the test.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl RootsOutcome {
    /// Returns the sites that are trusted, or `None` without a connector.
    pub fn trusted(&self) -> Option<Vec<&str>> {
        let Self::Made { sites, .. } = self else {
            return None;
        };
        let trusted = sites.iter();
        let trusted = trusted.filter(|(_, said)| said.accepts() == Some(true));
        Some(trusted.map(|(name, _)| name.as_str()).collect())
    }
}

/// Displays the result for the user: the sites that load.
impl std::fmt::Display for RootsOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, self.trusted().as_deref()) {
            (
                Self::Made {
                    origin: TrustOrigin::Bundled,
                    ..
                },
                Some([]),
            ) => f.pad("its own roots alone"),
            (_, Some([])) => f.pad("nothing"),
            (_, Some(sites)) => f.pad(&sites.join(", ")),
            (Self::Broken { .. }, None) => f.pad("crash"),
            (Self::Unsupported { .. }, None) => f.pad("unsupported"),
            (_, None) => f.pad("no connector"),
        }
    }
}

impl Recorded for RootsPlan {
    type Record = RootsSample;
    type Counted = RootsSample;

    type Key<'a> = (&'a str, &'a RootsClient);

    fn key(sample: &RootsSample) -> Self::Key<'_> {
        (&sample.layout, &sample.client)
    }

    fn planned(&self) -> u64 {
        (self.layouts.len() * self.clients.len()) as u64
    }

    fn requires(&self) -> impl Fn(&RootsSample) -> bool {
        let layouts: HashSet<&str> = self.layouts.iter().map(|it| it.name.as_str()).collect();
        move |sample| {
            layouts.contains(sample.layout.as_str()) && self.clients.contains(&sample.client)
        }
    }
}
