use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Alert, CipherSuite, Group, Kind, Library, Manifest, Plan, Profile, Record, Recorded, StackName,
    Standing, TlsVersion,
};

use super::{EmbedderView, Expected, OutsideClient, Refusal};

/// The plan of a run of `compat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatPlan {
    /// The stacks. Each is compared with the first.
    pub stacks: Vec<StackName>,
    /// Browsers and other programs that are tested in addition to the stacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<OutsideClient>,
    /// The cases, in the catalogue's order.
    pub cases: Vec<CompatCase>,
    /// The catalogue: `built-in`, or the given file.
    pub catalogue: String,
    /// The SHA-256 digest of the catalogue.
    pub catalogue_sha256: String,
    /// The profile of the stacks' connectors.
    pub client_profile: Profile,
    /// The time limit of a stack before its second attempt, in milliseconds.
    pub limit_ms: u64,
}

impl CompatPlan {
    /// Returns the stacks, followed by the clients.
    pub fn tried(&self) -> impl Iterator<Item = &StackName> {
        let clients = self.clients.iter().map(|client| &client.name);
        self.stacks.iter().chain(clients)
    }
}

impl Plan for CompatPlan {
    const KIND: Kind = Kind::new("compat");
}

/// The manifest of a run of `compat`.
pub type CompatManifest = Manifest<CompatPlan>;

/// A server, and the correct behaviour of a client with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatCase {
    /// The name of the case: `certificate/expired`.
    #[schemars(extend("x-key" = "item"))]
    pub name: String,
    /// The behaviour of the server.
    pub about: String,
    /// The correct behaviour of a client.
    pub expected: Expected,
    /// The effect of a refusal, if the expected reasons do not determine it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// The reason for the expectation, with its source.
    pub why: String,
    /// The differing behaviour that was observed in named browsers, by name and version: `firefox-153`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observed: BTreeMap<String, String>,
    /// The reason why no client can accept the server, if that is the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_accepts: Option<String>,
    /// The advice about any stack that behaves otherwise.
    pub advice: String,
    /// The advice about the stacks of a library, which replaces the general advice.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advice_by: BTreeMap<Library, String>,
    /// The host that the client requests.
    pub host: String,
}

impl CompatCase {
    /// Returns the advice about a stack: that for its library, or else the general one.
    pub fn advice_for(&self, stack: &StackName) -> &str {
        let library = Library::of(stack);
        let of_library = library.and_then(|library| {
            let of_base = self.advice_by.get(&library.base());
            self.advice_by.get(&library).or(of_base)
        });
        of_library.unwrap_or(&self.advice)
    }

    /// Returns whether a refusal costs reach or protects the user. A server that a client may refuse for its protocol
    /// rather than its certificate is dated.
    pub fn standing(&self) -> Standing {
        let Expected::Rejected(reasons) = &self.expected else {
            return Standing::Sound;
        };
        self.standing.unwrap_or_else(|| match reasons.first() {
            Some(Refusal::Certificate(fault)) => Standing::of_fault(*fault),
            Some(Refusal::Class(_)) | None => Standing::Dated,
        })
    }
}

/// The outcome of one case with one stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The name of the case.
    pub case: String,
    /// The stack, or the client from outside.
    pub stack: StackName,
    /// The outcome.
    pub outcome: CompatOutcome,
    /// The information that the embedder receives in addition, from a client of the kind `engine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<EmbedderView>,
}

impl Record for CompatSample {
    fn schema(&self) -> u32 {
        self.schema
    }
}

/// The behaviour of a stack with a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum CompatOutcome {
    /// The stack finished the handshake and read the response, as both sides report.
    Accepted {
        /// The version.
        version: Option<TlsVersion>,
        /// The suite.
        suite: Option<CipherSuite>,
        /// The group, if the library reports it.
        group: Option<Group>,
        /// The application protocol.
        alpn: Option<String>,
    },
    /// The stack refused the server, or the server refused the stack.
    Rejected {
        /// The reason, in a word that all stacks share.
        reason: Refusal,
        /// The word of the library.
        library: String,
        /// The message of the library.
        detail: String,
        /// The alert that the stack sent, if the server could read it.
        alert: Option<Alert>,
        /// The status of the response, if that was an error.
        http_status: Option<u16>,
    },
    /// The stack neither accepted nor refused within the time limit.
    Hang {
        /// The time limit of the second attempt, in milliseconds.
        after_ms: u64,
    },
    /// The process of the stack ended.
    Crash {
        /// The process's exit status and last output.
        detail: String,
    },
    /// The outcome cannot be determined.
    Unsupported {
        /// The reason.
        reason: String,
    },
}

impl fmt::Display for CompatOutcome {
    /// Formats the outcome in words that every stack shares.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accepted { .. } => f.pad("accepted"),
            Self::Rejected {
                http_status: Some(status),
                ..
            } => write!(f, "rejected: status {status}"),
            Self::Rejected { reason, .. } => write!(f, "rejected: {reason}"),
            Self::Hang { .. } => f.pad("hang"),
            Self::Crash { .. } => f.pad("crash"),
            Self::Unsupported { .. } => f.pad("unsupported"),
        }
    }
}

impl Recorded for CompatPlan {
    type Record = CompatSample;
    type Counted = CompatSample;

    type Key<'a> = (&'a str, &'a StackName);

    fn key(sample: &CompatSample) -> Self::Key<'_> {
        (&sample.case, &sample.stack)
    }

    fn planned(&self) -> u64 {
        (self.cases.len() * self.tried().count()) as u64
    }

    fn requires(&self) -> impl Fn(&CompatSample) -> bool {
        let cases: HashSet<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        move |sample| {
            cases.contains(sample.case.as_str()) && self.tried().any(|stack| *stack == sample.stack)
        }
    }
}
