use std::{collections::HashSet, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CertificateFault, Kind, Manifest, Plan, Record, Recorded, StackName, Standing, named::words,
};

/// The plan of a run of `compat chains`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainsPlan {
    /// The stacks. Each is compared with the first.
    pub stacks: Vec<StackName>,
    /// The suites of the cases.
    pub suites: Vec<SuiteOfChains>,
    /// The cases.
    pub cases: Vec<ChainCase>,
    /// The time limit of a verifier for one chain, in milliseconds.
    pub limit_ms: u64,
}

impl Plan for ChainsPlan {
    const KIND: Kind = Kind::new("chains");
}

/// The manifest of a run of `compat chains`.
pub type ChainsManifest = Manifest<ChainsPlan>;

/// A suite of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteOfChains {
    /// The first part of the names of the suite's cases: `bettertls`, `own`.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The version of the suite, and the generator of its chains.
    pub version: String,
    /// The digest that identifies the suite's root; `None` if every run has a different root.
    pub sha256: Option<String>,
    /// The reason why the suite is not available.
    pub missing: Option<String>,
}

/// A chain, and the correct verdict on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ChainCase {
    /// The name of the case: `own/path-length/1-of-0`. All parts but the last name the kind.
    pub name: String,
    /// The properties of the chain: `ip-san=valid`.
    pub made_of: Vec<String>,
    /// The correct verdict.
    pub due: Due,
    /// The rule of a standard that requires the verdict, if the case names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl ChainCase {
    /// Returns the name of the case without its last part.
    pub fn kind(&self) -> &str {
        self.name
            .rsplit_once('/')
            .map_or(self.name.as_str(), |(kind, _)| kind)
    }
}

words!(
    /// The correct verdict on a chain. Where standards or verifiers leave a choice, the verdict is a *should*.
    #[schemars(extend("x-key" = "item"))]
    Due, {
        /// A verifier that rejects the chain breaks a site.
        MustAccept = "must accept",
        /// A verifier that accepts the chain does not verify.
        MustReject = "must reject",
        /// Acceptance is preferable.
        ShouldAccept = "should accept",
        /// Rejection is preferable.
        ShouldReject = "should reject",
    }
);

impl Due {
    /// Returns whether the verdict is acceptance.
    pub fn accepts(self) -> bool {
        matches!(self, Self::MustAccept | Self::ShouldAccept)
    }

    /// Returns whether a refusal costs reach or protects the user.
    pub fn standing(self) -> Standing {
        match self {
            Self::MustAccept | Self::ShouldAccept => Standing::Sound,
            Self::ShouldReject => Standing::Dated,
            Self::MustReject => Standing::Unsafe,
        }
    }
}

/// The verdict of one stack's verifier on one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The name of the case.
    pub case: String,
    /// The stack.
    pub stack: StackName,
    /// The verdict of the stack's verifier.
    #[serde(flatten)]
    pub outcome: ChainOutcome,
}

impl Record for ChainSample {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The outcome of the verification of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ChainOutcome {
    /// The verifier accepted the chain.
    Accepted,
    /// The verifier rejected the chain.
    Rejected {
        /// The reason, in a word that all stacks share.
        reason: CertificateFault,
        /// The message of the library.
        detail: String,
    },
    /// The verifier did not return within the time limit.
    Hang {
        /// The time limit, in milliseconds.
        after_ms: u64,
    },
    /// The verifier's process ended.
    Crash {
        /// The process's exit status and last output.
        detail: String,
    },
    /// The stack does not support the verification.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl ChainOutcome {
    /// Returns whether the verifier accepted the chain, or `None` if it gave no verdict.
    pub fn accepts(&self) -> Option<bool> {
        match self {
            Self::Accepted => Some(true),
            Self::Rejected { .. } => Some(false),
            Self::Hang { .. } | Self::Crash { .. } | Self::Unsupported { .. } => None,
        }
    }

    /// Returns the word of the outcome.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected { .. } => "rejected",
            Self::Hang { .. } => "hang",
            Self::Crash { .. } => "crash",
            Self::Unsupported { .. } => "unsupported",
        }
    }
}

impl fmt::Display for ChainOutcome {
    /// Formats the outcome in words that every stack shares.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rejected { reason, .. } => write!(f, "rejected: {reason}"),
            outcome => f.pad(outcome.name()),
        }
    }
}

impl Recorded for ChainsPlan {
    type Record = ChainSample;
    type Counted = ChainSample;

    type Key<'a> = (&'a str, &'a StackName);

    fn key(sample: &ChainSample) -> Self::Key<'_> {
        (&sample.case, &sample.stack)
    }

    fn planned(&self) -> u64 {
        (self.cases.len() * self.stacks.len()) as u64
    }

    fn requires(&self) -> impl Fn(&ChainSample) -> bool {
        let cases: HashSet<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        move |sample| cases.contains(sample.case.as_str()) && self.stacks.contains(&sample.stack)
    }
}
