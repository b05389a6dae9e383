use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use netbench_lab::Lab;
use netbench_link::{Link, Namespace, TrialKey};
use netbench_model::{Failure, FailureClass, FailureWord, Fault, ServerCount, Site};
use netbench_protocol::{RequestBody, Resolve, ResponseBody, Serve, ServeSite};
use parking_lot::{Mutex, MutexGuard};

use crate::{Launch, Worker, WorkerError, Workers};

/// How long the lab's servers may take to set up all their sites.
const SERVE_LIMIT: Duration = Duration::from_secs(60);

/// A port on loopback where nothing listens: `discard`, out of use for decades.
const NOBODY: u16 = 9;

/// Where connections go: the lab, or servers that are there already.
pub enum Targets {
    /// The emulated sites of this machine.
    Lab(Box<LabTargets>),
    /// Servers that are there already; none where the name did not resolve.
    Hosts(Vec<Option<HostAddress>>),
}

/// Where a host is, and whether its name is looked up for every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address that is connected to.
    pub address: SocketAddr,
    /// Where the time of the lookup comes from.
    pub resolve: Resolve,
}

/// The lab's servers, running, and the link to them.
pub struct LabTargets {
    link: Link,
    /// Asked only before and after a run: during it, slots share these targets.
    servers: Mutex<Vec<(String, Worker)>>,
    addresses: Vec<SocketAddr>,
    failed: BTreeMap<usize, Failure>,
}

/// Servers that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// The sites file names a server for which there is no worker here.
    #[error("no worker for the server {0:?} that the sites file names")]
    NoServer(String),
    /// A server's worker failed.
    #[error("the server {server}: {source}")]
    Server {
        /// Which.
        server: String,
        /// How.
        source: WorkerError,
    },
}

impl Targets {
    /// Starts the lab's servers behind `link`. A site that its server cannot be set up for is no
    /// error: its trials fail with the server's reason.
    ///
    /// # Errors
    /// A server that does not start or does not answer.
    pub fn lab(
        link: Link,
        lab: &Lab,
        sites: &[Site],
        workers: &Workers,
    ) -> Result<Self, TargetsError> {
        let wanted = |i: usize| {
            SocketAddr::new(IpAddr::V4(link.address(i)), link.listen_port(sites[i].port))
        };
        let mut addresses: Vec<SocketAddr> = (0..sites.len()).map(wanted).collect();
        let mut failed = BTreeMap::new();
        let mut servers = Vec::new();
        let index: BTreeMap<String, usize> = sites
            .iter()
            .enumerate()
            .map(|(i, site)| (site.name(), i))
            .collect();
        for (server, settings) in lab.serve_sites(sites, wanted) {
            let (worker, serving) = start(&link, workers, &server, settings)?;
            for (site, address) in serving.listening {
                if let Some(i) = index.get(&site) {
                    addresses[*i] = address;
                }
            }
            for (site, why) in serving.failed {
                if let Some(i) = index.get(&site) {
                    failed.insert(*i, no_server(&server, &why));
                }
            }
            servers.push((server, worker));
        }
        for (address, site) in addresses.iter_mut().zip(sites) {
            if site.lab.fault == Some(Fault::Refuse) && address.port() == 0 {
                address.set_port(NOBODY);
            }
        }
        Ok(Self::Lab(Box::new(LabTargets {
            link,
            servers: Mutex::new(servers),
            addresses,
            failed,
        })))
    }

    /// The link, where it is emulated.
    pub fn link(&self) -> Option<&Link> {
        match self {
            Self::Lab(lab) => Some(&lab.link),
            Self::Hosts(_) => None,
        }
    }

    /// The peak resident size of each of the lab's servers, in bytes.
    pub fn server_peaks(&self) -> BTreeMap<String, u64> {
        let Self::Lab(lab) = self else {
            return BTreeMap::new();
        };
        let peak =
            |(name, worker): &(String, Worker)| Some((name.clone(), worker.resident_bytes()?));
        lab.servers().iter().filter_map(peak).collect()
    }

    /// What the lab's servers have counted so far; the real network counts for nobody.
    ///
    /// # Errors
    /// A server that died, or does not answer within ten seconds.
    pub fn served(&self) -> Result<Vec<ServerCount>, TargetsError> {
        let Self::Lab(lab) = self else {
            return Ok(Vec::new());
        };
        let mut counts = Vec::new();
        for (server, worker) in lab.servers().iter_mut() {
            let asked = worker.ask(RequestBody::Counts, Duration::from_secs(10));
            match asked {
                Ok(ResponseBody::Counted { sites }) => counts.extend(sites),
                Ok(_) => {}
                Err(source) => {
                    return Err(TargetsError::Server {
                        server: server.clone(),
                        source,
                    });
                }
            }
        }
        counts.sort_by(|a, b| a.site.cmp(&b.site));
        Ok(counts)
    }

    pub(crate) fn client_place(&self) -> Option<Namespace> {
        self.link().map(Link::client_namespace)
    }

    /// How the name of the site of an index in the sites is resolved for a connection.
    pub(crate) fn resolve(&self, site: usize) -> Resolve {
        match self {
            Self::Lab(_) => Resolve::Given,
            Self::Hosts(hosts) => hosts[site].map_or(Resolve::Given, |host| host.resolve),
        }
    }

    /// Where the site of an index in the sites is, or why no stack can be tried on it.
    ///
    /// # Errors
    /// Its server could not be set up, or its name did not resolve.
    pub fn address(&self, site: usize) -> Result<SocketAddr, Failure> {
        match self {
            Self::Lab(lab) => match lab.failed.get(&site) {
                Some(failure) => Err(failure.clone()),
                None => Ok(lab.addresses[site]),
            },
            Self::Hosts(hosts) => hosts[site].map(|host| host.address).ok_or_else(|| Failure {
                class: FailureClass::Resolve,
                reason: FailureWord::NotFound.into(),
                detail: "the name did not resolve when the run began".to_owned(),
                phase: None,
                after_ns: None,
            }),
        }
    }

    pub(crate) fn begin_trial(&self, site: usize, key: TrialKey) {
        if let Some(link) = self.link() {
            link.begin_trial(site, key);
        }
    }
}

impl LabTargets {
    fn servers(&self) -> MutexGuard<'_, Vec<(String, Worker)>> {
        self.servers.lock()
    }
}

fn start(
    link: &Link,
    workers: &Workers,
    server: &str,
    sites: Vec<ServeSite>,
) -> Result<(Worker, netbench_protocol::Serving), TargetsError> {
    let program = workers
        .program(server)
        .ok_or_else(|| TargetsError::NoServer(server.to_owned()))?;
    let failed = |source| TargetsError::Server {
        server: server.to_owned(),
        source,
    };
    let mut worker = Worker::start(program, &Launch::in_place(Some(&link.server_namespace())))
        .map_err(failed)?;
    let request = RequestBody::Serve(Box::new(Serve {
        stack: server.to_owned(),
        sites,
    }));
    match worker.ask(request, SERVE_LIMIT).map_err(failed)? {
        ResponseBody::Serving(serving) => Ok((worker, serving)),
        other => Err(failed(WorkerError::another_kind(&other))),
    }
}

fn no_server(server: &str, why: &str) -> Failure {
    Failure {
        class: FailureClass::Setup,
        reason: FailureWord::NoServer.into(),
        detail: format!("the server {server} could not be set up: {why}"),
        phase: None,
        after_ns: None,
    }
}
