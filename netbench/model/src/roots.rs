//! Trust stores as systems keep them, and what the stacks trust by themselves with each.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Kind, Manifest, Plan, Record, Recorded, StackName, Tally, chains::ChainOutcome};

/// What a run of `compat roots` was to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsPlan {
    /// The stacks, in the order in which they were asked for.
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

/// A stack, and what finds the roots that nobody gives it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct RootsClient {
    /// The stack.
    pub stack: StackName,
    /// What finds its roots: `default-paths`. None for a stack that finds none by itself.
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

/// How a system keeps its trust roots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreLayout {
    /// Its name.
    pub name: String,
    /// What it is.
    pub about: String,
    /// The sites that a user of such a system expects to load.
    pub trusts: Vec<String>,
}

/// A site, known by its root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSite {
    /// Its name: `corporate`.
    pub name: String,
    /// What its root is.
    pub about: String,
    /// Its host.
    pub host: String,
}

/// One client with one layout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RootsSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The layout's name.
    pub layout: String,
    /// The client.
    #[serde(flatten)]
    pub client: RootsClient,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: RootsOutcome,
}

impl Record for RootsSample {
    const FILE: &'static str = "samples.jsonl";

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

/// Where a client's roots are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrustOrigin {
    /// The system's store.
    System,
    /// The client itself: no store of the system is read.
    Bundled,
}

/// What a client's own trust comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum RootsOutcome {
    /// Its connector is made.
    Made {
        /// What making it took, in nanoseconds, the reading of the store included.
        connector_ns: u64,
        /// How many roots it has read by then, where it tells.
        roots: Option<u32>,
        /// Where they are from.
        origin: TrustOrigin,
        /// What it says of each site.
        sites: BTreeMap<String, ChainOutcome>,
    },
    /// Its connector cannot be made.
    Refused {
        /// In the library's words.
        detail: String,
    },
    /// The process ended, or did not answer.
    Broken {
        /// How.
        detail: String,
    },
    /// It cannot be tried.
    Unsupported {
        /// Why.
        reason: String,
    },
}

impl RootsOutcome {
    /// The sites that are trusted; none where there is no connector.
    pub fn trusted(&self) -> Option<Vec<&str>> {
        let Self::Made { sites, .. } = self else {
            return None;
        };
        let trusted = sites.iter();
        let trusted = trusted.filter(|(_, said)| said.accepts() == Some(true));
        Some(trusted.map(|(name, _)| name.as_str()).collect())
    }
}

/// What a user has of it: the sites that load.
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

    fn tally(&self, records: &[RootsSample]) -> Tally {
        let layouts: HashSet<&str> = self.layouts.iter().map(|it| it.name.as_str()).collect();
        let own = |sample: &&RootsSample| {
            layouts.contains(sample.layout.as_str()) && self.clients.contains(&sample.client)
        };
        let taken: HashSet<_> = records
            .iter()
            .filter(own)
            .map(|sample| (&sample.layout, &sample.client))
            .collect();
        Tally {
            planned: (self.layouts.len() * self.clients.len()) as u64,
            taken: taken.len() as u64,
            foreign: records.iter().filter(|sample| !own(sample)).count() as u64,
        }
    }
}
