use std::{collections::BTreeMap, net::SocketAddr};

use netbench_lab::Lab;
use netbench_link::{Link, Namespace, TrialKey};
use netbench_model::{Failure, LinkPackets, LossLog, ServerCount, Site};
use netbench_protocol::Resolve;

use crate::{WorkerError, Workers, lab_targets::LabTargets};

/// Where connections go: the lab, or servers that are there already.
pub enum Targets {
    /// The emulated sites of this machine.
    Lab(Box<LabTargets>),
    /// Servers that are there already, or why the name did not resolve.
    Hosts(Vec<Result<HostAddress, Failure>>),
}

/// Where a host is, and whether its name is looked up for every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address that is connected to.
    pub address: SocketAddr,
    /// Where the time of the lookup comes from.
    pub resolve: Resolve,
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
        lab: Lab,
        sites: &[Site],
        workers: &Workers,
    ) -> Result<Self, TargetsError> {
        LabTargets::start(link, lab, sites, workers).map(|lab| Self::Lab(Box::new(lab)))
    }

    /// The link, where it is emulated.
    pub fn link(&self) -> Option<&Link> {
        match self {
            Self::Lab(lab) => Some(lab.link()),
            Self::Hosts(_) => None,
        }
    }

    /// The lab's own root, in PEM.
    pub fn ca_pem(&self) -> Option<&str> {
        match self {
            Self::Lab(lab) => Some(lab.ca_pem()),
            Self::Hosts(_) => None,
        }
    }

    /// The peak resident size of each of the lab's servers, in bytes.
    pub fn server_peaks(&self) -> BTreeMap<String, u64> {
        match self {
            Self::Lab(lab) => lab.peaks(),
            Self::Hosts(_) => BTreeMap::new(),
        }
    }

    /// What to tell the user where some sites cannot be served.
    pub fn not_served(&self) -> Option<String> {
        match self {
            Self::Lab(lab) => lab.not_served(),
            Self::Hosts(_) => None,
        }
    }

    /// What the lab's servers have counted so far; the real network counts for nobody.
    ///
    /// # Errors
    /// A server that died, or does not answer within ten seconds.
    pub fn served(&self) -> Result<Vec<ServerCount>, TargetsError> {
        match self {
            Self::Lab(lab) => lab.served(),
            Self::Hosts(_) => Ok(Vec::new()),
        }
    }

    pub(crate) fn client_place(&self) -> Option<Namespace> {
        self.link().map(Link::client_namespace)
    }

    /// How the name of the site of an index in the sites is resolved for a connection.
    pub(crate) fn resolve(&self, site: usize) -> Resolve {
        match self {
            Self::Lab(_) => Resolve::Given,
            Self::Hosts(hosts) => hosts[site]
                .as_ref()
                .map_or(Resolve::Given, |host| host.resolve),
        }
    }

    /// Where the site of an index in the sites is, or why no stack can be tried on it.
    ///
    /// # Errors
    /// Its server could not be set up, or its name did not resolve.
    pub fn address(&self, site: usize) -> Result<SocketAddr, Failure> {
        match self {
            Self::Lab(lab) => lab.address(site),
            Self::Hosts(hosts) => hosts[site]
                .as_ref()
                .map(|host| host.address)
                .map_err(Clone::clone),
        }
    }

    /// Why nothing can be tried on the site of an index in the sites, where its server cannot do what the site asks for.
    pub(crate) fn unsupported(&self, site: usize) -> Option<String> {
        match self {
            Self::Lab(lab) => lab.unsupported(site),
            Self::Hosts(_) => None,
        }
    }

    pub(crate) fn begin_trial(&self, site: usize, key: TrialKey) {
        if let Some(link) = self.link() {
            link.begin_trial(site, key);
        }
    }

    /// Returns the packets of the site's last trial, where a link sees them.
    pub(crate) fn packets(&self, site: usize) -> Option<LinkPackets> {
        self.link()?.packets(site)
    }

    /// What the link did with the packets of the site's last trial.
    pub(crate) fn losses(&self, site: usize) -> Vec<LossLog> {
        self.link()
            .map(|link| link.losses(site))
            .unwrap_or_default()
    }
}
