use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientCertificate, ClientUse, ConnectTo, Kind, Manifest, Plan, Profile, RequestRecord,
    RootsSource, StackName, Target, is_default, named::words,
};

/// The plan of an evaluation, and the progress of each part. The parts are separate runs, in folders beside the
/// evaluation's `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluationPlan {
    /// The stack that is in use.
    pub from: StackName,
    /// The stack that would replace it.
    pub to: StackName,
    /// The depth of the evaluation.
    pub depth: Depth,
    /// The location of the sites.
    pub target: Target,
    /// The sites file as given; `None` for the built-in file.
    pub sites_file: Option<String>,
    /// URLs that replace a sites file, as given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// The settings of connections that the user chose.
    #[serde(default, skip_serializing_if = "is_default")]
    pub connections: ConnectionSettings,
    /// Maximum number of sites of the file.
    pub limit: Option<u32>,
    /// Number of sites.
    pub sites: u32,
    /// The use of the client, which determines the weight of losses and gains.
    #[serde(default, rename = "for")]
    pub client_use: ClientUse,
    /// The profile of connectors in every part. `None` in evaluations by earlier versions, whose parts used different
    /// profiles.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// The link to emulated sites, as given; `None` if netbench chooses the link.
    #[serde(default)]
    pub link: Option<String>,
    /// The seed of every random choice in every part.
    pub seed: u64,
    /// The user's own workers, each as stack and program.
    pub workers: Vec<(String, String)>,
    /// Browsers that are tested in addition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub browsers: Vec<String>,
    /// The parts, in the order of their execution.
    pub parts: Vec<PartRecord>,
}

impl Plan for EvaluationPlan {
    const KIND: Kind = Kind::new("evaluation");

    fn random_seed(&self) -> Option<u64> {
        Some(self.seed)
    }
}

/// The settings of connections to sites in the parts of an evaluation. A field that is `None` or empty has the default
/// of the part's kind of run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionSettings {
    /// The trust roots.
    pub roots: Option<RootsSource>,
    /// Number of rounds of timed connections.
    pub rounds: Option<u32>,
    /// The pause between two timed connections to one site, in milliseconds.
    pub pause_ms: Option<u64>,
    /// Rules that redirect connections to some hosts.
    pub connect_to: Vec<ConnectTo>,
    /// The request that every site receives.
    pub request: RequestRecord,
    /// The certificate that clients present.
    pub client_certificate: Option<ClientCertificate>,
}

/// The manifest of an evaluation.
pub type EvaluationManifest = Manifest<EvaluationPlan>;

/// The depth of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// Takes a few minutes.
    Quick,
    /// Takes half an hour at most.
    Full,
}

/// One part of an evaluation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartRecord {
    /// The name of the part, which is the name of its folder too.
    #[schemars(extend("x-key" = "item"))]
    pub part: String,
    /// The progress of the part.
    pub state: PartState,
    /// The estimated duration, in seconds.
    pub estimate_s: u64,
    /// The actual duration, in seconds.
    pub took_s: Option<u64>,
    /// Notes for the reader about the execution of the part.
    pub notes: Vec<String>,
}

/// The progress of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum PartState {
    /// The part is not started, or not finished.
    Pending,
    /// The part is finished.
    Done,
    /// The part was ended by Ctrl-C. Its results until then are kept.
    Interrupted,
    /// The part failed. The other parts remain valid.
    Failed {
        /// The reason, in one line.
        why: String,
    },
    /// The machine or the stacks do not support the part.
    Unsupported {
        /// The reason.
        why: String,
    },
    /// The user excluded the part.
    LeftOut,
}

/// The sites with which two stacks can agree, as an evaluation needs them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Losses {
    /// The profile of the connectors. `None` in evaluations by earlier versions.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// Number of sites that were scanned.
    pub scanned: u64,
    /// Number of sites that could not be scanned.
    pub not_scanned: u64,
    /// Number of sites with which both stacks can agree.
    pub both: u64,
    /// Number of sites with which neither stack can agree.
    pub neither: u64,
    /// Sites that only the stack in use reaches.
    pub lost: Vec<LostSite>,
    /// Sites that only the replacing stack reaches.
    pub gained: Vec<LostSite>,
    /// Sites that only the stack in use accepts, and that the other refuses to protect the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<LostSite>,
    /// Sites that only the replacing stack accepts, and that the other refuses to protect the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(alias = "unwarned")]
    pub without_warning: Vec<LostSite>,
    /// Sites that are not counted, because they imply no conclusion about a switch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<OutsideSite>,
    /// Number of real handshakes with the predicted result.
    pub confirmed: u64,
    /// Predictions that real handshakes contradict, as sentences.
    pub contradicted: Vec<String>,
}

impl Losses {
    /// Returns the denominator of every share of sites: the number of sites that the stack in use reaches, and that the
    /// other either reaches or loses.
    pub fn counted(&self) -> u64 {
        self.both + self.lost.len() as u64
    }
}

words!(
    /// The reason why a site is not counted. The reason with the clearest remedy comes first.
    Outside, {
        /// Both stacks refuse the site's certificate, which does not chain to a root that they trust.
        Untrusted = "no trusted root",
        /// Neither stack can agree with the site.
        Neither = "neither can agree with it",
        /// A connection of the stack in use failed.
        FailedBefore = "it fails with the stack in use too",
        /// The site's server could not be set up.
        NotTried = "it could not be tried",
        /// The scan is not complete enough.
        Unknown = "the scan cannot tell",
    }
);

/// A site that is not counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideSite {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The reason.
    pub because: Outside,
    /// Details of the reason.
    pub detail: String,
}

/// A site that one stack reaches and another does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostSite {
    /// The site.
    #[schemars(extend("x-key" = "item"))]
    pub site: String,
    /// The class of the reason, for grouping.
    pub reason: String,
    /// Details of the reason.
    pub detail: String,
    /// Whether a real handshake confirmed the loss; `None` if none was attempted.
    pub confirmed: Option<bool>,
}
