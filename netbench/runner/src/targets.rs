use std::net::SocketAddr;

use netbench_link::{Link, Namespace, TrialKey};
use netbench_model::{Failure, LinkPackets, LossLog};
use netbench_protocol::Resolve;

use crate::{WorkerError, lab_targets::LabTargets};

/// The destination of connections: the lab, or existing servers.
pub enum Targets {
    /// The emulated sites of this machine.
    Lab(Box<LabTargets>),
    /// Servers that are there already, or why the name did not resolve.
    Hosts(Vec<Result<HostAddress, Failure>>),
}

/// The address of a host, and whether its name is looked up for every connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAddress {
    /// The address of connections.
    pub address: SocketAddr,
    /// The source of the lookup's time.
    pub resolve: Resolve,
}

/// An error of servers that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum TargetsError {
    /// The sites file names a server for which there is no worker here.
    #[error("no worker for the server {0:?} that the sites file names")]
    NoServer(String),
    /// The worker of the server with this name failed.
    #[error("the server {0}: {1}")]
    Server(String, #[source] WorkerError),
}

impl Targets {
    /// Returns the link, if it is emulated.
    pub fn link(&self) -> Option<&Link> {
        self.as_lab().map(LabTargets::link)
    }

    /// Returns the lab's servers, if they are the destination.
    pub fn as_lab(&self) -> Option<&LabTargets> {
        match self {
            Self::Lab(lab) => Some(lab),
            Self::Hosts(_) => None,
        }
    }

    pub(crate) fn client_place(&self) -> Option<Namespace> {
        self.link().map(Link::client_namespace)
    }

    /// Returns the way in which the name of the site at an index is resolved for a connection.
    pub(crate) fn resolve(&self, site: usize) -> Resolve {
        match self {
            Self::Lab(_) => Resolve::Given,
            Self::Hosts(hosts) => hosts[site]
                .as_ref()
                .map_or(Resolve::Given, |host| host.resolve),
        }
    }

    /// Returns the address of the site at an index.
    ///
    /// # Errors
    /// Returns the reason why no stack can be tested on it: its server could not be set up, or its name did not
    /// resolve.
    pub fn address(&self, site: usize) -> Result<SocketAddr, Failure> {
        match self {
            Self::Lab(lab) => lab.address(site),
            Self::Hosts(hosts) => hosts[site]
                .as_ref()
                .map(|host| host.address)
                .map_err(Clone::clone),
        }
    }

    /// Returns the reason why the site at an index cannot be tested, if its server does not support the site's
    /// settings.
    pub(crate) fn unsupported(&self, site: usize) -> Option<String> {
        self.as_lab()?.unsupported(site)
    }

    pub(crate) fn begin_trial(&self, site: usize, key: TrialKey) {
        if let Some(link) = self.link() {
            link.begin_trial(site, key);
        }
    }

    /// Returns the packets of the site's last trial, if a link sees them.
    pub(crate) fn packets(&self, site: usize) -> Option<LinkPackets> {
        self.link()?.packets(site)
    }

    /// Returns the link's treatment of the packets of the site's last trial.
    pub(crate) fn losses(&self, site: usize) -> Vec<LossLog> {
        self.link()
            .map(|link| link.losses(site))
            .unwrap_or_default()
    }
}
