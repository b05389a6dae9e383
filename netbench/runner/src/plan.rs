use netbench_compat::EmulatedEch;
use netbench_model::{
    ClientChain, ClientSettings, ConnectPlan, CpuShare, EchPolicy, PointClient, Profile,
    ShardRecord, SignatureScheme, Target, TlsVersion,
};
use netbench_protocol::{ClientIdentity, Ech, HttpRequest};

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

/// The settings of a site's clients that not all clients share.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OwnClient {
    /// The settings of the point of a sweep.
    point: PointClient,
    /// The schemes that only clients of such sites offer.
    schemes: Vec<SignatureScheme>,
    /// The certificates that the site requires of them.
    pub(crate) chain: Option<ClientChain>,
    /// Encrypted ClientHello, with which clients offer TLS 1.3 alone.
    ech: Option<EchPolicy>,
}

impl OwnClient {
    /// Returns all settings of the clients in a run with the given settings.
    pub(crate) fn settings(&self, of_run: &ClientSettings) -> ClientSettings {
        let mut settings = self.point.settings(of_run);
        settings.signatures.extend(&self.schemes);
        if self.ech.is_some() {
            settings
                .versions
                .retain(|version| *version == TlsVersion::Tls13);
        }
        settings
    }

    /// Returns the clients' Encrypted ClientHello.
    pub(crate) fn ech(&self) -> Option<Ech> {
        EmulatedEch::of(self.ech?).offer
    }
}

impl Trials<'_> {
    /// Returns the settings of a site's clients that not all clients share.
    pub(crate) fn own_client(&self, site: usize) -> OwnClient {
        let (site, client) = (&self.plan.sites[site], &self.plan.client);
        let is_emulated = self.plan.target == Target::Lab;
        OwnClient {
            chain: site.lab.client_chain.filter(|_| is_emulated),
            point: site
                .point
                .as_deref()
                .map(|point| point.client)
                .unwrap_or_default(),
            schemes: match client.profile {
                Profile::Default | Profile::Servo if is_emulated => site.lab.additional_schemes(),
                // A library offers its own schemes, and nothing is known of a real host's certificate.
                _ => Vec::new(),
            },
            ech: site.lab.ech.filter(|_| is_emulated),
        }
    }

    /// Returns the CPU quota of such clients; `None` for no limit.
    pub(crate) fn share(&self, own: &OwnClient) -> Option<CpuShare> {
        own.point.cpu_percent.or(self.plan.cpu_percent)
    }
}
