use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    CertificateFault, Kind, Manifest, Plan, Record, Recorded, StackName, Standing, Tally,
    named::words,
};

/// What a run of `compat chains` was to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainsPlan {
    /// The stacks; each is held against the first.
    pub stacks: Vec<StackName>,
    /// Where the cases are from.
    pub suites: Vec<SuiteOfChains>,
    /// The cases.
    pub cases: Vec<ChainCase>,
    /// How long a verifier may take for one chain, in milliseconds.
    pub limit_ms: u64,
}

impl Plan for ChainsPlan {
    const KIND: Kind = Kind::new("chains");
}

/// The manifest of a run of `compat chains`.
pub type ChainsManifest = Manifest<ChainsPlan>;

/// Where cases are from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteOfChains {
    /// The first part of its cases' names: `bettertls`, `own`.
    pub name: String,
    /// Its version, and what its chains were made by.
    pub version: String,
    /// The digest of what names its root; none where every run has another one.
    pub sha256: Option<String>,
    /// Why it could not be had.
    pub missing: Option<String>,
}

/// A chain, and what a verifier should say of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ChainCase {
    /// Its name: `own/path-length/1-of-0`. All but the last part say of which kind it is.
    pub name: String,
    /// What it is made of: `ip-san=valid`.
    pub made_of: Vec<String>,
    /// What a verifier should say.
    pub due: Due,
    /// The rule of a standard that says so, where the case names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

impl ChainCase {
    /// Its name but for the last part.
    pub fn kind(&self) -> &str {
        self.name
            .rsplit_once('/')
            .map_or(self.name.as_str(), |(kind, _)| kind)
    }
}

words!(
    /// What a verifier should say of a chain. Where standards or verifiers leave a choice, it is what it *should* do.
    Due, {
        /// Whoever rejects it breaks a site.
        MustAccept = "must accept",
        /// Whoever accepts it is no verifier.
        MustReject = "must reject",
        /// It is better accepted.
        ShouldAccept = "should accept",
        /// It is better rejected.
        ShouldReject = "should reject",
    }
);

impl Due {
    /// Whether it is to be accepted.
    pub fn accepts(self) -> bool {
        matches!(self, Self::MustAccept | Self::ShouldAccept)
    }

    /// Whether a refusal costs reach or protects the user.
    pub fn standing(self) -> Standing {
        match self {
            Self::MustAccept | Self::ShouldAccept => Standing::Sound,
            Self::ShouldReject => Standing::Dated,
            Self::MustReject => Standing::Unsafe,
        }
    }
}

/// One case put to one stack's verifier.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChainSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The case's name.
    pub case: String,
    /// The stack.
    pub stack: StackName,
    /// What its verifier said.
    #[serde(flatten)]
    pub outcome: ChainOutcome,
}

impl Record for ChainSample {
    const FILE: &'static str = "samples.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// What became of a chain that a verifier was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ChainOutcome {
    /// It is good.
    Accepted,
    /// It is not.
    Rejected {
        /// Why, in a word that every stack shares.
        reason: CertificateFault,
        /// The library's own words.
        detail: String,
    },
    /// The verifier said nothing within the time limit.
    Hang {
        /// The time limit, in milliseconds.
        after_ms: u64,
    },
    /// Its process ended.
    Crash {
        /// How, and its last words.
        detail: String,
    },
    /// The stack cannot be asked.
    Unsupported {
        /// Why.
        reason: String,
    },
}

impl ChainOutcome {
    /// Whether the chain is good; none where the verifier did not say.
    pub fn accepts(&self) -> Option<bool> {
        match self {
            Self::Accepted => Some(true),
            Self::Rejected { .. } => Some(false),
            Self::Hang { .. } | Self::Crash { .. } | Self::Unsupported { .. } => None,
        }
    }

    /// Its word.
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

impl Recorded for ChainsPlan {
    type Record = ChainSample;
    type Counted = ChainSample;

    fn tally(&self, records: &[ChainSample]) -> Tally {
        let cases: HashSet<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        let own = |sample: &&ChainSample| {
            cases.contains(sample.case.as_str()) && self.stacks.contains(&sample.stack)
        };
        let taken: HashSet<_> = records
            .iter()
            .filter(own)
            .map(|sample| (&sample.case, &sample.stack))
            .collect();
        Tally {
            planned: (self.cases.len() * self.stacks.len()) as u64,
            taken: taken.len() as u64,
            foreign: records.iter().filter(|sample| !own(sample)).count() as u64,
        }
    }
}
