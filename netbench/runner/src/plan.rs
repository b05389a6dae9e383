use netbench_model::{ConnectPlan, CpuShare, PointClient, ShardRecord};
use netbench_protocol::{ClientIdentity, HttpRequest};

/// The trials of one session: the plan of the run, and the values that the plan only describes.
#[derive(Debug, Clone)]
pub struct Trials<'a> {
    /// The plan.
    pub plan: &'a ConnectPlan,
    /// The shard of the whole list of sites that the plan contains; `None` if it contains all.
    pub shard: Option<ShardRecord>,
    /// The trust roots, as PEM.
    pub roots_pem: &'a str,
    /// The certificate that clients show to a server that requests one.
    pub identity: Option<ClientIdentity>,
    /// The request to every site, each at its own path.
    pub request: HttpRequest,
    /// Number of this session in the run.
    pub session: u32,
}

impl Trials<'_> {
    /// Returns the settings of a site's clients that not all clients share.
    pub(crate) fn own_client(&self, site: usize) -> PointClient {
        let point = self.plan.sites[site].point.as_deref();
        point.map(|point| point.client).unwrap_or_default()
    }

    /// Returns the CPU quota of such clients; `None` for no limit.
    pub(crate) fn share(&self, own: PointClient) -> Option<CpuShare> {
        own.cpu_percent.or(self.plan.cpu_percent)
    }
}
