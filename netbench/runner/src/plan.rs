use std::{collections::BTreeMap, time::Duration};

use netbench_model::{
    ClientSettings, Condition, CpuShare, Failure, PointClient, ShardRecord, Site, StackName, Target,
};
use netbench_protocol::{ClientIdentity, HttpRequest};

/// The measurements to make: validated, complete, and not checked again.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed of everything random.
    pub seed: u64,
    /// The stacks; the others are compared with the first.
    pub stacks: Vec<StackName>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Number of rounds.
    pub rounds: u32,
    /// Number of trials at the same time.
    pub jobs: u32,
    /// The CPU quota of each client; `None` for no limit.
    pub cpu: Option<CpuShare>,
    /// The target of the sites.
    pub target: Target,
    /// The shard of the whole list of sites that `sites` contains; `None` if it contains all.
    pub shard: Option<ShardRecord>,
    /// The sites.
    pub sites: Vec<Site>,
    /// The settings of every client.
    pub client: ClientSettings,
    /// The trust roots, as PEM.
    pub roots_pem: String,
    /// The certificate that clients show to a server that requests one.
    pub identity: Option<ClientIdentity>,
    /// The request to every site, each at its own path.
    pub request: HttpRequest,
    /// The time limit of one connection.
    pub timeout: Duration,
    /// The pause between two connections to one site.
    pub pause: Duration,
    /// Sites that cannot be tested with any stack, by their index, with the reason: names that do not resolve.
    pub unreachable: BTreeMap<usize, Failure>,
    /// Number of this session in the run.
    pub session: u32,
}

impl Plan {
    /// Returns the settings of a site's clients that not all clients share.
    pub(crate) fn own_client(&self, site: usize) -> PointClient {
        let point = self.sites[site].point.as_deref();
        point.map(|point| point.client).unwrap_or_default()
    }

    /// Returns the CPU quota of such clients; `None` for no limit.
    pub(crate) fn share(&self, own: PointClient) -> Option<CpuShare> {
        own.cpu_percent.or(self.cpu)
    }
}
