use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    Alert, CipherSuite, Group, Kind, Library, Manifest, Plan, Profile, Record, Recorded, StackName,
    Standing, Tally, TlsVersion,
};

use super::{EmbedderView, Expected, OutsideClient, Refusal};

/// What a run of `compat` was to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatPlan {
    /// The stacks; each is held against the first.
    pub stacks: Vec<StackName>,
    /// Browsers and other programs, which are tried beside them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<OutsideClient>,
    /// The cases, in the catalogue's order.
    pub cases: Vec<CompatCase>,
    /// The catalogue: `built-in`, or the file as given.
    pub catalogue: String,
    /// The digest of the catalogue's bytes.
    pub catalogue_sha256: String,
    /// How the stacks' connectors are set up.
    pub client_profile: Profile,
    /// How long a stack may take before it is tried again, in milliseconds.
    pub limit_ms: u64,
}

impl CompatPlan {
    /// The stacks, and the clients after them.
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

/// A server, and what a client should do with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatCase {
    /// Its name: `certificate/expired`.
    pub name: String,
    /// What the server does.
    pub about: String,
    /// What a client should do.
    pub expected: Expected,
    /// The effect of a refusal, where it does not follow from the reasons that are expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<Standing>,
    /// Why: what says so.
    pub why: String,
    /// What named browsers were seen to do otherwise, by name and version: `firefox-153`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub observed: BTreeMap<String, String>,
    /// Why no client can accept the server, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nothing_accepts: Option<String>,
    /// What to do about any stack that does otherwise.
    pub advice: String,
    /// What to do about the stacks of a library, in place of that.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advice_by: BTreeMap<Library, String>,
    /// The host that the client asks for.
    pub host: String,
}

impl CompatCase {
    /// Returns the advice about a stack: that for its library, or else the general one.
    pub fn advice_for(&self, stack: &StackName) -> &str {
        let library = Library::of(stack);
        let by = |library: Library| {
            let of_base = || self.advice_by.get(&library.base());
            self.advice_by.get(&library).or_else(of_base)
        };
        library.and_then(by).unwrap_or(&self.advice)
    }

    /// Whether a refusal costs reach or protects the user. A server that a client may refuse for what it speaks, and not for its
    /// certificate, is dated.
    pub fn standing(&self) -> Standing {
        let Expected::Rejected(reasons) = &self.expected else {
            return Standing::Sound;
        };
        let derived = || match reasons.first() {
            Some(Refusal::Certificate(fault)) => Standing::of_fault(*fault),
            Some(Refusal::Class(_)) | None => Standing::Dated,
        };
        self.standing.unwrap_or_else(derived)
    }
}

/// One case tried on one stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CompatSample {
    /// [`crate::SCHEMA_VERSION`] of the writer.
    pub schema: u32,
    /// The case's name.
    pub case: String,
    /// The stack, or the client from outside.
    pub stack: StackName,
    /// What it did.
    pub outcome: CompatOutcome,
    /// What its embedder is told beside that, of a client of the kind `engine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedder: Option<EmbedderView>,
}

impl Record for CompatSample {
    const FILE: &'static str = "samples.jsonl";

    fn schema(&self) -> u32 {
        self.schema
    }
}

/// What a stack did with a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum CompatOutcome {
    /// It finished the handshake and read the response, as both sides say.
    Accepted {
        /// The version.
        version: Option<TlsVersion>,
        /// The suite.
        suite: Option<CipherSuite>,
        /// The group, where the library tells.
        group: Option<Group>,
        /// The application protocol.
        alpn: Option<String>,
    },
    /// It refused the server, or the server refused it.
    Rejected {
        /// Why, in a word that every stack shares.
        reason: Refusal,
        /// The library's own word.
        library: String,
        /// The library's own sentence.
        detail: String,
        /// The alert that it sent, where the server could read one.
        alert: Option<Alert>,
        /// The status of the response, where that was an error.
        http_status: Option<u16>,
    },
    /// It did neither within the time limit.
    Hang {
        /// The time limit of the second try, in milliseconds.
        after_ms: u64,
    },
    /// Its process ended.
    Crash {
        /// How, and its last words.
        detail: String,
    },
    /// It cannot be told.
    Unsupported {
        /// Why.
        reason: String,
    },
}

impl Recorded for CompatPlan {
    type Record = CompatSample;
    type Counted = CompatSample;

    fn tally(&self, records: &[CompatSample]) -> Tally {
        let cases: HashSet<&str> = self.cases.iter().map(|case| case.name.as_str()).collect();
        let own = |sample: &&CompatSample| {
            cases.contains(sample.case.as_str()) && self.tried().any(|stack| *stack == sample.stack)
        };
        let taken: HashSet<_> = records
            .iter()
            .filter(own)
            .map(|sample| (&sample.case, &sample.stack))
            .collect();
        Tally {
            planned: (self.cases.len() * self.tried().count()) as u64,
            taken: taken.len() as u64,
            foreign: records.iter().filter(|sample| !own(sample)).count() as u64,
        }
    }
}
