use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ClientSettings, Condition, Kind, Manifest, Plan, Recorded, RootsRecord, Site, StackName, Tally,
};

use super::VisitSample;

/// What a run of `browser` was to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserPlan {
    /// Everything random comes from it: the order of visits, the losses on a link.
    pub seed: u64,
    /// The browsers, and the stacks after them; each is held against the first.
    pub clients: Vec<StackName>,
    /// What the browsers are, and how they are started.
    pub browsers: Vec<BrowserRecord>,
    /// The conditions: `clean` is a fresh profile, `resumed` the second visit of a profile.
    pub conditions: Vec<Condition>,
    /// Rounds.
    pub rounds: u32,
    /// The sites file, as given, or `built-in`.
    pub sites_file: String,
    /// SHA-256 of the sites file, in hexadecimal.
    pub sites_sha256: String,
    /// The sites, in the file's order.
    pub sites: Vec<Site>,
    /// The stacks' trust roots. A browser has its own, and the lab's.
    pub roots: RootsRecord,
    /// What the stacks offer; none where there are no stacks. Browsers offer what they do by themselves.
    pub client: Option<ClientSettings>,
    /// The time limit of one visit, in milliseconds, the browser's start included.
    pub limit_ms: u64,
}

impl Plan for BrowserPlan {
    const KIND: Kind = Kind::new("browser");
}

/// The manifest of a run of `browser`.
pub type BrowserManifest = Manifest<BrowserPlan>;

/// A browser, and how it is started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BrowserRecord {
    /// What it is called in the run: `chromium`.
    pub name: String,
    /// Its own account of its version.
    pub version: String,
    /// Its TLS library.
    pub library: String,
    /// Whether its sandbox is on.
    pub sandbox: Sandbox,
    /// The user that it runs as, where that is not the one who measures: a browser's sandbox does not take root.
    pub user: Option<String>,
    /// What is set for every visit beyond what is needed to drive it.
    pub settings: Vec<String>,
}

/// Whether a browser confines its processes as it does for its users.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Sandbox {
    /// As it does by itself.
    On,
    /// Turned off, as the command line asked.
    Off,
}

impl Recorded for BrowserPlan {
    type Record = VisitSample;
    type Counted = VisitSample;

    fn tally(&self, records: &[VisitSample]) -> Tally {
        let names: HashSet<String> = self.sites.iter().map(Site::name).collect();
        let own = |sample: &&VisitSample| {
            sample.round < self.rounds
                && self.conditions.contains(&sample.condition)
                && self.clients.contains(&sample.client)
                && names.contains(&sample.site)
        };
        let taken: HashSet<_> = records
            .iter()
            .filter(own)
            .filter(|sample| sample.outcome.counts())
            .map(VisitSample::key)
            .collect();
        let each_round = self.sites.len() * self.clients.len() * self.conditions.len();
        Tally {
            planned: each_round as u64 * u64::from(self.rounds),
            taken: taken.len() as u64,
            foreign: records.iter().filter(|sample| !own(sample)).count() as u64,
        }
    }
}
