use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

use netbench_compat::EmulatedEch;
use netbench_lab::Lab;
use netbench_link::Link;
use netbench_model::{
    Failure, FailureClass, FailureWord, Fault, LinkKind, ServerCount, SignatureScheme, Site,
};
use netbench_protocol::{
    Operation, RequestBody, ResponseBody, Serve, ServeSite, Serving, SharedListener,
};
use parking_lot::{Mutex, RwLock};

use crate::{TargetsError, Worker, WorkerError, Workers};

/// The worker that starts installed servers.
const INSTALLED_SERVERS: &str = "netbench-worker-servers";

/// The time limit for a server's set-up of the sites of one request.
const SERVE_LIMIT: Duration = Duration::from_secs(60);

/// The time limit for a server's counts.
const COUNTING: Duration = Duration::from_secs(10);

/// Number of sites in one request: their certificates are in memory several times during the request.
const SITES_AT_ONCE: usize = 500;

/// Number of deaths without a successful trial between them after which a server is given up.
const DEATHS_IN_A_ROW: u32 = 5;

/// A port on loopback without a listener: `discard`, out of use for decades.
const NOBODY: u16 = 9;

/// The lab's servers, running, and the link to them.
pub struct LabTargets {
    servers: Vec<LabServer>,
    /// The address of each site.
    places: RwLock<Vec<Result<SocketAddr, Unserved>>>,
    lab: Lab,
    sites: Vec<Site>,
    workers: Workers,
    /// The link, which is the last field so that it is dropped after the servers.
    link: Link,
}

struct LabServer {
    stack: String,
    /// The indices of its sites, in ascending order.
    sites: Vec<usize>,
    process: Mutex<Option<Worker>>,
    /// Number of times that it has died and been restarted.
    deaths: AtomicU32,
    deaths_in_a_row: AtomicU32,
    given_up: AtomicBool,
}

/// The reason why a site has no server.
#[derive(Clone)]
struct Unserved {
    failure: Failure,
    /// The feature that the server does not support, if that is the reason.
    unsupported: Option<String>,
}

/// The death of a lab server that affected a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerDeath {
    pub(crate) server: String,
    /// A description of the end, for the trial that found the server dead; other trials met it later.
    pub(crate) found: Option<String>,
}

impl LabTargets {
    /// Starts the servers behind `link`. A site that its server cannot be set up for is no error: its trials fail
    /// with the server's reason.
    ///
    /// # Errors
    /// Returns an error if a server does not start or does not answer.
    pub fn start(
        link: Link,
        lab: Lab,
        sites: &[Site],
        workers: &Workers,
    ) -> Result<Self, TargetsError> {
        let mut by_stack: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, site) in sites.iter().enumerate() {
            if site.lab.fault != Some(Fault::Refuse) && lacking(site, workers).is_none() {
                by_stack.entry(&site.lab.server).or_default().push(i);
            }
        }
        let servers = by_stack.into_iter().map(|(stack, sites)| LabServer {
            stack: stack.to_owned(),
            sites,
            process: Mutex::new(None),
            deaths: AtomicU32::new(0),
            deaths_in_a_row: AtomicU32::new(0),
            given_up: AtomicBool::new(false),
        });
        let targets = Self {
            servers: servers.collect(),
            places: RwLock::default(),
            lab,
            sites: sites.to_vec(),
            workers: workers.clone(),
            link,
        };
        let places = sites.iter().enumerate();
        let places = places.map(|(i, site)| match lacking(site, workers) {
            None => Ok(targets.wanted(i)),
            Some(why) => Err(Unserved {
                failure: no_server(&site.lab.server, &why),
                unsupported: Some(why),
            }),
        });
        *targets.places.write() = places.collect();
        for server in &targets.servers {
            *server.process.lock() = Some(targets.start_server(server)?);
        }
        for (place, site) in targets.places.write().iter_mut().zip(sites) {
            if let Ok(address) = place
                && site.lab.fault == Some(Fault::Refuse)
                && address.port() == 0
            {
                address.set_port(NOBODY);
            }
        }
        Ok(targets)
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Returns the certificates and keys of servers and clients.
    pub fn lab(&self) -> &Lab {
        &self.lab
    }

    /// Returns the address of a site; see [`crate::Targets::address`].
    pub(crate) fn address(&self, site: usize) -> Result<SocketAddr, Failure> {
        let place = self.places.read()[site].clone();
        place.map_err(|unserved| unserved.failure)
    }

    /// Returns the feature that the site's server does not support, if that is the reason why the site is not
    /// served.
    pub(crate) fn unsupported(&self, site: usize) -> Option<String> {
        let places = self.places.read();
        places[site].as_ref().err()?.unsupported.clone()
    }

    /// Returns the message for the user if some sites have no server.
    pub fn not_served(&self) -> Option<String> {
        let places = self.places.read();
        let mut unserved = places.iter().filter_map(|place| place.as_ref().err());
        let detail = &unserved.next()?.failure.detail;
        let (failed, all) = (unserved.count() + 1, places.len());
        Some(format!("{failed} of {all} sites have no server: {detail}"))
    }

    /// Returns the peak resident size of each server, in bytes. The worker of an installed server has the server in
    /// another process: the size of the worker does not show that of the server.
    pub fn peaks(&self) -> BTreeMap<String, u64> {
        let servers = self.servers.iter().filter_map(|server| {
            let program = &self.workers.program(&server.stack)?.path;
            if program.ends_with(INSTALLED_SERVERS) {
                return None;
            }
            let bytes = server.process.lock().as_ref()?.resident_bytes()?;
            Some((server.stack.clone(), bytes))
        });
        servers.collect()
    }

    /// Returns the counts of the servers so far. A server that died lost its counts: its sites are left out.
    ///
    /// # Errors
    /// Returns an error if a server does not answer within ten seconds.
    pub fn served(&self) -> Result<Vec<ServerCount>, TargetsError> {
        let mut counts = Vec::new();
        for server in &self.servers {
            let mut process = server.process.lock();
            let (Some(worker), 0) = (process.as_mut(), server.deaths()) else {
                continue;
            };
            match worker.ask(RequestBody::Counts, COUNTING) {
                Ok(ResponseBody::Counted { sites }) => counts.extend(sites),
                Ok(_) => {}
                Err(source) => return Err(failed(server, source)),
            }
        }
        counts.sort_by(|a, b| a.site.cmp(&b.site));
        Ok(counts)
    }

    /// Returns the number of handshakes that the site's server has finished; `None` if it has died, or does not count them.
    pub(crate) fn handshakes(&self, site: usize) -> Option<u64> {
        let mut process = self.server(site)?.process.lock();
        let asked = process.as_mut()?.ask(RequestBody::Counts, COUNTING);
        let ResponseBody::Counted { sites } = asked.ok()? else {
            return None;
        };
        let name = self.sites[site].name();
        let count = sites.into_iter().find(|count| count.site == name)?;
        Some(count.handshakes)
    }

    /// Returns how often the site's server has died so far.
    pub(crate) fn deaths(&self, site: usize) -> u32 {
        self.server(site).map_or(0, LabServer::deaths)
    }

    /// Returns the site's server if it is not restarted any more.
    pub(crate) fn given_up(&self, site: usize) -> Option<&str> {
        let server = self.server(site)?;
        let given_up = server.given_up.load(Ordering::Relaxed);
        given_up.then_some(server.stack.as_str())
    }

    /// Records a successful trial on the site.
    pub(crate) fn went_well(&self, site: usize) {
        if let Some(server) = self.server(site) {
            server.deaths_in_a_row.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the death of the site's server during a trial, before which its deaths were `before`, if it died.
    /// The caller that finds it dead restarts it.
    pub(crate) fn death(&self, site: usize, before: u32) -> Option<ServerDeath> {
        let server = self.server(site)?;
        // Waits for another caller that is restarting it.
        let mut process = server.process.lock();
        let mut found = None;
        if server.deaths() == before {
            let why = process.as_mut().and_then(Worker::has_ended)?;
            *process = None;
            found = Some(match self.revive(server, &mut process) {
                Ok(()) => format!("{why}; it was started again"),
                Err(error) => format!("{why}; it cannot be started again: {error}"),
            });
            // The count is increased only now: a trial that began meanwhile has met the dead server.
            server.deaths.fetch_add(1, Ordering::Relaxed);
        }
        let server = server.stack.clone();
        Some(ServerDeath { server, found })
    }

    fn revive(&self, server: &LabServer, process: &mut Option<Worker>) -> Result<(), WorkerError> {
        let in_a_row = server.deaths_in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        let revived = if in_a_row < DEATHS_IN_A_ROW {
            self.start_server(server).map_err(|error| match error {
                TargetsError::Server(_, source) => source,
                error @ TargetsError::NoServer(_) => WorkerError::Refused(error.to_string()),
            })
        } else {
            Err(WorkerError::Refused(format!(
                "it died {in_a_row} times in a row"
            )))
        };
        server.given_up.store(revived.is_err(), Ordering::Relaxed);
        *process = Some(revived?);
        Ok(())
    }

    /// Starts a server's process, and makes it listen for all its sites.
    fn start_server(&self, server: &LabServer) -> Result<Worker, TargetsError> {
        let program = self
            .workers
            .program(&server.stack)
            .ok_or_else(|| TargetsError::NoServer(server.stack.clone()))?;
        let place = self.link.server_namespace();
        let launch = self.workers.launch(Some(&place));
        let mut worker = Worker::start(program, &launch).map_err(|error| failed(server, error))?;
        for some in server.sites.chunks(SITES_AT_ONCE) {
            let serving = self
                .serve(&mut worker, server, some)
                .map_err(|error| failed(server, error))?;
            self.enter(server, some, &serving);
        }
        Ok(worker)
    }

    /// Returns the reason why a server cannot sign with the key of a site, as far as its description shows it: whether it
    /// has ML-DSA.
    fn cannot_sign(&self, server: &LabServer, site: usize) -> Option<String> {
        let key = self.sites[site].lab.key;
        let scheme = key
            .schemes()
            .first()
            .filter(|scheme| SignatureScheme::ML_DSA.contains(scheme))?;
        let known = self.workers.description(&server.stack)?;
        (!known.signatures.contains(scheme)).then(|| {
            format!(
                "key={key}: {} has no {scheme}; server=openssl and server=rustls-aws-lc have it",
                known.record.library
            )
        })
    }

    fn serve(
        &self,
        worker: &mut Worker,
        server: &LabServer,
        some: &[usize],
    ) -> Result<Serving, WorkerError> {
        let mut cannot = BTreeMap::new();
        for i in some {
            if let Some(why) = self.cannot_sign(server, *i) {
                cannot.insert(self.sites[*i].name(), why);
            }
        }
        let request = RequestBody::Serve(Box::new(Serve {
            stack: server.stack.clone(),
            sites: some
                .iter()
                .filter(|i| !cannot.contains_key(&self.sites[**i].name()))
                .filter_map(|i| self.serve_site(*i))
                .collect(),
            shared: Some(self.shared()),
        }));
        match worker.ask(request, SERVE_LIMIT)? {
            ResponseBody::Serving(mut serving) => {
                serving.unsupported.extend(cannot);
                Ok(serving)
            }
            other => Err(WorkerError::another_kind(&other)),
        }
    }

    fn serve_site(&self, site: usize) -> Option<ServeSite> {
        let ech = self.sites[site].lab.ech.map(EmulatedEch::of);
        Some(ServeSite {
            ech_keys: ech.map(|ech| ech.keys).unwrap_or_default(),
            ..self
                .lab
                .serve_site(&self.sites[site], || self.wanted(site))?
        })
    }

    fn enter(&self, server: &LabServer, some: &[usize], serving: &Serving) {
        let mut places = self.places.write();
        for i in some {
            let name = self.sites[*i].name();
            let unsupported = serving.unsupported.get(&name);
            if let Some(address) = serving.listening.get(&name) {
                places[*i] = Ok(*address);
            } else if let Some(why) = unsupported.or_else(|| serving.failed.get(&name)) {
                places[*i] = Err(Unserved {
                    failure: no_server(&server.stack, why),
                    unsupported: unsupported.cloned(),
                });
            }
        }
    }

    /// Returns the listening address of a site that has a separate listener.
    fn wanted(&self, site: usize) -> SocketAddr {
        let port = self.link.listen_port(self.sites[site].port);
        SocketAddr::new(IpAddr::V4(self.link.address(site)), port)
    }

    /// Returns one listener for all addresses of sites. On this machine's own network it must not be reachable from
    /// other machines.
    fn shared(&self) -> SharedListener {
        let own_network = self.link.kind() == LinkKind::None;
        SharedListener {
            listen: (Ipv4Addr::UNSPECIFIED, 0).into(),
            interface: own_network.then(|| "lo".to_owned()),
        }
    }

    fn server(&self, site: usize) -> Option<&LabServer> {
        let mut servers = self.servers.iter();
        servers.find(|server| server.sites.binary_search(&site).is_ok())
    }
}

impl LabServer {
    fn deaths(&self) -> u32 {
        self.deaths.load(Ordering::Relaxed)
    }
}

fn failed(server: &LabServer, source: WorkerError) -> TargetsError {
    TargetsError::Server(server.stack.clone(), source)
}

/// Returns the feature that the server of a site lacks, as far as its description shows, and a server that has it.
fn lacking(site: &Site, workers: &Workers) -> Option<String> {
    let server = &site.lab.server;
    if site.lab.early_data.is_some() && !workers.does(server, Operation::ServesEarlyData) {
        return Some(format!(
            "{server} cannot serve early data; server=rustls-aws-lc and server=rustls-ring can"
        ));
    }
    if site.lab.client_chain.is_some()
        && !workers.does(server, Operation::RequiresClientCertificate)
    {
        return Some(format!(
            "{server} cannot require a client certificate here; server=openssl and server=rustls-aws-lc can"
        ));
    }
    if site.lab.ech.is_some() && !workers.does(server, Operation::ServesEch) {
        return Some(format!(
            "{server} serves no site with ech; server=go, server=openssl@4.0 and server=boringssl can"
        ));
    }
    let fault = site.lab.fault.filter(|fault| fault.is_of_ech());
    if let Some(fault) = fault.filter(|_| !workers.does(server, Operation::ServesEch)) {
        return Some(format!(
            "{server} does not have fault={fault}; server=go, server=openssl@4.0 and server=boringssl have it"
        ));
    }
    let mut versions = site.lab.tls.iter();
    let missing = versions.find(|version| !workers.has_version(server, **version))?;
    Some(format!(
        "{server} cannot serve TLS {missing}; server=openssl can (`netbench stacks build openssl`)"
    ))
}

fn no_server(server: &str, why: &str) -> Failure {
    let detail = format!("the server {server} could not be set up: {why}");
    Failure::new(FailureClass::Setup, FailureWord::NoServer, detail)
}
