use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientCertificate, ClientUse, ConnectTo, Kind, Manifest, Plan, Profile, RequestRecord,
    RootsSource, StackName, Target, named::words,
};

/// What an evaluation was to do, and how far each part of it came. The parts are runs of their own, in
/// folders beside its `run.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EvaluationPlan {
    /// The stack that is in use.
    pub from: StackName,
    /// The stack that would take its place.
    pub to: StackName,
    /// How thorough it is.
    pub depth: Depth,
    /// Where the sites are.
    pub target: Target,
    /// The sites file, as given; none for the built-in one.
    pub sites_file: Option<String>,
    /// URLs in place of a sites file, as given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// How sites are connected to, where that was asked for.
    #[serde(default, skip_serializing_if = "ConnectionSettings::is_usual")]
    pub connections: ConnectionSettings,
    /// Only so many sites of it.
    pub limit: Option<u32>,
    /// How many sites that makes.
    pub sites: u32,
    /// What the client is for, by which losses and gains are weighed.
    #[serde(default, rename = "for")]
    pub client_use: ClientUse,
    /// How connectors are set up in every part. None in evaluations by earlier versions, whose parts took
    /// different ones.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// The link to emulated sites, as given; none where netbench chooses it.
    #[serde(default)]
    pub link: Option<String>,
    /// Everything random in every part comes from it.
    pub seed: u64,
    /// Workers of the user's own: stack and program.
    pub workers: Vec<(String, String)>,
    /// Browsers that are asked as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub browsers: Vec<String>,
    /// The parts, in the order in which they are run.
    pub parts: Vec<PartRecord>,
}

impl Plan for EvaluationPlan {
    const KIND: Kind = Kind::new("evaluation");
}

/// How the parts of an evaluation connect to sites. What is none or empty is as in a run of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionSettings {
    /// The trust roots.
    pub roots: Option<RootsSource>,
    /// Rounds of timed connections.
    pub rounds: Option<u32>,
    /// The pause between two timed connections to one site, in milliseconds.
    pub pause_ms: Option<u64>,
    /// Where connections to some hosts go instead.
    pub connect_to: Vec<ConnectTo>,
    /// What every site is asked.
    pub request: RequestRecord,
    /// The certificate that clients show.
    pub client_certificate: Option<ClientCertificate>,
}

impl ConnectionSettings {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// The manifest of an evaluation.
pub type EvaluationManifest = Manifest<EvaluationPlan>;

/// How thorough an evaluation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Depth {
    /// A few minutes.
    Quick,
    /// Half an hour at most.
    Full,
}

/// One part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartRecord {
    /// Its name: that of its folder too.
    pub part: String,
    /// How far it came.
    pub state: PartState,
    /// How long it was thought to take, in seconds.
    pub estimate_s: u64,
    /// How long it took, in seconds.
    pub took_s: Option<u64>,
    /// What a reader must know of how it was done.
    pub notes: Vec<String>,
}

/// How far a part came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum PartState {
    /// Not begun, or not ended.
    Pending,
    /// All of it was done.
    Done,
    /// Ended by Ctrl-C: what there was has been kept.
    Interrupted,
    /// It failed; the other parts still stand.
    Failed {
        /// Why, in one line.
        why: String,
    },
    /// This machine or these stacks cannot do it.
    Unsupported {
        /// Why.
        why: String,
    },
    /// Not wanted.
    LeftOut,
}

/// Which sites two stacks can agree with, as an evaluation needs it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Losses {
    /// How connectors were set up. None in evaluations by earlier versions.
    #[serde(default)]
    pub client_profile: Option<Profile>,
    /// Sites that were scanned.
    pub scanned: u64,
    /// Sites that could not be scanned.
    pub not_scanned: u64,
    /// Sites that both stacks can agree with.
    pub both: u64,
    /// Sites that neither can agree with.
    pub neither: u64,
    /// Sites that only the stack in use reaches.
    pub lost: Vec<LostSite>,
    /// Sites that only the stack that would take its place reaches.
    pub gained: Vec<LostSite>,
    /// Sites that only the stack in use accepts, and that the other refuses to protect the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refused: Vec<LostSite>,
    /// Sites that only the stack that would take its place accepts, and that the other refuses to protect the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwarned: Vec<LostSite>,
    /// Sites that are not counted, because nothing follows from them for a switch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outside: Vec<OutsideSite>,
    /// Real handshakes that went as predicted.
    pub confirmed: u64,
    /// Predictions that real handshakes contradict, in words.
    pub contradicted: Vec<String>,
}

impl Losses {
    /// The sites that every share of sites is of: those that the stack in use reaches, and that the other either reaches or
    /// loses.
    pub fn counted(&self) -> u64 {
        self.both + self.lost.len() as u64
    }
}

words!(
    /// The reason why a site is not counted. The one with the clearest remedy comes first.
    Outside, {
        /// Both stacks refuse its certificate, which leads to no root that they trust.
        Untrusted = "no trusted root",
        /// Neither stack can agree with it.
        Neither = "neither can agree with it",
        /// A connection of the stack in use failed.
        FailedBefore = "it fails with the stack in use too",
        /// Its server could not be set up.
        NotTried = "it could not be tried",
        /// The scan did not get far enough.
        Unknown = "the scan cannot tell",
    }
);

/// A site that is not counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OutsideSite {
    /// The site.
    pub site: String,
    /// Why.
    pub because: Outside,
    /// More, in words.
    pub detail: String,
}

/// A site that one stack reaches and another does not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostSite {
    /// The site.
    pub site: String,
    /// Why, as a class for grouping.
    pub reason: String,
    /// More, in words.
    pub detail: String,
    /// Whether a real handshake has shown it; none where none was tried.
    pub confirmed: Option<bool>,
}
