use std::{collections::BTreeMap, time::Duration};

use netbench_model::{
    ClientSettings, Condition, CpuShare, Failure, PointClient, ShardRecord, Site, StackName, Target,
};
use netbench_protocol::{ClientIdentity, HttpRequest};

/// What is to be measured: validated, complete, not looked at again.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Everything random comes from it.
    pub seed: u64,
    /// The stacks; the first is what the others are compared with.
    pub stacks: Vec<StackName>,
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// Rounds.
    pub rounds: u32,
    /// Trials at one time.
    pub jobs: u32,
    /// The share of a core's time that each client gets; none for no limit.
    pub cpu: Option<CpuShare>,
    /// Where the sites are.
    pub target: Target,
    /// The part of the whole list of sites that `sites` is; none where it is all.
    pub shard: Option<ShardRecord>,
    /// The sites.
    pub sites: Vec<Site>,
    /// What every client offers.
    pub client: ClientSettings,
    /// The trust roots, as PEM.
    pub roots_pem: String,
    /// What clients show to a server that asks for a certificate.
    pub identity: Option<ClientIdentity>,
    /// What every site is asked, each at its own path.
    pub request: HttpRequest,
    /// The time limit of one connection.
    pub timeout: Duration,
    /// The pause between two connections to one site.
    pub pause: Duration,
    /// Sites that no stack can be tried on, by their index, and why: names that do not resolve.
    pub unreachable: BTreeMap<usize, Failure>,
    /// Which session of the run this is.
    pub session: u32,
}

impl Plan {
    /// What clients of a site are set to that not all clients are.
    pub(crate) fn own_client(&self, site: usize) -> PointClient {
        let point = self.sites[site].point.as_deref();
        point.map(|point| point.client).unwrap_or_default()
    }

    /// The share of a core that such clients get; none for no limit.
    pub(crate) fn share(&self, own: PointClient) -> Option<CpuShare> {
        own.cpu_percent.or(self.cpu)
    }
}
