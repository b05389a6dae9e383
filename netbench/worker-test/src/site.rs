//! The only site of a lab.

use std::{
    net::{Ipv4Addr, SocketAddr},
    slice,
};

use netbench_lab::Lab;
use netbench_model::{KeyType, LabProfile, Site, Switch};
use netbench_protocol::{RequestBody, ResponseBody, Serve, ServeSite};
use netbench_runner::Worker;

use crate::bench::ask;

/// The host of a site whose name does not matter.
pub(crate) const HOST: &str = "foreign.test";

/// A site that a worker serves on a free port, without other sites.
pub(crate) struct OnlySite {
    pub(crate) server: ServeSite,
    pub(crate) roots_pem: String,
}

impl OnlySite {
    pub(crate) fn new(stack: &str, host: &str, profile: LabProfile) -> Result<Self, String> {
        let site = lab_site(stack, host, profile)?;
        let lab = Lab::new(slice::from_ref(&site)).map_err(|e| e.to_string())?;
        let server = lab.serve_site(&site, any_port);
        Ok(Self {
            server: server.ok_or("no site was made")?,
            roots_pem: lab.ca_pem().to_owned(),
        })
    }

    /// Creates [`HOST`] with a key of this type and a stapled response.
    pub(crate) fn with_key(stack: &str, key: KeyType) -> Result<Self, String> {
        let profile = LabProfile {
            key,
            ocsp: Switch::On,
            ..LabProfile::default()
        };
        Self::new(stack, HOST, profile)
    }

    /// Returns the request to serve it.
    pub(crate) fn request(&self, stack: &str) -> RequestBody {
        serve_request(stack, vec![self.server.clone()])
    }

    /// Returns the address in the answer to that request.
    pub(crate) fn address(&self, answer: &ResponseBody) -> Result<SocketAddr, String> {
        let address = match answer {
            ResponseBody::Serving(serving) => serving.listening.get(&self.server.site),
            _ => None,
        };
        address
            .copied()
            .ok_or_else(|| format!("not served: {answer:?}"))
    }

    /// Makes `worker` serve it, and returns its address.
    pub(crate) fn serve(&self, worker: &mut Worker, stack: &str) -> Result<SocketAddr, String> {
        self.address(&ask(worker, self.request(stack))?)
    }
}

/// Creates a site of a lab that `stack` serves.
pub(crate) fn lab_site(stack: &str, host: &str, mut lab: LabProfile) -> Result<Site, String> {
    stack.clone_into(&mut lab.server);
    Ok(Site {
        lab: lab.into(),
        ..Site::new(host.parse()?, 443)
    })
}

/// Returns the address of a server that may use any port.
pub(crate) fn any_port() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

pub(crate) fn serve_request(stack: &str, sites: Vec<ServeSite>) -> RequestBody {
    RequestBody::Serve(Box::new(Serve {
        stack: stack.to_owned(),
        sites,
        shared: None,
    }))
}

/// Returns the certificates of a PEM text, each as the base64 of its DER.
pub(crate) fn certificates(pem: &str) -> Vec<String> {
    let blocks = pem.split("-----BEGIN CERTIFICATE-----").skip(1);
    blocks
        .map(|block: &str| -> String {
            let lines = block.lines().take_while(|line| !line.starts_with("-----"));
            lines.collect()
        })
        .collect()
}
